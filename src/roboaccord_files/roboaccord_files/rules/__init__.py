"""Rules for a URDF: what is wrong in the text, on which line, and its cure, without any engine.

A rule is a row of rules.yaml and a finder in the module of its subject (units, joints, names,
parts, extensions); find.py lists the finders, table.py reads the rows, command.py is the command.
Rules may be added, with both, a planted fault in test/planted/faults.yaml, and a name in
docs/rules.md; names of rules stay.
"""

"""Rules for a robot's URDF: what is wrong in the text, on which line, and how to correct it.

No engine is needed. A rule is a row of rules.yaml and a function in the module of its subject:
names, parts, joints, units; bodies, plausible and sides (masses against shapes); extensions and
readers (what only one simulator reads). find.py applies them all, source.py has the text with its
lines, table.py reads the rows, findings.py and sarif.py show what was found, and command.py is
`accord check`.

A new rule also needs a planted fault in test/planted/faults.yaml and a name in docs/rules.md. Names
of rules stay, and sound robots must have nothing but notes. Tests: test_rules.py, test_plausible.py
and test_gazebo_extensions.py in src/roboaccord_files/test.
"""

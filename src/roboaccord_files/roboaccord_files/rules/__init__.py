"""Rules for a URDF: what is wrong in the text, on which line, and its cure, without any engine.

A rule is a row of rules.yaml and a finder in the module of its subject: names, parts, joints,
units; bodies, plausible and sides (masses against shapes); extensions and readers (what one
simulator alone reads). find.py lists the finders, source.py is the text with its lines, table.py
reads the rows, findings.py and sarif.py show what was found, command.py is `accord check`.

A rule may be added, with a planted fault in test/planted/faults.yaml and a name in docs/rules.md.
What must stay: names of rules, and that sound robots have nothing but notes. Tests: test_rules.py,
test_plausible.py and test_gazebo_extensions.py in src/roboaccord_files/test.
"""

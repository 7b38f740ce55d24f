"""Find traps in a URDF, and repair them: text that programs read differently, or refuse.

trap.py defines a trap. names.py, inertial.py, inertias.py, masses.py, joints.py and limits.py each
find the traps of their subject, find.py lists them in the order of their repair, and edits.py
changes the text. meshes.py and extents.py find meshes in a wrong unit, which are not repaired.

A trap is added to the module of its subject and to find.py. Names of traps stay, for rules and the
JSON have them; bytes that no repair changes stay; no number is invented. Tests: test_repair.py and
test_extents.py in src/roboaccord_files/test.
"""

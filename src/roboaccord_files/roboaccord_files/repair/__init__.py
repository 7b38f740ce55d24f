"""Traps of a URDF (text that readers interpret differently): what, where, and the smallest repair.

trap.py says what a trap is; names.py, inertial.py, inertias.py, masses.py, joints.py and limits.py
find the traps of their subject, find.py lists them in the order of their repair, edits.py changes
the text. meshes.py and extents.py find meshes of another unit, which nothing repairs.

A trap may be added to the module of its subject and to find.py. What must stay: names of traps,
which rules and the JSON have; bytes that no repair touches; no number is invented. Tests:
test_repair.py and test_extents.py in src/roboaccord_files/test.
"""

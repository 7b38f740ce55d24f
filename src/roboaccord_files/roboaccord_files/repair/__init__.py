"""Traps of a URDF: what readers interpret differently, where it is, and the smallest repair.

Traps may be added: one is yielded by a function of the module of its subject (names, inertias,
masses, joints, limits) and listed in find.py, in the order of repairs; edits.py writes what a
repair changes. Names of traps stay, for rules and the JSON have them.
"""

"""Identification of the arm: base parameters, friction and payload from a recorded motion.

Unknowns may be added in unknowns.py; names of PARTS and keys of the JSON output stay, for files of
identified arms have them.
"""

"""Controllers of the arm: reaching, also with failed joints, by velocities; trials of them.

Controllers may be added, as classes here and entries of `controllers` in robot.py; the keys there
are in scenarios and stay.
"""

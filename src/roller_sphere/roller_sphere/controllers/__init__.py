"""Controllers that drive the ball by its rollers.

Controllers may be added, as classes here and entries of `controllers` in robot.py; the keys there
are in scenarios and stay.
"""

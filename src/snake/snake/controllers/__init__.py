"""Lateral undulation by computed torque, and steering along headings and waypoints.

Controllers may be added, as modules here and entries of `controllers` in robot.py; the keys there
are in scenarios and stay.
"""

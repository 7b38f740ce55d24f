"""Controllers of the snake: lateral undulation by computed torque, and steering.

serpenoid   the gait, and the tracking of a desired shape
steering    speed and heading by frequency and offset of the gait
guidance    the goals of steering: a heading, waypoints, a velocity

A controller is added as a module here and an entry in `controllers` of robot.py. The keys there
stay, for scenarios use them. Tests: test_gaits, test_steering.
"""

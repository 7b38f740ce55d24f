"""Controllers of the snake: lateral undulation by computed torque, steering, and springs.

serpenoid    the gait, a wave along the body, and its controller
compliant    springs that pull the joints to the gait, among pegs
tracker      efforts that bring the joints to a desired shape
steering     control of speed and heading by frequency and offset of the gait
period_mean  heading and velocity without the undulation of the gait
guidance     the goals of steering: a heading, waypoints, or a commanded velocity

A controller is added as a module here and an entry in `controllers` of robot.py. The keys there
stay, for scenarios use them. Tests: test_gaits, test_steering.
"""

"""Controllers that drive the ball by its rollers.

drive.py drives a ball in its bearing along the programs of programs.py, with the speed loops of
speed_loops.py; dribble.py drives a carrier with a ball on the ground. A controller is a class here
and an entry of `controllers` in robot.py, whose keys are in scenarios and stay. Tests:
test_roller_driving, test_roller_dribble.
"""

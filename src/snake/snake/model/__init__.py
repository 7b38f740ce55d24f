"""Equations and parameters of the snake.

parameters    the numbers, from config/parameters.yaml, and the friction laws of scenarios
coordinates   states of the workspace to the model's y and back
kinematics    centres and velocities of the links
ground        friction of the links on the ground
dynamics      accelerations under efforts and ground forces
stops         impacts and constraint forces at the joint limits
tracking      inverse dynamics, and the serpenoid

Numbers may be changed in config/parameters.yaml. The equations are fixed by mechanics, and the
order of their arithmetic by hashes of runs (test_dynamics, test_friction, test_stops).
"""

"""Equations and parameters of the snake.

parameters    masses, lengths and other numbers, from config/parameters.yaml; friction laws
coordinates   conversion of states to the model's state y and back
kinematics    centres and velocities of the links
ground        friction of the links on the ground
pegs          pegs, and where links touch them
touches       contacts with pegs, as reports and pictures need them
dynamics      accelerations under efforts and ground forces
stops         impacts and constraint forces at the joint limits
tracking      efforts that a desired shape needs (inverse dynamics)
gaits         joint angles of the serpenoid, with rates and accelerations

Numbers may be changed in config/parameters.yaml. The equations are fixed by mechanics, and the
order of their arithmetic by hashes of runs (test_dynamics, test_friction, test_stops).
"""

"""Dribbling: a carrier that keeps a ball on the ground between two rollers.

dynamics.py has the equations and the scheme as compiled kernels, reference.py the simulator. Forces
may be added in reference.py. The equations are fixed by mechanics: test_roller_newton_euler
compares them with Newton's and Euler's, test_roller_dribble measures the order of the scheme.
"""

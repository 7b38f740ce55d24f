"""Dribbling: a carrier that keeps a ball on the ground by two rollers.

Forces may be added in reference.py; the equations of dynamics.py are fixed by mechanics
(test_roller_newton_euler).
"""

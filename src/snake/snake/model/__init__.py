"""Equations and parameters of the snake.

Numbers may be changed in config/parameters.yaml; the equations are fixed by mechanics and tests
(test_dynamics).
"""

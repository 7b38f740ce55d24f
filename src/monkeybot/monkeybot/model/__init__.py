"""Equations and parameters of the MonkeyBot: a hybrid system of three modes.

Numbers may be changed in config/parameters.yaml; the equations are fixed by the report (3.1 to 3.3)
and test_dynamics.
"""

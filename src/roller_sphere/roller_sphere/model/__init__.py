"""Parameters, rig, kinematics and friction of a ball between rollers.

Numbers may be changed in config/parameters.yaml; the kinematics is fixed by the paper's equations
(test_roller_kinematics).
"""

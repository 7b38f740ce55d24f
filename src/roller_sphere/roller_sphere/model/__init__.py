"""Parameters, rig, kinematics and friction of a ball between rollers.

rig.py has the geometry of a rig and kinematics.py its motions; odometry.py and hold.py say where
the ball is, in a bearing and between the rollers of a carrier; figures.py measures runs. Numbers
are in config/parameters.yaml and may be changed; the kinematics is fixed by the paper's equations
(test_roller_kinematics, test_roller_rigs).
"""

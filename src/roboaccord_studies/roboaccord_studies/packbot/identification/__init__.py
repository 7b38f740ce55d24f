"""Identification of the arm: base parameters, friction and payload from a recorded motion.

exciting          the motion to be recorded, and the controller `identify` that tracks it
unknowns          what is not known of an arm: order, prior, and efforts as functions of it
drawn_arm         setups of arms with given values
base_parameters   the inertial parameters that a motion can show
estimate          unknowns by the balance of efforts over the motion
report            the command `accord identify packbot`: quantities with intervals
known             the arm as it was identified, for control, planning and detection

Unknowns may be added in unknowns.py. Names of blocks and keys of the JSON output must stay, because
files of identified arms have them. Tests: test_identification.
"""

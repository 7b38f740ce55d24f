"""Parameters, rig, kinematics and friction of a ball between rollers."""

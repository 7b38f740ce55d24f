"""Parameters, dynamics and kinematics of the Packbot's arm."""

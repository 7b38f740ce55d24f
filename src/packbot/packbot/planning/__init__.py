"""Planning: inverse kinematics, paths, trajectories, lines of sight."""

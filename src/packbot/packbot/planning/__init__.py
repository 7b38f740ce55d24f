"""Planning: inverse kinematics, paths, trajectories, lines of sight, arms with failed joints."""

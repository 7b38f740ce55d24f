"""Planning: inverse kinematics, paths, trajectories, lines of sight, arms with failed joints.

Planners may be added, as modules here; samples and patience in each may be tuned. REASONS of
recovery.py, words of results, stay, and no collision must be missed (rrt.py).
"""

"""Planning of motions: poses at a target, paths between poses, times along a path.

reaching, inverse, sight      goals, inverse kinematics in closed form, line of sight
rrt, trajectories             collision-free paths, and their times within limits
failed_arm                    equilibria of loose joints (without drive), and poses that can be held
goals, failed_planner         poses of a failed arm at a target, and paths to them
recovery                      both together: a path to a target, or why there is none
planar, transition            dynamic motions of a loose joint past its unstable equilibrium

Constants may be tuned where a module says so; figures of pages can change with them. Keep bounds
by which no collision is missed (rrt.py). Tests: test_packbot_planning, _kinematics, _sight,
_recovery, _transition.
"""

"""Studies of failed arms: equilibria of loose joints, and the workspace that an arm retains.

equilibria        the command `accord packbot equilibria`
equilibrium_map   equilibria over a grid of active angles, and their folds
workspace         cells that the finger tips reach; the command is cli/workspace.py
joint_guard       limits of a joint within which it may freeze anywhere
pictures          pictures of all these

Defaults of both commands may be changed; keys of their JSON output stay. How recovery itself plans
is in `packbot.planning`. Tests: test_recovery_studies, test_equilibrium_map, test_workspace.
"""

"""Commands of `accord snake`, one module each.

A command is added as a module here and an entry in `cli` of robot.py. Names and options that exist
stay. Tests: test/test_lateral_undulation.py, and all commands in test/test_commands.py of the
workspace.
"""

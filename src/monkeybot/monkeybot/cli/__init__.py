"""Commands of `accord monkeybot`, one module each, and the options that they share.

A command is added as a module here and an entry in `cli` of robot.py. Names and options that exist
stay. Tests: test/test_cli.py.
"""

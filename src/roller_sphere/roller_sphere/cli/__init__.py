"""Commands of `accord roller-sphere`, one module each.

A command is a module here and an entry in `cli` of robot.py. Names, options and keys of `--json`
that exist stay, for scripts rely on them. Tests: test_roller_cli.
"""

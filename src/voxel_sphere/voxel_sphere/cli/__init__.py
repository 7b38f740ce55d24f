"""Commands of `accord voxel-sphere`, one module each, and the options that they share.

A command is a module here and an entry in `cli` of robot.py. Names, options and keys of `--json`
that exist stay, for scripts rely on them.
"""

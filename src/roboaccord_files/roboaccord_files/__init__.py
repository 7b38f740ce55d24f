"""Robot files and logs of others, in four rooms of modules with one subject each.

rules: what is wrong in a text. repair: traps that readers interpret differently, and their repair.
parity: what engines read, and why they differ. logs: a log against its robot's file.

What commands and functions the package adds stands in setup.cfg, and again in packages.yaml of the
core, which names the package where it is not installed and never imports it.
"""

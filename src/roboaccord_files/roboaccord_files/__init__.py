"""Robot files and logs of others, in five folders of modules with one subject each.

rules: what is wrong in a text. repair: traps, texts that readers interpret differently, and their
repair. parity: what engines read, and why they differ. logs: a log against its robot's file.
gazebo: worlds, models and bridges for Gazebo.

Nothing may be changed in this file. Commands and functions may be added in setup.cfg, and must be
listed again in packages.yaml of the core, which names the package where it is not installed and
never imports it.
"""

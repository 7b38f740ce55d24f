"""Robot files, logs and bags of others, in eight folders of modules with one subject each.

rules: what is wrong in a text. repair: traps (text that readers interpret differently), and their
repair. parity: what engines read, why they differ, and whether two files are one robot. excitation:
what a motion identifies. servo: how servos of joints answer in engines. logs: a log against its
robot's file. bags: other formats, damaged bags, exports. gazebo: worlds, models and bridges for
Gazebo. Each folder's docstring says what is where.

Nothing may be changed in this file. Commands and functions may be added in setup.cfg, and must be
listed again in packages.yaml of the core, which names the package where it is not installed and
never imports it.
"""

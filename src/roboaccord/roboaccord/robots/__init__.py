"""Robots that are a URDF or xacro file and have no package: file.py, and controllers.py for them.

A robot with a package is not added here but as a package of its own (docs/new_robot.md). Another
kind of file may be added by an entry point of the group `roboaccord.robot_files`, under its ending;
that group's name stays, for other packages use it.
"""

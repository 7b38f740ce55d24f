"""Robots that are a URDF or xacro file and have no package."""

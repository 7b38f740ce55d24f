"""Checks of what is given to Gazebo Sim: worlds, models, robots and bridges."""

from roboaccord.gazebo.check import check_file, check_robot

__all__ = ["check_file", "check_robot"]

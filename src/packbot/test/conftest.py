"""The command line, for the tests of the robot."""

from robot_commands import accord_here, commands_of

figures, complaint = commands_of("packbot")

__all__ = ["accord_here", "complaint", "figures"]

"""Commands of the roller sphere, for its tests."""

from robot_commands import accord_here, commands_of

figures, complaint = commands_of("roller-sphere")

__all__ = ["accord_here", "complaint", "figures"]

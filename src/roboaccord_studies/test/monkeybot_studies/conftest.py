"""The command line, for the tests of the MonkeyBot's studies."""

from robot_commands import accord_here, commands_of

figures, complaint = commands_of("monkeybot")

__all__ = ["accord_here", "complaint", "figures"]

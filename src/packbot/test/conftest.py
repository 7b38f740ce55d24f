"""The command line, for the tests of the robot."""

from packbots import accord_here, complaint, figures

__all__ = ["accord_here", "complaint", "figures"]

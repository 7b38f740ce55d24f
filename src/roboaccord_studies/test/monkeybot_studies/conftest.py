"""What the tests of the MonkeyBot's studies share with those of the robot."""

from monkeybots import accord_here, complaint, figures

__all__ = ["accord_here", "complaint", "figures"]

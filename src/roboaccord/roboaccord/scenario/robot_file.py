"""RobotFile: the base class of robots that are a user's file, such as URDF, not a package.

It adds to `Robot`, from which every robot derives, methods for what only a file can state: whether
its base floats, the names of its links, the limits of its joints. The core's implementation is
`FileRobot` in robots/file.py; other packages add theirs by the entry points of `installed.FILES`.
A method for any robot belongs into `Robot`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from roboaccord.scenario.setup import Robot, Setup


class RobotFile(Robot):
    """Base class of robots that are a user's file, such as URDF."""

    @abstractmethod
    def remarks(self, setup: Setup) -> Mapping[str, str]:
        """Return sentences that a user should know about the model, by their subject."""

    @abstractmethod
    def floats(self, setup: Setup) -> bool:
        """Return whether the file has a floating base, whatever base the scenario chooses."""

    @abstractmethod
    def own_names(self, setup: Setup) -> Mapping[str, str]:
        """Return {name here: name in the file} for the links that are renamed here."""

    @abstractmethod
    def ranges(self, setup: Setup) -> dict[str, tuple[float, float]]:
        """Return the limits of the moving joints in the file [rad or m]; infinite without stops."""


def remarks_on(setup: Setup) -> Mapping[str, str]:
    """Return the `remarks` of a robot that is a file; an empty mapping for any other robot."""
    return setup.robot.remarks(setup) if isinstance(setup.robot, RobotFile) else {}

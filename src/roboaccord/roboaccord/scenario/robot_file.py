"""RobotFile: what the core asks of a robot that is a user's file, beyond a robot of a package.

The class of such robots is found by an entry point of `installed.FILES` and derives from
`RobotFile`; that of the core is in robots/file.py. A hook may be added here where only a file can
answer it; one that any robot may answer goes into `Robot`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from roboaccord.scenario.setup import Robot, Setup


class RobotFile(Robot):
    """Base class of robots that are a user's file, such as URDF."""

    @abstractmethod
    def remarks(self, setup: Setup) -> Mapping[str, str]:
        """Return what a user should know of the model, by subject."""

    @abstractmethod
    def floats(self, setup: Setup) -> bool:
        """Return whether the file itself lets the base float, whatever the scenario states."""

    @abstractmethod
    def own_names(self, setup: Setup) -> Mapping[str, str]:
        """Return the names of links in the file by the names they have here, where these differ."""

    @abstractmethod
    def ranges(self, setup: Setup) -> dict[str, tuple[float, float]]:
        """Return the limits of the moving joints in the file [rad or m]; infinite without stops."""


def remarks_on(setup: Setup) -> Mapping[str, str]:
    """Return what a user should know of the model, by subject; nothing of a package's robot."""
    return setup.robot.remarks(setup) if isinstance(setup.robot, RobotFile) else {}

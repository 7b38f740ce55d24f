"""Check that the regressor describes a robot: one on a fixed base, whose joints mimic no others.

The regressor (regressor.py) is the matrix of the equations of motion. A log is checked
(logs/door.py), and a motion is searched (command.py), for such robots only.
"""

from __future__ import annotations

from roboaccord.contract.errors import AccordError
from roboaccord.scenario.setup import Setup


def check_fixed(setup: Setup, name: str, what: str) -> None:
    """Check that the robot's base is fixed.

    Args:
        setup, name, what: as for `check_joints`.

    Raises:
        AccordError: if it moves.
    """
    if setup.scenario.base != "fixed" or setup.tree.frame:
        raise AccordError(f"{name}: the base moves; {what} only for a fixed base")


def check_joints(setup: Setup, name: str, what: str) -> None:
    """Check that the regressor describes the robot's joints.

    Args:
        setup: setup of the robot.
        name: name of its file, for the message.
        what: what is possible only for other robots, such as "a log can be checked".

    Raises:
        AccordError: if a joint mimics another, or none moves.
    """
    if mimic := [joint.name for joint in setup.tree.moving if joint.mimic]:
        reason = f"{mimic[0]} mimics another joint"
        raise AccordError(f"{name}: {reason}; {what} only where none does")
    if not setup.joints:
        raise AccordError(f"{name}: it has no joint that moves")

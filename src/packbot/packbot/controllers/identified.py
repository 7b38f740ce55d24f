"""Protocol of an identified arm, whose parameters were estimated from a recorded motion.

The key `identified` of a controller names a file of `accord identify packbot BAG --json`. Another
package reads it (entry point `packbot.identified` of `roboaccord.controllers`); controllers then
plan for the identified arm, and correct measurements and commands by what was identified.
"""

from __future__ import annotations

from typing import Protocol

from roboaccord.contract import Array, Command, RobotState
from roboaccord.scenario import Setup, part_of


class IdentifiedArm(Protocol):
    """Protocol of the identified arm."""

    def setup(self, setup: Setup) -> Setup:
        """Return the setup of the identified arm."""

    def corrected_state(self, state: RobotState) -> RobotState:
        """Return a measured state, corrected by the identified encoder zeros."""

    def corrected_command(self, command: Command, limits: Array) -> Command:
        """Return the command with which the drives really give the efforts of `command`.

        It stays within limits (7,) [N m].
        """


def read_identified(file: str) -> IdentifiedArm | None:
    """Return the identified arm of a file, or None if its name is empty.

    Raises:
        AccordError: if it cannot be read, or the package that reads it is not installed.
    """
    if not file:
        return None
    arm: IdentifiedArm = part_of("packbot", "identified", "unknown part ").read(file)
    return arm

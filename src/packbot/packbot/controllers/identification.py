"""Controller that moves the arm so that its motion tells what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.contract import Command, RobotState, Target
from roboaccord.scenario import Setup

from packbot.controllers.reach import ComputedTorque
from packbot.model import compiled

if TYPE_CHECKING:
    from packbot.planning.trajectories import TimedPath


class IdentificationController:
    """Track a motion that excites what is to be identified (Controller).

    Args:
        setup: robot and scenario; the motion starts at its initial state.
        speed: part of the speed limits that is used.
        bandwidth: of the control [rad/s].
        margin: that the motion keeps from touching; the arm is not where it should be [m].
        tries: poses among which each is chosen.
    """

    def __init__(
        self,
        setup: Setup,
        speed: float = 0.9,
        bandwidth: float = 10.0,
        margin: float = 0.05,
        tries: int = 15,
    ) -> None:
        self._setup, self._speed, self._margin, self._tries = setup, speed, margin, tries
        self._control = ComputedTorque(setup, bandwidth, uncertain=True)
        self._motions: dict[int, TimedPath] = {}

    def reset(self, seed: int) -> None:
        """Choose the motion; `seed` is that of its poses."""
        with compiled("the controller identify"):
            from packbot.identification.excitation import exciting
        if seed not in self._motions:
            self._motions[seed] = exciting(
                self._setup, seed, speed=self._speed, margin=self._margin, tries=self._tries
            )
        self.motion = self._motions[seed]

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the motion, and hold its end."""
        return self._control.command(state, *self.motion.at(state.time))

"""Control of the snake among pegs: springs pull the joints to the gait, and pegs may hold them.

Computed torque (tracker.py) would push a link through a peg with all of its effort. Springs give
way, so that the body takes the track that the pegs leave.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from roboaccord.contract import Command, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from snake.controllers.serpenoid import Serpenoid


@dataclass(eq=False, repr=False)
class CompliantController:
    """Pull the joints to the serpenoid gait by springs and dampers.

    Args:
        setup: robot and scenario.
        amplitude: of every joint.
        frequency: of the wave.
        waves: number of waves on the body.
        kp: stiffness.
        kd: damping.
    """

    setup: Setup
    amplitude: si.Radians = 0.4
    frequency: si.Hertz = 0.3
    waves: float = 1.5
    kp: Annotated[float, si.Quantity("N m/rad")] = 20.0
    kd: Annotated[float, si.Quantity("N m s/rad")] = 0.05

    def __post_init__(self) -> None:
        if min(self.kp, self.kd) < 0:
            raise ValueError("kp and kd must not be negative")
        joints = len(self.setup.joints)
        self.gait = Serpenoid(joints, self.amplitude, self.frequency, self.waves, ramp=0.0)
        self.gait.shape(0.0)  # compiles the kernel before the first tick

    def reset(self, seed: int) -> None:
        """Do nothing: the gait depends on the time alone."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts of the springs."""
        q, qd, _ = self.gait.shape(state.time)
        return Command(self.kp * (q - state.q) + self.kd * (qd - state.qd))

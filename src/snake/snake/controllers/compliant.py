"""Control of the snake among pegs: springs pull the joints to the gait, and pegs may hold them.

Computed torque (tracker.py) would push a link through a peg with all of its effort. Springs give
way, so that the body takes the track that the pegs leave.

With `sensing` the controller judges from angles, rates and efforts of the joints whether a peg
holds the snake. It then runs the gait backward for a part of a cycle, and comes again on another
track: the head bends aside and back, and the bend runs along the body with the wave. Which side is
next to the head tells the first joints; each further attempt takes the other side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from roboaccord.contract import Array, Command, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from snake.controllers.serpenoid import Serpenoid

# N m: a joint that pulls harder, and turns at less than half of the gait's largest rate, is held.
# The gait needs 5 N m on ground with mu 0.5.
HELD_EFFORT = 6.0
PATIENCE = 0.15  # s: for so long, before the snake backs off
BACK_OFF, AHEAD = 0.5, 0.03  # cycles: how far it backs off, and where then the bend begins
BEND = 0.06  # rad: of each joint, at its largest
BRAKING = 0.1  # s: time constant with which the gait's clock changes its rate
NECK = 3  # number of the first joints that tell on which side the peg is


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
        sensing: whether it backs off from pegs that hold it.
    """

    setup: Setup
    amplitude: si.Radians = 0.4
    frequency: si.Hertz = 0.3
    waves: float = 1.5
    kp: Annotated[float, si.Quantity("N m/rad")] = 20.0
    kd: Annotated[float, si.Quantity("N m s/rad")] = 0.05
    sensing: bool = False

    def __post_init__(self) -> None:
        if min(self.kp, self.kd) < 0:
            raise ValueError("kp and kd must not be negative")
        joints = len(self.setup.joints)
        self.gait = Serpenoid(joints, self.amplitude, self.frequency, self.waves, ramp=0.0)
        self._lags = np.arange(joints) * self.waves / joints  # of the joints behind the head
        self._held_rate = math.pi * self.frequency * self.amplitude  # rad/s
        self.gait.shape(0.0)  # compiles the kernel before the first tick
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Begin at the start of the gait, held by no peg."""
        self._time = 0.0  # of the last update [s]
        # Cycles of the gait's clock, and its rate, -1 backward [1].
        self._cycles, self._rate = 0.0, 1.0
        self._held, self._back = 0.0, 0.0  # how long it is held, and has yet to back off [s]
        self._bends = list[tuple[float, float]]()  # cycle of the start, and side, +1 or -1

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts of the springs."""
        if not self.sensing:
            q, qd, _ = self.gait.shape(state.time)
            return Command(self.kp * (q - state.q) + self.kd * (qd - state.qd))
        self._sense(state)
        q, qd, _ = self.gait.shape(self._cycles / self.frequency)
        q += self._bend()
        return Command(self.kp * (q - state.q) + self.kd * (self._rate * qd - state.qd))

    def _sense(self, state: RobotState) -> None:
        """Advance the gait's clock, backward if the snake has been held for PATIENCE."""
        span, self._time = state.time - self._time, state.time
        is_held = (np.abs(state.effort) > HELD_EFFORT) & (np.abs(state.qd) < self._held_rate)
        self._held = self._held + span if is_held.any() else 0.0
        self._back -= span
        if self._held > PATIENCE and self._back <= 0.0:
            pull = math.copysign(1.0, state.effort[:NECK].sum())
            side = -self._bends[-1][1] if self._bends else pull
            self._bends = [(b, s) for b, s in self._bends if b > self._cycles - 3.0]
            self._bends.append((self._cycles - BACK_OFF + AHEAD, side))
            self._back, self._held = BACK_OFF / self.frequency, 0.0
        goal = -1.0 if self._back > 0.0 else 1.0
        self._rate += span / BRAKING * (goal - self._rate)
        self._cycles += span * self._rate * self.frequency

    def _bend(self) -> Array:
        """Return the angles (n,) that the bends add: half a cycle to a side, and half back."""
        angles = np.zeros(len(self._lags))
        for begin, side in self._bends:
            x = 2.0 * (self._cycles - self._lags - begin)  # half cycles since the head's bend
            wave = np.sin(math.pi * x) ** 2 * ((x > 0.0) & (x < 2.0))
            angles += BEND * side * np.where(x < 1.0, wave, -wave)
        return angles

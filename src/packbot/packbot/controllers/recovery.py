"""Controller that reaches a target also with joints that fail on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault
from roboaccord.contract.state import Array, Command, RobotState, Target
from roboaccord.scenario.setup import Setup

from packbot.controllers.reach import ReachController
from packbot.model.libraries import compiled
from packbot.planning.reaching import MARGIN

if TYPE_CHECKING:
    from packbot.failures.recovery import Recoverer, Recovery
    from packbot.planning.trajectories import TimedPath

SLOW = 0.3  # part of the speed limits at which loose joints come along, nearly at rest
STILL = 0.02  # rad/s: arms slower than that are at rest
REST = 0.3  # s for which they must be, until a new way is planned
PATIENCE = 8.0  # s after which it is planned anyhow
SERVO = 1.0  # 1/s, of the tips' error at the end of a way
SERVED = 0.15  # rad that it adds at most
SOFT = 1e-4  # m^2, of its damping
ARM = 4  # joints that place the hand
LAST = 3.0  # s at the end of a way


class Watch(Protocol):
    """What notices failures."""

    def reset(self) -> None:
        """Forget everything."""

    def update(self, state: RobotState, effort: Array) -> Sequence[Fault]:
        """Return the faults noticed so far.

        Args:
            state: of the arm.
            effort: commanded since the state before (7,) [N m].
        """


class Announced:
    """Notice the faults of a scenario when they come, and none else."""

    def __init__(self, setup: Setup) -> None:
        self._faults = setup.faults

    def reset(self) -> None:
        """Forget nothing."""

    def update(self, state: RobotState, effort: Array) -> Sequence[Fault]:
        return [fault for fault in self._faults if fault.time <= state.time]


class RecoveryController:
    """Reach a target, and when a joint fails, with the joints that are left (Controller).

    On a failure the arm is held until it rests. Then the model is swapped, a way is planned for the
    joints that are left, and tracked. At its end the tips are drawn to the target by what is
    measured: loose joints lie as they do. Where there is no way, the arm goes to the nearest point
    that has one.

    Args:
        setup: robot and scenario; the way starts at its initial state.
        target: where the finger tips shall be, x, y, z [m].
        speed: part of the speed limits that is used.
        bandwidth: of the control [rad/s].
        margin: that the way keeps from touching [m].
        watch: what notices failures; those of the scenario are known at once if not given.
        planner: for the failed arm at rest, where there is one already.
    """

    def __init__(
        self,
        setup: Setup,
        target: Sequence[float] | None = None,
        speed: float = 0.8,
        bandwidth: float = 10.0,
        margin: float = MARGIN,
        watch: Watch | None = None,
        planner: Recoverer | None = None,
    ) -> None:
        with compiled("the controller recover"):
            from packbot.controllers.tracking import ComputedTorque
        self._healthy = ReachController(
            setup, target, speed=speed, bandwidth=bandwidth, margin=margin
        )
        self._setup, self._target = setup, np.array(target, dtype=float)
        self._speed, self._bandwidth, self._margin = speed, bandwidth, margin
        self._tracking = ComputedTorque
        self._watch, self.planner = watch or Announced(setup), planner

    def reset(self, seed: int) -> None:
        """Forget everything; `seed` is that of the sampling."""
        self._seed = seed
        self._watch.reset()
        self.faults: tuple[Fault, ...] = ()
        self.recovery: Recovery | None = None
        self.motion: TimedPath | None = None
        self.reason, self.done = "", False
        self._effort = np.zeros(len(self._setup.joints))
        self._served = np.zeros_like(self._effort)
        self._hold = self._setup.initial.q
        self.started: float | None = None
        self._control = self._tracking(self._setup, self._bandwidth)

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the motion in force, or hold the arm."""
        faults = tuple(self._watch.update(state, self._effort))
        if {fault.joint for fault in faults} != {fault.joint for fault in self.faults}:
            self._fail(faults, state)
        elif not self.faults and self.started is None:
            self._plan(state)
        elif self.faults and self.started is None and self._rests(state):
            self._replan(state)
        command = self._follow(state)
        self._effort = command.effort
        return command

    def _plan(self, state: RobotState) -> None:
        """Plan the way of the healthy arm; where there is none, hold still."""
        self.started, self._hold = state.time, state.q
        try:
            self._healthy.reset(self._seed)
            self.motion = self._healthy.motion
        except AccordError as error:
            self.reason = str(error)

    def _fail(self, faults: tuple[Fault, ...], state: RobotState) -> None:
        """Swap the model, and hold the arm where it is."""
        from packbot.failures.arm import FailedArm
        from packbot.failures.tracking import FailedTorque

        self.faults, self._hold = faults, state.q
        self.started = self.motion = self.recovery = None
        self._since = self._moved = state.time
        self.arm = FailedArm(self._setup, faults, q=state.q)
        self._control = FailedTorque(self._setup, self.arm, self._bandwidth)

    def _rests(self, state: RobotState) -> bool:
        """Return whether the arm has been at rest for a while, camera and wrist apart."""
        if np.abs(state.qd[:ARM]).max() > STILL:
            self._moved = state.time
        return state.time - self._moved >= REST or state.time - self._since >= PATIENCE

    def _replan(self, state: RobotState) -> None:
        """Plan a way from where the arm rests."""
        from packbot.failures.recovery import Recoverer
        from packbot.planning.trajectories import in_time

        if self.planner is None or not self.planner.starts_at(self.arm, state.q):
            self.planner = Recoverer(self.arm, state.q, self._seed, self._margin)
        self.recovery = self.planner.reach(self._target)
        self.reason = self.recovery.reason
        self.started, self._hold = state.time, self.recovery.corners[0]
        if len(self.recovery.corners) > 1:
            slow = SLOW if self.planner.tree else self._speed
            self.motion = in_time(self._setup, self.recovery.corners, slow)

    def _follow(self, state: RobotState) -> Command:
        """Return the efforts along the motion, or those that hold the arm."""
        r, rate, change = self._hold, np.zeros(len(state.q)), np.zeros(len(state.q))
        time = state.time - (self.started or 0.0)
        if self.motion is not None:
            r, rate, change = self.motion.at(time)
        end = self.motion.duration if self.motion is not None else 0.0
        if self.started is not None and time > end:
            self.done = time > end + LAST
            if self.recovery is not None:
                self._serve(state, self.recovery)
        return self._control.command(state, r + self._served, rate, change)

    def _serve(self, state: RobotState, recovery: Recovery) -> None:
        """Draw the tips to where they are to be, by what is measured."""
        aim = recovery.nearest if recovery.reason else self._target
        error = aim - self.arm.kinematics.tip(state.q)
        lines = self.arm.tip_jacobian(state.q)
        step = lines.T @ np.linalg.solve(lines @ lines.T + SOFT * np.eye(3), error)
        self._served += SERVO * self._setup.scenario.control_period * step
        np.clip(self._served, -SERVED, SERVED, out=self._served)

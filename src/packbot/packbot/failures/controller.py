"""Controller that reaches a target also with joints that fail on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault
from roboaccord.contract.state import Command, RobotState, Target
from roboaccord.scenario.setup import Setup

from packbot.controllers.reach import ReachController
from packbot.model.libraries import compiled
from packbot.planning.reaching import ARM, MARGIN

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
LAST = 3.0  # s at the end of a way
CREEPS, LONGER = 2e-4, 50.0  # rad/s, and s at most: a loose turret comes back slowly


class Notice(Protocol):
    """A failure that was noticed: its fault, None as long as its kind is open, and how late [s]."""

    @property
    def fault(self) -> Fault | None: ...

    @property
    def delay(self) -> float: ...


class Watch(Protocol):
    """What notices failures."""

    def reset(self) -> None:
        """Forget everything."""

    def see(self, state: RobotState) -> Sequence[Notice]:
        """Return what is noticed at a state."""

    def answered(self, command: Command) -> Command:
        """Return the command that is given to the state, remembered."""


@dataclass(frozen=True)
class Announcement:
    """Hold a fault of a scenario, known as it comes."""

    fault: Fault
    delay: float = 0.0


class Announced:
    """Notice the faults of a scenario as they come, and none else (Watch)."""

    def __init__(self, setup: Setup) -> None:
        self._faults = setup.faults
        self.reset()

    def reset(self) -> None:
        self._left = list(self._faults)

    def see(self, state: RobotState) -> Sequence[Notice]:
        now = [fault for fault in self._left if fault.time <= state.time]
        self._left = [fault for fault in self._left if fault.time > state.time]
        return [Announcement(fault, state.time - fault.time) for fault in now]

    def answered(self, command: Command) -> Command:
        return command


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
        self.noticed = list[Notice]()
        self._served = np.zeros(len(self._setup.joints))
        self._hold = self._setup.initial.q
        self.started: float | None = None
        self._control = self._tracking(self._setup, self._bandwidth)

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the motion in force, or hold the arm."""
        seen = [notice for notice in self._watch.see(state) if notice.fault]
        if seen:
            self.noticed += seen
            faults = [notice.fault for notice in self.noticed if notice.fault]
            self._fail({fault.joint: fault for fault in faults}, state)
        elif not self.faults and self.started is None:
            self._plan(state)
        elif self.faults and self.started is None and self._rests(state):
            self._replan(state)
        return self._watch.answered(self._follow(state))

    def _plan(self, state: RobotState) -> None:
        """Plan the way of the healthy arm; where there is none, hold still."""
        self.started, self._hold = state.time, state.q
        try:
            self._healthy.reset(self._seed)
            self.motion = self._healthy.motion
        except AccordError as error:
            self.reason = str(error)

    def _fail(self, faults: Mapping[str, Fault], state: RobotState) -> None:
        """Swap the model, and hold the arm where it is."""
        from packbot.failures.arm import FailedArm
        from packbot.failures.tracking import FailedTorque

        self.faults, self._hold = tuple(faults.values()), state.q
        self.started = self.motion = self.recovery = None
        self._since = self._moved = state.time
        self.arm = FailedArm(self._setup, self.faults, q=state.q)
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
            still = np.abs(state.qd[:ARM]).max() < CREEPS or time > end + LONGER
            self.done = bool(still and time > end + LAST)
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

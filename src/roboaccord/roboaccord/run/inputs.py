"""Inputs of a run: a constant target, targets that people send, and their record."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from roboaccord.contract.fault import Fault
from roboaccord.contract.interfaces import Inputs
from roboaccord.contract.state import NO_SWITCHES, NO_TWIST, Array, RobotState, Target

SILENCE = 0.5  # s of wall time after which nobody is asking for anything any more
POSITION, VELOCITY, EFFORT = range(3)
_ZERO = np.array([[math.nan], [0.0], [0.0]])  # of a joint: no position, no velocity, no effort


class Hold(Inputs):
    """Hold one target, or none, for the whole run.

    Args:
        target: the target.
    """

    over = False

    def __init__(self, target: Target | None = None) -> None:
        self._target = target

    def target(self, state: RobotState) -> Target | None:
        return self._target

    def switches(self, state: RobotState) -> Mapping[str, bool]:
        return NO_SWITCHES


class Announced(Inputs):
    """Pass inputs on, and report every target as it comes into force.

    Args:
        inputs: whose targets they are.
        report: is given the time of the tick [s], the target and the one before it.
    """

    def __init__(
        self, inputs: Inputs, report: Callable[[float, Target, Target | None], None]
    ) -> None:
        self._inputs, self._report = inputs, report
        self._last: Target | None = None

    @property
    def over(self) -> bool:  # type: ignore[override]
        """True once the inputs have ended the run."""
        return self._inputs.over

    def reset(self) -> None:
        """Report the target anew at the next tick: the run starts again."""
        self._last = None

    def target(self, state: RobotState) -> Target | None:
        target = self._inputs.target(state)
        if target is not None and target is not self._last:
            self._report(state.time, target, self._last)
            self._last = target
        return target

    def switches(self, state: RobotState) -> Mapping[str, bool]:
        return self._inputs.switches(state)

    def faults(self, state: RobotState) -> Sequence[Fault]:
        return self._inputs.faults(state)


class LiveInputs(Hold):
    """Collect what people ask for; after a silence of wall time the target is zero.

    Each joint falls silent by itself, for several people can drive one each. A joint follows the
    kind of request that came last.

    Args:
        joints: joint names, n of them.
        silence: [s].
        clock: gives the wall time [s].
    """

    def __init__(
        self,
        joints: Sequence[str],
        silence: float = SILENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.silence, self._clock = silence, clock
        self._twist: Array | None = None
        self._joints = np.tile(_ZERO, len(joints))
        self._kinds: set[int] = set()
        self._heard = np.full(1 + len(joints), -math.inf)  # the twist, then the joints [s]
        self._next = math.inf  # when something falls silent [s]
        self._key = b""

    def ask_twist(self, twist: Array) -> None:
        """Ask for a twist of the base (6,) [m/s, rad/s]."""
        self._twist = np.array(twist)
        self._note(0)

    def ask_joint(self, joint: int, kind: int, value: float) -> None:
        """Ask a joint for a `POSITION` [rad], `VELOCITY` [rad/s] or `EFFORT` [N m]."""
        self._joints[:, joint] = _ZERO[:, 0]
        self._joints[kind, joint] = value
        self._kinds.add(kind)
        self._note(1 + joint)

    @property
    def now(self) -> Target | None:
        """The target as it was last given."""
        return self._target

    def stop(self) -> None:
        """Ask for nothing, at once."""
        self._heard[:] = self._next = -math.inf

    def target(self, state: RobotState) -> Target | None:
        now = self._clock()
        if now >= self._next:
            self._renew(now)
        return self._target

    def _note(self, place: int) -> None:
        self._heard[place] = self._clock()
        self._next = -math.inf

    def _renew(self, now: float) -> None:
        ends = self._heard + self.silence
        silent = ends <= now
        self._next = float(ends[~silent].min(initial=math.inf))
        self._joints[:, silent[1:]] = _ZERO
        if self._twist is not None and silent[0]:
            self._twist = NO_TWIST
        twist = NO_TWIST if self._twist is None else self._twist
        key = twist.tobytes() + self._joints.tobytes()
        if key == self._key and self._target is not None:
            return
        self._key = key
        rows = {kind: self._joints[kind].copy() for kind in self._kinds}
        self._target = Target(twist, rows.get(EFFORT), rows.get(VELOCITY), rows.get(POSITION))

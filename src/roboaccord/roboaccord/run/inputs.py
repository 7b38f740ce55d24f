"""Inputs of a run: a constant target, targets that people send, and those of a recorded run.

A source may be added: a class derived from `Inputs` with `target` and `switches`, given to a run by
`inputs=`. SILENCE may be changed, with docs/teleoperation.md. `_FREE` are the keys of a scenario
that may differ when a bag is repeated: a new key that does not change the motion belongs there.
Targets and switches must act at the tick of their stamp, to `ROUND_OFF`: only then does a repeated
run have the hash of the first (test_run_inputs).
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from roboaccord.bag.content import Content
from roboaccord.bag.reader import checked_run
from roboaccord.bag.targets import add_change, decode_change, read_targets
from roboaccord.contract.checks import ROUND_OFF
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault, fault_of
from roboaccord.contract.interfaces import Inputs
from roboaccord.contract.results import Json
from roboaccord.contract.state import NO_SWITCHES, NO_TWIST, Array, RobotState, Target
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup

SILENCE = 0.5  # s of wall time after which a request lapses: several repeats of a held key
POSITION, VELOCITY, EFFORT = range(3)  # rows of what a joint is asked for
_ZERO = np.array([[math.nan], [0.0], [0.0]])  # of a joint: no position, no velocity, no effort
_FREE = {"name", "description", "duration", "driven", "crosscheck"}  # do not change the motion


class Hold(Inputs):
    """One target, or none, for the whole run.

    Args:
        target: the target.
    """

    over = False

    def __init__(self, target: Target | None = None) -> None:
        self._target = target

    def target(self, state: RobotState) -> Target | None:
        return self._target


class Announced(Inputs):
    """Passes inputs on, and reports every target as it comes into force.

    Args:
        inputs: that are passed on.
        report: called with the time of the tick [s], the target and the one before it.
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
    """Collects what people ask for; after a silence of wall time the target is zero.

    Each joint falls silent on its own, as several people may each drive one. A joint follows the
    latest request, of whatever kind.

    Args:
        joints: joint names, n of them.
        silence: time after which a request lapses [s].
        clock: returns the wall time [s].
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

    def _note(self, index: int) -> None:
        self._heard[index] = self._clock()
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


class RecordedInputs(Inputs):
    """Targets and switches of a bag, each at its tick.

    Args:
        bag: of the run to repeat; it may be unfinished.

    Attributes:
        duration: of the recorded run [s].
        fault_texts: faults of its scenario, and those that came during the run, as texts.

    Raises:
        AccordError: if it is not a bag, is damaged, or does not name its scenario.
    """

    over = False

    def __init__(self, bag: Path) -> None:
        content = Content.of(bag)
        run = checked_run(content)
        if not run.scenario:
            raise AccordError(f"{bag} does not name its scenario")
        self.bag, self._scenario = bag, make_scenario(run.scenario).data()
        targets = read_targets(content, run.trajectory.joints)
        self._times = [time for time, _ in targets]
        self._targets = [None, *(target for _, target in targets)]
        self._ticks, self._switches = run.trajectory.time, run.trajectory.switches
        came = [str(fault) for fault in map(fault_of, run.trajectory.events) if fault]
        self.fault_texts = (*self._scenario["faults"], *came)
        self.duration = float(self._ticks[-1])

    def check(self, setup: Setup) -> None:
        """Refuse a setup that is not the recorded one.

        Raises:
            AccordError: naming the first key that differs.
        """
        for key, here in setup.scenario.data().items():
            there = self.fault_texts if key == "faults" else self._scenario[key]
            if key not in _FREE and here != there:
                what = f"{key} {_plain(there)}, not {_plain(here)}"
                raise AccordError(f"{self.bag} was recorded with {what}")

    def target(self, state: RobotState) -> Target | None:
        return self._targets[bisect_right(self._times, state.time + ROUND_OFF)]

    def switches(self, state: RobotState) -> Mapping[str, bool]:
        if not self._switches:
            return NO_SWITCHES
        after = int(self._ticks.searchsorted(state.time + ROUND_OFF))
        if after == len(self._ticks):
            return NO_SWITCHES
        return {name: bool(on[after]) for name, on in self._switches.items()}


class HeardInputs(Inputs):
    """Targets, switches and faults of a run in another process, as its messages arrive.

    Args:
        joints: joint names, in the order of the arrays.

    Attributes:
        asked: switches to set at the next tick.
        failed: faults that are not yet in force.
    """

    over = False

    def __init__(self, joints: Sequence[str]) -> None:
        self._joints, self._targets = joints, list[tuple[float, Target]]()
        self.asked: Mapping[str, bool] = NO_SWITCHES
        self.failed = list[Fault]()

    def note(self, name: str, data: bytes) -> None:
        """Take a message of a topic of targets; a jump back in time is a reset of the run."""
        time, change = decode_change(name, data, self._joints)
        if self._targets and time < self._targets[-1][0]:
            self._targets.clear()
        add_change(self._targets, time, change)

    def target(self, state: RobotState) -> Target | None:
        at = bisect_right(self._targets, state.time + ROUND_OFF, key=lambda entry: entry[0])
        return self._targets[at - 1][1] if at else None

    def switches(self, state: RobotState) -> Mapping[str, bool]:
        return self.asked

    def faults(self, state: RobotState) -> Sequence[Fault]:
        due = [fault for fault in self.failed if fault.time <= state.time + ROUND_OFF]
        self.failed = [fault for fault in self.failed if fault not in due]
        return due


def _plain(value: Json) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_plain(v)}" for k, v in value.items()) + "}"
    return str(value)

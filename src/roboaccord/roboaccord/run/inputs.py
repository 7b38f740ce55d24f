"""Inputs of a run: targets of the controller, switches and faults that come from outside.

A target (`contract.state.Target`) is what a person asks of the controller: a twist of the base, and
positions, velocities or efforts of joints. All inputs are classes derived from `Inputs`, given to a
run by `inputs=`; the loop (loop.py) asks them at each tick. `Hold` has one constant target,
`LiveInputs` the targets that people ask for during the run, `RecordedInputs` those of a recorded
run, `HeardInputs` those that arrive in messages from another process. `Announced` wraps any of them
and reports each new target, so that it is recorded.

Targets and switches must act at exactly the tick of their time stamp (to ROUND_OFF): only then does
a repeated run have the hash of the first (test_run_inputs). A new key of scenarios that does not
change the motion belongs in `_MOTION_INDEPENDENT`. SILENCE is also stated in docs/teleoperation.md.
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
from roboaccord.contract import AccordError, Fault, Inputs, Json, fault_of
from roboaccord.contract.checks import ROUND_OFF
from roboaccord.contract.state import NO_SWITCHES, NO_TWIST, Array, RobotState, Target
from roboaccord.scenario import Setup, make_scenario

SILENCE = 0.5  # s of wall time after which a request lapses: a held key repeats several times in it
POSITION, VELOCITY, EFFORT = range(3)  # rows of the array of requests, which has a column per joint
# Column of a joint without a request: no position (NaN), velocity 0, effort 0.
_NO_REQUEST = np.array([[math.nan], [0.0], [0.0]])
# Keys of a scenario that do not change the motion.
_MOTION_INDEPENDENT = {"name", "description", "duration", "driven", "crosscheck"}


class Hold(Inputs):
    """One target for the whole run, without switches and faults.

    Args:
        target: for the controller; None for none.
    """

    over = False  # the inputs never end the run

    def __init__(self, target: Target | None = None) -> None:
        self._target = target

    def target(self, state: RobotState) -> Target | None:
        """Return the target, the same at every tick."""
        return self._target


class Announced(Inputs):
    """Passes inputs on, and reports every target as it comes into force.

    Args:
        inputs: passed on.
        report: called with the time of the tick [s], the new target and the one before it.
    """

    def __init__(
        self, inputs: Inputs, report: Callable[[float, Target, Target | None], None]
    ) -> None:
        self._inputs, self._report = inputs, report
        self._last_target: Target | None = None

    @property
    def over(self) -> bool:  # type: ignore[override]
        """Whether the inputs have ended the run."""
        return self._inputs.over

    def reset(self) -> None:
        """Start again: the target is reported at the next tick."""
        self._last_target = None

    def target(self, state: RobotState) -> Target | None:
        """Return the target of the inputs, and report it if it is new."""
        target = self._inputs.target(state)
        if target is not None and target is not self._last_target:
            self._report(state.time, target, self._last_target)
            self._last_target = target
        return target

    def switches(self, state: RobotState) -> Mapping[str, bool]:
        """Return the switches of the inputs."""
        return self._inputs.switches(state)

    def faults(self, state: RobotState) -> Sequence[Fault]:
        """Return the faults of the inputs."""
        return self._inputs.faults(state)


class LiveInputs(Hold):
    """Collects requests of people; one that is not repeated lapses, and the robot stops.

    The base and each joint lapse separately, for several people may drive at once. A joint follows
    its latest request, whether that is a position, a velocity or an effort.

    Args:
        joints: joint names, n of them.
        silence: wall time after which a request lapses [s].
        clock: returns the wall time [s].
    """

    def __init__(
        self,
        joints: Sequence[str],
        silence: float = SILENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.silence = silence
        self._clock = clock
        self._twist = NO_TWIST
        self._joint_requests = np.tile(_NO_REQUEST, len(joints))  # (3, n)
        self._used_rows: set[int] = set()  # POSITION, VELOCITY, EFFORT: asked for so far
        # Wall time of the latest request: of the twist, then of each joint (1 + n,) [s].
        self._request_times = np.full(1 + len(joints), -math.inf)
        # Wall time at which the next request lapses [s]; -inf where the target must be made anew.
        self._next_lapse = math.inf
        self._target_bytes = b""  # requests of which the present target was made

    def ask_twist(self, twist: Array) -> None:
        """Request a twist of the base (6,) [m/s, rad/s]."""
        self._twist = np.array(twist)
        self._record_request(0)

    def ask_joint(self, joint: int, kind: int, value: float) -> None:
        """Request a `POSITION` [rad], `VELOCITY` [rad/s] or `EFFORT` [N m] of a joint."""
        self._joint_requests[:, joint] = _NO_REQUEST[:, 0]
        self._joint_requests[kind, joint] = value
        self._used_rows.add(kind)
        self._record_request(1 + joint)

    @property
    def now(self) -> Target | None:
        """The target that `target` returned last; None before any request."""
        return self._target

    def stop(self) -> None:
        """Let all requests lapse at once."""
        self._request_times[:] = -math.inf
        self._next_lapse = -math.inf

    def target(self, state: RobotState) -> Target | None:
        """Return the target of the requests that have not lapsed; None before any request."""
        now = self._clock()
        if now >= self._next_lapse:
            self._update_target(now)
        return self._target

    def _record_request(self, index: int) -> None:
        """Record the time of a request of the twist (0) or a joint (1 + its index)."""
        self._request_times[index] = self._clock()
        self._next_lapse = -math.inf

    def _update_target(self, now: float) -> None:
        """Drop requests that have lapsed at `now` [s], and make a new target if it changed."""
        lapse_times = self._request_times + self.silence
        has_lapsed = lapse_times <= now
        self._next_lapse = float(lapse_times[~has_lapsed].min(initial=math.inf))
        self._joint_requests[:, has_lapsed[1:]] = _NO_REQUEST
        if has_lapsed[0]:
            self._twist = NO_TWIST
        target_bytes = self._twist.tobytes() + self._joint_requests.tobytes()
        if target_bytes == self._target_bytes and self._target is not None:
            return
        self._target_bytes = target_bytes
        rows = {row: self._joint_requests[row].copy() for row in self._used_rows}
        self._target = Target(self._twist, rows.get(EFFORT), rows.get(VELOCITY), rows.get(POSITION))


class RecordedInputs(Inputs):
    """Targets, switches and faults of a recorded run, each at its tick.

    Args:
        bag: of the run to repeat; it may be unfinished.

    Attributes:
        duration: of the recorded run [s].
        fault_texts: faults of its scenario, and those that began during the run, as texts.

    Raises:
        AccordError: if it is not a bag, is damaged, or does not name its scenario.
    """

    over = False

    def __init__(self, bag: Path) -> None:
        content = Content.of(bag)
        run = checked_run(content)
        if not run.scenario:
            raise AccordError(f"{bag} does not name its scenario")
        self.bag = bag
        self._scenario = make_scenario(run.scenario).data()
        targets = read_targets(content, run.trajectory.joints)
        self._target_times = [time for time, _ in targets]
        self._targets = [None, *(target for _, target in targets)]  # none before the first time
        self._tick_times = run.trajectory.time
        self._switches = run.trajectory.switches
        later_faults = [str(fault) for fault in map(fault_of, run.trajectory.events) if fault]
        self.fault_texts = (*self._scenario["faults"], *later_faults)
        self.duration = float(self._tick_times[-1])

    def check(self, setup: Setup) -> None:
        """Refuse a setup that is not the recorded one.

        Raises:
            AccordError: naming the first key that differs.
        """
        for key, value in setup.scenario.data().items():
            recorded = self.fault_texts if key == "faults" else self._scenario[key]
            if key not in _MOTION_INDEPENDENT and value != recorded:
                difference = f"{key} {_value_text(recorded)}, not {_value_text(value)}"
                raise AccordError(f"{self.bag} was recorded with {difference}")

    def target(self, state: RobotState) -> Target | None:
        """Return the target that was in force at the time of a state."""
        return self._targets[bisect_right(self._target_times, state.time + ROUND_OFF)]

    def switches(self, state: RobotState) -> Mapping[str, bool]:
        """Return the switches of the recorded run in the control period that begins now."""
        if not self._switches:
            return NO_SWITCHES
        # The switches of the tick that ends the coming interval.
        next_tick = int(self._tick_times.searchsorted(state.time + ROUND_OFF))
        if next_tick == len(self._tick_times):
            return NO_SWITCHES
        return {name: bool(on[next_tick]) for name, on in self._switches.items()}


class HeardInputs(Inputs):
    """Targets, switches and faults of a run in another process, as its messages arrive.

    Args:
        joints: joint names, in the order of the arrays.

    Attributes:
        asked: switches to set at the next tick, by name.
        failed: faults that have not begun yet.
    """

    over = False

    def __init__(self, joints: Sequence[str]) -> None:
        self._joints = joints
        self._targets = list[tuple[float, Target]]()  # each with the time from which it is in force
        self.asked: Mapping[str, bool] = NO_SWITCHES
        self.failed = list[Fault]()

    def note(self, name: str, data: bytes) -> None:
        """Add a message with targets.

        A message that is earlier than the last one shows that the run has been reset.

        Args:
            name: of the topic.
            data: serialized message.
        """
        time, change = decode_change(name, data, self._joints)
        if self._targets and time < self._targets[-1][0]:
            self._targets.clear()
        add_change(self._targets, time, change)

    def target(self, state: RobotState) -> Target | None:
        """Return the target in force at the time of a state; None before the first one."""
        count = bisect_right(self._targets, state.time + ROUND_OFF, key=lambda entry: entry[0])
        return self._targets[count - 1][1] if count else None

    def switches(self, state: RobotState) -> Mapping[str, bool]:
        """Return the switches to set at this tick."""
        return self.asked

    def faults(self, state: RobotState) -> Sequence[Fault]:
        """Return the faults that are due, once each."""
        due = [fault for fault in self.failed if fault.time <= state.time + ROUND_OFF]
        self.failed = [fault for fault in self.failed if fault not in due]
        return due


def _value_text(value: Json) -> str:
    """Return a value as text, without quotation marks around strings."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_value_text(v)}" for k, v in value.items()) + "}"
    return str(value)

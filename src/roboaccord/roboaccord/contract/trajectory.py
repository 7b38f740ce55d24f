"""Trajectories: recorded motions of a robot, with a hash that is the same for equal runs.

A run has k control ticks, the instants at which the controller is called. A `Trajectory` contains
the states at the ticks, as arrays with one row per tick, and the efforts, wrenches and switches
between ticks. Row `i` of these belongs to the interval that *ends* at tick `i`; row 0 is the
initial state. Two kinds are distinguished: values that were in force (`effort`, `wrench`,
`switches`), and those that the controller requested (`commanded`, `wished`), which faults and
limits may have changed.

The hash covers the arrays of OVER_TIME, in that order. It must stay, because published hashes and
those in bags were computed by it. A new array is therefore a field with a default; `from_states`
stacks it and `at` selects from it, but it is not part of `rows`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.checks import divergence
from roboaccord.contract.results import Quantity, Signals
from roboaccord.contract.state import (
    NO_BODIES,
    NO_SWITCHES,
    STATE_ARRAYS,
    Command,
    RobotState,
    freeze_fields,
)
from roboaccord.contract.state import Event as Event
from roboaccord.numerics.arrays import Array

NO_WRENCH = np.zeros(6)  # [N, N m]; no force and no moment on the base
NANO = 1e-9  # [s] resolution of the times of samples, which are rounded to it
# Names of the arrays that are hashed, each with one row for each sample.
OVER_TIME = ("time", *STATE_ARRAYS)
IF_ANY = ("wrench", "commanded", "bodies")  # arrays over time that may be None


@dataclass(frozen=True)
class Trajectory(Signals):
    """A motion sampled at the k control ticks, the initial state included, read-only.

    Args:
        joints: joint names, n of them.
        time: (k,).
        q, qd, effort: (k, n); `effort[i]` was in force from `time[i-1]` to `time[i]`.
        position, orientation, twist: of `base_link`, (k, 3), (k, 4) and (k, 6), as in
            RobotState.
        events: in order of time.
        switches: state of each switch by name, such as a magnet (k,).
        wrench: on `base_link` in the world frame (k, 6) [N, N m]; `wrench[i]` was in force from
            `time[i-1]` to `time[i]`. None where no command had one.
        commanded: efforts that the controller asked for (k, n) [N m], before faults and limits;
            `commanded[i]` is for the interval from `time[i-1]` to `time[i]`. NaN if they are not
            known; None if none are.
        wished: state of each switch by name that the controller asked for (k,), as `commanded`.
        bodies: motion of the b free bodies (k, b, 13), as in RobotState; None without any.

    The hash covers `bodies` where there are any, and neither `switches`, `wrench`, `commanded` nor
    `wished`.
    """

    joints: tuple[str, ...]
    time: Annotated[Array, Quantity("s", "time")]
    q: Annotated[Array, Quantity("rad", "joint angle")]
    qd: Annotated[Array, Quantity("rad/s", "joint velocity")]
    effort: Annotated[Array, Quantity("N m", "joint effort")]
    position: Annotated[Array, Quantity("m", "base position")]
    orientation: Array
    twist: Array
    events: tuple[Event, ...] = ()
    switches: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    wrench: Array | None = None
    commanded: Array | None = None
    wished: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    bodies: Array | None = None

    def __post_init__(self) -> None:
        freeze_fields(self, (*OVER_TIME, *IF_ANY))
        for states in self.switches.values():
            states.setflags(write=False)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.time)

    @classmethod
    def from_states(
        cls,
        joints: Sequence[str],
        states: Sequence[RobotState],
        events: Sequence[Event] = (),
        commands: Sequence[Command] = (),
    ) -> Trajectory:
        """Stack the states of a run into arrays.

        Args:
            joints: joint names, n of them.
            states: k of them, one for each tick.
            events: in order of time.
            commands: the controller's k - 1 answers; `commands[i]` to `states[i]`.
        """
        wrenches = [c.wrench for c in commands]
        switches = states[0].switches if states else NO_SWITCHES
        has_bodies = bool(states) and len(states[0].bodies) > 0
        wrench, commanded, wished = None, None, {}
        # Row 0 is the initial state, before any command.
        if any(w is not None for w in wrenches):
            wrench = np.array([NO_WRENCH, *(NO_WRENCH if w is None else w for w in wrenches)])
        if commands:
            commanded = np.array([states[0].effort, *(c.effort for c in commands)])
            # A command without a switch leaves it as it is.
            answers = [*zip(states[1:], commands)]  # each state after a command, and the command
            for name, is_on in switches.items():
                later = [c.switches.get(name, s.switches[name]) for s, c in answers]
                wished[name] = np.array([is_on, *later])
        return cls(
            tuple(joints),
            **{name: np.array([getattr(state, name) for state in states]) for name in OVER_TIME},
            events=tuple(events),
            switches={name: np.array([s.switches[name] for s in states]) for name in switches},
            wrench=wrench,
            commanded=commanded,
            wished=wished,
            bodies=np.array([s.bodies for s in states]) if has_bodies else None,
        )

    def state(self, index: int) -> RobotState:
        """Return the sample at `index` as a state."""
        joints = self.q[index], self.qd[index], self.effort[index]
        base = self.position[index], self.orientation[index], self.twist[index]
        bodies = NO_BODIES if self.bodies is None else self.bodies[index]
        time, switches = float(self.time[index]), self._switches(index)
        return RobotState(time, *joints, *base, switches, bodies=bodies)

    def command(self, index: int) -> Command:
        """Return the command in force from the sample at `index` to the next one."""
        return self.command_until(index + 1)

    def command_until(self, index: int) -> Command:
        """Return the command in force during the interval that ends at the sample at `index`."""
        wrench = None if self.wrench is None else self.wrench[index]
        return Command(self.effort[index], self._switches(index), wrench, in_force=True)

    def _switches(self, index: int) -> Mapping[str, bool]:
        """Return the state of each switch at the sample at `index`."""
        by_name = self.switches
        return {name: bool(on[index]) for name, on in by_name.items()} if by_name else NO_SWITCHES

    def requested(self, index: int) -> Command | None:
        """Return the command that the controller computed from the sample at `index`.

        It is the one before faults and limits; None if it was not recorded.
        """
        commanded = self.commanded
        if commanded is None or not np.isfinite(commanded[index + 1]).all():
            return None
        wished = {name: bool(on[index + 1]) for name, on in self.wished.items()}
        wrench = None if self.wrench is None else self.wrench[index + 1]
        return Command(commanded[index + 1], wished, wrench)

    def period(self, index: int) -> float:
        """Return the time between the sample at `index` and the next one [s], to a nanosecond."""
        return float(round(self.time[index + 1] - self.time[index], 9))

    @property
    def divergence(self) -> str:
        """A sentence that states from when on the motion diverges; "" if it does not."""
        return divergence(self.joints, self.time, self.qd)

    def window(self, start: float, stop: float) -> Trajectory:
        """Return the samples with start <= time <= stop [s]."""
        samples = self.at((self.time >= start - NANO) & (self.time <= stop + NANO))
        return replace(samples, events=tuple(e for e in self.events if start <= e.time <= stop))

    def at(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Trajectory:
        """Return the samples at `rows`, indices or a mask (k,), without the events."""
        arrays = {name: getattr(self, name) for name in (*OVER_TIME, *IF_ANY)}
        return Trajectory(
            self.joints,
            **{name: array[rows] for name, array in arrays.items() if array is not None},
            switches={name: on[rows] for name, on in self.switches.items()},
            wished={name: on[rows] for name, on in self.wished.items()},
        )

    def rows(self) -> Array:
        """Return the hashed table (k, 3n + 14 + 13 b).

        Its columns are t, q, qd, effort, position, orientation, twist, and those of the b bodies.
        """
        columns = [getattr(self, name) for name in OVER_TIME]
        if self.bodies is not None:
            columns.append(self.bodies.reshape(len(self), -1))
        return np.column_stack(columns)

    def sha256(self) -> str:
        """Return the SHA-256 of the rows as little-endian float64: equal for equal runs only."""
        return hashlib.sha256(self.hashed_bytes()).hexdigest()

    def hashed_bytes(self, first: int = 0) -> bytes:
        """Return the hashed bytes of the samples from `first` on.

        The bytes of consecutive parts of a run, joined, are the bytes of the whole run.
        """
        rows = self.rows()[first:] + 0.0  # turns -0.0, which compares equal to 0.0, into 0.0
        return np.ascontiguousarray(rows, dtype="<f8").tobytes()

"""Trajectories: recorded motions with a hash that identifies equal runs.

OVER_TIME, its order, and `hashed_bytes` are fixed: published hashes and those in bags are made by
them. Whatever else a run keeps is a field with a default that is not part of `rows`, such as
`switches`, `wrench` and `commanded`; it is also added to `from_states` and `at`. Methods that read
a motion may be added.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.checks import divergence
from roboaccord.contract.results import Drawn, Quantity
from roboaccord.contract.state import (
    NO_SWITCHES,
    STATE_ARRAYS,
    Array,
    Command,
    RobotState,
    freeze_fields,
)
from roboaccord.contract.state import Event as Event

NO_WRENCH = np.zeros(6)  # [N, N m]
OVER_TIME = ("time", *STATE_ARRAYS)
"""Arrays of a motion with a row for each sample."""


@dataclass(frozen=True)
class Trajectory(Drawn):
    """A motion sampled at the k control ticks, the initial state included, read-only.

    Args:
        joints: joint names, n of them.
        time: (k,).
        q, qd, effort: (k, n); `effort[i]` was in force from `time[i-1]` to `time[i]`.
        position, orientation, twist: of `base_link`, (k, 3), (k, 4) and (k, 6), as in
            RobotState.
        events: in order of time.
        switches: state of each switch by name (k,); no part of `rows`, and so of the hash.
        wrench: on `base_link` in the world (k, 6) [N, N m], in force as `effort` was; None where
            none was commanded. No part of `rows` either.
        commanded: efforts that the controller gave for the interval (k, n) [N m], NaN where they
            are not known; None where none are. Neither these nor `wished` are part of `rows`.
        wished: state of each switch that commands asked for (k,).
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

    def __post_init__(self) -> None:
        freeze_fields(self, ("time", *STATE_ARRAYS, "wrench", "commanded"))
        for on in self.switches.values():
            on.setflags(write=False)

    def __len__(self) -> int:
        return len(self.time)

    @classmethod
    def from_states(
        cls,
        joints: Sequence[str],
        states: Sequence[RobotState],
        events: Sequence[Event] = (),
        commands: Sequence[Command] = (),
    ) -> Trajectory:
        """Stack the states of a run, and the wrenches of the commands between them."""
        wrenches = [c.wrench for c in commands]
        names = states[0].switches if states else NO_SWITCHES
        asked = [(state, c.switches) for state, c in zip(states[1:], commands)]
        wrench, commanded, wished = None, None, {}
        if any(w is not None for w in wrenches):
            wrench = np.array([NO_WRENCH, *(NO_WRENCH if w is None else w for w in wrenches)])
        if commands:
            commanded = np.array([states[0].effort, *(c.effort for c in commands)])
            for n in names:
                later = (c.get(n, s.switches[n]) for s, c in asked)
                wished[n] = np.array([states[0].switches[n], *later])
        return cls(
            tuple(joints), events=tuple(events), wrench=wrench, commanded=commanded, wished=wished,
            switches={n: np.array([s.switches[n] for s in states]) for n in names},
            **{name: np.array([getattr(s, name) for s in states]) for name in OVER_TIME},
        )  # fmt: skip

    def state(self, index: int) -> RobotState:
        """Return the sample at `index` as a state."""
        return RobotState(
            float(self.time[index]), self.q[index], self.qd[index], self.effort[index],
            self.position[index], self.orientation[index], self.twist[index],
            self._switches(index),
        )  # fmt: skip

    def command(self, index: int) -> Command:
        """Return the command between the sample at `index` and the next one."""
        return self.held(index + 1)

    def held(self, index: int) -> Command:
        """Return the command that led to the sample at `index`."""
        wrench = None if self.wrench is None else self.wrench[index]
        return Command(self.effort[index], self._switches(index), wrench, in_force=True)

    def _switches(self, index: int) -> Mapping[str, bool]:
        on = self.switches
        return {name: bool(row[index]) for name, row in on.items()} if on else NO_SWITCHES

    def asked(self, index: int) -> Command | None:
        """Return what the controller answered to the sample at `index`; None if not known."""
        given = self.commanded
        if given is None or not np.isfinite(given[index + 1]).all():
            return None
        wished = {name: bool(on[index + 1]) for name, on in self.wished.items()}
        wrench = None if self.wrench is None else self.wrench[index + 1]
        return Command(given[index + 1], wished, wrench)

    def period(self, index: int) -> float:
        """Return the time between the sample at `index` and the next one [s], to a nanosecond."""
        return float(round(self.time[index + 1] - self.time[index], 9))

    @property
    def divergence(self) -> str:
        """From when on it diverges, in words; "" where it does not."""
        return divergence(self.joints, self.time, self.qd)

    def window(self, start: float, stop: float) -> Trajectory:
        """Return the samples with start <= time <= stop [s]."""
        kept = self.at((self.time >= start - 1e-9) & (self.time <= stop + 1e-9))
        return replace(kept, events=tuple(e for e in self.events if start <= e.time <= stop))

    def at(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Trajectory:
        """Return some of the samples, without the events."""
        return Trajectory(
            self.joints,
            **{name: getattr(self, name)[rows] for name in OVER_TIME},
            switches={name: on[rows] for name, on in self.switches.items()},
            wrench=None if self.wrench is None else self.wrench[rows],
            commanded=None if self.commanded is None else self.commanded[rows],
            wished={name: on[rows] for name, on in self.wished.items()},
        )

    def rows(self) -> Array:
        """Return one row [t, q, qd, effort, position, orientation, twist] a tick, (k, 3n + 14)."""
        return np.column_stack([getattr(self, name) for name in OVER_TIME])

    def sha256(self) -> str:
        """Return the SHA-256 of the rows as little-endian float64: equal for equal runs only."""
        return hashlib.sha256(self.hashed_bytes()).hexdigest()

    def hashed_bytes(self, first: int = 0) -> bytes:
        """Return the bytes of the samples from `first` on that are hashed.

        Joined, those of the parts of a run are those of the run.
        """
        rows = self.rows()[first:] + 0.0  # turns -0.0, which compares equal to 0.0, into 0.0
        return np.ascontiguousarray(rows, dtype="<f8").tobytes()

"""The signals of a report that a reader chooses from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.numerics.rotations import quaternion_rpy
from roboaccord.report.curves import REFERENCE, plain, stride

TURNS = ("roll", "pitch", "yaw")
JOINTS = 8  # shown, evenly spread, where a robot has more


def signals_of(trajectories: Mapping[str, Trajectory], engines: Sequence[str]) -> dict[str, Any]:
    """Return the signals that the page lets choose from, on the reference's times.

    Returns:
        `time` [s], `engines`, and `groups`: quantity to unit and signals; a signal has by engine
        its values, and how far `apart` they are from those of the first.
    """
    ordered = sorted(engines, key=lambda engine: engine != REFERENCE)
    runs = {engine: trajectories[engine] for engine in ordered if engine in trajectories}
    base = next(iter(runs.values()))
    time = base.time[:: stride(len(base))]
    count = len(base.joints)
    chosen = np.unique(np.linspace(0, count - 1, min(count, JOINTS)).round().astype(int))

    def sampled(pick: Callable[[Trajectory], Array]) -> dict[str, Any]:
        values = {e: np.interp(time, run.time, pick(run)) for e, run in runs.items()}
        first = next(iter(values))
        apart = {e: plain(v - values[first], 3) for e, v in values.items() if e != first}
        return {"value": {e: plain(v, 5) for e, v in values.items()}, "apart": apart}

    groups: dict[str, Any] = {}
    for title, unit, name in (
        ("joint angle", "rad", "q"),
        ("joint velocity", "rad/s", "qd"),
        ("joint effort", "N m", "effort"),
    ):
        signals = {base.joints[i]: sampled(_column(name, i)) for i in chosen.tolist()}
        if signals:
            groups[title] = {"unit": unit, "signals": signals}
    axes = {axis: sampled(_column("position", i)) for i, axis in enumerate("xyz")}
    groups["base position"] = {"unit": "m", "signals": axes}
    turns = {axis: _turn(i) for i, axis in enumerate(TURNS)}
    shown = {
        axis: sampled(turn) for axis, turn in turns.items() if np.ptp(turn(base)) or axis == "yaw"
    }
    groups["base orientation"] = {"unit": "rad", "signals": shown}
    return {"time": plain(time), "engines": list(runs), "groups": groups}


def _column(name: str, index: int) -> Callable[[Trajectory], Array]:
    """Return what picks one column of a trajectory's array."""

    def pick(run: Trajectory) -> Array:
        values: Array = getattr(run, name)
        return values[:, index]

    return pick


def _turn(index: int) -> Callable[[Trajectory], Array]:
    """Return what picks roll, pitch or yaw of the base, without jumps."""

    def pick(run: Trajectory) -> Array:
        return np.unwrap([quaternion_rpy(q)[index] for q in run.orientation])

    return pick

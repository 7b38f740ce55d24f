"""Noise floor, rate of divergence and horizon: what round-off makes of a motion in each simulator.

Every simulator runs the scenario once more from the same start, and once from a start of which one
value has its last bit changed. With d(t) the largest distance of any link between these runs so far,

    floor = d(T),    rate = ln(d(t) / d(0)) / t,    horizon: d(horizon) = 1 mm,

where t is the horizon, or the end T of the run if that comes first: the finite-time Lyapunov rate
[Benettin et al. 1980], of the direction in which round-off grows most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.convergence import Job, largest_distance, link_centres
from roboaccord.crosscheck.runs import Runs
from roboaccord.description.tree import Tree
from roboaccord.scenario.scenario import Tolerances, limit_of

HORIZON = 1e-3  # m


@dataclass(frozen=True)
class Noise:
    """Hold what round-off makes of a motion.

    Args:
        floor: largest distance of any link from itself in a run with other round-off [m].
        rate: at which that distance grows, its logarithm's mean slope [1/s]; None where there is
            no distance.
        horizon: when it comes to 1 mm [s]; None where it does not within the run.
    """

    floor: float
    rate: float | None
    horizon: float | None


def measure_all(tree: Tree, runs: Runs, names: list[str]) -> dict[str, Noise]:
    """Return the noise of each simulator at the scenario's physics step."""
    dt = runs.steps[0]
    return {
        name: measure_noise(
            tree,
            runs.shown(name),
            runs.found[Job(name, dt, again=True)],
            runs.found[Job(name, dt, bit=True)],
        )
        for name in names
    }


def measure_noise(tree: Tree, run: Trajectory, again: Trajectory, bit: Trajectory) -> Noise:
    """Compare a run with its repetition, and with one from a start whose last bit is changed."""
    centres = link_centres(tree, run)
    repeated, changed = (
        largest_distance(link_centres(tree, other) - centres) for other in (again, bit)
    )
    apart = np.maximum.accumulate(np.maximum(repeated, changed))
    past = np.flatnonzero(apart >= HORIZON)
    last = int(past[0]) if past.size else len(apart) - 1
    elapsed = float(run.time[last] - run.time[0])
    # No distance can be told that is below the round-off of the places themselves.
    start = max(apart[0], np.finfo(float).eps * np.abs(centres).max())
    grown = apart[last] > 0.0 and elapsed > 0.0
    return Noise(
        floor=float(apart[-1]),
        rate=float(np.log(apart[last] / start) / elapsed) if grown else None,
        horizon=float(run.time[last]) if past.size else None,
    )


def refuse_tolerances(tolerances: Tolerances, noise: Mapping[str, Noise], least: float) -> None:
    """Refuse tolerances of trajectories that noise would exceed.

    Args:
        tolerances: of the scenario.
        noise: by engine.
        least: floor of the reference with which they are compared [m].

    Raises:
        AccordError: naming the key and the floor.
    """
    for engine in noise:
        limit, floor = tolerances.trajectory.get(engine), max(noise[engine].floor, least)
        if limit is not None and limit_of(limit) < floor:
            raise AccordError(
                f"crosscheck.tolerances.trajectory.{engine}: {limit_of(limit):g} m is below the "
                f"noise floor of {floor:.2g} m"
            )


def sensitive(noise: Mapping[str, Noise]) -> list[str]:
    """Return in words until when runs of a sensitive motion can agree, by engine."""
    return [
        f"{engine}: agree until t = {found.horizon:.4g} s: the last bit of a start value makes "
        "1 mm by then"
        for engine, found in noise.items()
        if found.horizon is not None
    ]

"""The growth of round-off in a motion: its floor, its rate, and until when runs can agree.

HORIZON is stated in docs/validation.md and stays; so do the fields of `Noise`, keys of `--json`.
test_noise tests floor, rate and horizon by an exponential and by Lyapunov rates along runs.

Every simulator runs the scenario again from the same start, from a start of which one value has its
last bit changed, and from one with that value changed by 1e-9. With d(t) the largest distance of
any link between two runs so far, the floor is d(T) of the first two at the end T, the horizon the
time at which it comes to 1 mm, and

    rate = ln(d(t) / d(0)) / t

of the third, where t is T, or the time at which d comes to 1 mm if that is before: the finite-time
Lyapunov rate along the motion [Benettin et al. 1980], free of the round-off of the steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Code, Reason, because
from roboaccord.contract.results import Quantity
from roboaccord.contract.state import Array
from roboaccord.crosscheck.links import largest_distance
from roboaccord.crosscheck.runs import NOISE, NUDGE, Job, Runs
from roboaccord.description.tree import Tree
from roboaccord.scenario.scenario import Tolerances, limit_of

HORIZON = 1e-3  # m


@dataclass(frozen=True)
class Noise:
    """Hold what round-off makes of a motion.

    Args:
        floor: largest distance of any link from itself in a run with other round-off.
        rate: mean slope of the logarithm of a small distance; None where there is none.
        horizon: when the floor comes to 1 mm; None where it does not within the run.
    """

    floor: Annotated[float, Quantity("m", "distance that round-off grows to", "", ".1g", "mm")]
    rate: Annotated[float | None, Quantity("1/s", "at which small distances grow")]
    horizon: Annotated[float | None, Quantity("s", "when the floor comes to 1 mm", form=".3g")]


def measure_all(tree: Tree, runs: Runs, names: Sequence[str]) -> dict[str, Noise]:
    """Return the noise of each simulator at the scenario's physics step."""
    found = {}
    for name in names:
        jobs = [Job(name, runs.steps[0], **how) for how in ({}, *({how: True} for how in NOISE))]
        centres = (runs.centres(tree, job) for job in jobs)
        found[name] = measure_noise(runs.found[jobs[0]].time, *centres)
    return found


def measure_noise(time: Array, centres: Array, again: Array, bit: Array, nudged: Array) -> Noise:
    """Return the noise of a run by the links' centres (k, links, 3) of it and of the others.

    Those are its repetition, and runs from starts that are changed.
    """
    repeated, changed, apart = (
        np.maximum.accumulate(largest_distance(other - centres)) for other in (again, bit, nudged)
    )
    noise = np.maximum(repeated, changed)
    horizon, end = _horizon(noise), _horizon(apart)
    last = len(apart) - 1 if end is None else end
    elapsed = float(time[last] - time[0])
    start = max(apart[0], NUDGE * HORIZON)  # a lever is 1 mm at least
    diverges = elapsed > 0.0 and apart[last] >= start
    return Noise(
        floor=float(noise[-1]),
        rate=float(np.log(apart[last] / start) / elapsed) if diverges else None,
        horizon=None if horizon is None else float(time[horizon]),
    )


def _horizon(distance: Array) -> int | None:
    past = np.flatnonzero(distance >= HORIZON)
    return int(past[0]) if past.size else None


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
        limit, floor = tolerances.of(engine), max(noise[engine].floor, least)
        if limit is not None and limit_of(limit) < floor:
            raise AccordError(
                f"crosscheck.tolerances.trajectory.{engine}: {limit_of(limit):g} m is below the "
                f"noise floor of {floor:.2g} m"
            )


def sensitive(noise: Mapping[str, Noise]) -> list[Reason]:
    """Return until when runs of a sensitive motion can agree, by engine."""
    return [
        because(Code.SENSITIVE, engine=engine, horizon=found.horizon)
        for engine, found in noise.items()
        if found.horizon is not None
    ]

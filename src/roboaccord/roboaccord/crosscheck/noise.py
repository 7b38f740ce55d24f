"""Growth of round-off in a motion: its floor, its rate, and the time up to which runs can agree.

Every simulator runs the scenario again from the same start, from a start with the last bit of one
value changed, and from one with that value changed by 1e-9. Let d(t) be the largest distance of any
link between such a run and the first one up to t. The floor is the larger d(T) of the former two at
the end T, the horizon the time at which it reaches 1 mm, and

    rate = ln(d(t) / d(0)) / t

of the third, where t is T or the time at which d reaches 1 mm, whichever is earlier: the
finite-time Lyapunov rate along the motion [Benettin et al. 1980], free of the steps' round-off.

HORIZON is stated in docs/validation.md and docs/ros.md and stays; so do the fields of `Noise`, keys
of `--json`. test_noise tests them by an exponential and by Lyapunov rates along runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from roboaccord.contract import AccordError, Array, Quantity
from roboaccord.contract.outcome import Code, Reason, because
from roboaccord.crosscheck.links import largest_distance
from roboaccord.crosscheck.runs import NOISE_FLAGS, START_CHANGE, Job, Runs
from roboaccord.description.tree import Tree
from roboaccord.scenario.scenario import Tolerances, limit_of

# Distance of links beyond which runs no longer agree [m]: a million times START_CHANGE. By choice:
# less than a pixel of a robot of 1 m, and so the smallest difference that a user would see.
HORIZON = 1e-3


@dataclass(frozen=True)
class Noise:
    """Effect of round-off on a motion.

    Args:
        floor: largest distance of any link from itself in a run with other round-off [m].
        rate: mean growth rate of a small distance [1/s]; None where it does not grow.
        horizon: when the floor reaches 1 mm [s]; None where it does not within the run.
    """

    floor: Annotated[float, Quantity("m", "distance that round-off grows to", "", ".1g", "mm")]
    rate: Annotated[float | None, Quantity("1/s", "at which small distances grow")]
    horizon: Annotated[float | None, Quantity("s", "when the floor comes to 1 mm", form=".3g")]


def measure_all(tree: Tree, runs: Runs, names: Sequence[str]) -> dict[str, Noise]:
    """Return the noise of each simulator at the scenario's physics step."""
    noise_by_name = {}
    for name in names:
        job = Job(name, runs.steps[0])
        variants = (Job(name, runs.steps[0], **{flag: True}) for flag in NOISE_FLAGS)
        centres = [runs.centres(tree, variant) for variant in (job, *variants)]
        noise_by_name[name] = measure_noise(runs.by_job[job].time, centres)
    return noise_by_name


def measure_noise(time: Array, centres: Sequence[Array]) -> Noise:
    """Return the noise of a run, by its distance from runs that differ from it by little.

    Args:
        time: of the samples (k,) [s].
        centres: of links (k, links, 3) [m], in the run, in its repetition, and in runs from a start
            that is changed by the last bit, and by START_CHANGE.
    """
    # Largest distance up to each time (k,) [m], of each other run.
    by_repeating, by_bit, by_nudge = (
        np.maximum.accumulate(largest_distance(other - centres[0])) for other in centres[1:]
    )
    noise = np.maximum(by_repeating, by_bit)
    horizon, end = _horizon(noise), _horizon(by_nudge)
    last = len(by_nudge) - 1 if end is None else end
    elapsed = float(time[last] - time[0])
    # The start is changed by START_CHANGE [rad] on a lever of 1 mm at least.
    start = max(by_nudge[0], START_CHANGE * HORIZON)
    diverges = elapsed > 0.0 and by_nudge[last] >= start
    return Noise(
        floor=float(noise[-1]),
        rate=float(np.log(by_nudge[last] / start) / elapsed) if diverges else None,
        horizon=None if horizon is None else float(time[horizon]),
    )


def _horizon(distance: Array) -> int | None:
    """Return the first sample at which a distance (k,) has reached HORIZON, if any."""
    beyond = np.flatnonzero(distance >= HORIZON)
    return int(beyond[0]) if beyond.size else None


def refuse_tolerances(tolerances: Tolerances, noise: Mapping[str, Noise], least: float) -> None:
    """Refuse tolerances of trajectories below the noise.

    Args:
        tolerances: of the scenario.
        noise: by engine.
        least: floor of the reference [m].

    Raises:
        AccordError: naming the key and the floor.
    """
    for engine in noise:
        limit, floor = tolerances.of(engine), max(noise[engine].floor, least)
        if limit is not None and limit_of(limit) < floor:
            key = f"crosscheck.tolerances.trajectory.{engine}"
            reason = f"{limit_of(limit):g} m is below the noise floor of {floor:.2g} m"
            raise AccordError(f"{key}: {reason}")


def sensitive(noise: Mapping[str, Noise]) -> list[Reason]:
    """Return a note on each engine whose runs agree only up to a horizon."""
    return [
        because(Code.SENSITIVE, engine=engine, horizon=effect.horizon)
        for engine, effect in noise.items()
        if effect.horizon is not None
    ]

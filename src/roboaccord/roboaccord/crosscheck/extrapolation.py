"""Richardson extrapolation to a physics step of 0, and the bound on its remainder.

SAFETY, RANGE, AHEAD, RISING and NEAREST may be tuned. They decide what is outside at every level
that goes by the physics step: after a change run `make sound` (false alarms) and `make planted`
(missed errors). The formulas are fixed by the papers below, and so is STEPS = 3, which two
estimates need; test_outcomes tests both on powers of the step.

With runs at h, h/2 and h/4 and a scheme of order p, x(h) = x_0 + a h^p + O(h^(p+1)), two runs give
x_0 but for the next order [Richardson 1911]. The two estimates that three runs give differ by more
than twice what the finer of them errs by, so their difference bounds what time stepping explains.

That holds in the asymptotic range, where the next order is small beside the first. The runs show it
by themselves: the difference of the estimates over that of the coarser two runs, as norms over all
coordinates, is the share of the next order [Roache 1998; Eca and Hoekstra 2014]. One coordinate's
difference may be small by chance, that of all is not. So what exceeds its own bound is sure only
if it exceeds that share of what the coordinate itself changes by, too.

An engine starts again from states of its own run, at smaller and smaller physics steps. A short
path from the same state is not chaotic, whatever the motion is; so how the step changes it shows
what time stepping makes of the recorded run there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from roboaccord.contract.outcome import Code, Finding, Reason, because
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.engines.base import engine_parts
from roboaccord.engines.spec import EngineSpec
from roboaccord.numerics.ranking import first_largest
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

SAFETY = 2.0  # on the difference of the two estimates
AHEAD = 0.05  # of a run
STEPS = 3  # physics steps that it takes
RANGE = 0.5  # share of the next order up to which a range is asymptotic
RISING = 0.1  # difference of orders at two pairs of steps from which on they rise
NEAREST = 0.75  # below the order of the scheme, from which on that is another's


@dataclass(frozen=True)
class Remainder:
    """Hold the remainder at a step of 0 of the coordinate that exceeds its bound most.

    Args:
        size: of what is left.
        bound: of what time stepping, round-off and the reference explain.
        coordinate: index.
        sample: index of the first sample at which the bound is exceeded, or of the largest ratio.
        asymptotic: whether an excess is sure: True too where there is none.
    """

    size: float
    bound: float
    coordinate: int
    sample: int
    asymptotic: bool = True


def few_steps() -> Reason:
    """Return that there are too few physics steps for a verdict."""
    return because(Code.FEW_STEPS, steps=STEPS)


def coarse(step: float, *reasons: Reason, smaller: bool = True) -> Finding:
    """Return that an error is off its course outside the asymptotic range, and what to do.

    Args:
        step: the smallest [s].
        reasons: what is off.
        smaller: whether half of it would decide.
    """
    return Finding.not_judged(*reasons, because(Code.COARSE, step=step), smaller=smaller)


def extrapolate(coarse: Array, fine: Array, order: int) -> Array:
    """Return the estimate at a step of 0 from errors at a step and at half of it."""
    factor = 2.0**order
    return np.asarray((factor * fine - coarse) / (factor - 1.0))


def estimates(errors: Sequence[Array], order: int) -> tuple[Array, Array]:
    """Return the estimates from the first two and the last two of three errors."""
    first, second, third = errors[-STEPS:]
    return extrapolate(first, second, order), extrapolate(second, third, order)


def remainder_over_time(errors: Sequence[Array], order: int, floor: Array) -> Remainder:
    """Return the remainder of errors (k, c) that grow with time, by their running maximum.

    The difference of the estimates passes through 0 now and then. So what it bounds is held against
    its largest value up to `AHEAD` of the run later.

    Args:
        errors: of the k samples and c coordinates, from the largest step to the smallest.
        order: of the scheme.
        floor: what is not time stepping (k, c).
    """
    first, last = estimates(errors, order)
    left = np.maximum.accumulate(np.abs(last), axis=0)
    apart = np.maximum.accumulate(np.abs(last - first), axis=0)
    moved = np.maximum.accumulate(np.abs(errors[-2] - errors[-STEPS]), axis=0) / (2.0**order - 1.0)
    count = len(apart)
    later = np.minimum(np.arange(count) + max(1, round(AHEAD * count)), count - 1)
    found, shown = _largest(left, apart[later], moved[later], floor)
    over = np.flatnonzero(shown[:, found.coordinate] > 1.0)
    return replace(found, sample=int(over[0])) if over.size else found


def remainder_of_samples(errors: Sequence[Array], order: int, floor: Array) -> Remainder:
    """Return the remainder of errors (k, c) of independent samples, by root mean squares.

    Args:
        errors: of the k samples and c coordinates, from the largest step to the smallest.
        order: of the scheme.
        floor: what is not time stepping, as a root mean square (c,).
    """
    first, last = estimates(errors, order)
    moved = (errors[-2] - errors[-STEPS]) / (2.0**order - 1.0)
    left, apart, changed = (
        np.sqrt(np.mean(each**2, axis=0, keepdims=True)) for each in (last, last - first, moved)
    )
    found, _ = _largest(left, apart, changed, floor)
    return replace(found, sample=first_largest(np.abs(last[:, found.coordinate])))


def _largest(left: Array, apart: Array, moved: Array, floor: Array) -> tuple[Remainder, Array]:
    """Return the remainder that exceeds its bound most, and what each has of its bound (k, c).

    Where any excess is sure, of those that are: in the asymptotic range, and beyond its share.

    Args:
        left: what is left at a step of 0.
        apart: difference of the estimates.
        moved: difference of the coarser two runs, as an error at a step of 0.
        floor: what is not time stepping.
    """
    bound = SAFETY * apart + floor
    beyond = np.linalg.norm(np.maximum(apart - SAFETY * floor, 0.0), axis=1)
    share = beyond / np.maximum(np.linalg.norm(moved, axis=1), np.finfo(float).tiny)
    wide = SAFETY * share[:, None] * moved + floor
    sure = (share[:, None] <= RANGE) & (left > np.maximum(bound, wide))
    ratio = left / np.maximum(bound, np.finfo(float).tiny)
    shown = np.where(sure, ratio, 0.0) if sure.any() else ratio
    sample, coordinate = map(int, np.unravel_index(first_largest(shown), shown.shape))
    size, most = float(left[sample, coordinate]), float(bound[sample, coordinate])
    return Remainder(size, most, coordinate, sample, sure.any() or size <= most), shown


def has_settled(errors: Sequence[Array], order: int) -> bool:
    """Return whether errors fall by one power of the step, which need not be that of the scheme.

    Either all of them do; or the differences of the runs fall by the power of the scheme, and the
    rest is what does not fall. A power that still rises to the scheme's has not settled.
    """
    one, two, three = errors[-STEPS:]
    sizes = [max(float(np.linalg.norm(e)), np.finfo(float).tiny) for e in (one, two, three)]
    first, last = (float(np.log2(a / b)) for a, b in pairwise(sizes))
    if last > first + RISING and last > order - NEAREST:
        return False
    if _fits(one - two, two - three, 2.0**order):
        return True
    slope = float(np.sqrt(sizes[0] / sizes[2]))
    return _fits(one, two, slope) and _fits(two, three, slope)


def _fits(coarse: Array, fine: Array, factor: float) -> bool:
    return bool(np.linalg.norm(coarse - factor * fine) <= RANGE * np.linalg.norm(coarse))


def observed_order(steps: Sequence[float], errors: Sequence[float], floor: float) -> float | None:
    """Return the slope of log error over log step of what exceeds the floor; None below two."""
    above = [(h, e) for h, e in zip(steps, errors, strict=True) if e > floor]
    if len(above) < 2:
        return None
    log_step, log_error = np.log(above).T
    return float(np.polyfit(log_step, log_error, 1)[0])


class Restart(NamedTuple):
    """Hold the motion of a simulator from a state of a run, over some of its control periods.

    Args:
        run: states, efforts and events.
        lost: energy taken by channel [J].
    """

    run: Trajectory
    lost: Mapping[str, float]


def engines_of(setup: Setup, engine: EngineSpec) -> list[Simulator]:
    """Return an engine at the scenario's physics step, a half and a quarter of it."""
    step = setup.scenario.physics_step
    return [make_simulator(setup, engine, physics_step=step / 2**i) for i in range(STEPS)]


def no_restart(simulator: Simulator) -> str:
    """Return why an engine cannot start from the states of a run; "" where it can."""
    if simulator.unplaced:
        return simulator.unplaced
    names = {j.name for part in engine_parts(simulator) for j in part.tree.moving}
    known = {name for part in engine_parts(simulator) for name in part.joints}
    hidden = ", ".join(sorted(names - known))
    return f"the record lacks {hidden}" if hidden else ""


def go(simulator: Simulator, run: Trajectory, first: int, last: int) -> Restart:
    """Let a simulator go from one sample of a run to another, as that was commanded."""
    states, commands, events = [simulator.reset(run.state(first))], [], list[Event]()
    simulator.take_losses()
    lost: dict[str, float] = {}
    for i in range(first, last):
        command = run.command(i)
        states.append(simulator.step(command, run.period(i)))
        commands.append(command)
        events += simulator.take_events()
        for channel, energy in simulator.take_losses().items():
            lost[channel] = lost.get(channel, 0.0) + energy
    return Restart(Trajectory.from_states(run.joints, states, events, commands), lost)

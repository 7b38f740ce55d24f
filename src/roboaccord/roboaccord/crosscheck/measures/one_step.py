"""One-step errors: the reference starts from recorded states and predicts the next ones.

Errors are measured at the engine's physics steps h, h/2 and h/4, for their order and the remainder
at a step of 0 (extrapolation.py). Two runs of a chaotic motion diverge, so their states at two
steps cannot be compared. There the engine starts again from the recorded states at each step, in
control periods (ticks) in which nothing happens. Ticks with an event or with a joint at its stop
are left out: the engine's own law acts there, and level `statistics` compares its effect. FEWEST
may be tuned. Names of `OneStepCheck` are keys of summary.json and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Annotated

import numpy as np

from roboaccord.contract.results import LEFT_OUT, Json, Quantity, by_fields, unit_of
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.columns import state_difference
from roboaccord.crosscheck.extrapolation import (
    STEPS,
    has_settled,
    observed_order,
    remainder_of_samples,
    rms,
)
from roboaccord.crosscheck.level_context import NO_CONTEXT, LevelContext
from roboaccord.crosscheck.measures.predictions import (
    SAMPLED,
    Predictions,
    judged_columns,
    lift_at_start,
    measure_floor,
    name_rate,
    predict,
)
from roboaccord.crosscheck.restart import restart, simulators_by_step, why_no_restart
from roboaccord.crosscheck.runs import tightened, twice_or_half
from roboaccord.crosscheck.special_ticks import eventful_ticks, kink_ticks, stop_ticks
from roboaccord.crosscheck.ticks import Index, Mask, evenly_spaced
from roboaccord.engines.spec import EngineSpec
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup

FEWEST = 5  # ticks that a root mean square needs to be judged: it is then known to a third


@dataclass(frozen=True)
class OneStepCheck:
    """Errors of predicted joint velocities over one control period.

    Of a robot without joints, they are errors of the base's angular velocity.

    Args:
        rms, max: over all joints and samples.
        relative: rms over the rms change of the velocities in a period, in the engine or in the
            reference, whichever is larger: at rest nothing is predicted.
        time, error: time and largest error of each sample (k,).
        base: largest error of the base's position.
        spin, spin_relative: as `rms` and `relative`, of the base's angular velocity.
        order: observed order of rms in the physics step, over periods without an event or a kink;
            None with one step.
        spin_order: that of spin.
        finest: `relative` and `spin_relative` at the smallest physics step.
        left: rms remainder at a physics step of 0, of the rate that exceeds its bound most.
        bound: of that remainder, by time stepping and the reference's own error.
        where: name of that rate.
        floor: rms of the reference's own error.
        asymptotic: whether an excess over the bound is in the asymptotic range.
        step: the smallest physics step.
        expected_order: order with which errors must fall.
        settled: whether smaller steps would show the same order.
        judged, ticks: number of periods without an event, and of all.
        context: what other levels say, on which the judgement depends.
    """

    rms: Annotated[float, Quantity("rad/s", "rms error of a control period", form=".1e")]
    max: Annotated[float, Quantity("rad/s", "largest error of a control period")]
    relative: Annotated[float, Quantity("1", "share of the change")]
    base: Annotated[float, Quantity("m", "largest error of the base's position")]
    time: Annotated[Array, Quantity("s", "time")]
    error: Annotated[Array, Quantity("rad/s", "largest error")]
    spin: Annotated[float, Quantity("rad/s", "rms error of the base's turning")] = 0.0
    spin_relative: float = 0.0
    order: float | None = None
    spin_order: float | None = None
    finest: tuple[float, float] = field(default=(0.0, 0.0), metadata=LEFT_OUT)
    left: float | None = None
    bound: float | None = None
    where: str = ""
    floor: Annotated[float, Quantity("rad/s", "rms of the reference's own error")] = 0.0
    asymptotic: bool = True
    step: Annotated[float, Quantity("s", "smallest physics step")] = 0.0
    expected_order: int = 1
    settled: bool = True
    judged: int = 0
    ticks: int = 0
    context: LevelContext = field(default=NO_CONTEXT, metadata=LEFT_OUT)

    def to_json(self) -> dict[str, Json]:
        """Return the fields, and the unit of the errors."""
        return {**by_fields(self), "unit": unit_of(OneStepCheck, "rms")}

    @property
    def remainder(self) -> bool | None:
        """True if the remainder at a step of 0 is within its bound; None with too few steps."""
        return None if self.left is None or self.bound is None else self.left <= self.bound


def check_steps(
    setup: Setup,
    engine: EngineSpec,
    order: int,
    runs: Mapping[float, Trajectory],
    picked: Callable[[Index], Index] = lambda ticks: ticks,
) -> OneStepCheck:
    """Check one engine's runs period by period, by a reference at the smallest physics step.

    Over a fixed control period an engine of order p has an error of O(dt^p) in the velocities; an
    error that does not fall is not due to time stepping. The engine's own order is expected in
    periods without an event or a kink, and order 1 with contact.

    Args:
        setup: robot and scenario.
        engine: that made the runs.
        order: of its integrator.
        runs: by physics step.
        picked: selects the ticks to compare; all by default.
    """
    period, fine = setup.scenario.control_period, min(runs)
    simulator = make_simulator(setup, engine)
    # Ticks to predict, and those of them that are free of events and kinks at every step.
    eventful = [
        eventful_ticks(run, period) | kink_ticks(simulator, run, fine) for run in runs.values()
    ]
    chosen = picked(np.arange(len(eventful[0])))
    free = ~np.any(eventful, axis=0)[chosen]
    expected = order if setup.contact is None and free.any() and len(runs) >= STEPS else 1
    # Predictions by the reference at the smallest step, and its own error by a coarser one.
    reference = make_simulator(tightened(setup), physics_step=fine)
    by_step = sorted(runs.items(), reverse=True)
    predictions = {dt: predict(reference, run, chosen) for dt, run in by_step}
    coarse = make_simulator(setup, physics_step=twice_or_half(fine, period))
    floor = measure_floor(coarse, runs[fine], predictions[fine], chosen)
    floor = floor + lift_at_start(setup, engine)
    smooth = free if free.any() else ~free
    checked = check_orders(runs[max(runs)], chosen, predictions, order, floor, smooth)
    return replace(checked, expected_order=expected)


def check_free_steps(
    setup: Setup, engine: EngineSpec, order: int, runs: Mapping[float, Trajectory]
) -> OneStepCheck | None:
    """Check one engine's chaotic motion period by period; None where too few periods are free.

    The runs of an engine that cannot start again from recorded states are compared as others are.
    """
    run, simulators = runs[max(runs)], simulators_by_step(setup, engine)
    if why_no_restart(simulators[0]):
        return check_steps(setup, engine, order, runs)
    smallest = simulators[-1].physics_step
    # Free ticks of the run, a sample of them.
    eventful = eventful_ticks(run, setup.scenario.control_period) | stop_ticks(simulators[0], run)
    free = np.flatnonzero(~(eventful | kink_ticks(simulators[0], run, smallest)))
    count = len(free)
    free = free[evenly_spaced(len(free), SAMPLED)]
    # The engine repeats each of them at each step; those with an event at any step are left out.
    repeats = [[restart(s, run, i, i + 1).run for i in free.tolist()] for s in simulators]
    undisturbed = [
        not any(restart.events or stop_ticks(simulators[0], restart).any() for restart in restarts)
        for restarts in zip(*repeats, strict=True)
    ]
    free, repeats = free[undisturbed], [[*compress(restarts, undisturbed)] for restarts in repeats]
    if len(free) < FEWEST:
        return None
    reference = make_simulator(tightened(setup), physics_step=smallest)
    predictions = predict(reference, run, free)
    coarse = make_simulator(setup, physics_step=2 * smallest)
    floor = measure_floor(coarse, run, predictions, free) + lift_at_start(setup, engine)
    # Errors at a smaller step: those of the run, less the change of the engine's own end state.
    by_step = {}
    for simulator, restarts in zip(simulators, repeats, strict=True):
        ends = zip(repeats[0], restarts, strict=True)
        changes = np.array([state_difference(a.state(1), b.state(1)) for a, b in ends])
        shifted = predictions.judged - judged_columns(changes)
        by_step[simulator.physics_step] = replace(predictions, judged=shifted)
    expected = order if setup.contact is None else 1
    checked = check_orders(run, free, by_step, order, floor, np.ones(len(free), dtype=bool))
    judged = round(count * float(np.mean(undisturbed)))
    return replace(checked, expected_order=expected, judged=judged, ticks=len(run) - 1)


def check_one_step(
    trajectory: Trajectory, predictions: Predictions, samples: Index | slice = slice(None)
) -> OneStepCheck:
    """Return the errors of one trajectory's predictions, over all samples or some of them."""
    n = len(trajectory.joints)
    rates, spins = predictions.errors[:, :n], predictions.errors[:, n + 3 :]
    recorded = np.diff(np.column_stack([trajectory.qd, trajectory.twist]), axis=0)[samples]
    changes = [
        max(rms(values[:, columns]) for values in (recorded, predictions.change))
        for columns in _columns(n)
    ]
    shown = rates if n else spins
    size, spin = rms(shown), rms(spins)
    return OneStepCheck(
        rms=size, relative=size / changes[0] if changes[0] else 0.0,
        spin=spin, spin_relative=spin / changes[1] if changes[1] else 0.0,
        time=trajectory.time[1:][samples], error=np.abs(shown).max(axis=1),
        max=float(np.abs(shown).max()), base=predictions.base,
    )  # fmt: skip


def check_orders(
    run: Trajectory,
    samples: Index,
    predictions: Mapping[float, Predictions],
    order: int,
    floor: Array,
    free: Mask,
) -> OneStepCheck:
    """Return the errors of a run, with their order and the remainder at a step of 0.

    Args:
        run: at the largest physics step.
        samples: indices of the predicted periods.
        predictions: by physics step, the largest first.
        order: of the engine's integrator.
        free: which of them show the orders: no event and no kink (k,).
        floor: rms of the reference's own error (n + 12,).
    """
    smooth = {dt: at_step.errors[free] for dt, at_step in predictions.items()}
    steps = sorted(predictions)[:STEPS]
    orders = [
        observed_order(steps, [rms(smooth[dt][:, columns]) for dt in steps], 0.0)
        for columns in _columns(len(run.joints))
    ]
    at_steps = [*predictions.values()]
    coarsest, finest = (check_one_step(run, at_steps[i], samples) for i in (0, -1))
    checked = replace(
        coarsest, order=orders[0], spin_order=orders[1], floor=float(floor[:-6].max()),
        finest=(finest.relative, finest.spin_relative), step=min(predictions),
    )  # fmt: skip
    if len(predictions) < STEPS:
        return checked
    judged = [at_step.judged for at_step in predictions.values()]
    remainder = remainder_of_samples(judged, order, floor)
    return replace(
        checked, left=remainder.size, bound=remainder.bound, asymptotic=remainder.asymptotic,
        where=name_rate(run.joints, remainder.coordinate),
        settled=has_settled([*smooth.values()], order),
    )  # fmt: skip


def _columns(n: int) -> tuple[slice, slice]:
    """Return the columns of joint rates (without joints the spin) and of the base's spin."""
    spins = slice(n + 3, None)
    return (slice(n) if n else spins), spins

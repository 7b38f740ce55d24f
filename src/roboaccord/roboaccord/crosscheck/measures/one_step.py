"""One-step errors: how far the reference's prediction of the next recorded state is off.

The reference is the analytical model of the robot; an engine is a physics engine whose runs are
checked. The reference is put in a recorded state, simulates one control period (tick) under the
recorded command, and is compared with the next recorded state. The difference has two causes: the
engine's time stepping, which vanishes as its physics step h goes to 0, and an error of its model,
which does not. Errors are therefore measured in runs at h, h/2 and h/4, for their order of
convergence and for the remainder at a step of 0 (Richardson extrapolation, extrapolation.py).

Level `one_step` (levels/one_step.py) calls `check_steps` for a regular motion. Runs of a chaotic
motion at two steps diverge, so their states cannot be compared; there `check_free_steps` lets the
engine start again from the recorded states at each step. Ticks with an event or with a joint at its
stop are excluded: the engine's own law acts there, and level `statistics` compares its effect.

MIN_TICKS may be tuned. Names of `OneStepCheck` are keys of summary.json and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from roboaccord.contract import Array, Trajectory
from roboaccord.contract.results import LEFT_OUT, Json, Quantity, by_fields, unit_of
from roboaccord.crosscheck import extrapolation
from roboaccord.crosscheck.columns import state_difference
from roboaccord.crosscheck.extrapolation import STEPS, rms
from roboaccord.crosscheck.level_context import NO_CONTEXT, LevelContext
from roboaccord.crosscheck.measures import predictions as prediction
from roboaccord.crosscheck.measures.predictions import (
    MAX_SAMPLED_TICKS,
    Predictions,
    judged_columns,
    predict,
)
from roboaccord.crosscheck.restart import restart, simulators_by_step, why_no_restart
from roboaccord.crosscheck.runs import tightened, twice_or_half
from roboaccord.crosscheck.special_ticks import eventful_ticks, kink_ticks, stop_ticks
from roboaccord.crosscheck.ticks import Index, Mask, evenly_spaced
from roboaccord.engines.spec import EngineSpec
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup

MIN_TICKS = 5  # ticks that a root mean square needs to be judged: of 5 it is known to a third


@dataclass(frozen=True)
class OneStepCheck:
    """Errors of predicted joint velocities over one control period.

    Of a robot without joints, they are errors of the base's angular velocity.

    Args:
        rms, max: of the errors, over all joints and ticks [rad/s].
        relative: rms over the rms change of the velocities in a tick, in the engine or in the
            reference, whichever is larger: at rest nothing is predicted.
        base: largest error of the base's position [m].
        time: end of each predicted tick (k,) [s].
        error: largest error of any joint at that time (k,) [rad/s].
        spin, spin_relative: as `rms` and `relative`, of the base's angular velocity.
        order: observed order of convergence of `rms`, over ticks without an event or a kink (a
            fast reversal of dry friction); None with one physics step.
        spin_order: as `order`, of `spin`.
        finest: `relative` and `spin_relative` at the smallest physics step.
        left: rms remainder at a physics step of 0, of the rate that exceeds its bound most.
        bound: what time stepping and the reference's own error explain of `left`.
        where: name of that rate.
        floor: rms of the reference's own error [rad/s].
        asymptotic: whether an excess over the bound is in the asymptotic range.
        step: the smallest physics step [s].
        expected_order: order with which errors must fall.
        settled: whether smaller steps would show the same order.
        judged, ticks: number of ticks without an event, and of all.
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
    """Check one engine's runs tick by tick, by a reference at the smallest physics step.

    Over a fixed control period an engine of order p has an error of O(h^p) in the velocities; an
    error that does not fall is not due to time stepping. The engine's own order is expected in
    ticks without an event or a kink, and order 1 with contact.

    Args:
        setup: robot and scenario.
        engine: that made the runs.
        order: of its integrator.
        runs: by physics step [s].
        picked: selects the ticks to compare; all by default.
    """
    simulator = make_simulator(setup, engine)
    eventful_by_run = [
        eventful_ticks(run, setup.scenario.control_period) | kink_ticks(simulator, run, min(runs))
        for run in runs.values()
    ]
    ticks = picked(np.arange(len(eventful_by_run[0])))
    # Orders show in ticks that are free of events and kinks at every step, if there are any.
    is_smooth = ~np.any(eventful_by_run, axis=0)[ticks]
    has_order = setup.contact is None and is_smooth.any() and len(runs) >= STEPS
    shows_order = is_smooth if is_smooth.any() else ~is_smooth
    predictions, floor = _predict_runs(setup, engine, runs, ticks)
    check = _check_convergence(runs[max(runs)], ticks, predictions, order, floor, shows_order)
    return replace(check, expected_order=order if has_order else 1)


def check_free_steps(
    setup: Setup, engine: EngineSpec, order: int, runs: Mapping[float, Trajectory]
) -> OneStepCheck | None:
    """Check one engine's chaotic motion in ticks without an event; None if there are too few.

    Arguments are those of `check_steps`. The runs of an engine that cannot start again from
    recorded states are compared as those of a regular motion are.
    """
    run, simulators = runs[max(runs)], simulators_by_step(setup, engine)
    if why_no_restart(simulators[0]):
        return check_steps(setup, engine, order, runs)
    smallest_step = simulators[-1].physics_step
    eventful = eventful_ticks(run, setup.scenario.control_period) | stop_ticks(simulators[0], run)
    free = np.flatnonzero(~(eventful | kink_ticks(simulators[0], run, smallest_step)))
    sampled = free[evenly_spaced(len(free), MAX_SAMPLED_TICKS)]
    # The engine repeats each tick at each step; those with an event at any step are excluded.
    repeated = {
        tick: [restart(simulator, run, tick, tick + 1).run for simulator in simulators]
        for tick in sampled.tolist()
    }
    undisturbed = {
        tick: repetitions
        for tick, repetitions in repeated.items()
        if not any(r.events or stop_ticks(simulators[0], r).any() for r in repetitions)
    }
    if len(undisturbed) < MIN_TICKS:
        return None
    ticks = np.array([*undisturbed])
    predictions, floor = _predict_runs(setup, engine, {smallest_step: run}, ticks)
    # Errors at a smaller step: those of the run, less the change of the engine's own end state.
    by_step = {}
    for index, simulator in enumerate(simulators):
        changes = [
            state_difference(repetitions[0].state(1), repetitions[index].state(1))
            for repetitions in undisturbed.values()
        ]
        of_run = predictions[smallest_step]
        errors = of_run.judged - judged_columns(np.array(changes))
        by_step[simulator.physics_step] = replace(of_run, judged=errors)
    is_smooth = np.ones(len(ticks), dtype=bool)
    check = _check_convergence(run, ticks, by_step, order, floor, is_smooth)
    expected_order = order if setup.contact is None else 1
    judged = round(len(free) * (len(undisturbed) / len(repeated)))
    return replace(check, expected_order=expected_order, judged=judged, ticks=len(run) - 1)


def check_one_step(
    trajectory: Trajectory, predictions: Predictions, samples: Index | slice = slice(None)
) -> OneStepCheck:
    """Return the errors of one trajectory's predictions.

    Args:
        trajectory: recorded, with n joints.
        predictions: of the trajectory, in k ticks.
        samples: indices of these ticks (k,); all by default.
    """
    n = len(trajectory.joints)
    rates, spins = predictions.errors[:, :n], predictions.errors[:, n + 3 :]
    velocities = np.column_stack([trajectory.qd, trajectory.twist])
    recorded_change = np.diff(velocities, axis=0)[samples]
    joint_change, spin_change = (
        max(rms(change[:, columns]) for change in (recorded_change, predictions.change))
        for columns in _joints_and_spin(n)
    )
    errors = rates if n else spins
    error_rms, spin_rms = rms(errors), rms(spins)
    return OneStepCheck(
        rms=error_rms,
        max=float(np.abs(errors).max()),
        relative=error_rms / joint_change if joint_change else 0.0,
        base=predictions.base,
        time=trajectory.time[1:][samples],
        error=np.abs(errors).max(axis=1),
        spin=spin_rms,
        spin_relative=spin_rms / spin_change if spin_change else 0.0,
    )


def _predict_runs(
    setup: Setup, engine: EngineSpec, runs: Mapping[float, Trajectory], ticks: Index
) -> tuple[dict[float, Predictions], Array]:
    """Predict ticks of runs by the reference, at the smallest physics step among them.

    Args:
        setup, engine: as of `check_steps`.
        runs: by physics step [s].
        ticks: indices of the ticks to predict (k,).

    Returns:
        predictions by physics step, the largest first; and the rms of the reference's own error,
        by a run at another step, with the lift of the engine's contacts (n + 12,).
    """
    smallest_step, finest_run = min(runs.items())
    reference = make_simulator(tightened(setup), physics_step=smallest_step)
    predictions = {step: predict(reference, runs[step], ticks) for step in sorted(runs)[::-1]}
    other_step = twice_or_half(smallest_step, setup.scenario.control_period)
    other_reference = make_simulator(setup, physics_step=other_step)
    finest = predictions[smallest_step]
    rounding = engine.rounding
    floor = prediction.measure_floor(other_reference, finest_run, finest, ticks, rounding)
    return predictions, floor + prediction.lift_at_start(setup, engine)


def _check_convergence(
    run: Trajectory,
    ticks: Index,
    predictions: Mapping[float, Predictions],
    order: int,
    floor: Array,
    shows_order: Mask,
) -> OneStepCheck:
    """Return the errors of a run, with their order and the remainder at a step of 0.

    Args:
        run: at the largest physics step.
        ticks: indices of the predicted ticks (k,).
        predictions: by physics step, the largest first.
        order: of the engine's integrator.
        floor: rms of the reference's own error (n + 12,).
        shows_order: ticks by which orders are measured: no event and no kink (k,).
    """
    smooth_errors = {step: p.errors[shows_order] for step, p in predictions.items()}
    smallest_steps = sorted(predictions)[:STEPS]
    joint_order, spin_order = (
        _order_of(smallest_steps, [smooth_errors[step][:, columns] for step in smallest_steps])
        for columns in _joints_and_spin(len(run.joints))
    )
    at_steps = [*predictions.values()]
    coarsest, smallest = (check_one_step(run, at_steps[index], ticks) for index in (0, -1))
    finest = smallest.relative, smallest.spin_relative
    check = replace(coarsest, order=joint_order, spin_order=spin_order, finest=finest)
    check = replace(check, floor=float(floor[:-6].max()), step=smallest_steps[0])
    if len(predictions) < STEPS:
        return check
    errors = [of_step.judged for of_step in predictions.values()]
    remainder = extrapolation.remainder_of_samples(errors, order, floor)
    where = prediction.name_rate(run.joints, remainder.coordinate)
    check = replace(check, left=remainder.size, bound=remainder.bound, where=where)
    settled = extrapolation.has_settled([*smooth_errors.values()], order)
    return replace(check, settled=settled, asymptotic=remainder.asymptotic)


def _order_of(steps: Sequence[float], errors: Sequence[Array]) -> float | None:
    """Return the observed order of the root mean square of errors (k, c), one array a step."""
    return extrapolation.observed_order(steps, [rms(of_step) for of_step in errors], 0.0)


def _joints_and_spin(n: int) -> tuple[slice, slice]:
    """Return the columns of n joint rates (without joints the spin) and of the base's spin."""
    spins = slice(n + 3, None)
    return (slice(n) if n else spins), spins

"""Level `one_step`: put the reference (the analytical model) in recorded states, predict the next.

FEWEST, SAMPLED, BLIND and SLOW may be tuned: from how many ticks a mean is judged, at how many the
reference's own error is measured, and when that decides nothing. ROUND_OFF stays at round-off. The
bound on the remainder is set in extrapolation.py, tolerances in the scenario. Names of
`OneStepCheck` are keys of summary.json and stay; the columns of `judged_of` and `name_rate` must
agree.

Of a chaotic motion two runs part, so errors at two physics steps are not of the same states. The
engine therefore starts again from the recorded states at each step, where nothing happens. Ticks
with an event, or with a joint at its stop are left out: there the engine's own law acts, and
statistics compare what comes of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Code, Finding, Reason, because, unless_few
from roboaccord.contract.results import LEFT_OUT, Json, Quantity, by_fields, unit_of
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.extrapolation import (
    STEPS,
    coarse,
    engines_of,
    few_steps,
    go,
    has_settled,
    no_restart,
    observed_order,
    remainder_of_samples,
)
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.levels.scheme import ALONE, Beside, by_twin
from roboaccord.crosscheck.motion import CheckCase
from roboaccord.crosscheck.runs import tightened, twice_or_half
from roboaccord.crosscheck.ticks import (
    Index,
    at_stops,
    difference,
    kinks,
    left_out,
    predicted,
    vector,
)
from roboaccord.engines.spec import EngineSpec
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.scenario import Allowance, Tolerances
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

FEWEST = 5  # from which a root mean square can be judged
SAMPLED = 200  # ticks at which the reference's own error is measured
ROUND_OFF = 1e-12  # of a rate, relative to the largest
BLIND = 0.1  # of the change: a reference that errs by more does not decide
SLOW = 1e-6  # rad/s, m/s: below it nothing moves


@dataclass(frozen=True)
class OneStepCheck:
    """Hold the errors of predicted joint velocities over one control period.

    Where there are no joints, they are of the base's angular velocity.

    Args:
        rms, max: over all joints and samples.
        relative: rms over the rms change of the velocities in a period, the engine's or the
            reference's, whichever is larger: who stands still has not predicted anything.
        time, error: largest error of each sample (k,).
        base: largest error of the base's position.
        spin: as rms, of the base's angular velocity.
        spin_relative: as relative, of the base's angular velocity.
        order: by which rms falls with the engine's physics step, of the periods without an event
            or a kink; None where there is one step.
        spin_order: by which spin falls, likewise.
        left: rms of what is left at a physics step of 0, of the rate that exceeds its bound most.
        bound: of what time stepping and the reference's own error explain of it.
        where: that rate.
        floor: rms of the reference's own error.
        asymptotic: whether what exceeds its bound does so in the asymptotic range.
        step: the smallest physics step.
        expected_order: by which errors must fall.
        settled: whether the order is one that smaller steps have, too.
        judged, ticks: number of periods that no event keeps from that, and of all.
        beside: what other levels know.
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
    beside: Beside = field(default=ALONE, metadata=LEFT_OUT)

    def to_json(self) -> dict[str, Json]:
        """Return the fields, and the unit of the errors."""
        return {**by_fields(self), "unit": unit_of(OneStepCheck, "rms")}

    @property
    def remainder(self) -> bool | None:
        """True if the remainder at a step of 0 is within its bound; None with too few steps."""
        return None if self.left is None or self.bound is None else self.left <= self.bound


@dataclass(frozen=True)
class NoFreeTick:
    """There is no tick without an event, or a joint at its stop."""


class OneStepLevel(Level["OneStepCheck | NoFreeTick"]):
    """One-step errors must fall with the physics step to a remainder of 0."""

    name = "one_step"
    title = "Level 2: one step"

    def measure(self, case: CheckCase) -> OneStepCheck | NoFreeTick:
        arguments = case.setup, case.engine, case.order, case.by_step
        if not case.chaotic:
            return replace(check_steps(*arguments, case.picked), beside=Beside.of(case))
        found = check_free_steps(*arguments)
        return NoFreeTick() if found is None else replace(found, beside=Beside.of(case))

    def judge(self, check: OneStepCheck | NoFreeTick, tolerances: Tolerances) -> Finding:
        if isinstance(check, NoFreeTick):
            return Finding.not_judged(because(Code.NO_FREE_TICK))
        found = judge_step(check, tolerances)
        twin = check.beside.twin
        found = by_twin(found, twin) if twin else found
        return unless_few(found, check.judged, check.ticks)

    def rows(self, check: OneStepCheck | NoFreeTick) -> Rows:
        if isinstance(check, NoFreeTick):
            return {}
        unit = unit_of(OneStepCheck, "rms")
        below = check.rms <= check.floor
        return {
            "rms": Entry(check.rms, unit, ".2e"),
            "largest": Entry(check.max, unit, ".2e"),
            "share of the change": Entry(check.relative, form=".2%"),
            "order": Entry(
                str(because(Code.BELOW_ROUND_OFF)) if below else check.order, form=".2f"
            ),
            "left at 0": Entry(check.left, form=".2e"),
            "explained": Entry(check.bound, form=".2e"),
        }


class Rates(NamedTuple):
    """Hold the one-step error of some rates, and what time stepping explains of it.

    Args:
        whose: joints or base.
        share: of the change of the rates, in a control period.
        explained: of that share; infinite where the error falls with the physics step.
        why: that is not more.
    """

    whose: str
    share: float
    explained: float
    why: Reason | None = None

    def allowed(self, tolerance: float | Allowance) -> float:
        """Return the share that is allowed."""
        if isinstance(tolerance, Allowance):
            return tolerance.limit
        return tolerance + self.explained


def judge_step(step: OneStepCheck, tolerances: Tolerances) -> Finding:
    """Judge one-step errors by themselves."""
    below = max(step.rms, step.spin) <= step.floor and step.remainder is not False
    least = step.expected_order - tolerances.one_step_order
    rates = (
        _by_order("joints", step.relative, step.order, least),
        _by_order("base", step.spin_relative, step.spin_order, least),
    )
    found = judge_rates(tolerances.one_step, rates, below=below)
    share = max(step.relative, step.spin_relative)
    if below and share > BLIND and max(step.rms, step.spin) > SLOW:
        return Finding.not_judged(because(Code.REFERENCE_ERRS, share=share))
    if below or isinstance(tolerances.one_step, Allowance):
        return found
    if found.reasons and not step.settled:
        return coarse(step.step, *found.reasons)
    if not found.reasons and step.remainder is False:
        figures = {"where": step.where, "left": step.left, "bound": step.bound}
        why = because(Code.STEP_REMAINDER, **figures)
        if not step.asymptotic:
            return coarse(step.step, why)
        found = Finding.outside(why, where=step.where, size=step.left)
    if found.reasons:
        return replace(found, unexplained=step.beside.unexplained)
    if share <= tolerances.one_step or step.remainder:
        return found
    return Finding.not_judged(because(Code.STEP_SHARE, share=share), few_steps())


def _by_order(whose: str, share: float, order: float | None, least: float) -> Rates:
    """Return what the order shows by which an error falls, which must be `least`."""
    if order is None or order >= least:
        return Rates(whose, share, math.inf)
    return Rates(whose, share, 0.0, because(Code.STEP_ORDER, order=order, least=least))


def judge_rates(tolerance: float | Allowance, rates: Sequence[Rates], *, below: bool) -> Finding:
    """Judge the errors of a control period, of a fresh run or a recorded one.

    Args:
        tolerance: share of the change beside what time stepping explains, or an allowance, which
            takes the place of both.
        rates: of the joints and of the base's turning.
        below: whether the errors are below the reference's own.
    """
    if below:
        return Finding.within(because(Code.BELOW_ROUND_OFF))
    if isinstance(tolerance, Allowance):
        share, limit = max(each.share for each in rates), tolerance.limit
        if share <= limit:
            return Finding.within(
                because(Code.ALLOWED, limit=limit, unit="", text=tolerance.reason)
            )
        return Finding.outside(because(Code.STEP_TOO_LARGE, share=share, limit=limit), size=share)
    for each in rates:
        if each.share > each.allowed(tolerance):
            figures = {"share": each.share, "whose": each.whose, "why": each.why}
            return Finding.outside(because(Code.STEP_UNEXPLAINED, **figures), size=each.share)
    return Finding.within()


@dataclass(frozen=True)
class Predictions:
    """Hold the one-step predictions of a reference, sample by sample.

    Args:
        judged: errors of joint rates, the base's twist and its pose (k, n + 12), predicted less
            recorded.
        change: by which the reference changes the rates (k, n + 6).
    """

    judged: Array
    change: Array

    @property
    def errors(self) -> Array:
        """Those of joint rates and the base's twist (k, n + 6)."""
        return self.judged[:, :-6]

    @property
    def base(self) -> float:
        """Largest error of the base's position [m]."""
        return float(np.abs(self.judged[:, -6:-3]).max(initial=0.0))


def judged_of(values: Array) -> Array:
    """Return the columns of joint rates, the base's twist and its pose of (k, 2 n + 12)."""
    n = (values.shape[1] - 12) // 2
    return values[:, [*range(n, 2 * n), *range(2 * n + 6, 2 * n + 12), *range(2 * n, 2 * n + 6)]]


def predict(
    reference: Simulator, trajectory: Trajectory, samples: Index | None = None
) -> Predictions:
    """Predict samples of a trajectory from the ones before them, as they were commanded.

    Args:
        reference: is put in each state.
        trajectory: recorded.
        samples: indices of the states to start from; all where None.
    """
    chosen = np.arange(len(trajectory) - 1) if samples is None else samples
    ends = predicted(reference, trajectory, chosen)[0]
    after, change = (judged_of(difference(trajectory.at(chosen + i), ends)) for i in (1, 0))
    return Predictions(after, change[:, :-6])


def check_steps(
    setup: Setup,
    engine: EngineSpec,
    order: int,
    runs: Mapping[float, Trajectory],
    picked: Callable[[Index], Index] = lambda ticks: ticks,
) -> OneStepCheck:
    """Check one engine's runs step by step, against references at their smallest step.

    Over a fixed control period an engine of order p errs by O(dt^p) in the velocities; an error
    that does not fall is not a matter of time stepping. Its own order is asked where nothing
    happens that no scheme steps. Contact is of order 1 in all.
    """
    period, fine = setup.scenario.control_period, min(runs)
    simulator = make_simulator(setup, engine)
    rough = [left_out(run, period) | kinks(simulator, run, fine) for run in runs.values()]
    chosen = picked(np.arange(len(rough[0])))
    free = ~np.any(rough, axis=0)[chosen]
    own = order if setup.contact is None and free.any() and len(runs) >= STEPS else 1
    reference = make_simulator(tightened(setup), physics_step=fine)
    found = {dt: predict(reference, run, chosen) for dt, run in sorted(runs.items(), reverse=True)}
    coarse = make_simulator(setup, physics_step=twice_or_half(fine, period))
    floor = measure_floor(coarse, runs[fine], found[fine], chosen) + settling(setup, engine)
    smooth = free if free.any() else ~free
    checked = check_orders(runs[max(runs)], chosen, found, order, floor, smooth)
    return replace(checked, expected_order=own)


def check_free_steps(
    setup: Setup, engine: EngineSpec, order: int, runs: Mapping[float, Trajectory]
) -> OneStepCheck | None:
    """Check one engine's run of a chaotic motion step by step; None where too few ticks are free.

    Of an engine that cannot start again from the states of a run, its own runs are compared.
    """
    run, simulators = runs[max(runs)], engines_of(setup, engine)
    if no_restart(simulators[0]):
        return check_steps(setup, engine, order, runs)
    fine = simulators[-1].physics_step
    rough = left_out(run, setup.scenario.control_period) | at_stops(simulators[0], run)
    free = np.flatnonzero(~(rough | kinks(simulators[0], run, fine)))
    count = len(free)
    free = free[np.unique(np.linspace(0, len(free) - 1, min(SAMPLED, len(free))).astype(int))]
    again = [[go(s, run, i, i + 1).run for i in free.tolist()] for s in simulators]
    kept = [
        not any(restart.events or at_stops(simulators[0], restart).any() for restart in sets)
        for sets in zip(*again, strict=True)
    ]
    free, again = free[kept], [[w for w, k in zip(sets, kept, strict=True) if k] for sets in again]
    if len(free) < FEWEST:
        return None
    reference = make_simulator(tightened(setup), physics_step=fine)
    found = predict(reference, run, free)
    coarse = make_simulator(setup, physics_step=2 * fine)
    floor = measure_floor(coarse, run, found, free) + settling(setup, engine)
    by_step = {}
    for simulator, sets in zip(simulators, again, strict=True):
        moved = [difference(a.state(1), b.state(1)) for a, b in zip(again[0], sets, strict=True)]
        shifted = found.judged - judged_of(np.array(moved))
        by_step[simulator.physics_step] = replace(found, judged=shifted)
    own = order if setup.contact is None else 1
    checked = check_orders(run, free, by_step, order, floor, np.ones(len(free), dtype=bool))
    judged = round(count * float(np.mean(kept)))
    return replace(checked, expected_order=own, judged=judged, ticks=len(run) - 1)


def settling(setup: Setup, engine: EngineSpec) -> Array:
    """Return by how much a level robot settles on its ground, which a plane does not (n + 12,).

    It is built a footing's depth too low, and its contacts lift it.
    """
    found = np.zeros(len(setup.joints) + 12)
    try:
        footing = engine.case(setup).footing
    except AccordError:  # there is no twin
        return found
    if footing:
        depth = abs(footing.radius - float(setup.initial.position[2]))
        found[-4], found[-10] = depth, depth / setup.scenario.physics_step
    return found


def check_one_step(
    trajectory: Trajectory, found: Predictions, samples: Index | slice = slice(None)
) -> OneStepCheck:
    """Return the errors of the predictions of one trajectory, of all samples or of some."""
    n = len(trajectory.joints)
    rates, spins = found.errors[:, :n], found.errors[:, n + 3 :]
    recorded = np.diff(np.column_stack([trajectory.qd, trajectory.twist]), axis=0)[samples]
    moved = [max(_rms(c[:, part]) for c in (recorded, found.change)) for part in _parts(n)]
    shown = rates if n else spins
    rms, spin = _rms(shown), _rms(spins)
    return OneStepCheck(
        rms=rms,
        max=float(np.abs(shown).max()),
        relative=rms / moved[0] if moved[0] else 0.0,
        spin=spin,
        spin_relative=spin / moved[1] if moved[1] else 0.0,
        base=found.base,
        time=trajectory.time[1:][samples],
        error=np.abs(shown).max(axis=1),
    )


def check_orders(
    run: Trajectory,
    samples: Index,
    found: Mapping[float, Predictions],
    order: int,
    floor: Array,
    free: NDArray[np.bool_],
) -> OneStepCheck:
    """Return the errors of a run, with their order and the remainder at 0.

    Args:
        run: at the largest physics step.
        samples: that were predicted.
        found: predictions by physics step, the largest first.
        order: of the engine's integrator.
        free: periods without an event or a kink (k - 1,), by which the orders are observed.
        floor: the reference's own error, as a root mean square (n + 12,).
    """
    smooth, steps = {dt: each.errors[free] for dt, each in found.items()}, sorted(found)[:STEPS]
    orders = [
        observed_order(steps, [_rms(smooth[dt][:, part]) for dt in steps], 0.0)
        for part in _parts(len(run.joints))
    ]
    checked = replace(
        check_one_step(run, next(iter(found.values())), samples),
        order=orders[0],
        spin_order=orders[1],
        floor=float(floor[:-6].max()),
        step=min(found),
    )
    if len(found) < STEPS:
        return checked
    left = remainder_of_samples([p.judged for p in found.values()], order, floor)
    return replace(
        checked,
        left=left.size,
        bound=left.bound,
        where=name_rate(run.joints, left.coordinate),
        settled=has_settled([*smooth.values()], order),
        asymptotic=left.asymptotic,
    )


def measure_floor(coarse: Simulator, run: Trajectory, fine: Predictions, ticks: Index) -> Array:
    """Return the rms of the reference's own error, from its steps and half of them (n + 12,)."""
    samples = np.unique(np.linspace(0, len(ticks) - 1, min(SAMPLED, len(ticks))).astype(int))
    apart = predict(coarse, run, ticks[samples]).judged - fine.judged[samples]
    values = np.abs(judged_of(vector(run)))
    scale = ROUND_OFF * np.maximum(values.max(axis=0, initial=0.0), 1.0)
    return np.asarray(np.sqrt(np.mean(apart**2, axis=0)) + scale)


def name_rate(joints: tuple[str, ...], index: int) -> str:
    """Return the name of a column of the predictions."""
    kinds = ("linear velocity", "angular velocity", "position", "orientation")
    base = [f"{kind} of base_link along {a}" for kind in kinds for a in "xyz"]
    return [*(f"rate of {joint}" for joint in joints), *base][index]


def _parts(n: int) -> tuple[slice, slice]:
    """Return the columns that `relative` and `spin_relative` are of."""
    spins = slice(n + 3, None)
    return (slice(n) if n else spins), spins


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if values.size else 0.0

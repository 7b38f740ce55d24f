"""Control periods (ticks) of an engine's run compared with its twin's.

The twin simulates our equations of motion with the engine's integration scheme and physics step.
Ticks with an event, a contact or a joint at its stop are excluded, since a twin has no law for
them. `check_scheme` measures the largest error of a tick relative to round-off
(twin_comparison.py); level `scheme` judges it. If round-off does not explain the error, causes/
searches for its cause. The resolution states which errors of parameters would have been found.

FLOOR_TICKS, RESOLUTION_TICKS, EXPLAINED_TICKS and INTERMITTENT_SHARE may be tuned; more ticks cost
time. With EXPLAINED_TICKS halved and doubled the three errors of causes/explain.py keep their
names. Names of `SchemeCheck` are keys of summary.json and stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, TypeGuard

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import LEFT_OUT, Quantity, Seconds
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.causes.explain import Explanation
from roboaccord.crosscheck.causes.resolution import Resolved, largest_effects, resolution_of
from roboaccord.crosscheck.causes.samples import MOST_LATE
from roboaccord.crosscheck.causes.ticks import TwinProblem, explain_ticks
from roboaccord.crosscheck.columns import column_names, largest_by_group, to_columns
from roboaccord.crosscheck.drawn import draw_states
from roboaccord.crosscheck.measures.event_ticks import EventTicks, check_event_ticks
from roboaccord.crosscheck.measures.twin_comparison import TwinComparison, compare_ticks
from roboaccord.crosscheck.special_ticks import contact_ticks, eventful_ticks
from roboaccord.crosscheck.ticks import Index, evenly_spaced
from roboaccord.engines.spec import EngineSpec
from roboaccord.numerics.ranking import descending, first_largest
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup

# Number of ticks at which round-off is measured, half the worst and half spread evenly: of 40, the
# largest rounding is exceeded in one of 41 others.
FLOOR_TICKS = 40
# Number of ticks at which parameters are changed for the resolution, half the worst, half even:
# each costs two steps of a twin for each of some hundred parameters.
RESOLUTION_TICKS = 8
# Number of ticks in the regression that names an error, half the worst, half even; its time grows
# with them. One tick has 2 n + 12 residuals, more than three causes have sizes.
EXPLAINED_TICKS = 12
# Share of the ticks below which an error is intermittent, and its ticks are counted.
INTERMITTENT_SHARE = 0.5
NO_EXPLANATION = Explanation()  # where nothing needs to be explained


@dataclass(frozen=True)
class NoTwin:
    """No twin to compare with.

    Args:
        reason: why there is none.
    """

    reason: str


@dataclass(frozen=True)
class SchemeCheck:
    """Largest difference from the twin, relative to what round-off explains.

    Args:
        error: that difference, in the unit of the coordinate.
        floor: part of it that round-off explains.
        quantity, where: the coordinate, and its joint or link.
        time: when the tick begins [s].
        judged: number of ticks from which those that are compared are drawn.
        left_out: number of ticks with an event, a contact, or a joint at its stop.
        touching: number of those with a contact.
        others: errors of these ticks; only if nothing touches and all other ticks are the twin's.
        explanation: of differences that round-off does not explain.
        resolution: smallest errors of parameters that would be outside, largest effects first.
        single: whether the engine computes in single precision.
        looked_at: number of ticks that are compared; infinite for all that are judged.
    """

    error: Annotated[float, Quantity("", "largest difference of a tick from the twin")]
    floor: Annotated[float, Quantity("", "what round-off explains of it")]
    quantity: str
    where: str
    time: Seconds
    judged: int
    left_out: int
    touching: int = 0
    others: EventTicks | None = None
    explanation: Explanation = NO_EXPLANATION
    resolution: Sequence[Resolved] = field(default=(), metadata=LEFT_OUT)
    single: bool = field(default=False, metadata=LEFT_OUT)
    looked_at: float = math.inf


def is_twin(check: object) -> TypeGuard[SchemeCheck]:
    """Return whether every tick without an event is as in the twin, and nothing touches.

    Errors are then the twin's, which has our equations under a scheme of known order: time stepping
    explains all of them, in the asymptotic range or not.
    """
    return isinstance(check, SchemeCheck) and check.error <= check.floor and not check.touching


def check_scheme(
    setup: Setup,
    engine: EngineSpec,
    run: Trajectory,
    picked: Callable[[Index], Index] = lambda ticks: ticks,
    *,
    named: bool = True,
    resolved: bool = True,
) -> SchemeCheck | NoTwin:
    """Compare ticks of an engine's run with its twin's.

    Args:
        setup: robot and scenario.
        engine: to compare.
        run: of the engine.
        picked: selects ticks to compare from those in which nothing happens; all by default.
        named: whether a difference is explained.
        resolved: whether the resolution is computed, which takes a third of the time.
    """
    if any(joint.mimic for joint in setup.tree.moving):
        return NoTwin("joints mimic others, which each engine holds by a law of its own")
    try:
        comparison = TwinComparison.of(setup, engine)
    except AccordError as error:
        return NoTwin(str(error))
    setup, engine = comparison.setup, comparison.engine
    # Ticks in which something happens are not compared.
    touched = contact_ticks(setup, engine, run)
    if touched is None:
        return NoTwin(f"{engine.name} does not report its contacts")
    special = eventful_ticks(run, setup.scenario.control_period) | touched
    free = np.flatnonzero(~special)
    looked_at = picked(free)
    chosen, errors = compare_ticks(comparison.twin, run, looked_at)
    if not len(chosen):
        return NoTwin("every tick has an event, a contact or a joint at its stop")
    # Ticks left out: those with events, and of the others the share in which a joint stopped.
    stopped = len(free) * (1.0 - len(chosen) / len(looked_at))
    skipped = round((len(run) - 1 - len(free)) + stopped)
    check = _judge_ticks(comparison, run, chosen, errors, named=named, resolved=resolved)
    judged, touching = len(run) - 1 - skipped, int(touched.sum())
    check = replace(check, judged=judged, left_out=skipped, touching=touching)
    # Where all else is the twin's, ticks with events are judged by themselves.
    with_events = np.union1d(np.flatnonzero(special), np.setdiff1d(looked_at, chosen))
    if len(with_events) and engine.simulator and is_twin(check):
        return replace(check, others=check_event_ticks(setup, engine, run, with_events))
    return check


def _judge_ticks(
    comparison: TwinComparison,
    run: Trajectory,
    chosen: Index,
    errors: Array,
    *,
    named: bool,
    resolved: bool,
) -> SchemeCheck:
    """Return the largest error relative to its floor, with explanation and resolution.

    Args:
        comparison: of engine and twin.
        run: of the engine.
        chosen: indices of the ticks that are compared (k,).
        errors: of these ticks, by coordinate (k, 2 n + 12).
        named, resolved: as of `check_scheme`.
    """
    # Round-off, measured in the ticks with the largest errors, each relative to the largest of its
    # group of coordinates in any tick, and in others at even distances.
    sizes = largest_by_group(np.abs(errors))
    by_size = descending((sizes / sizes.max(axis=0).clip(min=np.finfo(float).tiny)).max(axis=1))
    even = evenly_spaced(len(sizes), FLOOR_TICKS)
    sampled = np.unique([*by_size[: FLOOR_TICKS // 2], *even])
    floors = to_columns(comparison.floor(run, chosen[sampled], chosen[even]), errors.shape[1])
    ratios = np.abs(errors) / floors
    tick, column = np.unravel_index(first_largest(ratios), ratios.shape)  # of the largest ratio
    # Resolution: which changes of parameters would exceed the floors.
    twin, engine = comparison.twin, comparison.engine
    problem = TwinProblem(comparison.setup, twin, run, chosen, 1.0 / floors, engine=engine)
    resolution: Sequence[Resolved] = ()
    if resolved:
        spacing = 2 * FLOOR_TICKS // RESOLUTION_TICKS
        probed = np.unique([*by_size[: RESOLUTION_TICKS // 2], *even[::spacing]])
        effects = largest_effects(replace(problem, ticks=chosen[probed]))
        resolution = resolution_of(effects, "scheme")
    # The cause, if round-off does not explain the largest error.
    is_outside = named and ratios[tick, column] > 1.0
    explanation = explain_chosen(problem, ratios.max(axis=1)) if is_outside else NO_EXPLANATION
    error, floor = float(np.abs(errors[tick, column])), float(floors[column])
    quantity, where = column_names(run.joints)[column]
    time = float(run.time[chosen[tick]])
    check = SchemeCheck(error, floor, quantity, where, time, judged=len(sizes), left_out=0)
    check = replace(check, single=comparison.engine.precision == "float32")
    return replace(check, explanation=explanation, resolution=resolution, looked_at=len(sizes))


def explain_chosen(problem: TwinProblem, ratios: Array) -> Explanation:
    """Explain the ticks that are outside, by the worst of them and others spread evenly.

    Args:
        problem: the comparison with the twin, of k ticks.
        ratios: largest error of each tick over its floor (k,).
    """
    ticks, is_outside = problem.ticks, ratios > 1.0
    # Prefer ticks with others before and after, as a late command can be recognised there.
    has_others = (ticks >= MOST_LATE) & (ticks < len(problem.run) - 1 - MOST_LATE)
    candidates = np.flatnonzero(is_outside & has_others)
    if not candidates.size:
        candidates = np.flatnonzero(is_outside)
    worst = candidates[descending(ratios[candidates])][: EXPLAINED_TICKS // 2]
    even = candidates[np.linspace(0, len(candidates) - 1, EXPLAINED_TICKS // 2).astype(int)]
    selected = ticks[list(dict.fromkeys([*worst.tolist(), *even.tolist()]))]
    explanation = explain_ticks(replace(problem, ticks=selected))
    count = int(np.count_nonzero(is_outside))
    counted = (count, len(ratios)) if count < INTERMITTENT_SHARE * len(ratios) else ()
    return replace(explanation, counted=counted)


def explain_drawn(setup: Setup, engine: EngineSpec) -> Explanation:
    """Explain differences from the twin in ticks from random states under random efforts."""
    simulator, period = make_simulator(setup, engine), setup.scenario.control_period
    if setup.contact is not None or simulator.unplaced:  # random states would touch the ground
        return NO_EXPLANATION
    states, last_effort = list[RobotState](), np.zeros(len(setup.joints))
    for state, effort in draw_states(setup, EXPLAINED_TICKS, 1):
        begin = replace(state, time=len(states) * period, effort=last_effort)
        states += [simulator.reset(begin), simulator.step(Command(effort), period)]
        last_effort = effort
    run = Trajectory.from_states(setup.joints, states)
    check = check_scheme(setup, engine, run, lambda ticks: ticks[ticks % 2 == 0], resolved=False)
    return check.explanation if isinstance(check, SchemeCheck) else NO_EXPLANATION

"""Control periods (ticks) of an engine's run compared with its twin's.

The twin simulates our equations of motion with the engine's integration scheme and physics step,
from the recorded state at the start of each tick, so only round-off may separate the ends. Level
`scheme` judges the `SchemeCheck` of `check_scheme`. In this file,

    error       of a tick: the difference between the run and the twin at its end, 2 n + 12
                coordinates for n joints, in six groups (columns.py)
    floor       what round-off explains of an error, the same in all ticks (twin_comparison.py)
    ratio       error over floor; above 1 the tick is outside, and causes/ searches for a cause
    resolution  the errors of parameters, such as masses, that would have made a tick outside

A twin has no law for contacts, events and joints at their stops. From the ticks without event or
contact (`eventless`) the caller selects some (`selected`); those in which no joint of the twin
meets its stop are compared (`compared`). Others are left out, or judged by event_ticks.py. Floor,
resolution and cause are each computed from a sample of the compared ticks: some with the largest
errors, some at even distances.

FLOOR_TICKS, RESOLUTION_TICKS, EXPLAINED_TICKS and INTERMITTENT_SHARE may be tuned; more ticks cost
time. With EXPLAINED_TICKS halved and doubled the three errors of causes/explain.py keep their
names. Names of `SchemeCheck` are keys of summary.json and stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple, TypeGuard

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
from roboaccord.crosscheck.ticks import Index, evenly_spaced, worst_and_even
from roboaccord.engines.spec import EngineSpec
from roboaccord.numerics.ranking import descending, first_largest
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup

# Number of ticks at even distances at which round-off is measured, beside half as many with the
# largest errors: the largest rounding of 40 ticks is exceeded in one of 41 others.
FLOOR_TICKS = 40
# Number of ticks at which parameters are changed for the resolution, half of them with the largest
# errors, half even: each costs two steps of a twin for each of some hundred parameters.
RESOLUTION_TICKS = 8
# Number of ticks in the regression that names an error, half with the largest ratios, half even;
# its time grows with them. One tick has 2 n + 12 residuals, more than three causes have sizes.
EXPLAINED_TICKS = 12
# Share of the ticks below which an error is intermittent, and its ticks are counted.
INTERMITTENT_SHARE = 0.5
Select = Callable[[Index], Index]  # returns some of the ticks that it is given
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


class Compared(NamedTuple):
    """Ticks that are compared with the twin's.

    Args:
        ticks: indices of k ticks.
        errors: of these ticks, by coordinate (k, 2 n + 12).
        left_out: number of ticks of the run with an event, a contact or a joint at its stop; joints
            at stops are counted in the selected ticks, and scaled to all.
        with_events: indices of those ticks, as far as they are known.
        touching: number of ticks with a contact.
    """

    ticks: Index
    errors: Array
    left_out: int
    with_events: Index
    touching: int


def check_scheme(
    setup: Setup,
    engine: EngineSpec,
    run: Trajectory,
    select: Select = lambda ticks: ticks,
    *,
    named: bool = True,
    resolved: bool = True,
) -> SchemeCheck | NoTwin:
    """Compare ticks of an engine's run with its twin's.

    Args:
        setup: robot and scenario.
        engine: to compare.
        run: of the engine.
        select: returns the ticks to compare of those without event or contact; all by default.
        named: whether a difference is explained.
        resolved: whether the resolution is computed, which takes a third of the time.
    """
    if any(joint.mimic for joint in setup.tree.moving):
        return NoTwin("joints mimic others, which each engine holds by a law of its own")
    try:
        comparison = TwinComparison.of(setup, engine)
    except AccordError as error:
        return NoTwin(str(error))
    compared = _compare(comparison, run, select)
    if isinstance(compared, NoTwin):
        return compared
    check = _check_errors(comparison, run, compared, named=named, resolved=resolved)
    # Where all else is the twin's, ticks with events are judged by themselves.
    setup, engine = comparison.setup, comparison.engine
    if len(compared.with_events) and engine.simulator and is_twin(check):
        return replace(check, others=check_event_ticks(setup, engine, run, compared.with_events))
    return check


def _compare(comparison: TwinComparison, run: Trajectory, select: Select) -> Compared | NoTwin:
    """Return the selected ticks without event, contact and joint at its stop, with their errors."""
    touching = contact_ticks(comparison.setup, comparison.engine, run)
    if touching is None:
        return NoTwin(f"{comparison.engine.name} does not report its contacts")
    is_eventful = eventful_ticks(run, comparison.setup.scenario.control_period) | touching
    eventless = np.flatnonzero(~is_eventful)
    selected = select(eventless)
    ticks, errors = compare_ticks(comparison.twin, run, selected)
    if not len(ticks):
        return NoTwin("every tick has an event, a contact or a joint at its stop")
    at_stop = len(eventless) * (1.0 - len(ticks) / len(selected))
    left_out = round((len(run) - 1 - len(eventless)) + at_stop)
    with_events = np.union1d(np.flatnonzero(is_eventful), np.setdiff1d(selected, ticks))
    return Compared(ticks, errors, left_out, with_events, int(touching.sum()))


def _check_errors(
    comparison: TwinComparison, run: Trajectory, compared: Compared, *, named: bool, resolved: bool
) -> SchemeCheck:
    """Return the largest error relative to its floor, with explanation and resolution.

    Args:
        comparison: of engine and twin.
        run: of the engine.
        compared: ticks and their errors.
        named, resolved: as of `check_scheme`.
    """
    ticks, errors, left_out, _, touching = compared
    sizes, judged = np.abs(errors), len(run) - 1 - left_out
    # Largest error of each tick, each relative to the largest of its group in any tick (k,).
    by_group = largest_by_group(sizes)
    relative = (by_group / by_group.max(axis=0).clip(min=np.finfo(float).tiny)).max(axis=1)
    # Floor of each coordinate (2 n + 12,). The engine reads back states at the even ticks alone.
    even = evenly_spaced(len(ticks), FLOOR_TICKS)
    sampled = worst_and_even(relative, FLOOR_TICKS)
    floors = to_columns(comparison.floor(run, ticks[sampled], ticks[even]), sizes.shape[1])
    ratios = sizes / floors
    tick, column = np.unravel_index(first_largest(ratios), ratios.shape)  # of the largest ratio
    twin, engine = comparison.twin, comparison.engine
    problem = TwinProblem(comparison.setup, twin, run, ticks, 1.0 / floors, engine=engine)
    resolution = _resolve(problem, relative) if resolved else ()
    is_outside = named and ratios[tick, column] > 1.0
    explanation = _explain_outside(problem, ratios.max(axis=1)) if is_outside else NO_EXPLANATION
    error, floor = float(sizes[tick, column]), float(floors[column])
    quantity, where = column_names(run.joints)[column]
    time = float(run.time[ticks[tick]])
    check = SchemeCheck(error, floor, quantity, where, time, judged, left_out, touching)
    check = replace(check, single=engine.precision == "float32")
    return replace(check, explanation=explanation, resolution=resolution, looked_at=len(ticks))


def _resolve(problem: TwinProblem, sizes: Array) -> Sequence[Resolved]:
    """Return the smallest errors of parameters that would exceed the floors.

    Args:
        problem: the comparison with the twin, of k ticks.
        sizes: of the errors of each tick (k,).
    """
    worst = descending(sizes)[: RESOLUTION_TICKS // 2]
    even = evenly_spaced(len(sizes), FLOOR_TICKS)[:: 2 * FLOOR_TICKS // RESOLUTION_TICKS]
    selected = problem.ticks[np.unique([*worst, *even])]
    return resolution_of(largest_effects(replace(problem, ticks=selected)), "scheme")


def _explain_outside(problem: TwinProblem, ratios: Array) -> Explanation:
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
    worst = candidates[descending(ratios[candidates])[: EXPLAINED_TICKS // 2]]
    even = candidates[evenly_spaced(len(candidates), EXPLAINED_TICKS // 2)]
    selected = list(dict.fromkeys([*worst.tolist(), *even.tolist()]))  # each once, the worst first
    explanation = explain_ticks(replace(problem, ticks=ticks[selected]))
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
    # Even ticks are steps; between them the simulator was reset to the next random state.
    check = check_scheme(setup, engine, run, lambda ticks: ticks[ticks % 2 == 0], resolved=False)
    return check.explanation if isinstance(check, SchemeCheck) else NO_EXPLANATION

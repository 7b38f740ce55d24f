"""Level `scheme`: an engine against its twin, tick by tick from the engine's own states.

SAMPLED, PROBED, NAMED and SHAKEN may be tuned, and cost time. SAFETY and LOSS stay, the tolerance
of this level, of energy.py and of invariance.py: larger ones hide errors, with smaller ones
sound engines fail (test_a_sound_engine_is_far_within_its_floor). Names of `SchemeCheck` are keys of
summary.json and stay. An engine gets this level by stating its scheme (engines/spec.py).

The twin (engines/twin.py) has our equations of motion under the engine's scheme and step. Nothing
is left to time stepping, so that the difference is judged by round-off alone. That is measured: by
twins all of whose numbers are changed by a rounding, and by what the engine itself loses of a state
that is set and read back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Code, Finding, Outcome, Reason, because, unless_few
from roboaccord.contract.results import LEFT_OUT, Quantity, Seconds
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.causes.explain import Explanation
from roboaccord.crosscheck.causes.resolution import Resolved, largest, resolution_of
from roboaccord.crosscheck.causes.samples import MOST_LATE
from roboaccord.crosscheck.causes.ticks import TwinProblem, explain_ticks, spread
from roboaccord.crosscheck.drawn import draw_states
from roboaccord.crosscheck.event_ticks import EventTicks, check_event_ticks
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.motion import CheckCase
from roboaccord.crosscheck.ticks import (
    Index,
    by_group,
    difference,
    left_out,
    names,
    predicted,
    vector,
)
from roboaccord.engines import REFERENCE
from roboaccord.engines.spec import EngineSpec
from roboaccord.engines.twin import twin_of
from roboaccord.engines.twin_rounding import ROUNDING
from roboaccord.numerics.ranking import descending, first_largest
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

SAFETY = 50.0  # times what one rounding of each number makes of a tick, for the many of an engine
SAMPLED = 40  # ticks at which round-off is measured: the worst half of them, and others evenly
PROBED = 8  # ticks at which parameters are changed
NAMED = 12  # ticks of which an error is named
SPARSE = 0.5  # of all ticks: an error of fewer comes and goes
FEWEST = 5  # ticks with an event, from which a median can be judged
NOTHING = Explanation()
SHAKEN = (1, 2)  # seeds
LOSS = 4e-10  # relative, of a state that is set: twice what DART cuts off; more is not an excuse


@dataclass(frozen=True)
class NoTwin:
    """Hold why there is no twin to compare with."""

    reason: str

    @property
    def why(self) -> Reason:
        """The same as a reason."""
        return because(Code.NO_TWIN, text=self.reason)


@dataclass(frozen=True)
class SchemeCheck:
    """Hold the difference from the twin that is largest beside what round-off explains.

    Args:
        error, floor: that difference, and what round-off explains, in the unit of the coordinate.
        quantity, where: the coordinate, and its joint or link.
        time: when the tick begins.
        judged: number of ticks of which those that are compared are drawn.
        left_out: number of ticks with an event, a contact, or a joint at its stop.
        touching: number of those with a contact.
        others: what those have, where nothing touches and all that are judged are the twin's.
        explanation: of the differences, where round-off does not explain them.
        resolution: smallest errors that would not be, the largest effects first.
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
    explanation: Explanation = NOTHING
    resolution: Sequence[Resolved] = field(default=(), metadata=LEFT_OUT)
    looked_at: float = math.inf


@dataclass(frozen=True)
class TwinComparison:
    """Hold an engine's twin, and measure what round-off makes of its ticks.

    Args:
        setup: robot and scenario, as the twin has them.
        engine: to compare.
        misread: errors of the joints' origins in the engine (n,) [rad].
    """

    setup: Setup
    engine: EngineSpec
    misread: Array
    twin: Simulator

    @classmethod
    def of(cls, setup: Setup, engine: EngineSpec) -> TwinComparison:
        """Make the twin of an engine.

        Raises:
            AccordError: with the reason why there is none.
        """
        if not setup.joints and not setup.base.moves:
            raise AccordError("nothing can move")
        setup, engine, misread, _ = engine.case(setup)
        return cls(setup, engine, misread, make_simulator(setup, twin_of(engine)))

    @cached_property
    def _shaken(self) -> list[Simulator]:
        return [make_simulator(self.setup, twin_of(self.engine, seed)) for seed in SHAKEN]

    def round_off(self, run: Trajectory, ticks: Index) -> Array:
        """Return what round-off makes of a tick of the twin, by group of coordinates (6,)."""
        plain, _ = predicted(self.twin, run, ticks)
        found = [ROUNDING * np.maximum(by_group(np.abs(vector(run))).max(axis=0), 1.0)]
        for other in self._shaken:
            apart = difference(plain, predicted(other, run, ticks)[0])
            found.append(by_group(np.abs(apart)).max(axis=0))
        return np.asarray(SAFETY * np.max(found, axis=0))

    @cached_property
    def _reader(self) -> Simulator | None:
        """The engine, where states are what it reads; else they are recorded as they were."""
        return make_simulator(self.setup, self.engine) if self.engine.simulator else None

    def floor(self, run: Trajectory, ticks: Index, read: Index) -> Array:
        """Return what round-off explains of a tick, by group of coordinates (6,).

        Args:
            run: of the engine.
            ticks: whose round-off is measured.
            read: whose states the engine reads back.
        """
        found = self.round_off(run, ticks)
        if self.misread.any():
            found = found + spread_of(self.twin, run, ticks, self.misread)
        if self._reader:
            most = LOSS * np.maximum(by_group(np.abs(vector(run))).max(axis=0), 1.0)
            lost = SAFETY * read_back(self._reader, run, read)
            found = found + np.minimum(lost, most)
        return found


def is_twin(check: object) -> TypeGuard[SchemeCheck]:
    """Return whether every tick without an event is one of the engine's twin, and none touches.

    Then their errors are the twin's, which has our equations under a scheme whose order is known:
    time stepping explains all of them, in the asymptotic range or not.
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
        run: of it.
        picked: returns those to compare, of the ticks in which nothing happens; all by default.
        named: whether a difference is explained.
        resolved: whether the resolution is found, which takes a third of the time.
    """
    if any(joint.mimic for joint in setup.tree.moving):
        return NoTwin("joints mimic others, which each engine holds by a law of its own")
    try:
        made = TwinComparison.of(setup, engine)
    except AccordError as error:
        return NoTwin(str(error))
    setup, engine, twin = made.setup, made.engine, made.twin
    touched = touching(setup, engine, run)
    if touched is None:
        return NoTwin(f"{engine.name} does not report its contacts")
    apart = left_out(run, setup.scenario.control_period) | touched
    free = np.flatnonzero(~apart)
    few = picked(free)
    chosen, errors = compare(twin, run, few)
    if not len(chosen):
        return NoTwin("every tick has an event, a contact or a joint at its stop")
    sizes = by_group(np.abs(errors))
    worst = descending((sizes / sizes.max(axis=0).clip(min=1e-300)).max(axis=1))
    even = np.linspace(0, len(sizes) - 1, min(SAMPLED, len(sizes))).astype(int)
    sampled = np.unique([*worst[: SAMPLED // 2], *even])
    floor = made.floor(run, chosen[sampled], chosen[even])
    floors = spread(floor, errors.shape[1])
    ratios = np.abs(errors) / floors
    tick, column = np.unravel_index(first_largest(ratios), ratios.shape)
    problem = TwinProblem(setup, twin, run, chosen, 1.0 / floors, engine=engine)
    resolution: Sequence[Resolved] = ()
    if resolved:
        probed = np.unique([*worst[: PROBED // 2], *even[:: 2 * SAMPLED // PROBED]])
        resolution = resolution_of(largest(replace(problem, ticks=chosen[probed])), "scheme")
    known = NOTHING
    if named and ratios[tick, column] > 1.0:
        known = explain_chosen(problem, ratios.max(axis=1))
    others = None
    left = round((len(run) - 1 - len(free)) + len(free) * (1.0 - len(chosen) / len(few)))
    rest = np.union1d(np.flatnonzero(apart), np.setdiff1d(few, chosen))
    if len(rest) and engine.simulator and not touched.any() and ratios[tick, column] <= 1.0:
        others = check_event_ticks(setup, engine, run, rest)
    quantity, where = names(run.joints)[column]
    return SchemeCheck(
        error=float(np.abs(errors[tick, column])),
        floor=float(floors[column]),
        quantity=quantity,
        where=where,
        explanation=known,
        resolution=resolution,
        time=float(run.time[chosen[tick]]),
        judged=len(run) - 1 - left,
        looked_at=len(sizes),
        left_out=left,
        touching=int(touched.sum()),
        others=others,
    )


def explain_chosen(problem: TwinProblem, ratios: Array) -> Explanation:
    """Explain the ticks that are outside (k,), by the worst of them and others evenly."""
    chosen, run = problem.ticks, problem.run
    outside = np.flatnonzero(ratios > 1.0)
    inside = (chosen >= MOST_LATE) & (chosen < len(run) - 1 - MOST_LATE)
    if (inside & (ratios > 1.0)).any():  # what is late is known there
        outside = np.flatnonzero(inside & (ratios > 1.0))
    worst = outside[descending(ratios[outside])][: NAMED // 2]
    others = outside[np.linspace(0, len(outside) - 1, NAMED // 2).astype(int)]
    few = chosen[list(dict.fromkeys([*worst.tolist(), *others.tolist()]))]
    found = explain_ticks(replace(problem, ticks=few))
    count = int(np.count_nonzero(ratios > 1.0))
    return replace(found, counted=(count, len(ratios)) if count < SPARSE * len(ratios) else ())


def explain_drawn(setup: Setup, engine: EngineSpec) -> Explanation:
    """Explain what differs from the twin in ticks from random states under random efforts."""
    simulator, period = make_simulator(setup, engine), setup.scenario.control_period
    if setup.contact is not None or simulator.unplaced:  # random states touch
        return NOTHING
    states, before = list[RobotState](), np.zeros(len(setup.joints))
    for state, effort in draw_states(setup, NAMED, 1):
        begin = replace(state, time=len(states) * period, effort=before)
        states += [simulator.reset(begin), simulator.step(Command(effort), period)]
        before = effort
    run = Trajectory.from_states(setup.joints, states)
    found = check_scheme(setup, engine, run, lambda ticks: ticks[ticks % 2 == 0], resolved=False)
    return found.explanation if isinstance(found, SchemeCheck) else NOTHING


class SchemeLevel(Level["SchemeCheck | NoTwin"]):
    """Judge each tick by round-off alone."""

    name = "scheme"
    title = "Scheme: a twin of the engine"

    def measure(self, case: CheckCase) -> SchemeCheck | NoTwin:
        return check_scheme(case.setup, case.engine, case.run, case.picked)

    def judge(self, check: SchemeCheck | NoTwin, tolerances: Tolerances) -> Finding:
        if isinstance(check, NoTwin):
            return Finding.does_not_apply(check.why)
        if check.error <= check.floor:
            total = check.judged + check.left_out - check.touching
            return unless_few(Finding.within(), check.judged, total)
        names = ("quantity", "where", "time", "error", "floor")
        why = because(Code.NOT_THE_TWIN, **{name: getattr(check, name) for name in names})
        return explained(
            Finding.outside(why, where=check.where, size=check.error), check.explanation
        )

    def rows(self, check: SchemeCheck | NoTwin) -> Rows:
        if isinstance(check, NoTwin):
            return {"of": Entry(check.reason)}
        return {
            "largest difference": Entry(check.error, form=".2g"),
            "round-off explains": Entry(check.floor, form=".2g"),
            "of": Entry(f"{check.quantity}, {check.where}"),
            "ticks": Entry(check.judged),
            "looked at": Entry(min(check.looked_at, check.judged)),
            "left out": Entry(check.left_out),
        }


class Beside(NamedTuple):
    """Hold what other levels know that decides how far a motion can be judged.

    Args:
        twin: the check of this level, where every tick is one of the engine's twin.
        obeys: whether efforts in force are as commanded; else no tick excuses a trajectory.
        described: whether the engine's model is as described.
    """

    twin: SchemeCheck | None = None
    obeys: bool = True
    described: bool = True

    @classmethod
    def of(cls, case: CheckCase) -> Beside:
        """Return what the levels before have found."""
        scheme, drive, model = (case.checks.get(n) for n in ("scheme", "drive", "acceleration"))
        differs = bool(model and model.model.differences)
        return cls(scheme if is_twin(scheme) else None, not (drive and drive.off), not differs)

    @property
    def unexplained(self) -> bool:
        """Whether a cause is to be sought in the motion."""
        return self.obeys and self.described and self.twin is None


ALONE = Beside()


def explained(finding: Finding, explanation: Explanation) -> Finding:
    """Return a finding with what explains it; where it is off, if the explanation knows better."""
    if not explanation.asked:
        return finding
    cause = explanation.cause
    where = cause.where or finding.where
    found = finding.also(because(Code.CAUSE, of=explanation))
    return replace(found, quantity=cause.quantity, where=where)


def by_twin(finding: Finding, check: SchemeCheck) -> Finding:
    """Return the finding on an engine that is its twin, where orders do not decide.

    In ticks with an event no twin steps: the limit of their errors at small steps decides. Too few
    physics steps stay too few: errors of an unknown order may be of any size.
    """
    others = check.others
    if others and others.excess > 1.0:
        why = because(Code.EVENT_TICKS, **vars(others))
        if others.count < FEWEST:
            return Finding.not_judged(why)
        return Finding.outside(
            why, quantity=others.quantity, where=others.where, size=others.excess
        )
    undecided = finding.outcome in (Outcome.OUTSIDE, Outcome.NOT_JUDGED)
    if not undecided or Code.FEW_STEPS in finding.codes:
        return finding
    if check.left_out and not others:
        return Finding.not_judged(because(Code.THE_TWIN_BUT_UNRESOLVED, of=list(finding.reasons)))
    if others and others.count:
        counts = {"judged": check.judged, "count": others.count, "others": check.left_out}
        return Finding.within(because(Code.THE_TWIN_BUT_EVENTS, **counts))
    return Finding.within(because(Code.THE_TWIN))


def compare(twin: Simulator, run: Trajectory, ticks: Index) -> tuple[Index, Array]:
    """Compare ticks of a run with the twin's; those in which its joints stop are left out.

    Returns:
        the number of each (k,), and its errors by coordinate (k, 2 n + 12).
    """
    ends, stopped = predicted(twin, run, ticks)
    errors = difference(run.at(ticks + 1), ends)
    return ticks[~stopped], errors[~stopped]


def spread_of(twin: Simulator, run: Trajectory, ticks: Index, angles: Array) -> Array:
    """Return what errors of the joints' origins (n,) [rad] make of a tick, by group (6,)."""
    total, plain = np.zeros(6), predicted(twin, run, ticks)[0]
    for offset in np.diag(angles)[angles > 0.0]:
        turned, _ = predicted(twin, replace(run, q=run.q + offset), ticks)
        apart = difference(replace(plain, q=plain.q + offset), turned)
        total += by_group(np.abs(apart)).max(axis=0)
    return total


def read_back(engine: Simulator, run: Trajectory, ticks: Index) -> Array:
    """Return what an engine loses of a state that is set, by group of coordinates (6,)."""
    starts = run.at(ticks)
    lost = difference(starts, engine.predict(starts)[0])
    return np.asarray(by_group(np.abs(lost)).max(axis=0))


def touching(setup: Setup, engine: EngineSpec, run: Trajectory) -> NDArray[np.bool_] | None:
    """Return in which ticks something touches (k - 1,), None if nobody knows.

    By a repetition of the run; by the reference's ticks where the engine does not simulate here.
    """
    out = np.zeros(len(run) + 1, dtype=bool)
    if setup.contact is None:
        return out[2:]
    simulator = make_simulator(setup, engine if engine.simulator else REFERENCE)
    simulator.reset(run.state(0))
    for i in range(len(run) - 1):
        if not engine.simulator:
            simulator.reset(run.state(i))
        simulator.step(run.command(i), run.period(i))
        found = simulator.contacts()
        if found is None:
            return None
        out[i + 1] = bool(found)
    return out[:-2] | out[1:-1] | out[2:]

"""Level `energy`: the rest of an engine's energy book, which must vanish with the physics step.

SAMPLED and FEW may be tuned: how many parts of a run are made again, and at how many round-off is
measured. EPSILON and SLOW, the round-off of a book, stay: larger ones hide losses. ORDER is fixed
by the trapezoidal rule of energy_book.py. The bounds are set in extrapolation.py and, for the twin,
in scheme.py.

The rest over some control periods is what the book of the recorded run has. From the state in which
they begin the engine goes through them again, at its physics step, a half and a quarter of it: what
that changes is time stepping, and what it does not is energy from nowhere, or energy that nobody
accounts for. No reference is needed, nor a motion that repeats itself from other states.

An engine that is its twin (scheme.py) has the twin's book, but for round-off: where nothing happens
it is compared with that, and nothing is left to time stepping.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.outcome import Code, Finding, because
from roboaccord.contract.results import Quantity, Seconds
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.causes.ticks import parts_of
from roboaccord.crosscheck.extrapolation import (
    SAFETY,
    engines_of,
    go,
    has_settled,
    no_restart,
    remainder_of_samples,
)
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.levels.scheme import SAFETY as MANY
from roboaccord.crosscheck.levels.scheme import SHAKEN, NoTwin, SchemeCheck, is_twin
from roboaccord.crosscheck.links import link_centres
from roboaccord.crosscheck.motion import CheckCase
from roboaccord.crosscheck.ticks import Index, at_stops, left_out
from roboaccord.engines.spec import EngineSpec
from roboaccord.engines.twin import twin_of
from roboaccord.numerics.ranking import descending, first_largest
from roboaccord.run.energy_book import (
    UNMEASURED,
    EnergyBook,
    NoBook,
    Stored,
    integrate_law,
    law_of,
    net_work,
)
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.losses import CHANNELS, FRICTION, LawPower

SAMPLED = 40  # parts of a run: the worst half of them, and others evenly
FEW = 8  # of them, round-off is measured in one of so many
ROUND_OFF = 1e-9  # s
EPSILON = 1e-13  # relative to the largest energy
SLOW = 1e-3  # m/s
ORDER = 2  # of the trapezoidal rule, by which losses are integrated


@dataclass(frozen=True)
class EnergyCheck:
    """Hold what is left of the rest of the book at a physics step of 0.

    Args:
        left, bound: rms over parts of the run, and what time stepping and round-off explain of it.
        worst: the rest there, where it is largest; below 0 where energy came from nowhere.
        time, length: when that part begins, and how long each is.
        sure: whether an excess is: in the asymptotic range, or beyond all that the steps change.
        step: the smallest physics step.
        unmeasured: channels of losses that nobody measures: then only gains are judged.
        twin: whether `left` is what the rest differs by from the twin's, and round-off its bound.
    """

    left: Annotated[float, Quantity("J", "rest at a physics step of 0", form=".2g")]
    bound: Annotated[float, Quantity("J", "what time stepping explains of it", form=".2g")]
    worst: Annotated[float, Quantity("J", "rest there, where it is largest", form=".2g")]
    time: Seconds
    length: Seconds
    sure: bool
    step: Seconds
    unmeasured: tuple[str, ...] = ()
    twin: bool = False


def check_energy(
    setup: Setup,
    engine: EngineSpec,
    run: Trajectory,
    book: EnergyBook | NoBook,
    scheme: SchemeCheck | NoTwin | None = None,
) -> EnergyCheck | NoBook:
    """Judge by what the physics step changes of the book of an engine's run.

    Parts in which nothing happens have the engine's order, and are judged by themselves: the others
    would hide them. Those of an engine that is its twin are compared with the twin's.
    """
    if isinstance(book, NoBook) or book.reason:
        return NoBook(book.reason or "")
    simulators = engines_of(setup, engine)
    if reason := no_restart(simulators[0]):
        return NoBook(f"{reason}, so the energy is not known")
    rough = left_out(run, setup.scenario.control_period) | at_stops(simulators[0], run)
    parts = _Parts(setup, run, book)
    free = np.diff(np.concatenate([[0], np.cumsum(rough)])[parts.ends]) == 0
    order = min(ORDER, simulators[0].order) if setup.contact is None else 1
    found = list[EnergyCheck]()
    if is_twin(scheme) and engine.simulator:
        own = parts.choose(np.flatnonzero(free))
        same, stopped = parts.compare(engine, own)
        found += same
        free[own[stopped]] = False
    elif free.any():
        found.append(parts.check(simulators, np.flatnonzero(free), order))
    if not free.all():
        found.append(parts.check(simulators, np.flatnonzero(~free), None))
    over = [each for each in found if each.left > each.bound]
    return max(over or found, key=lambda each: (each.sure, each.left / each.bound))


@dataclass(frozen=True)
class _Parts:
    """Judge parts of a run, between samples of its book."""

    setup: Setup
    run: Trajectory
    book: EnergyBook

    @cached_property
    def ends(self) -> Index:
        """Samples of the run at which parts begin and end (p + 1,)."""
        return np.searchsorted(self.run.time, self.book.time - ROUND_OFF)

    def compare(
        self, engine: EngineSpec, parts: Index
    ) -> tuple[list[EnergyCheck], NDArray[np.bool_]]:
        """Compare parts with those of the engine's twin.

        Returns:
            what was found, nothing where nothing was compared; and in which parts a joint stops,
            which the twin does not (p,).
        """
        made = (make_simulator(self.setup, twin_of(engine, seed)) for seed in (0, *SHAKEN))
        twin, *shaken = made
        residuals, stopped = self._residuals(twin, parts)
        chosen, residuals = parts[~stopped], residuals[~stopped]
        if not len(chosen):
            return [], stopped
        few = slice(None, None, FEW)
        others = (self._residuals(each, chosen[few])[0] for each in shaken)
        most = max(_rms(each - residuals[few]) for each in others)
        read = self._read(make_simulator(self.setup, engine), chosen)
        apart = np.diff(self.book.rest)[chosen] - residuals
        at = first_largest(np.abs(apart))
        found = EnergyCheck(
            _rms(apart),
            MANY * most + SAFETY * _rms(read) + self._floor(),
            float(apart[at]),
            *self._place(chosen[at]),
            sure=True,
            step=twin.physics_step,
            twin=True,
        )
        return [found], stopped

    def check(
        self, simulators: Sequence[Simulator], parts: Index, order: int | None
    ) -> EnergyCheck:
        """Check parts by their numbers.

        Those in which something happens have no order (None): steps explain what they change there.
        """
        chosen, book = self.choose(parts), self.book
        found = np.array([self._residuals(each, chosen)[0] for each in simulators])
        errors = found - found[0] + np.diff(book.rest)[chosen]
        unmeasured = tuple(name for name in CHANNELS if book.how[name] == UNMEASURED)
        if unmeasured:
            errors = np.minimum(errors, 0.0)
        floor = self._floor()
        left = remainder_of_samples([e[:, None] for e in errors], order or 1, np.array([floor]))
        explained = SAFETY * _rms(np.abs(np.diff(errors, axis=0)).sum(axis=0))
        settled = left.asymptotic and has_settled([*errors], order or 1)
        return EnergyCheck(
            left.size,
            left.bound if order else max(left.bound, explained + floor),
            float(errors[-1, left.sample]),
            *self._place(chosen[left.sample]),
            sure=settled or left.size > explained,
            step=simulators[-1].physics_step,
            unmeasured=unmeasured,
        )

    def choose(self, parts: Index) -> Index:
        """Return the parts with the largest residuals, and others evenly."""
        worst = parts[descending(np.abs(np.diff(self.book.rest)[parts]))[: SAMPLED // 2]]
        even = parts[np.linspace(0, len(parts) - 1, min(SAMPLED, len(parts))).astype(int)]
        return np.unique(np.array([*worst, *even], int))

    def _residuals(self, simulator: Simulator, parts: Index) -> tuple[Array, NDArray[np.bool_]]:
        """Return the rest of each part as a simulator has it [J], and whether a twin stops."""
        simulator.meter()
        setup, law, stored = self.setup, law_of(self.setup.force_law), self._stored(simulator)
        found, stopped = np.empty(len(parts)), np.zeros(len(parts), dtype=bool)
        for row, part in enumerate(parts.tolist()):
            run, taken = go(simulator, self.run, *self.ends[part : part + 2].tolist())
            before, after = (sum(stored.of(run.state(i))) for i in (0, -1))
            lost = sum(taken.values()) + sum(event.energy for event in run.events)
            if FRICTION not in taken and law:
                lost += float(integrate_law(LawPower(setup.tree, run.joints, law), run)[-1])
            found[row] = float(net_work(run)[-1]) - (after - before) - lost
            stopped[row] = any(each.stopped for each in parts_of(simulator))
        return found, stopped

    def _read(self, simulator: Simulator, parts: Index) -> Array:
        """Return what an engine changes of the energy of states that it is put into (p,) [J].

        DART gives the turn of a free base back by a series that is cut off: 2e-12 rad of it.
        """
        changes, stored = dict[int, float](), self._stored(simulator)
        for i in np.unique(self.ends[[parts, parts + 1]]).tolist():
            state = self.run.state(i)
            changes[i] = abs(sum(stored.of(simulator.reset(state))) - sum(stored.of(state)))
        return np.array([changes[i] + changes[k] for i, k in self.ends[[parts, parts + 1]].T])

    def _stored(self, simulator: Simulator) -> Stored:
        beside = self.setup.parameters.gravity, simulator.armature, simulator.spring
        return Stored(self.setup.tree, self.run.joints, *beside)

    def _place(self, part: int) -> tuple[float, float]:
        """Return when a part begins, and how long it is [s]."""
        begin, end = self.book.time[part : part + 2].tolist()
        return begin, end - begin

    def _floor(self) -> float:
        """Return the round-off of a difference of the book's numbers [J].

        Heights are sums over the joints, so they have the round-off of distances. A robot that
        stands still has that of a slow motion.
        """
        setup, book = self.setup, self.book
        masses = np.array([link.mass for link in setup.tree.links])
        mass = float(masses.sum())
        reach = np.linalg.norm(link_centres(setup.tree, self.run), axis=2).max(axis=0)
        height = float(masses @ reach) * abs(setup.parameters.gravity)
        items = (book.kinetic, book.net_work, book.potential, *(getattr(book, c) for c in CHANNELS))
        largest = max(float(np.abs(item).max()) for item in items)
        return float(EPSILON * max(largest, height, 0.5 * mass * SLOW**2))


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


class EnergyLevel(Level["EnergyCheck | NoBook"]):
    """What is left at a physics step of 0 is outside."""

    name = "energy"
    title = "Energy"

    def measure(self, case: CheckCase) -> EnergyCheck | NoBook:
        scheme = case.checks.get("scheme")
        return check_energy(case.setup, case.engine, case.run, case.book, scheme)

    def judge(self, check: EnergyCheck | NoBook, tolerances: Tolerances) -> Finding:
        if isinstance(check, NoBook):
            return Finding.does_not_apply(because(Code.NO_BOOK, text=check.reason))
        if check.left <= check.bound:
            lacking = [because(Code.ONLY_GAINS, channels=check.unmeasured)]
            return Finding.within(*lacking * bool(check.unmeasured))
        why = because(Code.ENERGY_OF_TWIN if check.twin else Code.ENERGY, **vars(check))
        if not (check.twin or check.sure):
            return Finding.not_judged(why)
        where = f"t = {check.time:g} s"
        return Finding.outside(why, quantity="energy", where=where, size=check.left)

    def rows(self, check: EnergyCheck | NoBook) -> Rows:
        if isinstance(check, NoBook):
            return {"most from t =": Entry(check.reason)}
        return {
            "left at 0": Entry(check.left, "J", ".2g"),
            "explained": Entry(check.bound, "J", ".2g"),
            "in parts of": Entry(check.length, "s", ".2g"),
            "most from t =": Entry(check.time, "s", "g"),
        }

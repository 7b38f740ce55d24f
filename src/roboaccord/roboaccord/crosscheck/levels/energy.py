"""Level `energy`: an engine's energy must be accounted for, up to what time stepping explains.

The energy book of a run lists the work of the efforts, the stored energy and the losses by channel;
its rest is what they do not account for. The engine simulates parts of the run again, each from its
first state, at its physics step, a half and a quarter of it. A rest that vanishes with the step is
due to time stepping; one that does not is energy from nowhere, or lost to an unknown channel. No
reference is needed, nor a regular motion. An engine whose ticks are its twin's (level `scheme`) has
the twin's book up to round-off: where nothing happens, the two are compared, and time stepping
explains nothing.

SAMPLED and FEW may be tuned. EPSILON and SLOW, the round-off of a book, stay: larger ones hide
losses. Bounds are set in extrapolation.py and measures/twin_comparison.py. Names of `EnergyCheck`
are keys of summary.json and stay.
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
    rms,
)
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.links import link_centres
from roboaccord.crosscheck.measures.scheme import NoTwin, SchemeCheck, is_twin
from roboaccord.crosscheck.measures.twin_comparison import ROUNDINGS, SHAKEN
from roboaccord.crosscheck.motion import CheckCase
from roboaccord.crosscheck.special_ticks import at_stops, left_out
from roboaccord.crosscheck.ticks import TIME_ROUND_OFF, Index, worst_and_even
from roboaccord.engines.spec import EngineSpec
from roboaccord.engines.twin import twin_of
from roboaccord.numerics.ranking import first_largest
from roboaccord.run import energy_book
from roboaccord.run.energy_book import EnergyBook, NoBook
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.losses import CHANNELS, FRICTION, LawPower

# parts of a run that are simulated again, half the worst and half spread evenly: the root mean
# square of 40 is known to 11 %
SAMPLED = 40
# Round-off is measured in every eighth of those parts, because it costs two twins: the root mean
# square of five is known to a third.
FEW = 8
EPSILON = 1e-13  # of the largest energy: round-off of sums of some hundred terms
ORDER = 2  # of the trapezoidal rule, by which run/energy_book.py integrates losses
# m/s: at rest the kinetic energy of this speed is the scale of round-off: 5e-7 J of 1 kg, less
# than any motion that is judged has.
SLOW = 1e-3


@dataclass(frozen=True)
class EnergyCheck:
    """Energy that the book does not account for (its rest), at a physics step of 0.

    Args:
        left: rms rest over parts of the run.
        bound: of `left`, by time stepping and round-off.
        worst: largest rest of a part; negative where energy came from nowhere.
        time, length: when that part begins, and how long it is.
        sure: whether an excess is certain: in the asymptotic range, or beyond all that the steps
            change.
        step: the smallest physics step.
        unmeasured: channels of losses that are not measured; then only gains are judged.
        twin: whether `left` is the difference from the twin's rest, with round-off as its bound.
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


@dataclass(frozen=True)
class EnergyParts:
    """Parts of a run between samples of its book, each of which can be simulated again."""

    setup: Setup
    run: Trajectory
    book: EnergyBook

    @cached_property
    def ends(self) -> Index:
        """Samples of the run at which parts begin and end (p + 1,)."""
        return np.searchsorted(self.run.time, self.book.time - TIME_ROUND_OFF)

    def compare(
        self, engine: EngineSpec, parts: Index
    ) -> tuple[list[EnergyCheck], NDArray[np.bool_]]:
        """Compare parts with those of the engine's twin.

        Args:
            engine: that made the run.
            parts: indices (p,).

        Returns:
            a check, or none where nothing was compared; and in which parts a joint is stopped,
            which no twin simulates (p,).
        """
        twin, *noisy = (make_simulator(self.setup, twin_of(engine, seed)) for seed in (0, *SHAKEN))
        residuals, stopped = self._residuals(twin, parts)
        chosen, residuals = parts[~stopped], residuals[~stopped]
        if not len(chosen):
            return [], stopped
        # Round-off: by twins with changed numbers, and by setting the engine's states.
        sampled = slice(None, None, FEW)
        by_rounding = (self._residuals(simulator, chosen[sampled])[0] for simulator in noisy)
        round_off = max(rms(values - residuals[sampled]) for values in by_rounding)
        lost = self._lost_by_setting(make_simulator(self.setup, engine), chosen)
        differences = np.diff(self.book.rest)[chosen] - residuals
        largest = first_largest(np.abs(differences))
        check = EnergyCheck(
            rms(differences),
            ROUNDINGS * round_off + SAFETY * rms(lost) + self._floor(),
            float(differences[largest]),
            *self._span(chosen[largest]),
            sure=True,
            step=twin.physics_step,
            twin=True,
        )
        return [check], stopped

    def check(
        self, simulators: Sequence[Simulator], parts: Index, order: int | None
    ) -> EnergyCheck:
        """Check parts at three physics steps.

        Args:
            simulators: of the engine, at the three steps.
            parts: indices.
            order: of the rest in the step; None for parts in which something happens, which have no
                order. There the bound is the change with the steps.
        """
        chosen, book = self.choose(parts), self.book
        residuals = np.array([self._residuals(simulator, chosen)[0] for simulator in simulators])
        # Rest of each part at each step: the recorded one, and its change with the step.
        errors = residuals - residuals[0] + np.diff(book.rest)[chosen]
        unmeasured = tuple(name for name in CHANNELS if book.how[name] == energy_book.UNMEASURED)
        if unmeasured:  # an unmeasured loss explains any loss, but no gain
            errors = np.minimum(errors, 0.0)
        floor = self._floor()
        remainder = remainder_of_samples([*errors[:, :, None]], order or 1, np.array([floor]))
        explained = SAFETY * rms(np.abs(np.diff(errors, axis=0)).sum(axis=0))
        settled = remainder.asymptotic and has_settled([*errors], order or 1)
        return EnergyCheck(
            remainder.size,
            remainder.bound if order else max(remainder.bound, explained + floor),
            float(errors[-1, remainder.sample]),
            *self._span(chosen[remainder.sample]),
            sure=settled or remainder.size > explained,
            step=simulators[-1].physics_step,
            unmeasured=unmeasured,
        )

    def choose(self, parts: Index) -> Index:
        """Return the parts with the largest rests, and others at even distances."""
        return parts[worst_and_even(np.abs(np.diff(self.book.rest)[parts]), SAMPLED)]

    def _residuals(self, simulator: Simulator, parts: Index) -> tuple[Array, NDArray[np.bool_]]:
        """Return the rest of each part in a simulator [J], and whether a twin is stopped (p,)."""
        simulator.meter()
        setup, stored = self.setup, self._stored(simulator)
        law = energy_book.law_of(setup.force_law)
        residuals, stopped = np.empty(len(parts)), np.zeros(len(parts), dtype=bool)
        for row, part in enumerate(parts.tolist()):
            # Work of the efforts, less the change of stored energy, less losses by all channels.
            run, losses = go(simulator, self.run, *self.ends[part : part + 2].tolist())
            before, after = (sum(stored.of(run.state(i))) for i in (0, -1))
            lost = sum(losses.values()) + sum(event.energy for event in run.events)
            if FRICTION not in losses and law:
                power = LawPower(setup.tree, run.joints, law)
                lost += float(energy_book.integrate_law(power, run)[-1])
            residuals[row] = float(energy_book.net_work(run)[-1]) - (after - before) - lost
            stopped[row] = any(model.stopped for model in parts_of(simulator))
        return residuals, stopped

    def _lost_by_setting(self, simulator: Simulator, parts: Index) -> Array:
        """Return the change of energy when an engine sets the states at the ends of parts (p,) [J].

        DART returns the rotation of a free base by a truncated series, with an error of 2e-12 rad.
        """
        changes, stored = dict[int, float](), self._stored(simulator)
        for i in np.unique(self.ends[[parts, parts + 1]]).tolist():
            state = self.run.state(i)
            changes[i] = abs(sum(stored.of(simulator.reset(state))) - sum(stored.of(state)))
        return np.array([changes[i] + changes[k] for i, k in self.ends[[parts, parts + 1]].T])

    def _stored(self, simulator: Simulator) -> energy_book.Stored:
        """Return what computes the stored energy of states, with armature and springs."""
        parameters = self.setup.parameters.gravity, simulator.armature, simulator.spring
        return energy_book.Stored(self.setup.tree, self.run.joints, *parameters)

    def _span(self, part: int) -> tuple[float, float]:
        """Return when a part begins, and how long it is [s]."""
        begin, end = self.book.time[part : part + 2].tolist()
        return begin, end - begin

    def _floor(self) -> float:
        """Return the round-off of a difference of two numbers of the book [J].

        Heights are sums over the joints, with the round-off of distances. A robot at rest has that
        of a slow motion.
        """
        setup, book = self.setup, self.book
        masses = np.array([link.mass for link in setup.tree.links])
        mass = float(masses.sum())
        reach = np.linalg.norm(link_centres(setup.tree, self.run), axis=2).max(axis=0)
        height = float(masses @ reach) * abs(setup.parameters.gravity)
        items = (book.kinetic, book.net_work, book.potential, *(getattr(book, c) for c in CHANNELS))
        largest = max(float(np.abs(item).max()) for item in items)
        return float(EPSILON * max(largest, height, 0.5 * mass * SLOW**2))


def check_energy(
    setup: Setup,
    engine: EngineSpec,
    run: Trajectory,
    book: EnergyBook | NoBook,
    scheme: SchemeCheck | NoTwin | None = None,
) -> EnergyCheck | NoBook:
    """Check the energy book of an engine's run, by how its rest changes with the physics step.

    Parts in which nothing happens have the engine's order and are checked separately: the larger
    errors of the others would hide theirs. If the ticks are the twin's, they are compared with it.

    Returns:
        the check with the largest excess, or the reason why there is none.
    """
    if isinstance(book, NoBook) or book.reason:
        return NoBook(book.reason or "")
    simulators = engines_of(setup, engine)
    if reason := no_restart(simulators[0]):
        return NoBook(f"{reason}, so the energy is not known")
    # Parts of the book in which nothing happens.
    eventful = left_out(run, setup.scenario.control_period) | at_stops(simulators[0], run)
    parts = EnergyParts(setup, run, book)
    free = np.diff(np.concatenate([[0], np.cumsum(eventful)])[parts.ends]) == 0
    order = min(ORDER, simulators[0].order) if setup.contact is None else 1
    checks = list[EnergyCheck]()
    if is_twin(scheme) and engine.simulator:
        judged_by_twin = parts.choose(np.flatnonzero(free))
        twin_checks, stopped = parts.compare(engine, judged_by_twin)
        checks += twin_checks
        free[judged_by_twin[stopped]] = False
    elif free.any():
        checks.append(parts.check(simulators, np.flatnonzero(free), order))
    if not free.all():
        checks.append(parts.check(simulators, np.flatnonzero(~free), None))
    outside = [check for check in checks if check.left > check.bound]
    return max(outside or checks, key=lambda check: (check.sure, check.left / check.bound))


class EnergyLevel(Level["EnergyCheck | NoBook"]):
    """Judge the rest that remains at a physics step of 0."""

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

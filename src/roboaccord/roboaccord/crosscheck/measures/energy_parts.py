"""Parts of a run whose energy is accounted for again: by the engine at smaller steps, or its twin.

The energy book of a run (run/energy_book.py) lists the work of the efforts, the stored energy and
the losses by channel (stops, impacts, friction) at some samples [J]; its rest is what they do not
account for. A part lies between two samples of the book. It is simulated again from its first
state, under the recorded commands, and the rest of the repetition is compared with the recorded
one. Level `energy` (levels/energy.py) chooses the parts and judges the result.

REPEATED_PARTS and NOISE_INTERVAL may be tuned. BOOK_ROUND_OFF and REST_SPEED, the round-off of a
book, stay: larger ones hide losses. Bounds are set in extrapolation.py and twin_comparison.py.
Names of `EnergyCheck` are keys of summary.json and stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from roboaccord.contract import Array, Quantity, Seconds, Trajectory
from roboaccord.crosscheck import round_off
from roboaccord.crosscheck.causes.ticks import twins_of
from roboaccord.crosscheck.extrapolation import SAFETY, has_settled, remainder_of_samples, rms
from roboaccord.crosscheck.links import link_centres
from roboaccord.crosscheck.restart import restart
from roboaccord.crosscheck.ticks import TIME_ROUND_OFF, Index, Mask, worst_and_even
from roboaccord.engines.spec import EngineSpec
from roboaccord.engines.twin import twin_of
from roboaccord.numerics.ranking import first_largest
from roboaccord.run import energy_book
from roboaccord.run.energy_book import EnergyBook
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.losses import CHANNELS, FRICTION, LawPower

# Number of parts of a run that are simulated again, half the worst and half spread evenly: the root
# mean square of 40 is known to 11 %.
REPEATED_PARTS = 40
# Round-off is measured in every eighth of those parts, because it costs two twins: the root mean
# square of five is known to a third.
NOISE_INTERVAL = 8
# Round-off relative to the largest energy: n u of a sum of n = 900 terms [Higham 2002, chapter 3].
BOOK_ROUND_OFF = 1e-13
# Speed whose kinetic energy is the scale of round-off at rest [m/s]: 5e-7 J of 1 kg, less than any
# motion that is judged has.
REST_SPEED = 1e-3


@dataclass(frozen=True)
class EnergyCheck:
    """Energy that the book does not account for (its rest), at a physics step of 0.

    Args:
        left: rms rest over parts of the run [J].
        bound: of `left`, by time stepping and round-off [J].
        worst: largest rest of a part [J]; negative where energy came from nowhere.
        time, length: when that part begins, and its duration [s].
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
    """Parts of a run between samples of its book, each of which can be simulated again.

    Parts are given by indices (p,). The rest of a part is the change of the book's rest over it.

    Args:
        setup: robot and scenario.
        run: recorded, of k samples.
        book: of the run, at p + 1 of these samples.
    """

    setup: Setup
    run: Trajectory
    book: EnergyBook

    @cached_property
    def ends(self) -> Index:
        """Samples of the run at which parts begin and end (p + 1,)."""
        return np.searchsorted(self.run.time, self.book.time - TIME_ROUND_OFF)

    @cached_property
    def recorded_rests(self) -> Array:
        """Rest of each part in the recorded run (p,) [J]."""
        return np.diff(self.book.rest)

    def compare_twin(self, engine: EngineSpec, parts: Index) -> tuple[EnergyCheck | None, Mask]:
        """Compare the rests of parts with those of the engine's twin.

        Args:
            engine: that made the run.
            parts: indices (p,).

        Returns:
            the check, None where nothing was compared; and in which parts a joint is stopped, which
            no twin simulates (p,).
        """
        # The twin, by seed 0, and twins whose numbers are changed by one rounding each.
        specs = [twin_of(engine, seed) for seed in (0, *round_off.ROUNDING_SEEDS)]
        twin, *rounded_twins = (make_simulator(self.setup, spec) for spec in specs)
        rests, stopped = self._repeated_rests(twin, parts)
        parts, rests = parts[~stopped], rests[~stopped]
        if not len(parts):
            return None, stopped
        # Round-off: by twins with changed numbers, and by setting the engine's states.
        sampled = slice(None, None, NOISE_INTERVAL)
        rounded_rests = (self._repeated_rests(t, parts[sampled])[0] for t in rounded_twins)
        rounded_change = max(rms(rounded - rests[sampled]) for rounded in rounded_rests)
        lost = self._lost_by_setting(make_simulator(self.setup, engine), parts)
        differences = self.recorded_rests[parts] - rests
        largest = first_largest(np.abs(differences))
        factor, floor = round_off.factor(twin.rounding), self._floor(twin.rounding)
        bound = factor * rounded_change + SAFETY * rms(lost) + floor
        time, length = self._span(parts[largest])
        left, worst = rms(differences), float(differences[largest])
        step = twin.physics_step
        check = EnergyCheck(left, bound, worst, time, length, sure=True, step=step, twin=True)
        return check, stopped

    def check_convergence(
        self, simulators: Sequence[Simulator], parts: Index, order: int | None
    ) -> EnergyCheck:
        """Check whether the rests of parts vanish with the physics step.

        Args:
            simulators: of the engine, at three steps.
            parts: indices.
            order: of the rest in the step; None for parts in which something happens, which have no
                order. There the bound is the change with the steps.
        """
        chosen, book = self.choose(parts), self.book
        rests = np.array([self._repeated_rests(simulator, chosen)[0] for simulator in simulators])
        # Rest of each part at each step: the recorded one, and its change with the step.
        errors = rests - rests[0] + self.recorded_rests[chosen]
        unmeasured = tuple(name for name in CHANNELS if book.how[name] == energy_book.UNMEASURED)
        if unmeasured:  # an unmeasured loss explains any loss, but no gain
            errors = np.minimum(errors, 0.0)
        floor = self._floor(simulators[0].rounding)
        remainder = remainder_of_samples([*errors[:, :, None]], order or 1, np.array([floor]))
        # What the steps change in all, which an excess that is not settled must exceed.
        by_steps = SAFETY * rms(np.abs(np.diff(errors, axis=0)).sum(axis=0))
        is_settled = remainder.asymptotic and has_settled([*errors], order or 1)
        time, length = self._span(chosen[remainder.sample])
        bound = remainder.bound if order else max(remainder.bound, by_steps + floor)
        worst = float(errors[-1, remainder.sample])
        sure = is_settled or remainder.size > by_steps
        step = simulators[-1].physics_step
        return EnergyCheck(remainder.size, bound, worst, time, length, sure, step, unmeasured)

    def choose(self, parts: Index) -> Index:
        """Return the parts with the largest rests, and others at even distances."""
        return parts[worst_and_even(np.abs(self.recorded_rests[parts]), REPEATED_PARTS)]

    def _repeated_rests(self, simulator: Simulator, parts: Index) -> tuple[Array, Mask]:
        """Return the rest of each part as a simulator repeats it [J], and if a twin stopped (p,).

        It is the work of the efforts, less the change of stored energy, less all losses.
        """
        simulator.meter()
        setup, stored = self.setup, self._stored(simulator)
        law = energy_book.law_of(setup.force_law)
        rests, stopped = np.empty(len(parts)), np.zeros(len(parts), dtype=bool)
        for row, part in enumerate(parts.tolist()):
            first, last = self.ends[part : part + 2].tolist()
            run, losses = restart(simulator, self.run, first, last)
            before, after = (sum(stored.of(run.state(i))) for i in (0, -1))
            lost = sum(losses.values()) + sum(event.energy for event in run.events)
            if FRICTION not in losses and law:
                power = LawPower(setup.tree, run.joints, law)
                lost += float(energy_book.integrate_law(power, run)[-1])
            rests[row] = float(energy_book.net_work(run)[-1]) - (after - before) - lost
            stopped[row] = any(model.stopped for model in twins_of(simulator))
        return rests, stopped

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
        bodies = self.setup.bodies
        return energy_book.Stored(self.setup.tree, self.run.joints, *parameters, bodies)

    def _span(self, part: int) -> tuple[float, float]:
        """Return when a part begins, and how long it is [s]."""
        begin, end = self.book.time[part : part + 2].tolist()
        return begin, end - begin

    def _floor(self, rounding: float) -> float:
        """Return the round-off of a difference of two numbers of the book [J].

        Heights are sums over the joints, with the round-off of distances [m]. A robot at rest has
        the round-off of a slow motion.
        """
        setup, book = self.setup, self.book
        bodies = [body.mass for body in setup.bodies]
        masses = np.array([*(link.mass for link in setup.tree.links), *bodies])
        mass = float(masses.sum())
        reach = np.linalg.norm(link_centres(setup.tree, self.run), axis=2).max(axis=0)
        potential = float(masses @ reach) * abs(setup.parameters.gravity)
        items = (book.kinetic, book.net_work, book.potential, *(getattr(book, c) for c in CHANNELS))
        largest = max(float(np.abs(item).max()) for item in items)
        relative = max(BOOK_ROUND_OFF, round_off.STATE_ROUNDINGS * rounding)
        return float(relative * max(largest, potential, 0.5 * mass * REST_SPEED**2))

"""Names of errors: residuals of single ticks, regressed on hypotheses by joint and link.

Residuals are those of an engine from its twin, or where there is none from the reference, for a
physics step of 0. A hypothesis is tried by predicting the ticks with it in force: what it leaves of
the squared residuals is a figure of confidence, held against what the next best leaves. Where no
one error explains them, two are tried.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import Json
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.convergence import ConvergenceCheck
from roboaccord.crosscheck.differences import Name
from roboaccord.crosscheck.extrapolation import STEPS, estimates
from roboaccord.crosscheck.hypotheses import (
    AXES,
    Hypothesis,
    Mix,
    Predictor,
    components,
    spread,
)
from roboaccord.crosscheck.ticks import Index, by_group, left_out, names
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.engines.twin import EVERY, OF_LINKS
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.run.factory import make_simulator
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

LEFT = 0.1  # share of the squared residuals that an error may leave to be named
LEFT_BY_TWO = 1e-2
BETTER = 1e-2  # times what one error leaves: two are named
ALIKE = 4.0  # times what the best leaves: such hypotheses cannot be told from it
ROUND_OFF = 1e-9  # of the squared residuals, which nothing explains
MOST = 6  # hypotheses that cannot be told apart
TRIED = 8  # hypotheses by regression that are then tried
FIRST = 3  # ticks at which errors without a size are tried first
ROUNDS = 8  # of the regression, for what is not linear
STALLED = 0.9  # of what the round before left
SAMPLES = 20  # ticks of a reference
SURE = 1e-3  # what a sure name leaves at most
SMALL = 0.05  # of the largest component: such others are not told


@dataclass(frozen=True)
class Trial:
    """Hold what is tried, and the share of the squared residuals that it leaves."""

    left: float
    sizes: Mapping[Hypothesis, float] = field(default_factory=dict)
    mix: Mix | None = None

    @property
    def places(self) -> tuple[tuple[str, str], ...]:
        """Quantities, and their joints or links."""
        mixed = [(self.mix.quantity, self.mix.where)] if self.mix else []
        return tuple(dict.fromkeys([*mixed, *((one.quantity, one.where) for one in self.sizes)]))

    def __str__(self) -> str:
        words = [self.mix.text] if self.mix else []
        for whole in dict.fromkeys(one.whole for one in self.sizes):
            own = {one: size for one in components(whole) if (size := self.sizes.get(one, 0.0))}
            most = max(map(abs, own.values()), default=0.0)
            shown = [
                f"{axis_of(one)}{one.sized(size)}"
                for one, size in own.items()
                if abs(size) >= SMALL * most
            ]
            words.append(f"{whole} is {', '.join(shown)} off")
        return " and ".join(words)


def axis_of(one: Hypothesis) -> str:
    """Return the name of a component, with a space behind it; "" where there is one."""
    return f"{AXES[one.quantity][one.axis]} " if one.quantity in AXES else ""


class Regression:
    """Regress residuals of a few ticks on hypotheses.

    Args:
        predictor: of these ticks.
        floor: of residuals, by group of columns (6,).
    """

    def __init__(self, predictor: Predictor, floor: Array) -> None:
        self._predictor = predictor
        self._weight = 1.0 / spread(floor, 2 * len(predictor.run.joints) + 12)
        self._target = self._weighted(predictor.residuals())
        self._total = float(self._target @ self._target)
        self._known = dict[Mix | None, dict[Hypothesis, Array]]()

    def name(self) -> Name:
        """Name the error or the two errors that explain the residuals, or say that none does."""
        ones = self._ones()
        best = ones[0] if ones else Trial(1.0)
        least = len(self._target) / self._total  # what the floor makes
        if best.left > max(ALIKE * least, ROUND_OFF):
            two = self._twos(ones)
            if two and two[0].left <= min(LEFT_BY_TWO, BETTER * best.left):
                return self._named(two, least)
        if best.left > LEFT:
            size = np.abs(self._target.reshape(-1, len(self._weight))).max(axis=0)
            quantity, where = names(self._predictor.run.joints)[int(np.argmax(size))]
            text = f"no one or two errors that are known explain it: look at the {quantity}"
            return Name(where=where, text=f"{text} of {where}")
        return self._named(ones, least)

    def _named(self, found: Sequence[Trial], least: float) -> Name:
        most = ALIKE * max(found[0].left, least) + ROUND_OFF
        alike = [each for each in found if each.left <= most]
        if any(each.mix for each in alike):  # which has no size to fit
            alike = [each for each in alike if each.mix]
        alike = list({each.places: each for each in reversed(alike)}.values())[::-1]
        sure = "" if found[0].left <= SURE else f"no known error leaves less than {found[0].left:.1g} of it: "
        if len(alike) > 1:
            more = f"; and {len(alike) - MOST} more" if len(alike) > MOST else ""
            words = "; ".join(map(str, alike[:MOST]))
            return Name(text=f"{sure}cannot be told apart: {words}{more}")
        text = f"{sure}{alike[0]}, which leaves {found[0].left:.0g} of it"
        others = [each for each in found if each.places != alike[0].places]
        if others and others[0].left < 1.0:
            text += f" and the next best {others[0].left:.1g}"
        return Name(*alike[0].places[0], text)

    def _weighted(self, residuals: Array) -> Array:
        return np.asarray((residuals * self._weight).ravel())

    def _share(self, residuals: Array) -> float:
        rest = self._weighted(residuals)
        share = float(rest @ rest) / self._total
        return share if math.isfinite(share) else math.inf

    def _ones(self) -> list[Trial]:
        """Try single errors; the best first."""
        found = [*self._mixed(), *self._regressed(None, 1)]
        return sorted(found, key=lambda each: each.left)

    def _twos(self, ones: Sequence[Trial]) -> list[Trial]:
        """Try pairs of errors; the best first."""
        found = [*self._regressed(None, 2)]
        for mixed in [each.mix for each in ones if each.mix][:2]:
            found += self._regressed(mixed, 1)
        return sorted(found, key=lambda each: each.left)

    def _mixed(self) -> Iterator[Trial]:
        """Yield the errors without a size that leave less than there is."""
        few = replace(
            self._predictor,
            ticks=self._predictor.ticks[:FIRST],
            rest=self._predictor.rest[:FIRST] if self._predictor.rest.ndim > 1 else np.zeros(1),
        )
        before = self._weighted(few.residuals())
        for mix in self._predictor.mixes():
            after = self._weighted(few.residuals(mix=mix))
            if after @ after < before @ before:
                left = self._share(self._predictor.residuals(mix=mix))
                if left < 1.0:
                    yield Trial(left, mix=mix)

    def _slopes(self, mix: Mix | None) -> dict[Hypothesis, Array]:
        known = self._known
        if mix not in known:
            found = self._predictor.slopes(mix)
            known[mix] = {one: self._weighted(slope) for one, slope in found.items()}
        return known[mix]

    def _regressed(self, mix: Mix | None, count: int) -> Iterator[Trial]:
        """Yield the groups of so many parameters that are best by regression, as tried."""
        slopes = self._slopes(mix)
        if not slopes:
            return
        start = self._weighted(self._predictor.residuals(mix=mix))
        columns = np.array([*slopes.values()])
        size = np.linalg.norm(columns, axis=1)
        columns = columns / size[:, None]
        of = dict[Hypothesis, list[int]]()
        for row, one in enumerate(slopes):
            of.setdefault(one.whole, []).append(row)
        products, along = columns @ columns.T, columns @ start

        def gain(rows: list[int]) -> float:
            found = np.linalg.lstsq(products[np.ix_(rows, rows)], along[rows], rcond=1e-10)[0]
            return float(found @ along[rows])

        groups = sorted(of.values(), key=gain, reverse=True)
        if count == 2:
            pairs = [
                [*a, *b]
                for (i, a), (_, b) in combinations(enumerate(groups), 2)
                if i < TRIED
            ]
            groups = sorted(pairs, key=gain, reverse=True)
        known = list(slopes)
        for rows in groups[:TRIED]:
            yield self._tried([known[row] for row in rows], columns[rows] * size[rows, None], mix)

    def _tried(self, ones: Sequence[Hypothesis], slopes: Array, mix: Mix | None) -> Trial:
        """Return what parameters leave at the sizes that explain most."""
        sizes = np.zeros(len(ones))
        norm = np.linalg.norm(slopes, axis=1)
        rest = self._predictor.residuals(mix=mix)
        best = Trial(self._share(rest), dict.fromkeys(ones, 0.0), mix)
        for _ in range(ROUNDS):
            change = np.linalg.lstsq(
                (slopes / norm[:, None]).T, self._weighted(rest), rcond=1e-8
            )[0]
            sizes = sizes - change / norm
            now = dict(zip(ones, sizes.tolist(), strict=True))
            try:
                rest = self._predictor.residuals(now, mix)
            except (AccordError, ArithmeticError):
                break
            left = self._share(rest)
            if not left < STALLED * best.left:
                break
            best = Trial(left, now, mix)
        return best


@dataclass(frozen=True)
class ReferencePredictor(Predictor):
    """Predict ticks by a reference, which has parameters of its own.

    What links and gears do is an effort on the joints; of links that is known on a fixed base.
    """

    setup: Setup | None = None

    def _parameters(self) -> Iterator[Hypothesis]:
        assert self.setup
        for joint in self.run.joints:
            yield from (Hypothesis("gear", joint), Hypothesis("damping", joint))
        if len(self.run.joints) > 1:
            yield from (Hypothesis("gear", EVERY), Hypothesis("damping", EVERY))
        for quantity in OF_LINKS if self._bodies else ():
            for link in self._bodies.bodies[1:] if self._bodies else ():
                yield from components(Hypothesis(quantity, link))
        for key in parameters_of(self.setup):
            yield Hypothesis(key)

    @property
    def _bodies(self) -> TreeDynamics | None:
        """Dynamics of the bodies; None where efforts do not stand for theirs."""
        setup = self.setup
        if setup is None or setup.scenario.base != "fixed" or not self.run.joints:
            return None
        try:
            return TreeDynamics(
                setup.tree, self.run.joints, "fixed", getattr(setup.parameters, "gravity", 0.0)
            )
        except AccordError:
            return None

    def _change(
        self, stack: ExitStack, run: Trajectory, one: Hypothesis, size: float
    ) -> tuple[Simulator, Trajectory]:
        assert self.setup
        effort, joint = run.effort, np.array([one.where in (j, EVERY) for j in run.joints], float)
        if one.quantity == "gear":
            effort = effort * (1.0 + size * joint)
        elif one.quantity == "damping":
            rates = np.vstack([run.qd[:1], 0.5 * (run.qd[:-1] + run.qd[1:])])
            effort = effort - size * joint * rates
        elif one.quantity in OF_LINKS:
            effort = effort - self._needed(run, one, size)
        else:
            key, step = one.quantity, self.simulator.physics_step
            value = parameters_of(self.setup)[key]
            changed = with_parameter(self.setup, key, value * (1.0 + size))
            return make_simulator(changed or self.setup, physics_step=step), run
        limits = self.simulator.effort_limits
        self.simulator.effort_limits = np.full_like(limits, np.inf)
        stack.callback(setattr, self.simulator, "effort_limits", limits)
        return self.simulator, replace(run, effort=effort)

    def _needed(self, run: Trajectory, one: Hypothesis, size: float) -> Array:
        """Return the efforts that a changed body takes more for the same motion (k, n)."""
        bodies, still = self._bodies, (np.zeros(3), np.eye(3))
        assert bodies
        out = np.zeros_like(run.effort)
        for i in self.ticks.tolist():
            q, qd = (0.5 * (x[i] + x[i + 1]) for x in (run.q, run.qd))
            change = (run.qd[i + 1] - run.qd[i]) / (run.time[i + 1] - run.time[i])

            def effort(q: Array = q, qd: Array = qd, change: Array = change) -> Array:
                free = bodies.acceleration(q, qd, np.zeros(len(q)), *still, np.zeros(6)).joints
                return np.asarray(bodies.mass_matrix(q, *still) @ (change - free))

            plain = effort()
            with bodies.changed(bodies.bodies.index(one.where), one.quantity, one.axis, size):
                out[i + 1] = effort() - plain
        return out


def name_one_step(setup: Setup, runs: Mapping[float, Trajectory], order: int) -> Name:
    """Name the cause of one-step errors by the reference."""
    steps = sorted(runs, reverse=True)[-STEPS:]
    run, period = runs[steps[-1]], setup.scenario.control_period
    struck = left_out(run, period)
    predictor, floor = by_reference(setup, runs, order, np.arange(len(run) - 1))
    weight = ((predictor.residuals() / spread(floor, 2 * len(run.joints) + 12)) ** 2).sum(axis=1)
    if struck.any() and weight[struck].sum() > (1.0 - LEFT) * weight.sum():
        kinds = dict.fromkeys(event.kind for event in run.events)
        quantity = "stop" if [*kinds] == ["joint_stop"] else "impact"
        return Name(quantity, "", f"it lies in the periods with events: {', '.join(kinds)}")
    busiest = np.argsort(-weight * ~struck)[:SAMPLES]
    kept = replace(predictor, ticks=busiest, rest=predictor.rest[busiest])
    return Regression(kept, floor).name()


def by_reference(
    setup: Setup, runs: Mapping[float, Trajectory], order: int, ticks: Index
) -> tuple[ReferencePredictor, Array]:
    """Return what predicts ticks by the reference, and what time stepping explains (6,)."""
    steps = sorted(runs, reverse=True)[-STEPS:]
    fine = make_simulator(setup, physics_step=steps[-1])
    plain = ReferencePredictor(fine, runs[steps[-1]], ticks, setup=setup)
    errors = [replace(plain, run=runs[dt]).residuals() for dt in steps]
    if len(errors) < STEPS:
        sizes = by_group(np.abs(errors[-1]))
        return plain, np.asarray(np.sqrt(np.mean(sizes**2, axis=0)) + np.finfo(float).eps)
    first, last = estimates(errors, order)
    apart = np.sqrt(np.mean(by_group(np.abs(last - first)) ** 2, axis=0))
    return replace(plain, rest=errors[-1] - last), apart + np.finfo(float).eps


def parameters_of(setup: Setup) -> dict[str, float]:
    """Return the numbers of a setup that level 1 does not show, by scenario key."""
    seen, found = _compared(setup), {}
    for key, value in numbers_of(setup).items():
        changed = with_parameter(setup, key, value * 1.001)
        if changed is not None and np.array_equal(_compared(changed), seen):
            found[key] = value
    return found


def numbers_of(setup: Setup) -> dict[str, float]:
    """Return the numbers of a setup's friction and parameters that are not 0, by scenario key."""
    given = {k: v for k, v in setup.scenario.friction.items() if k != "law"}
    robot = setup.robot
    law = {**robot.friction_laws, **robot.contacts}.get(setup.scenario.friction.get("law", ""))
    defaults = inspect.signature(law).parameters if law else {}
    found = {
        f"friction.{k}": v for k, p in defaults.items() if _number(v := given.get(k, p.default))
    }
    parameters = setup.parameters.as_dict().items()
    return found | {f"parameters.{k}": v for k, v in parameters if _number(v)}


def _number(value: Json) -> bool:
    return isinstance(value, float) and math.isfinite(value) and value != 0.0


def with_parameter(setup: Setup, key: str, value: float) -> Setup | None:
    """Return a setup with one number changed; None where that is not allowed."""
    data = setup.scenario.data()
    group, _, name = key.partition(".")
    data[group] = {**data[group], name: value}
    try:
        return Setup.of(make_scenario(data))
    except AccordError:
        return None


def _compared(setup: Setup) -> Array:
    """Return what level 1 compares directly."""
    tree = setup.tree
    links = [np.r_[k.mass, k.centre, k.inertia.ravel()] for k in tree.links]
    joints = [np.r_[j.position, j.rotation.ravel(), j.axis, j.lower, j.upper] for j in tree.joints]
    gravity = getattr(setup.parameters, "gravity", 0.0)
    return np.concatenate([*links, *joints, setup.effort_limits, [gravity]])


def describe_since(run: Trajectory, check: ConvergenceCheck | None) -> Iterator[str]:
    """Yield when motions diverge, and which events are near."""
    if check is None or check.since is None:
        return
    yield f"it parts at t = {check.since:.4g} s"
    near = [e for e in run.events if abs(e.time - check.since) < 0.02]
    if near:
        yield f"near {near[0].kind} of {near[0].subject}"

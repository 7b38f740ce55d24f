"""Names of an engine's deviations, by its twin or by the reference, and their resolution.

The twin is the engine's scheme on our equations, the reference the analytical model. SAMPLES may be
tuned, and costs time. How sure a name must be is set in regression.py, what may be off in
hypotheses.py. Whom `name_engine` asks first (the twin in the run, then in random states, then the
reference) decides what is named, and stays. A new parameter of a robot needs no entry:
`parameters_of` finds it. test_naming and test_scheme test names and resolutions.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Code, Finding, Outcome, because
from roboaccord.contract.results import Json
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.differences import Name
from roboaccord.crosscheck.extrapolation import SAFETY, STEPS, estimates
from roboaccord.crosscheck.hypotheses import (
    Hypothesis,
    Predictor,
    Resolved,
    components,
    resolution_of,
    spread,
)
from roboaccord.crosscheck.levels.scheme import NoTwin, SchemeCheck, name_drawn
from roboaccord.crosscheck.levels.trajectory import ConvergenceCheck
from roboaccord.crosscheck.motion import CheckCase
from roboaccord.crosscheck.regression import LEFT, Regression
from roboaccord.crosscheck.ticks import Index, by_group, left_out, vector
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.engines.spec import EngineSpec
from roboaccord.engines.twin import EVERY, OF_LINKS
from roboaccord.numerics.ranking import descending, ranked
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.scenario import Allowance
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

SAMPLES = 20  # ticks of a reference


@dataclass(frozen=True)
class ReferencePredictor(Predictor):
    """Predict ticks by a reference, which has parameters of its own.

    What links and gears do is an effort on the joints; of links that is known on a fixed base.

    Args:
        setup: robot and scenario.
        only: how the scenario's keys of its own parameters begin.
    """

    setup: Setup | None = None
    only: str = ""

    def _parameters(self) -> Iterator[Hypothesis]:
        assert self.setup
        for joint in self.run.joints:
            yield from (Hypothesis("gear", joint), Hypothesis("damping", joint))
        if len(self.run.joints) > 1:
            yield from (Hypothesis("gear", EVERY), Hypothesis("damping", EVERY))
        for link in self._bodies.links if self._bodies else ():
            for quantity in OF_LINKS:
                yield from components(Hypothesis(quantity, link))
        yield from map(Hypothesis, self._numbers)

    @cached_property
    def _numbers(self) -> dict[str, float]:
        return parameters_of(self.setup, self.only) if self.setup else {}

    @cached_property
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
            changed = with_parameter(self.setup, key, self._numbers[key] * (1.0 + size))
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
            with bodies.changed(one.where, one.quantity, one.axis, size):
                out[i + 1] = effort() - plain
        return out


def name_one_step(setup: Setup, runs: Mapping[float, Trajectory], order: int) -> Name:
    """Name the cause of one-step errors by the reference."""
    steps = sorted(runs, reverse=True)[-STEPS:]
    run, period = runs[steps[-1]], setup.scenario.control_period
    struck = left_out(run, period)
    predictor, bound = bound_of(setup, runs, order, np.arange(len(run) - 1))
    floor = np.asarray(by_group(bound[None])[0])
    weight = ((predictor.residuals() / spread(floor, 2 * len(run.joints) + 12)) ** 2).sum(axis=1)
    if struck.any() and weight[struck].sum() > (1.0 - LEFT) * weight.sum():
        kinds = dict.fromkeys(event.kind for event in run.events)
        quantity = "stop" if [*kinds] == ["joint_stop"] else "impact"
        return Name(quantity, "", f"it lies in the periods with events: {', '.join(kinds)}")
    busiest = np.array(descending(weight * ~struck)[:SAMPLES])
    kept = replace(predictor, ticks=busiest, rest=predictor.rest[busiest])
    return Regression(kept, floor).name()


def bound_of(
    setup: Setup, runs: Mapping[float, Trajectory], order: int, ticks: Index
) -> tuple[ReferencePredictor, Array]:
    """Return what predicts ticks by the reference, and a bound on its rms residuals (2 n + 12,).

    As of the level `one_step`: time stepping, and the reference's own error.
    """
    steps = sorted(runs, reverse=True)[-STEPS:]
    run = runs[steps[-1]]
    fine = make_simulator(setup, physics_step=steps[-1])
    plain = ReferencePredictor(fine, run, ticks, setup=setup)
    errors = [replace(plain, run=runs[dt]).residuals() for dt in steps]
    floor = np.finfo(float).eps * np.maximum(np.abs(vector(run)).max(axis=0), 1.0)
    if len(errors) < STEPS:
        return plain, np.asarray(rms(errors[-1]) + floor)
    coarse = make_simulator(setup, physics_step=steps[-2])
    floor = floor + rms(replace(plain, simulator=coarse).residuals() - errors[-1])
    first, last = estimates(errors, order)
    return replace(plain, rest=errors[-1] - last), np.asarray(SAFETY * rms(last - first) + floor)


def rms(values: Array) -> Array:
    """Return root mean squares over ticks."""
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))


def resolve(case: CheckCase) -> list[Resolved]:
    """Return the smallest errors that would have been outside.

    By the level `scheme`; by `one_step` where there is no twin, and of what acts in contact.
    """
    setup, scheme, runs, order = case.setup, case.checks.get("scheme"), case.by_step, case.order
    found = list(scheme.resolution) if isinstance(scheme, SchemeCheck) else []
    if setup.scenario.crosscheck.statistics or (found and setup.contact is None):
        return found
    run = min(runs.items())[1]
    free = np.flatnonzero(~left_out(run, setup.scenario.control_period))
    if not free.size:
        return found
    few = free[np.linspace(0, len(free) - 1, min(SAMPLES, len(free))).astype(int)]
    predictor, bound = bound_of(setup, runs, order, few)
    scenario, n = setup.scenario, len(run.joints)
    limit = scenario.crosscheck.tolerances.at(scenario.control_period).one_step
    if isinstance(limit, Allowance):
        change = rms(np.diff(np.column_stack([run.qd, run.twist]), axis=0))
        bound = np.full_like(bound, np.inf)
        bound[n : 2 * n], bound[-3:] = (
            limit.limit * np.linalg.norm(part) for part in (change[:n], change[n + 3 :])
        )
    bound[:n] = np.inf  # the level judges rates
    known = {(each.parameter, each.where) for each in found}
    only = "friction." if found else ""
    predictor = replace(predictor, only=only)
    asked = [h for h in predictor.hypotheses if h.quantity.startswith(only)]
    effects = {
        one: float((rms(slope) / bound).max()) for one, slope in predictor.slopes(asked).items()
    }
    more = [r for r in resolution_of(effects, "one_step") if (r.parameter, r.where) not in known]
    return ranked([*found, *more], lambda each: each.smallest)


def ask_resolution(
    findings: Sequence[Finding],
    resolved: Sequence[Resolved],
    asked: float,
    setup: Setup,
    order: int,
) -> list[Finding]:
    """Return findings on an engine, one not judged where more of a parameter could hide than asked.

    Args:
        findings: on one engine.
        resolved: smallest errors that its best levels would have found.
        asked: part of any parameter that must not be able to hide.
        setup: robot and scenario.
        order: of the engine's integrator.
    """
    parts = [each for each in resolved if each.unit == "1"]
    most = next(iter(ranked(parts, lambda each: -each.smallest)), None)
    if most is not None and most.smallest <= asked:
        return list(findings)
    if most is None:
        level, where, text = "scheme", "", "how large an error could go unnoticed is not known"
    else:
        level, where = most.level, most.where
        enough = _enough(most, asked, setup, order)
        text = f"{most} could go unnoticed, {100 * asked:g} % is required; {enough}"
    why = because(Code.HIDDEN, text=f"crosscheck.resolution: {text}")
    return [
        replace(each.also(why), outcome=Outcome.NOT_JUDGED, where=where)
        if each.level == level and each.outcome != Outcome.OUTSIDE
        else each
        for each in findings
    ]


def _enough(most: Resolved, asked: float, setup: Setup, order: int) -> str:
    """Return in words at which step no more than asked could hide.

    Round-off hides the less the longer a tick is, time stepping the less the shorter a physics
    step, with order 1 in contact.
    """
    scenario, order = setup.scenario, order if setup.contact is None else 1
    period, step = scenario.control_period, scenario.physics_step
    if most.smallest > 1.0:
        return "next to nothing depends on it here: choose another motion"
    if most.level == "scheme":
        longer = math.ceil(period * most.smallest / asked / step) * step
        return f"set control_period={longer:.6g} or longer"
    if isinstance(scenario.crosscheck.tolerances.at(period).one_step, Allowance):
        return "crosscheck.tolerances.one_step allows it"
    shorter = step / math.ceil((most.smallest / asked) ** (1.0 / order))
    return f"set physics_step={shorter:.6g} or smaller"


def parameters_of(setup: Setup, only: str = "") -> dict[str, float]:
    """Return the numbers of a setup that level 1 does not show, by scenario key.

    Those whose key begins with `only`: each is a description to expand.
    """
    seen, found = _compared(setup), {}
    for key, value in numbers_of(setup).items():
        if not key.startswith(only):
            continue
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
        return Setup.of(make_scenario(data), setup.robot)
    except AccordError:
        return None


def _compared(setup: Setup) -> Array:
    """Return what level 1 compares directly."""
    tree = setup.tree
    links = [np.r_[k.mass, k.centre, k.inertia.ravel()] for k in tree.links]
    joints = [np.r_[j.position, j.rotation.ravel(), j.axis, j.lower, j.upper] for j in tree.joints]
    gravity = getattr(setup.parameters, "gravity", 0.0)
    return np.concatenate([*links, *joints, setup.effort_limits, [gravity]])


def name_engine(
    setup: Setup,
    engine: EngineSpec,
    scheme: SchemeCheck | NoTwin | None,
    runs: Mapping[float, Trajectory],
    order: int,
) -> Name:
    """Name what an engine has otherwise.

    By its twin in the run, else in random states, else by the reference.

    Args:
        setup: robot and scenario.
        engine: to make it again.
        scheme: how the engine differs from its twin.
        runs: of the engine, by physics step.
        order: of the engine's integrator.
    """
    if isinstance(scheme, SchemeCheck) and scheme.error > scheme.floor:
        name = scheme.name
    else:
        drawn = name_drawn(setup, engine)
        name = drawn if drawn.text else name_one_step(setup, runs, order)
    held = [joint for joint in setup.tree.moving if joint.mimic]
    if held and not name.quantity:
        led = ", ".join(f"{joint.name} after {joint.mimic[0]}" for joint in held if joint.mimic)
        text = f"it moves {led} by a law of its own, and the reference exactly"
        name = Name("mimic", held[0].name, text)
    return name


def explained(case: CheckCase, findings: Sequence[Finding]) -> list[Finding]:
    """Return findings on an engine with what explains those that are outside and unexplained."""
    asked = [f for f in findings if f.unexplained and f.outcome == Outcome.OUTSIDE]
    if not asked:
        return [*findings]
    scheme, order = case.checks.get("scheme"), case.order
    name = name_engine(case.setup, case.engine, scheme, case.by_step, order)
    causes = {}
    for each in asked:
        text = name.text
        if each.level == "trajectory":
            text = "; ".join(filter(None, [departure(case), text]))
        found = each.also(because(Code.CAUSE, text=text)) if text else each
        where = name.where or each.where
        causes[each.level] = replace(found, quantity=name.quantity, where=where)
    return [causes.get(each.level, each) if each in asked else each for each in findings]


def departure(case: CheckCase) -> str:
    """Return in words when a motion departs from the reference's, and which events are near."""
    check = case.checks["trajectory"]
    if not isinstance(check, ConvergenceCheck) or check.since is None:
        return ""
    near = [e for e in case.run.events if abs(e.time - check.since) < 0.02]
    at = f" near {near[0].kind} of {near[0].subject}" if near else ""
    return f"it departs at t = {check.since:.4g} s{at}"

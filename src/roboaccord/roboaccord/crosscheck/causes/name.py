"""Explanations of an engine's errors, by its twin or by the reference, and their resolution.

The twin is the engine's scheme on our equations, the reference the analytical model. SAMPLES may be
tuned, and costs time. Whom `explain_engine` asks first (the twin in the run, then in random states,
then the reference) decides what is named, and stays. test_naming and test_scheme test names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from roboaccord.contract.outcome import Cause, Finding
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.causes.explain import LEFT, Code, Explanation
from roboaccord.crosscheck.causes.reference import bounded, rms
from roboaccord.crosscheck.causes.resolution import Resolved, resolution_of
from roboaccord.crosscheck.causes.ticks import explain_ticks, spread
from roboaccord.crosscheck.causes.words import hidden
from roboaccord.crosscheck.convergence import ConvergenceCheck
from roboaccord.crosscheck.scheme import NoTwin, SchemeCheck, explain_drawn
from roboaccord.crosscheck.ticks import by_group, left_out
from roboaccord.engines.spec import EngineSpec
from roboaccord.numerics.ranking import descending, ranked
from roboaccord.scenario.scenario import Allowance
from roboaccord.scenario.setup import Setup

SAMPLES = 20  # ticks of a reference
NEAR = 0.02  # s from an event


def explain_engine(
    setup: Setup,
    engine: EngineSpec,
    scheme: SchemeCheck | NoTwin | None,
    runs: Mapping[float, Trajectory],
    order: int,
) -> Explanation:
    """Explain what an engine has otherwise.

    By its twin in the run, else in random states, else by the reference.

    Args:
        setup: robot and scenario.
        engine: to make it again.
        scheme: how the engine differs from its twin.
        runs: of the engine, by physics step.
        order: of the engine's integrator.
    """
    if isinstance(scheme, SchemeCheck) and scheme.error > scheme.floor:
        found = scheme.explanation
    else:
        found = explain_drawn(setup, engine)
        if found.code is Code.NOT_ASKED:
            found = explain_one_step(setup, runs, order)
    held = [joint for joint in setup.tree.moving if joint.mimic]
    if held and not found.cause.quantity:
        return Explanation(Code.NAMED, tuple(Cause("mimic", joint.name) for joint in held))
    return found


def explain_one_step(setup: Setup, runs: Mapping[float, Trajectory], order: int) -> Explanation:
    """Explain one-step errors by the reference."""
    run = min(runs.items())[1]
    struck = left_out(run, setup.scenario.control_period)
    problem, bound = bounded(setup, runs, order, np.arange(len(run) - 1))
    floor = np.asarray(by_group(bound[None])[0])
    problem = replace(problem, weight=1.0 / spread(floor, len(bound)))
    size = (problem.residuals() ** 2).sum(axis=1)
    if struck.any() and size[struck].sum() > (1.0 - LEFT) * size.sum():
        kinds = tuple(dict.fromkeys(event.kind for event in run.events))
        cause = Cause("stop" if kinds == ("joint_stop",) else "impact")
        return Explanation(Code.EVENTS, (cause,), kinds=kinds)
    busiest = np.array(descending(size * ~struck)[:SAMPLES])
    return explain_ticks(replace(problem, ticks=busiest, rest=problem.rest[busiest]))


def explain_trajectory(
    run: Trajectory, check: ConvergenceCheck | None, ask: Callable[[], Explanation]
) -> Explanation:
    """Return an explanation with when motions part, and which event is near."""
    found = ask()
    if check is None or check.since is None:
        return found
    near = [event for event in run.events if abs(event.time - check.since) < NEAR]
    return replace(found, since=check.since, near=(near[0].kind, near[0].subject) if near else ())


def resolve(
    setup: Setup,
    scheme: SchemeCheck | NoTwin | None,
    runs: Mapping[float, Trajectory],
    order: int,
) -> list[Resolved]:
    """Return the smallest errors that would have been outside; arguments as of `explain_engine`.

    By the level `scheme`; by `one_step` where there is no twin, and of what acts in contact.
    """
    found = [*scheme.resolution] if isinstance(scheme, SchemeCheck) else []
    if setup.scenario.crosscheck.statistics or (found and setup.contact is None):
        return found
    run = min(runs.items())[1]
    free = np.flatnonzero(~left_out(run, setup.scenario.control_period))
    if not free.size:
        return found
    few = free[np.linspace(0, len(free) - 1, min(SAMPLES, len(free))).astype(int)]
    only = "friction." if found else ""
    ticks, bound = bounded(setup, runs, order, few, only)
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
    asked = [one for group in ticks.groups() for one in group if one.quantity.startswith(only)]
    slopes = replace(ticks, weight=1.0 / bound).slopes(asked)
    effects = {one: float(rms(slope).max()) for one, slope in slopes.items()}
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
    level, where = (most.level, most.where) if most else ("scheme", "")
    text = hidden(most, asked, *(_enough(most, asked, setup, order) if most else ("", 0.0)))
    return [
        replace(
            each,
            outcome="not_judged",
            reason="; ".join(filter(None, [each.reason, text])),
            where=where,
        )
        if each.level == level and each.outcome != "outside"
        else each
        for each in findings
    ]


def _enough(most: Resolved, asked: float, setup: Setup, order: int) -> tuple[str, float]:
    """Return which key of the scenario, at which value, would let no more than asked hide.

    Round-off hides the less the longer a tick is, time stepping the less the shorter a physics
    step, with order 1 in contact. No key where next to nothing depends on the parameter.
    """
    scenario, order = setup.scenario, order if setup.contact is None else 1
    period, step = scenario.control_period, scenario.physics_step
    if most.smallest > 1.0:
        return "", 0.0
    if most.level == "scheme":
        return "control_period", math.ceil(period * most.smallest / asked / step) * step
    if isinstance(scenario.crosscheck.tolerances.at(period).one_step, Allowance):
        return "crosscheck.tolerances.one_step", 0.0
    return "physics_step", step / math.ceil((most.smallest / asked) ** (1.0 / order))

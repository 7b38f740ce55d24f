"""Explanations of an engine's errors, by its twin or by the reference, and their resolution.

The twin is the engine's scheme on our equations, the reference the analytical model. SAMPLES may be
tuned, and costs time. Whom `explain_engine` asks first (the twin in the run, then in random states,
then the reference) decides what is named, and stays. test_naming and test_scheme test names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from roboaccord.contract.outcome import Cause, Finding, Outcome
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.causes.explain import LEFT, Conclusion, Explanation
from roboaccord.crosscheck.causes.reference import bounded, rms
from roboaccord.crosscheck.causes.resolution import Resolved, resolution_of
from roboaccord.crosscheck.causes.ticks import explain_ticks, spread
from roboaccord.crosscheck.levels.scheme import explained
from roboaccord.crosscheck.measures.convergence import ConvergenceCheck
from roboaccord.crosscheck.measures.scheme import SchemeCheck, explain_drawn
from roboaccord.crosscheck.motion import CheckCase
from roboaccord.crosscheck.special_ticks import left_out
from roboaccord.crosscheck.ticks import by_group
from roboaccord.numerics.ranking import descending, ranked
from roboaccord.scenario.scenario import Allowance
from roboaccord.scenario.setup import Setup

SAMPLES = 20  # ticks of a reference
NEAR = 0.02  # s from an event
RULE_OF_THREE = 3.0  # -ln .05


def explain_engine(case: CheckCase) -> Explanation:
    """Explain what an engine has otherwise.

    By its twin in the run, else in random states, else by the reference.
    """
    setup, scheme = case.setup, case.checks.get("scheme")
    if isinstance(scheme, SchemeCheck) and scheme.error > scheme.floor:
        explanation = scheme.explanation
    else:
        explanation = explain_drawn(setup, case.engine)
        if not explanation.asked:
            explanation = explain_one_step(setup, case.by_step, case.order)
    held = [joint for joint in setup.tree.moving if joint.mimic]
    if held and not explanation.cause.quantity:
        return Explanation(Conclusion.NAMED, tuple(Cause("mimic", j.name) for j in held))
    return explanation


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
        return Explanation(Conclusion.EVENTS, (cause,), kinds=kinds)
    busiest = np.array(descending(size * ~struck)[:SAMPLES])
    return explain_ticks(replace(problem, ticks=busiest, rest=problem.rest[busiest]))


def explain_findings(case: CheckCase, findings: Sequence[Finding]) -> list[Finding]:
    """Return findings on an engine, those that are outside and unexplained with what explains them.

    Of a trajectory also when motions part, and which event is near.
    """
    asked = [f.level for f in findings if f.unexplained and f.outcome == Outcome.OUTSIDE]
    if not asked:
        return [*findings]
    explanation = explain_engine(case)
    check = case.checks.get("trajectory")
    since = check.since if isinstance(check, ConvergenceCheck) else None
    near = [e for e in case.run.events if since is not None and abs(e.time - since) < NEAR]
    event = (near[0].kind, near[0].subject) if near else ()
    parting = replace(explanation, since=since, near=event)
    return [
        explained(f, parting if f.level == "trajectory" else explanation) if f.level in asked else f
        for f in findings
    ]


def sampled(case: CheckCase) -> list[Resolved]:
    """Return the share of ticks that an error must be in to be found, where not all are looked at.

    Of n ticks drawn, an error in a share of 3 / n of all escapes with a probability of 5 % [Hanley
    and Lippman-Hand 1983, "If nothing goes wrong, is everything all right?"].
    """
    check = case.checks.get("scheme")
    if not isinstance(check, SchemeCheck) or not check.looked_at < check.judged:
        return []
    share = RULE_OF_THREE / check.looked_at
    return [Resolved("an error that comes and goes", "", "scheme", share, "of the ticks")]


def resolve(case: CheckCase) -> list[Resolved]:
    """Return the smallest errors that would have been outside.

    By the level `scheme`; by `one_step` where there is no twin, and of what acts in contact.
    """
    setup, scheme, runs, order = case.setup, case.checks.get("scheme"), case.by_step, case.order
    resolutions = [*scheme.resolution] if isinstance(scheme, SchemeCheck) else []
    if setup.scenario.crosscheck.statistics or (resolutions and setup.contact is None):
        return resolutions
    run = min(runs.items())[1]
    free = np.flatnonzero(~left_out(run, setup.scenario.control_period))
    if not free.size:
        return resolutions
    few = free[np.linspace(0, len(free) - 1, min(SAMPLES, len(free))).astype(int)]
    only = "friction." if resolutions else ""
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
    known = {(each.parameter, each.where) for each in resolutions}
    asked = [one for group in ticks.groups() for one in group if one.quantity.startswith(only)]
    slopes = replace(ticks, weight=1.0 / bound).slopes(asked)
    effects = {one: float(rms(slope).max()) for one, slope in slopes.items()}
    more = [r for r in resolution_of(effects, "one_step") if (r.parameter, r.where) not in known]
    return ranked([*resolutions, *more], lambda each: each.smallest)

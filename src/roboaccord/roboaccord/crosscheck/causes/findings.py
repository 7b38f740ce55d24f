"""Explanations of an engine's errors, and the smallest errors that the check would have found.

run.py calls `explain_findings` and `resolve` at the end of a check, once for each engine. A finding
of a motion that nothing else explains gets its cause here: by the engine's twin (our equations of
motion under its integration scheme) in the run, else by the twin in random states, else by the
reference (the analytical model). The order decides what is named, and stays.

PREDICTED_TICKS may be tuned, and costs time. test_naming and test_scheme test names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from roboaccord.contract.outcome import Cause, Finding, Outcome
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.causes.explain import UNEXPLAINED, Conclusion, Explanation
from roboaccord.crosscheck.causes.reference import problem_and_bound, rms
from roboaccord.crosscheck.causes.resolution import Resolved, resolution_of
from roboaccord.crosscheck.causes.ticks import explain_ticks
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.columns import column_groups, largest_by_group, to_columns
from roboaccord.crosscheck.levels.scheme import explained
from roboaccord.crosscheck.measures.convergence import ConvergenceCheck
from roboaccord.crosscheck.measures.scheme import SchemeCheck, explain_drawn
from roboaccord.crosscheck.special_ticks import eventful_ticks
from roboaccord.numerics.ranking import descending, ranked
from roboaccord.scenario.scenario import Allowance
from roboaccord.scenario.setup import Setup

# Number of control periods (ticks) that the reference predicts, once for each hypothesis: limits
# the time. Any number from 5 on would do; a root mean square of 20 is known to 16 %.
PREDICTED_TICKS = 20
# Time between an event and the parting of motions up to which it is named with it [s]: 20 ticks at
# 1 kHz, for an error exceeds its bound some ticks after its event.
EVENT_DELAY = 0.02
RULE_OF_THREE = 3.0  # -ln 0.05, see `sampled`


def explain_engine(case: CheckCase) -> Explanation:
    """Return the explanation of an engine's errors: by its twin, else by the reference."""
    setup, scheme = case.setup, case.checks.get("scheme")
    if isinstance(scheme, SchemeCheck) and scheme.error > scheme.floor:
        explanation = scheme.explanation
    else:
        explanation = explain_drawn(setup, case.engine)  # by the twin in random states
        if not explanation.asked:  # the engine has no twin there
            explanation = explain_one_step(setup, case.by_step, case.order)
    # Joints whose positions follow another joint's (URDF `mimic`) are coupled in the reference.
    coupled = [joint for joint in setup.tree.moving if joint.mimic]
    if coupled and not explanation.cause.quantity:
        return Explanation(Conclusion.NAMED, tuple(Cause("mimic", j.name) for j in coupled))
    return explanation


def explain_one_step(setup: Setup, runs: Mapping[float, Trajectory], order: int) -> Explanation:
    """Explain one-step errors by the reference.

    Args:
        setup: robot and scenario.
        runs: of the engine, by physics step.
        order: of its integrator.
    """
    run = min(runs.items())[1]
    eventful = eventful_ticks(run, setup.scenario.control_period)
    problem, bound = problem_and_bound(setup, runs, order, np.arange(len(run) - 1))
    problem = replace(problem, weight=1.0 / to_columns(largest_by_group(bound), len(bound)))
    # If nearly all of the error is in ticks with an event, the law of events is the cause.
    size = (problem.residuals() ** 2).sum(axis=1)
    if eventful.any() and size[eventful].sum() > (1.0 - UNEXPLAINED) * size.sum():
        kinds = tuple(dict.fromkeys(event.kind for event in run.events))
        cause = Cause("stop" if kinds == ("joint_stop",) else "impact")
        return Explanation(Conclusion.EVENTS, (cause,), kinds=kinds)
    # Else the ticks with the largest errors are explained; `rest` is the part of their errors that
    # time stepping explains.
    worst = np.array(descending(size * ~eventful)[:PREDICTED_TICKS])
    return explain_ticks(replace(problem, ticks=worst, rest=problem.rest[worst]))


def explain_findings(case: CheckCase, findings: Sequence[Finding]) -> list[Finding]:
    """Return findings on an engine, with the causes of those that are outside and unexplained.

    Findings on a trajectory also get the time when motions part, and the event near it.
    """
    levels = [f.level for f in findings if f.unexplained and f.outcome == Outcome.OUTSIDE]
    if not levels:
        return [*findings]
    explanation = explain_engine(case)
    by_level = dict.fromkeys(levels, explanation)
    check = case.checks.get("trajectory")
    since = check.since if isinstance(check, ConvergenceCheck) else None
    near = [e for e in case.run.events if since is not None and abs(e.time - since) < EVENT_DELAY]
    event = (near[0].kind, near[0].subject) if near else ()
    if "trajectory" in by_level:
        by_level["trajectory"] = replace(explanation, since=since, near=event)
    return [explained(f, by_level[f.level]) if f.level in by_level else f for f in findings]


def sampled(case: CheckCase) -> list[Resolved]:
    """Return the share of ticks that an error must affect to be found, if not all are compared.

    Of n ticks drawn, an error in a share of 3 / n of all escapes with a probability of 5 % [Hanley
    and Lippman-Hand 1983, "If nothing goes wrong, is everything all right?"].
    """
    check = case.checks.get("scheme")
    if not isinstance(check, SchemeCheck) or not check.looked_at < check.judged:
        return []
    share = RULE_OF_THREE / check.looked_at
    return [Resolved("an error that comes and goes", "", "scheme", share, "of the ticks")]


def resolve(case: CheckCase) -> list[Resolved]:
    """Return the smallest errors of parameters that would have been outside.

    They are those of level `scheme`. Without a twin they are those of level `one_step`, as they are
    for the friction of contacts.
    """
    setup, runs, order = case.setup, case.by_step, case.order
    scheme = case.checks.get("scheme")
    resolutions = [*scheme.resolution] if isinstance(scheme, SchemeCheck) else []
    if setup.scenario.crosscheck.statistics or (resolutions and setup.contact is None):
        return resolutions
    run = min(runs.items())[1]
    free = np.flatnonzero(~eventful_ticks(run, setup.scenario.control_period))
    if not free.size:
        return resolutions
    # Bound of the level: time stepping and the reference's own error, or the allowance.
    selected = free[np.linspace(0, len(free) - 1, min(PREDICTED_TICKS, len(free))).astype(int)]
    key_prefix = "friction." if resolutions else ""
    problem, bound = problem_and_bound(setup, runs, order, selected, key_prefix)
    tolerances = setup.scenario.crosscheck.tolerances.at(setup.scenario.control_period)
    positions, rates, *_, spins = column_groups(len(run.joints))
    if isinstance(tolerances.one_step, Allowance):
        bound = np.full_like(bound, np.inf)
        for columns, velocities in ((rates, run.qd), (spins, run.twist[:, 3:])):
            change = np.linalg.norm(rms(np.diff(velocities, axis=0)))
            bound[columns] = tolerances.one_step.limit * change
    bound[positions] = np.inf  # the level judges rates
    # Effects of parameters over that bound, where level `scheme` does not resolve them.
    resolved = {(error.parameter, error.where) for error in resolutions}
    hypotheses = [h for h in chain(*problem.groups()) if h.quantity.startswith(key_prefix)]
    slopes = replace(problem, weight=1.0 / bound).slopes(hypotheses)
    effects = {hypothesis: float(rms(slope).max()) for hypothesis, slope in slopes.items()}
    by_one_step = resolution_of(effects, "one_step")
    resolutions += [e for e in by_one_step if (e.parameter, e.where) not in resolved]
    return ranked(resolutions, lambda error: error.smallest)

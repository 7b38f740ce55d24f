"""Check a log against the file of its robot: find out what differs, where, and by how much.

The steps, in `measured`:

1. Choose windows: short runs of samples, as short as the noise of the recorded positions allows
   (lengths.py). Within a window the file's equations predict the positions from the efforts; what
   the recorded positions differ by are the residuals (windows.py).
2. Decide what the efforts mean: torque at the joint, motor current, ... (efforts.py). Each of these
   is a reading, and the one that fits best is chosen (`BestReading`).
3. Explain the residuals: the regression of the cross-check (roboaccord.crosscheck.causes) names the
   causes whose sizes reduce them (`explained`).
4. State what the causes leave, and whether that is more than noise (`with_residuals`).

Windows under a reading are a problem of regression (problem.py), and a fit of it has the sizes of
causes and the residuals that these leave. Residuals and noise are given as shares: rms values over
the effect of the efforts on the positions within a window. What is found is gathered in a
`LogCheck` (result.py), from step to step.

DRY_FRICTION_RATIO and EFFORT_NOISE_RATIO may be tuned; they move verdicts. `make own-logs` measures
what is then found (docs/own_log.md).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import NamedTuple, Self

import numpy as np
from roboaccord.contract.outcome import Cause, Levels, verdict_of
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.explain import Conclusion, Explanation, explain
from roboaccord.crosscheck.causes.fit import Fit, fitted
from roboaccord.crosscheck.causes.hypotheses import FACTOR, FILTER, MOTOR, Sizes
from roboaccord.crosscheck.causes.search import NOISE_RATIO, Search, score
from roboaccord.crosscheck.report import Report
from roboaccord.numerics.ranking import first_largest, ranked
from roboaccord.scenario.scenario import Tolerances

from roboaccord_files.excitation.identified import Identified
from roboaccord_files.logs.body import DRY, LogBody
from roboaccord_files.logs.efforts import EXPECTED, ChosenReading, best_reading, readings
from roboaccord_files.logs.lengths import choose_windows
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.noise import drawn_like, is_rounded
from roboaccord_files.logs.problem import MAX_NOISE, MISTAKEN_COLUMNS, LogProblem
from roboaccord_files.logs.result import LogCheck, LogLevel
from roboaccord_files.logs.scheme import LATE_Q, LATE_QD
from roboaccord_files.logs.store import Store
from roboaccord_files.logs.windows import Windows

ENGINE = "log"  # stands in the report where a cross-check names an engine
# Integration schemes by their delays a of positions and b of rates, in samples (scheme.py).
SCHEMES = {
    "forward Euler": (1.0, 0.5),
    "semi-implicit Euler": (0.0, 0.5),
    "of order 2 or more": (0.0, 0.0),
}
# Samples; largest distance of fitted a and b from those of the scheme that is named. Schemes are
# 0.5 apart, so at 0.25 two would be as near.
SCHEME_DISTANCE = 0.15
# Ratio of squared residuals; where no cause is named, efforts of dry friction are left unknown only
# if less than this share of the residuals remains.
DRY_FRICTION_RATIO = 0.5
# Ratio; noise of the efforts is added to that of the positions if its effect is larger than this.
EFFORT_NOISE_RATIO = 0.5
SUM_ROUND_OFF = 1e-9  # relative; round-off of sums; 3000 terms have 1e-13


def check_log(log: Log, body: LogBody, effort: str = "") -> Report:
    """Check a log by the equations of a robot's file, and return the report with its verdict.

    Args:
        log: the samples.
        body: the robot as its file has it.
        effort: what the user states of the efforts, a word of `efforts.READINGS_BY_WORD`.
    """
    level, check = LogLevel(), measured(log, body, effort)
    finding = replace(level.judge(check, Tolerances()), level=level.name, engine=ENGINE)
    levels = Levels.of([finding])
    checks = {level.name: {ENGINE: check}}
    rows = {level.name: {ENGINE: level.rows(check)}}
    # The first two are the names of robot and scenario, which a log does not have.
    return Report("", "", verdict_of([finding]), levels, checks, rows, [ENGINE])


def measured(log: Log, body: LogBody, effort: str = "") -> LogCheck:
    """Return the residuals of a log by the equations of a robot's file, and what explains them."""
    # Windows; with too much noise in the longest ones nothing can be judged.
    windows = choose_windows(log, body)
    check = before_fits(windows)
    if check.noise > MAX_NOISE:
        return check
    # What the efforts mean. All 0 with large residuals: something drove the robot unrecorded.
    best = BestReading.of(windows, effort)
    if not log.effort.any() and best.chosen.share > MISTAKEN_COLUMNS:
        return replace(check, share=best.chosen.share, unmeasured=True)
    # Noise of the efforts counts as noise of the positions that it causes [rad or m].
    problem = best.problem
    effort_noise = effort_noise_share(problem, best.fit.sizes) * windows.effort_effect
    if (effort_noise > EFFORT_NOISE_RATIO * windows.noise).any():
        is_rounding = is_rounded(log, problem.efforts(best.fit.sizes))
        windows = windows.rescaled(effort_noise, is_rounding)
        problem = LogProblem.of(windows, best.dry, problem.reading)
    # Causes, without those that the user expects; joints that brakes hold in all windows first.
    regression = explained(windows, problem, best.dry)
    explanation, chosen = without_expected(regression, best.chosen, effort)
    if held := tuple(cause for cause, where in regression.problem.brakes() if where.all()):
        causes = (*held, *explanation.causes)
        explanation = replace(explanation, code=Conclusion.TOGETHER, causes=causes)
    delay = delay_of(problem) if effort == "commanded" else np.nan
    check = replace(check, taken=chosen, explanation=explanation, delay=delay)
    return with_residuals(check, regression)


def before_fits(windows: Windows) -> LogCheck:
    """Return the check before anything is fitted: noise, columns and identifiable parameters."""
    log, body = windows.log, windows.body
    worst = first_largest(windows.share)
    return LogCheck(
        window=windows.size,
        period=log.period,
        noise=float(windows.share[worst]),
        noisiest=(log.joints[worst], float(windows.noise[worst])),
        columns=log.columns,
        notes=log.notes,
        motion=Identified.of(
            body.tree, body.joints, body.gravity, [*windows.nodes], friction=log.base is None
        ),
        capped={joint: share for joint, _, share, _ in windows.capped()},
    )


class BestReading(NamedTuple):
    """The meaning of a log's efforts that explains it best, before any cause is named.

    Args:
        problem: the log as a problem of regression under that meaning.
        fit: its fit without causes.
        chosen: the meaning for the report, with the one that fits next best.
        dry: names of joints with dry friction in the file.
    """

    problem: LogProblem
    fit: Fit
    chosen: ChosenReading
    dry: frozenset[str]

    @classmethod
    def of(cls, windows: Windows, effort: str) -> Self:
        """Return the best of the readings that the user's word `effort` leaves possible."""
        joints = zip(windows.log.joints, windows.body.dry.T)
        dry = frozenset(joint for joint, friction in joints if friction.any())
        problem = LogProblem.of(windows, dry)
        problems = {reading: replace(problem, reading=reading) for reading in readings(effort)}
        fits = {reading: fitted(problem) for reading, problem in problems.items()}
        shares = {
            reading: problems[reading].share(fit.residuals)[~windows.is_resting]
            for reading, fit in fits.items()
        }
        best = best_reading(fits, shares)
        return cls(problems[best], fits[best], ChosenReading.of(best, fits, shares, effort), dry)


class Regression(NamedTuple):
    """What the regression found in the windows of a log.

    Args:
        problem: that was explained.
        explanation: the named causes.
        fit_without: the fit without any cause.
        fit_with: the fit with the named causes; `fit_without` if there are none.
    """

    problem: LogProblem
    explanation: Explanation
    fit_without: Fit
    fit_with: Fit

    @property
    def causes(self) -> tuple[Cause, ...]:
        """All causes that are named: together, as alternatives, or as most likely ones."""
        return (*self.explanation.causes, *self.explanation.most, *chain(*self.explanation.instead))


def explained(windows: Windows, problem: LogProblem, dry: frozenset[str]) -> Regression:
    """Return the causes that explain the windows of a log.

    The regression is repeated in three cases. A controller that compensates gravity may do so by
    the parameters of the file or by those of the true robot: the better single cause counts. Where
    efforts act late, those of before the log move its first windows, which are left out if most of
    the residuals is there. Where dry friction turns out to be a cause, its efforts around reversals
    of the joint, which no smooth law gives, must be left unknown; where nothing is named, only if
    much of the residuals is there.

    Args:
        windows: of the log, with no effort left unknown.
        problem: the same windows as a problem of regression.
        dry: names of joints that have dry friction in the file.
    """
    search = Search(problem)
    if problem.reading.gravity and problem.searches(search.plain):
        # Of both, the one whose best single cause has the lower score, infinite without one.
        by_file = problem.compensated_by_file()
        both = [(by_file, Search(by_file)), (problem, Search(problem))]
        lowest = [min(map(score, found.single[:1]), default=np.inf) for _, found in both]
        problem, search = both[ranked([0, 1], lowest.__getitem__)[0]]
    first = Regression(problem, *explain(search))
    if {"delay", MOTOR, FILTER} & {cause.quantity for cause in first.causes}:
        known = problem.with_known_efforts()
        again = Regression(known, *explain(Search(known)))
        # Without a cause or with causes, they must leave far less of these windows.
        if any(map(problem.adds, first[2:], again[2:])):
            problem, first = known, again
    also_dry = {cause.where for cause in first.causes if cause.quantity == DRY} - dry
    if also_dry:
        windows = windows.with_unknown_friction(dry | also_dry)
        problem = replace(problem, windows=windows, stored=Store())
        named = first.explanation.causes
        if named or fitted(problem).unit < DRY_FRICTION_RATIO * first.fit_without.unit:
            return Regression(problem, *explain(Search(problem)))
    return first


def without_expected(
    regression: Regression, chosen: ChosenReading, effort: str
) -> tuple[Explanation, ChosenReading]:
    """Return the explanation without causes that the user's word `effort` implies, and the reading.

    A delay, for example, is expected of commanded efforts: it becomes part of the reading. The
    reading also gets what the fit with the causes has found of it.
    """
    explanation, chosen = regression.explanation, chosen.with_fit(regression.fit_with)
    expected = EXPECTED.get(effort, ())
    if implied := [cause for cause in explanation.causes if cause.quantity in expected]:
        others = tuple(cause for cause in explanation.causes if cause not in implied)
        explanation = replace(explanation, causes=others, instead=()) if others else Explanation()
        chosen = replace(chosen, implied=implied)
    return explanation, chosen


def delay_of(problem: LogProblem) -> float:
    """Return how late the efforts act [s]: the delay that leaves the smallest residuals.

    It is found whatever else may explain the log: a lag of the motors of half its size explains
    nearly as much of a slow motion.
    """
    group, sizes = next(problem.starts())  # in samples; 1 is none
    fits = (fitted(problem, (group,), {group[0]: size}) for size in sizes if size >= 1.0)
    return problem.cause(min(fits, key=lambda fit: fit.cost), group[0]).size or 0.0


def with_residuals(check: LogCheck, regression: Regression) -> LogCheck:
    """Return a check with the residuals that the named causes leave, and their part beyond noise.

    All are rms values (n,) as shares of the effect of the efforts.
    """
    problem, fit = regression.problem, regression.fit_with
    windows, remaining = problem.windows, problem.share(fit.residuals)
    noise = np.hypot(windows.share, effort_noise_share(problem, fit.sizes))
    beyond = residuals_beyond(remaining, noise)
    worst = first_largest(beyond)
    return replace(
        check,
        span=span_of(problem, fit, worst),
        share=float(problem.share(regression.fit_without.residuals).max()),
        left=float(remaining.max()),
        beyond=float(beyond.max()),
        worst=windows.log.joints[worst],
        beyond_positions=float(residuals_beyond(remaining, windows.share).max()),
        noise_share=float(noise.max()),
        scheme=scheme_of(fit),
        judged=int(problem.kept.sum()),
        windows=len(problem.kept),
    )


def residuals_beyond(residuals: Array, noise: Array) -> Array:
    """Return the part of rms residuals (n,) that exceeds noise (n,).

    Independent errors add in their squares.
    """
    return np.asarray(np.sqrt(np.maximum(residuals**2 - NOISE_RATIO * noise**2, 0.0)))


def span_of(problem: LogProblem, fit: Fit, joint: int) -> tuple[float, float]:
    """Return start and end [s] of the shortest span with half of a joint's squared residuals."""
    windows = problem.windows
    residuals = fit.residuals.reshape(len(fit.residuals), -1, windows.joints)
    # Cumulated squares; from each window on, the end by which half of their sum is reached.
    sums = np.r_[0.0, (residuals[..., joint] ** 2).sum(axis=1).cumsum()]
    ends = np.minimum(np.searchsorted(sums, sums[:-1] + 0.5 * sums[-1]), len(residuals))
    reached = sums[ends] - sums[:-1] >= 0.5 * sums[-1] * (1.0 - SUM_ROUND_OFF)
    lengths = np.where(reached, ends - np.arange(len(residuals)), len(residuals))
    first = int(np.argmin(lengths))
    # The times of the windows that the fit has kept.
    problem = fit.problem if isinstance(fit.problem, LogProblem) else problem
    samples = windows.samples[problem.kept]
    last = max(int(ends[first]) - 1, first)
    return float(windows.log.time[samples[first, 0]]), float(windows.log.time[samples[last, -1]])


def effort_noise_share(problem: LogProblem, sizes: Sizes) -> Array:
    """Return the effect of noise of the efforts as a share of the effect of the efforts (n,).

    The noise is drawn at random with the size and kind of the recorded efforts'.
    """
    windows, rng = problem.windows, np.random.default_rng(0)
    factors = {factor: size for factor, size in sizes.items() if factor.quantity == FACTOR}
    effort = problem.efforts(factors)
    noise = drawn_like(windows.log, effort, rng)
    return problem.share(windows.by_held_efforts(0, noise[..., None])[problem.kept])


def scheme_of(fit: Fit) -> str:
    """Return the integration scheme that a fit shows, or "" if it shows none of SCHEMES clearly."""
    if max(fit.half_width(LATE_Q), fit.half_width(LATE_QD)) > SCHEME_DISTANCE:
        return ""
    late_q, late_qd = fit.sizes[LATE_Q], fit.sizes[LATE_QD]
    distance = {name: max(abs(late_q - a), abs(late_qd - b)) for name, (a, b) in SCHEMES.items()}
    name = min(distance, key=distance.__getitem__)
    return name if distance[name] < SCHEME_DISTANCE else ""

"""A log of a foreign simulator or robot against its robot's file: what differs.

SHORTEST, FEWEST and FALL may be tuned. They move verdicts: `make own-logs` measures what is then
found (docs/own_log.md), and test_own_log.py tests the cases.

What the file's equations leave in windows of a log (windows.py) goes to the regressor of the
cross-check. The lengths of windows are chosen here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from roboaccord.contract.outcome import Levels, verdict_of
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.explain import Explanation, explain
from roboaccord.crosscheck.causes.fit import Fit, fitted
from roboaccord.crosscheck.causes.hypotheses import FACTOR, Sizes
from roboaccord.crosscheck.causes.search import LIKELY, is_noise
from roboaccord.crosscheck.report import Report
from roboaccord.numerics.ranking import first_largest
from roboaccord.scenario.scenario import Tolerances

from roboaccord_files.excitation.identified import Identified
from roboaccord_files.logs.body import DRY, LogBody
from roboaccord_files.logs.efforts import (
    OWN,
    Reading,
    Taken,
    best_reading,
    factors_of,
    readings,
    taken,
)
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.noise import drawn_like, rounded
from roboaccord_files.logs.problem import MISTAKEN, NOISY, LogProblem
from roboaccord_files.logs.result import LogCheck, LogLevel
from roboaccord_files.logs.smooth import Smooth
from roboaccord_files.logs.windows import FEW, Windows

ENGINE = "log"
SHORTEST, FEWEST = 6, 20  # steps of a window, and windows of a log
FALL = 2.2  # power by which noise falls with longer windows, at least
SCHEMES = {
    "forward Euler": (1.0, 0.5),
    "semi-implicit Euler": (0.0, 0.5),
    "of order 2 or more": (0.0, 0.0),
}  # a and b
HALF = 0.5  # of the squared residuals: what the file's gravity leaves, to be the controller's
AUDIBLE = 0.5  # of the positions' noise: what that of efforts does, to count
ALMOST = 1e-9  # round-off
NEAR = 0.15  # samples from a scheme's a and b


def check_log(log: Log, body: LogBody, effort: str = "") -> Report:
    """Check a log by the equations of a robot's file, and name what differs.

    Args:
        log: what was read.
        body: of the robot's file.
        effort: what the user states of efforts, as of `efforts.STATED`.
    """
    level, check = LogLevel(), measured(log, body, effort)
    finding = replace(level.judge(check, Tolerances()), level=level.name, engine=ENGINE)
    return Report(
        robot="",
        scenario="",
        verdict=verdict_of([finding]),
        levels=Levels.of([finding]),
        checks={level.name: {ENGINE: check}},
        rows={level.name: {ENGINE: level.rows(check)}},
        engines=[ENGINE],
    )


def measured(log: Log, body: LogBody, effort: str = "") -> LogCheck:
    """Return what the equations of a robot's file leave of a log, and what explains it."""
    windows = chosen(log, body)
    check = first_look(windows)
    if check.noise > NOISY:
        return check
    asked = BestReading.of(windows, effort)
    if not log.effort.any() and asked.share > MISTAKEN:
        return replace(check, share=asked.share, unmeasured=True)
    problem = asked.problem
    noisy = effort_share(problem, asked.fit.sizes) * windows.reach
    if (noisy > AUDIBLE * windows.noise).any():
        steps = rounded(log, problem.efforts(factors_in(asked.fit.sizes))[..., 0])
        windows = windows.rescaled(noisy, steps)
        problem = LogProblem.of(windows, asked.dry, asked.reading)
    answer = explained(windows, problem, asked.dry)
    explanation, taken_for = without_stated(answer, asked.taken, effort)
    check = replace(check, taken=taken_for, explanation=explanation)
    return with_residuals(check, answer)


def first_look(windows: Windows) -> LogCheck:
    """Return what is known of a log before anything is explained."""
    log, body = windows.log, windows.body
    worst = first_largest(windows.share)
    return LogCheck(
        windows.size,
        float(windows.share[worst]),
        (log.joints[worst], float(windows.noise[worst])),
        log.columns,
        log.notes,
        motion=Identified.of(
            body.tree, body.joints, body.gravity, [*windows.nodes], friction=log.base is None
        ),
        capped={joint: share for joint, _, share, _ in windows.capped()},
    )


@dataclass(frozen=True)
class BestReading:
    """What the efforts of a log are: the reading that explains it best, without a cause.

    Args:
        reading, problem, fit: of that reading.
        taken: the same in words, with the next reading.
        share: rms residuals over what the efforts do, where it is most.
        dry: joints with dry friction.
    """

    reading: Reading
    problem: LogProblem
    fit: Fit
    taken: Taken
    share: float
    dry: frozenset[str]

    @classmethod
    def of(cls, windows: Windows, effort: str) -> Self:
        """Return the best reading of those that the user leaves open."""
        joints = zip(windows.log.joints, windows.body.dry.T)
        dry = frozenset(joint for joint, friction in joints if friction.any())
        problems = {one: LogProblem.of(windows, dry, one) for one in readings(effort)}
        fits = {one: fitted(problem) for one, problem in problems.items()}
        shares = {one: float(problems[one].share(fit.left).max()) for one, fit in fits.items()}
        best = best_reading(fits, shares)
        known = taken(best, fits, shares, effort)
        return cls(best, problems[best], fits[best], known, shares[best], dry)


class Answer(NamedTuple):
    """What explains a problem: the causes, the fit without one, and that with those named."""

    problem: LogProblem
    explanation: Explanation
    plain: Fit
    fit: Fit


def explained(windows: Windows, problem: LogProblem, dry: frozenset[str]) -> Answer:
    """Return what explains the windows of a log.

    A controller that compensates gravity may do so by the file or by what the robot is; and where
    dry friction is a cause, what it takes as its joint turns back is unknown.

    Args:
        windows: of the log, whose efforts are all known.
        problem: of them.
        dry: joints whose dry friction the file has.
    """
    answer, reading = Answer(problem, *explain(problem)), problem.reading
    if reading.gravity and not is_noise(answer.plain):
        other = replace(problem, reading=replace(reading, of_file=True))
        by_file = Answer(other, *explain(other))
        if by_file.fit.cost < HALF * answer.fit.cost:
            answer = by_file
    found = answer.explanation
    causes = (*found.causes, *found.most, *(cause for each in found.instead for cause in each))
    if more := {cause.where for cause in causes if cause.quantity == DRY} - dry:
        freed = LogProblem.of(windows, dry | more, answer.problem.reading)
        answer = Answer(freed, *explain(freed))
    return answer


def without_stated(answer: Answer, efforts: Taken, effort: str) -> tuple[Explanation, Taken]:
    """Return the causes without those that the user states of efforts, and what efforts are."""
    explanation, fit = answer.explanation, answer.fit
    efforts = replace(efforts, factors=factors_of(fit))
    if efforts.following:
        efforts = replace(efforts, times=float(np.sqrt(efforts.cost / fit.cost)))
    stated = OWN.get(effort, ())
    if also := [cause for cause in explanation.causes if cause.quantity in stated]:
        rest = tuple(cause for cause in explanation.causes if cause not in also)
        explanation = replace(explanation, causes=rest, instead=()) if rest else Explanation()
        efforts = replace(efforts, also=also)
    return explanation, efforts


def with_residuals(check: LogCheck, answer: Answer) -> LogCheck:
    """Return a check with what the named causes leave, and what of that is beyond the noise."""
    problem, _, plain, fit = answer
    windows, remaining = problem.windows, problem.share(fit.left)
    noise = np.hypot(windows.share, effort_share(problem, fit.sizes))
    beyond, whole = (
        np.sqrt(np.maximum(remaining**2 - LIKELY * each**2, 0.0)) for each in (noise, windows.share)
    )
    worst = first_largest(beyond)
    return replace(
        check,
        span=span_of(problem, fit, worst),
        share=float(problem.share(plain.left).max()),
        left=float(remaining.max()),
        beyond=float(beyond.max()),
        worst=windows.log.joints[worst],
        whole=float(whole.max()),
        efforts=float(noise.max()),
        scheme=scheme_of(fit),
        judged=int(problem.kept.sum()),
        windows=len(problem.kept),
    )


def span_of(problem: LogProblem, fit: Fit, joint: int) -> tuple[float, float]:
    """Return from when to when [s] half of a joint's squared residuals lie, at the shortest."""
    windows, residuals = (
        problem.windows,
        fit.left.reshape(len(fit.left), -1, problem.windows.joints),
    )
    sums = np.r_[0.0, (residuals[..., joint] ** 2).sum(axis=1).cumsum()]
    ends = np.minimum(np.searchsorted(sums, sums[:-1] + 0.5 * sums[-1]), len(residuals))
    whole = sums[ends] - sums[:-1] >= 0.5 * sums[-1] * (1.0 - ALMOST)
    many = np.where(whole, ends - np.arange(len(residuals)), len(residuals))
    first = int(np.argmin(many))
    own = windows.samples[fit.problem.kept if isinstance(fit.problem, LogProblem) else slice(None)]
    last = max(int(ends[first]) - 1, first)
    return float(windows.log.time[own[first, 0]]), float(windows.log.time[own[last, -1]])


def effort_share(problem: LogProblem, sizes: Sizes) -> Array:
    """Return what noise of the efforts does in windows, over what the efforts do (n,)."""
    windows, rng = problem.windows, np.random.default_rng(0)
    effort = problem.efforts(factors_in(sizes))[..., 0]
    noise = drawn_like(windows.log, effort, rng)
    return problem.share(windows.pushed(0, noise[..., None])[problem.kept])


def factors_in(sizes: Sizes) -> Sizes:
    """Return the factors of efforts among sizes."""
    return {one: size for one, size in sizes.items() if one.quantity == FACTOR}


def scheme_of(fit: Fit) -> str:
    """Return the scheme that a fit shows, "" where it does not."""
    late, slow, *_ = fit.problem.beside
    if max(fit.half_width(late), fit.half_width(slow)) > NEAR:
        return ""
    at = fit.sizes[late], fit.sizes[slow]
    near = {name: max(abs(at[0] - a), abs(at[1] - b)) for name, (a, b) in SCHEMES.items()}
    name = min(near, key=near.__getitem__)
    return name if near[name] < NEAR else ""


def chosen(log: Log, body: LogBody) -> Windows:
    """Return the shortest windows in which noise is below the bound, or the longest."""
    lengths = np.array([s.stop - s.start - 1 for s in log.segments])
    sizes = np.arange(SHORTEST, max(SHORTEST, lengths.sum() // FEWEST) + 1)
    enough = (lengths // (2 * sizes[:, None])).sum(axis=1) >= FEWEST // 4  # of twice the length
    longest = int(sizes[enough].max(initial=SHORTEST))
    size, smooth = SHORTEST, Smooth.of(log)
    while True:
        windows = Windows(log, body, size, smooth, FEW)
        if (windows.share <= NOISY).all() or size >= longest:
            windows = Windows(log, body, size, smooth)
            if (windows.share <= NOISY).all() or size >= longest:
                return windows
        factor = min(max(float(windows.share.max() / NOISY) ** (1.0 / FALL), 1.2), 4.0)
        size = min(int(factor * size) + 1, longest)

"""A log of a foreign simulator or robot against its robot's file: what differs.

SHORTEST, FEWEST and FALL may be tuned. They move verdicts: `make own-logs` measures what is then
found (docs/own_log.md), and test_own_log.py tests the cases.

What the file's equations leave in windows of a log (windows.py) goes to the regressor of the
cross-check. The lengths of windows are chosen here.
"""

from __future__ import annotations

from dataclasses import replace

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
from roboaccord_files.logs.efforts import OWN, best_reading, factors_of, readings, taken
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
    worst = first_largest(windows.share)
    check = LogCheck(
        windows.size,
        float(windows.share[worst]),
        (log.joints[worst], float(windows.noise[worst])),
        log.columns,
        log.notes,
        motion=Identified.of(
            body.tree, body.joints, body.gravity, [*windows.nodes], friction=log.base is None
        ),
    )
    if check.noise > NOISY:
        return check
    dry = {joint for joint, each in zip(log.joints, body.dry.T) if each.any()}
    asked = {each: LogProblem.of(windows, dry, each) for each in readings(effort)}
    fits = {each: fitted(problem) for each, problem in asked.items()}
    shares = {each: float(asked[each].share(fit.left).max()) for each, fit in fits.items()}
    reading = best_reading(fits, shares)
    problem, known = asked[reading], taken(reading, fits, shares, effort)
    if not log.effort.any() and shares[reading] > MISTAKEN:
        return replace(check, share=shares[reading], unmeasured=True)
    noisy = effort_share(problem, fits[reading].sizes) * windows.reach
    if (noisy > AUDIBLE * windows.noise).any():
        steps = rounded(log, problem.efforts(factors_in(fits[reading].sizes))[..., 0])
        windows = windows.rescaled(noisy, steps)
        problem = LogProblem.of(windows, dry, reading)
    found, plain, fit = explain(problem)
    if reading.gravity and not is_noise(plain):  # by the file's own gravity, perhaps
        other = replace(problem, reading=replace(reading, of_file=True))
        again = explain(other)
        if again[2].cost < HALF * fit.cost:
            problem, (found, plain, fit) = other, again
    every = (*found.causes, *found.most, *(each for one in found.instead for each in one))
    if more := {cause.where for cause in every if cause.quantity == DRY} - dry:
        problem = LogProblem.of(windows, dry | more, problem.reading)
        found, plain, fit = explain(problem)
    known = replace(known, factors=factors_of(fit))
    if known.following:
        known = replace(known, times=float(np.sqrt(known.cost / fit.cost)))
    if own := [cause for cause in found.causes if cause.quantity in OWN.get(effort, ())]:
        rest = tuple(cause for cause in found.causes if cause not in own)
        found = replace(found, causes=rest, instead=()) if rest else Explanation()
        known = replace(known, also=own)
    left = problem.share(fit.left)
    noise = np.hypot(windows.share, effort_share(problem, fit.sizes))
    beyond, whole = (
        np.sqrt(np.maximum(left**2 - LIKELY * each**2, 0.0)) for each in (noise, windows.share)
    )
    worst = first_largest(beyond)
    return replace(
        check,
        taken=known,
        span=span_of(problem, fit, worst),
        share=float(problem.share(plain.left).max()),
        left=float(left.max()),
        beyond=float(beyond.max()),
        worst=log.joints[worst],
        whole=float(whole.max()),
        efforts=float(noise.max()),
        scheme=scheme_of(fit),
        judged=int(problem.kept.sum()),
        windows=len(problem.kept),
        explanation=found,
        capped={joint: share for joint, _, share, _ in windows.capped()},
    )


def span_of(problem: LogProblem, fit: Fit, joint: int) -> tuple[float, float]:
    """Return from when to when [s] half of a joint's squared residuals lie, at the shortest."""
    windows, left = problem.windows, fit.left.reshape(len(fit.left), -1, problem.windows.joints)
    sums = np.r_[0.0, (left[..., joint] ** 2).sum(axis=1).cumsum()]
    ends = np.minimum(np.searchsorted(sums, sums[:-1] + 0.5 * sums[-1]), len(left))
    whole = sums[ends] - sums[:-1] >= 0.5 * sums[-1] * (1.0 - ALMOST)
    many = np.where(whole, ends - np.arange(len(left)), len(left))
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
        found = Windows(log, body, size, smooth, FEW)
        if (found.share <= NOISY).all() or size >= longest:
            found = Windows(log, body, size, smooth)
            if (found.share <= NOISY).all() or size >= longest:
                return found
        factor = min(max(float(found.share.max() / NOISY) ** (1.0 / FALL), 1.2), 4.0)
        size = min(int(factor * size) + 1, longest)

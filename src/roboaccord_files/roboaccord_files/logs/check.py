"""A log of a foreign simulator or robot against its robot's file: what differs.

SHORTEST, FEWEST and FALL may be tuned. They move verdicts: `make own-logs` measures what is then
found (docs/own_log.md), and test_own_log.py tests the cases. The texts may be changed; quantity and
joint of a Finding, part of the JSON, stay.

What the file's equations leave in windows of a log (windows.py) goes to the regressor of the
cross-check. The lengths of windows are chosen here.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract.outcome import Cause, Finding, Levels, unless_few, verdict_of
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.explain import LIKELY, MOST, Explanation, explain
from roboaccord.crosscheck.causes.fit import Fit
from roboaccord.crosscheck.causes.words import with_interval
from roboaccord.numerics.ranking import first_largest

from roboaccord_files.logs.body import DRY, LogBody
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.noise import noise_of
from roboaccord_files.logs.problem import NOISY, UNKNOWN, LogProblem
from roboaccord_files.logs.result import LogReport
from roboaccord_files.logs.windows import Windows

ENGINE = "log"
SHORTEST, FEWEST = 6, 20  # steps of a window, and windows of a log
FALL = 2.2  # power by which noise falls with longer windows, at least
SCHEMES = {
    "forward Euler": (1.0, 0.5),
    "semi-implicit Euler": (0.0, 0.5),
    "of order 2 or more": (0.0, 0.0),
}  # a and b
NEAR = 0.15  # samples from a scheme's a and b


def check_log(log: Log, body: LogBody) -> LogReport:
    """Check a log by the equations of a robot's file, and name what differs."""
    windows = chosen(log, body)
    noise = float(windows.share.max())
    if noise > NOISY:
        worst = log.joints[first_largest(windows.share)]
        text = f"noise: {windows.noise[log.joints.index(worst)]:.2g} rad or m of {worst} is "
        text += f"{100 * noise:.2g} % of what the efforts do in windows of {windows.size} steps"
        text += f", more than {100 * NOISY:g} %"
        finding = Finding("one_step", ENGINE, "not_judged", text, "noise", worst)
        return LogReport(
            "undecided", Levels.of([finding]), window=windows.size, noise=noise,
            columns=log.columns, notes=log.notes,
        )  # fmt: skip
    dry = {joint for joint, each in zip(log.joints, body.dry.T) if each.any()}
    problem = LogProblem.of(windows, dry)
    found, plain, fit = explain(problem)
    every = (*found.causes, *found.most, *(each for one in found.instead for each in one))
    if more := {cause.where for cause in every if cause.quantity == DRY} - dry:
        problem = LogProblem.of(windows, dry | more)
        found, plain, fit = explain(problem)
    return reported(problem, found, plain, fit)


def effort_share(problem: LogProblem) -> Array:
    """Return what noise of the efforts does in windows, over what the efforts do (n,)."""
    windows, rng = problem.windows, np.random.default_rng(0)
    effort = windows.log.effort
    noise = noise_of(windows.log, effort) * rng.standard_normal(effort.shape)
    return problem.share(windows.pushed(0, noise)[problem.kept])


def in_words(causes: tuple[Cause, ...]) -> str:
    """Return causes that act together, with their intervals."""
    return "; ".join(map(with_interval, causes))


def reported(problem: LogProblem, found: Explanation, plain: Fit, fit: Fit) -> LogReport:
    """Return what was found.

    Args:
        problem: that was explained.
        found: what explains it.
        plain, fit: fits without and with its causes.
    """
    windows, log = problem.windows, problem.windows.log
    share, left = problem.share(plain.left), problem.share(fit.left)
    text = f"residuals of {100 * share.max():.3g} % of what the efforts do in {windows.size} steps"
    noise = np.hypot(windows.share, effort_share(problem))
    beyond, whole = (
        np.sqrt(np.maximum(left**2 - LIKELY * each**2, 0.0)) for each in (noise, windows.share)
    )
    finding = Finding("one_step", ENGINE, "within")
    finding = unless_few(finding, problem.kept.sum(), len(problem.kept), "windows")
    if found.causes:
        text += f": {'; or '.join(map(in_words, (found.causes, *found.instead)))}"
        first = found.causes[0]
        finding = Finding("one_step", ENGINE, "outside", text, first.quantity, first.where)
    elif beyond.max() > UNKNOWN:
        worst = log.joints[first_largest(beyond)]
        text += f", which no {MOST} known errors explain; look at {worst}"
        text += f"; most of it by {in_words(found.most)}" if found.most else ""
        finding = Finding("one_step", ENGINE, "outside", text, "", worst)
    elif whole.max() > UNKNOWN and noise.max() > NOISY:
        text = f"noise: {text}, and that of the efforts may make {100 * noise.max():.2g} %"
        finding = Finding("one_step", ENGINE, "not_judged", text, "noise")
    return LogReport(
        verdict=verdict_of([finding]),
        levels=Levels.of([finding]),
        causes=found.causes,
        instead=found.instead,
        most=() if found.causes else found.most,
        window=windows.size,
        noise=float(windows.share.max()),
        share=float(share.max()),
        left=float(left.max()),
        scheme=scheme_of(fit),
        columns=log.columns,
        notes=log.notes,
    )


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
    size = SHORTEST
    while True:
        found = Windows(log, body, size)
        if (found.share <= NOISY).all() or size >= longest:
            return found
        factor = min(max(float(found.share.max() / NOISY) ** (1.0 / FALL), 1.2), 4.0)
        size = min(int(factor * size) + 1, longest)

"""A log of a foreign simulator or robot against its robot's file: what differs.

SHORTEST, FEWEST, MISTAKEN and FALL may be tuned. They move verdicts: `make own-logs` measures what
is then found (docs/own_log.md), and test_own_log.py tests the cases. The texts may be changed;
quantity and joint of a Finding, part of the JSON, stay.

What the file's equations leave in windows of a log (windows.py) is regressed on the hypotheses of
the cross-check (regression.py), of which the fewest that explain it are named (selection.py). The
lengths of windows are chosen here, and signs and orders of columns tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
from roboaccord.contract.outcome import Finding, Levels, unless_few, verdict_of
from roboaccord.crosscheck.hypotheses import ORDERS, signed, swapped
from roboaccord.numerics.ranking import first_largest

from roboaccord_files.logs.causes import causes_of, scheme_of
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.parameters import DRY, DynamicParameters
from roboaccord_files.logs.regression import Fit, LogRegression
from roboaccord_files.logs.result import EXCHANGED, LogCause, LogReport
from roboaccord_files.logs.selection import LIKELY, NOISY, TOGETHER, UNKNOWN, alike, selected
from roboaccord_files.logs.windows import Windows

ENGINE = "log"
SHORTEST, FEWEST = 6, 20  # steps of a window, and windows of a log
MISTAKEN = 0.2  # of what efforts do in a window: residuals of wrong columns
FALL = 2.2  # power by which noise falls with longer windows, at least


def check_log(log: Log, body: DynamicParameters) -> LogReport:
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
    file = [joint for joint, dry in zip(log.joints, body.dry.T) if dry.any()]
    work = LogRegression(windows, file)
    plain = work.fit(())
    choice = selected(work, plain)
    seen = (*choice.fit.ones, *choice.most.ones)
    if more := {one.where for one in seen if one.quantity == DRY} - work.dry:
        work = LogRegression(windows, work.dry | more)
        plain = work.fit(())
        choice = selected(work, plain)
    found = choice.fit
    named = len(found.groups) == 1 and not reversed_effort(found)
    wrong = not named and work.share(plain.left).max() > MISTAKEN
    if wrong and (mistaken := [*mistakes(log, body, windows.size, work.dry)]):
        fits = alike([fit for _, fit in mistaken], lambda fit: fit.cost)
        causes = [[cause] for fit in fits for cause, own in mistaken if own is fit]
        return reported(work, plain, fits[0], causes)
    longer = LogRegression(Windows(log, body, 2 * windows.size), work.dry)
    fits = [found, *choice.alike] if found.groups else []
    most = causes_of(choice.most, longer) if choice.most.groups and not fits else []
    return reported(work, plain, found, [causes_of(each, longer) for each in fits], most)


def reported(
    work: LogRegression,
    plain: Fit,
    found: Fit,
    causes: Sequence[Sequence[LogCause]] = (),
    most: Sequence[LogCause] = (),
) -> LogReport:
    """Return what was found.

    Args:
        work: regression.
        plain, found: fits without and with causes.
        causes: that explain the residuals, and others that may instead.
        most: what explains most of them, where it is not enough.
    """
    windows, log = work.windows, work.windows.log
    share, left = work.share(plain.left), work.share(found.left)
    text = f"residuals of {100 * share.max():.3g} % of what the efforts do in {windows.size} steps"
    noise = np.hypot(windows.share, work.effort_share)
    beyond, whole = (
        np.sqrt(np.maximum(left**2 - LIKELY * each**2, 0.0)) for each in (noise, windows.share)
    )
    finding = Finding("one_step", ENGINE, "within")
    finding = unless_few(finding, work.kept.sum(), len(work.kept), "windows")
    if causes:
        text += f": {'; or '.join('; '.join(map(str, each)) for each in causes)}"
        first = causes[0][0]
        finding = Finding("one_step", ENGINE, "outside", text, first.quantity, first.where)
    elif beyond.max() > UNKNOWN:
        worst = log.joints[first_largest(beyond)]
        text += f", which no {TOGETHER} known errors explain; look at {worst}"
        text += f"; most of it by {'; '.join(map(str, most))}" if most else ""
        finding = Finding("one_step", ENGINE, "outside", text, "", worst)
    elif whole.max() > UNKNOWN and noise.max() > NOISY:
        text = f"noise: {text}, and that of the efforts may make {100 * noise.max():.2g} %"
        finding = Finding("one_step", ENGINE, "not_judged", text, "noise")
    return LogReport(
        verdict=verdict_of([finding]),
        levels=Levels.of([finding]),
        causes=causes[0] if causes else (),
        instead=causes[1:],
        most=most,
        window=windows.size,
        noise=float(windows.share.max()),
        share=float(share.max()),
        left=float(left.max()),
        scheme=scheme_of(found),
        columns=log.columns,
        notes=log.notes,
    )


def reversed_effort(fit: Fit) -> bool:
    """Return whether the sign of an effort seems to be reversed."""
    pairs = zip(fit.ones, fit.sizes)
    return any(one.quantity == "gear" and abs(size + 2.0) < 0.2 for one, size in pairs)


def mistakes(
    log: Log, body: DynamicParameters, size: int, dry: Iterable[str]
) -> Iterator[tuple[LogCause, Fit]]:
    """Yield the signs and orders of columns that leave little, were they others, and the fits."""
    pairs = [*combinations(range(len(log.joints)), 2)]
    for names, quantity, _ in ORDERS:
        known = [name for name in names if hasattr(log, name)]
        if not known:
            continue
        tried: list[tuple[str, tuple[int, ...], Log]] = [
            (f"sign of {quantity}", (i,), signed(log, known, i)) for i in range(len(log.joints))
        ]
        tried += [(f"order of {quantity}", (i, j), swapped(log, known, i, j)) for i, j in pairs]
        for name, at, other in tried:
            work = LogRegression(Windows(other, body, size), dry)
            left = work.fit(())
            if left.cost <= LIKELY * left.left.size or work.share(left.left).max() < UNKNOWN:
                where = ", ".join(log.joints[i] for i in at)
                yield LogCause(name, where, -1.0, -1.0, -1.0, EXCHANGED), left


def chosen(log: Log, body: DynamicParameters) -> Windows:
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

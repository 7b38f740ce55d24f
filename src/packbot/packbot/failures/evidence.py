"""Compiled tests of a failed joint against a healthy arm, over windows of the momentum balance.

The generalised momentum observer [De Luca, Mattone 2003] c = p + b q - int(tau + C' qd - g) dt is
constant while all goes by the model. What a joint's failure does to c stays in that joint's row: a
loose joint j leaves c_j + int tau_j dt constant, a frozen one moves c_j by its lock and stands. An
error dm of the payload moves c along a known y, one of a friction by what it turned through.

Series of a block (7 joints): c, y, friction, int tau, q, qd, slack.
"""

from __future__ import annotations

import numpy as np
from roboaccord.numerics.jit import kernel

BALANCE, LOAD, FRICTION, EFFORT, ANGLE, RATE, SLACK = range(7)
LOOSE, FROZEN = 1, 2
FREE = 1e4  # (N m s)^2: variance of what is not looked at
FIT = 30.0  # chi^2 of the other joints, 6 degrees of freedom: more is no failure of this one
CLEAR = 5.0  # standard deviations beyond which an explanation is dropped
TURNED = 15.0  # standard deviations of an angle from which on friction is learned
BETTER = 20.0  # chi^2 by which an explanation beats the other
RECENT = 16  # blocks: where a window up to that explains nothing, a failure is just coming
CREEP = 1e-3  # rad/s: of a frozen joint


@kernel
def invert(matrix, inverse):
    """Invert a symmetric positive definite matrix by Gauss and Jordan, into `inverse`."""
    n = len(matrix)
    inverse[:] = matrix
    for k in range(n):
        pivot = 1.0 / inverse[k, k]
        inverse[k, k] = 1.0
        for j in range(n):
            inverse[k, j] *= pivot
        for i in range(n):
            if i != k:
                factor = inverse[i, k]
                inverse[i, k] = 0.0
                for j in range(n):
                    inverse[i, j] -= factor * inverse[k, j]


@kernel
def mean(series, what, joint, first, count):
    """Return the mean of a joint's series over `count` blocks from `first` on."""
    total = 0.0
    for b in range(first, first + count):
        total += series[b, joint, what]
    return total / count


@kernel
def deviation(series, first, last, ends, theta, spread, noise, forces, moved, covariance):
    """Compute the change of the balance over a window less the known errors, and its covariance.

    Args:
        series: (blocks, 7, 7).
        first, last: blocks of the window.
        ends: blocks whose mean is taken at either end.
        theta, spread: errors of payload and frictions (8,), their covariance (8, 8).
        noise: covariance of the balance in each block (blocks, 7, 7).
        forces: covariance of contact impulses up to each block (blocks, 7, 7).
        moved: filled (7,) [N m s].
        covariance: filled (7, 7).
    """
    n = len(moved)
    late = last - ends + 1
    load, turned = np.empty(n), np.empty(n)
    for j in range(n):
        load[j] = mean(series, LOAD, j, late, ends) - mean(series, LOAD, j, first, ends)
        turned[j] = mean(series, FRICTION, j, late, ends) - mean(series, FRICTION, j, first, ends)
        moved[j] = mean(series, BALANCE, j, late, ends) - mean(series, BALANCE, j, first, ends)
        moved[j] -= load[j] * theta[0] + turned[j] * theta[1 + j]
    for i in range(n):
        for j in range(n):
            covariance[i, j] = (
                (noise[first, i, j] + noise[last, i, j]) / ends
                + forces[last, i, j] - forces[first - 1, i, j]
                + load[i] * spread[0, 0] * load[j]
                + load[i] * spread[0, 1 + j] * turned[j]
                + turned[i] * spread[1 + i, 0] * load[j]
                + turned[i] * spread[1 + i, 1 + j] * turned[j]
            )  # fmt: skip
        covariance[i, i] += (series[last, i, SLACK] - series[first, i, SLACK]) ** 2


@kernel
def learn(series, span, theta, spread, noise, forces, known, angle):
    """Update the errors of payload and frictions by the last `span` blocks (Kalman).

    Nothing is learned from what does not fit: contact that no hull explains, or a failure; and
    nothing of the friction of a joint that turned no more than the noise makes it seem, with the
    variance `angle` in a block.
    """
    n, last = series.shape[1], len(series) - 1
    moved, covariance, inverse = np.empty(n), np.empty((n, n)), np.empty((n, n))
    deviation(series, last - span, last, 1, theta, spread, noise, forces, moved, covariance)
    for j in range(n):
        if known[j]:
            covariance[j, j] += FREE
    invert(covariance, inverse)
    if moved @ (inverse @ moved) > FIT:
        return
    rows = np.zeros((n, n + 1))
    for j in range(n):
        rows[j, 0] = series[last, j, LOAD] - series[last - span, j, LOAD]
        turned = series[last, j, ANGLE] - series[last - span, j, ANGLE]
        if turned**2 > TURNED**2 * angle:
            rows[j, 1 + j] = series[last, j, FRICTION] - series[last - span, j, FRICTION]
    gain = spread @ rows.T @ inverse
    theta += gain @ moved
    spread -= gain @ rows @ spread


@kernel
def judge(series, stops, errors, spreads, noise, forces, inertia, viscous, known, options, found):
    """Look for one failed joint in windows of 2, 4, 8, ... blocks that end now.

    Args:
        series, noise, forces: as `deviation` takes them.
        stops: whether a joint was at its lower or upper limit (blocks, 7, 2).
        errors, spreads: what was learned by each block (blocks, 8), (blocks, 8, 8).
        inertia: inverse mass matrix (7, 7).
        viscous: friction (7,) [N m s/rad].
        known: joints that failed before (7,).
        options: threshold of the likelihood ratio, least missing motion [rad], period of blocks
            [s], variances of q and qd in a block.
        found: filled for each joint with evidence: the largest ratio, missing motion [rad],
            explanations that stand in every window, and how many blocks ago it began (7, 4).
    """
    n, count = series.shape[1], len(series)
    last = count - 1
    moved, covariance, inverse = np.empty(n), np.empty((n, n)), np.empty((n, n))
    masked, ratio, rest = np.empty((n, n)), np.empty(n), np.empty(n)
    change, explained = np.empty(n), np.empty(4)
    found[:] = 0.0
    for j in range(n):
        found[j, 2] = LOOSE | FROZEN
    width = 2
    while width < count - 1:
        first, ends = last - width, max(1, width // 4)
        theta, spread = errors[first], spreads[first]
        deviation(series, first, last, ends, theta, spread, noise, forces, moved, covariance)
        stopped = np.zeros(n, dtype=np.bool_)
        any_stop = False
        for j in range(n):
            for b in range(first, last + 1):
                if stops[b, j, 0] or stops[b, j, 1]:
                    stopped[j] = True
            any_stop = any_stop or stopped[j]
            if known[j]:
                covariance[j, j] += FREE
        for j in range(n):
            if j == 0 or any_stop:
                masked[:] = covariance
                for i in range(n):
                    if stopped[i] and i != j:
                        masked[i, i] += FREE
                invert(masked, inverse)
            pull = inverse[j] @ moved
            change[j] = pull / inverse[j, j]
            ratio[j] = 0.0 if known[j] else pull * pull / inverse[j, j]
            rest[j] = moved @ (inverse @ moved) - ratio[j]
            if stopped[j] and pushed(stops, first, last, j, change[j]):
                ratio[j] = 0.0
        time, span = width * options[2], (width - ends + 1) * options[2]
        best, chosen, rivals, close, kinds = ratio.max(), 0, 0, 0, 0
        ago = lag = 0.0
        for j in range(n):
            short = missing(change[j] / span, 1.0 / inertia[j, j], viscous[j], time)
            near = ratio[j] > max(options[0], best - 0.5 * options[0]) and rest[j] < FIT
            if not near:
                continue
            close += 1
            if short < options[1]:
                rivals += 1
                continue
            weights = inverse[j] / inverse[j, j]
            early = weights @ (noise[first] @ weights)
            late = weights @ (noise[last] @ weights)
            drift = max(0.0, weights @ (covariance @ weights) - (early + late) / ends)
            most = max(early, late)
            found_kinds = explain(
                series, j, weights, first, ends, theta, most, drift, options, explained
            )
            if found_kinds == 0 and width <= RECENT:
                found[j, 2] = 0
            if found_kinds:
                rivals += 1
                chosen, kinds, ago, lag = j, found_kinds, explained[0], short
        if rivals == 1 and kinds and (close == 1 or width > RECENT):
            found[chosen, 2] = int(found[chosen, 2]) & kinds
            if ratio[chosen] > found[chosen, 0]:
                found[chosen, 0], found[chosen, 1], found[chosen, 3] = ratio[chosen], lag, ago
        width *= 2


@kernel
def pushed(stops, first, last, joint, change):
    """Return whether limits of a joint explain a change of its balance [N m s]."""
    lower = upper = False
    for b in range(first, last + 1):
        lower = lower or stops[b, joint, 0]
        upper = upper or stops[b, joint, 1]
    return (lower and change > 0.0) or (upper and change < 0.0)


@kernel
def missing(effort, inertia, viscous, time):
    """Return by how far an effort [N m] that is missing for a time leaves a joint behind [rad]."""
    if viscous * time < 1e-3 * inertia:
        return 0.5 * abs(effort) / inertia * time**2
    lag = inertia / viscous
    return abs(effort) / viscous * (time + lag * np.expm1(-time / lag))


@kernel
def explain(series, j, weights, first, ends, theta, noise, drift, options, explained):
    """Return which failures of joint j explain a window, each from its best block on.

    Before, the balance is constant; after, either it is together with the integral of the effort,
    or the joint stands.

    Args:
        series, first, ends, theta: as `deviation` takes them.
        weights: of the joints' balances, in which the noise of j is least; 1 for j (7,).
        noise, drift: variances of that sum, in a block and over the window.
        options: as `judge` takes them.
        explained: filled with how many blocks ago the failure began, and how far loose and frozen
            are off [standard deviations].
    """
    last = len(series) - 1
    n = last - first + 1
    base, full = np.empty(n), np.empty(n)
    for b in range(n):
        base[b] = 0.0
        for i in range(len(weights)):
            row = series[first + b, i]
            own = row[BALANCE] - row[LOAD] * theta[0] - row[FRICTION] * theta[1 + i]
            base[b] += weights[i] * own
        full[b] = base[b] + series[first + b, j, EFFORT]
    loose = frozen = np.inf
    began_loose = began_frozen = 0
    before = 0.0
    for c in range(n - 2):
        back = min(c, ends)
        off = 0.0
        if c > 0:
            k = min(ends, c)
            before = base[c - back : c].mean() - base[:k].mean()
            part = (c / n) ** 2
            off = abs(before) / np.sqrt(noise * (1.0 / back + 1.0 / k) + part * drift)
        rest = n - 1 - c
        k = max(1, min(ends, rest // 2))
        part = (rest / n) ** 2
        after = full[n - k :].mean() - full[c + 1 : c + 1 + k].mean()
        score = max(off, abs(after) / np.sqrt(2.0 * noise / k + part * drift))
        if c > 0:
            jump = base[c + 1] - base[c - 1]
            lost = -(full[c + 1] - base[c + 1] - full[c - 1] + base[c - 1])
            outside = max(min(0.0, lost) - jump, jump - max(0.0, lost), 0.0)
            score = max(score, outside / np.sqrt(2.0 * noise))
        if score < loose:
            loose, began_loose = score, rest
        score = max(off, still(series, j, last - rest + 1, options))
        if score < frozen:
            frozen, began_frozen = score, rest
    explained[1], explained[2] = loose, frozen
    explained[0] = began_frozen if frozen < loose else began_loose
    best, kinds = min(loose, frozen), 0
    if loose < CLEAR and loose**2 < best**2 + BETTER:
        kinds |= LOOSE
    if frozen < CLEAR and frozen**2 < best**2 + BETTER:
        kinds |= FROZEN
    return kinds


@kernel
def still(series, joint, first, options):
    """Return by how much a joint moved from a block on [standard deviations]."""
    last = len(series) - 1
    n = last - first + 1
    rate = abs(mean(series, RATE, joint, first, n)) / np.sqrt(options[4] / n + CREEP**2)
    half = n // 2
    way = mean(series, ANGLE, joint, last - half + 1, half)
    way -= mean(series, ANGLE, joint, first, half)
    gone = (n - half) * options[2]
    return max(rate, abs(way) / np.sqrt(2.0 * options[3] / half + (CREEP * gone) ** 2))

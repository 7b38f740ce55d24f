"""A log of a foreign simulator or robot against its robot's file: what differs.

What the file's equations leave in windows of a log (log_windows.py) is regressed on the hypotheses
of the cross-check. Time step and scheme of the log are unknown. To first order a scheme takes q,
qd and friction from times that are late by a, b and c: forward Euler's steps of h have a = h and
b = c = h/2, semi-implicit ones a = 0 [Hairer, Lubich and Wanner 2006, IX], and those of a higher
order 0. All three are fitted beside each hypothesis, and when efforts act: from their stamp on, up
to it, or between. Intervals are of 95 %, by residuals that may be correlated within windows and
with the next ones [Newey and West 1987], and wider by what windows of twice the length change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from roboaccord.bag.log import Log
from roboaccord.contract.outcome import Finding, Levels, Verdict, unless_few, verdict_of
from roboaccord.contract.results import Shown
from roboaccord.contract.state import Array
from roboaccord.crosscheck.hypotheses import (
    AXES,
    ORDERS,
    Hypothesis,
    components,
    signed,
    swapped,
)
from roboaccord.crosscheck.log_windows import (
    FLOOR,
    PROBE,
    SPEEDS,
    DynamicParameters,
    Windows,
    noise_of,
)
from roboaccord.crosscheck.regression import LEFT, LEFT_BY_TWO, SMALL
from roboaccord.description.tree import Joint, Link, Tree
from roboaccord.engines.twin import OF_JOINTS, OF_LINKS
from roboaccord.numerics.ranking import first_largest, ranked
from roboaccord.numerics.rotations import axis_angle_matrix

ENGINE = "log"
BOUND = 2e-3  # of what efforts do in a window: what an error explains at least
EXCHANGED = "times"  # unit of columns whose sign or order is wrong
NEARLY = 0.3  # of the residuals, and of the bound: a cause that leaves less may be that small
NOISY = 0.05  # likewise: most that noise may be
SHORTEST, FEWEST = 6, 20  # steps of a window, and windows of a log
LATEST = 20  # samples by which efforts are tried to act late
TOGETHER = 3  # errors at once, at most
SIGNIFICANT, INTERVAL = 5.0, 1.96  # standard errors
LIKELY = 2.0  # squares of the noise: what leaves less may be it
UNKNOWN, MISTAKEN = 5.0 * BOUND, 0.2  # likewise: residuals without a name, and of wrong columns
NOTHING = 0.1  # of a gear or of gravity, which is as if there were none
MOST_HEAVY = 20.0  # parts by which a mass or an inertia may be larger
COST = 10.0  # of a parameter, in squares of the noise
SAME = 1e-3  # likewise: costs that differ by less are the same
BENT, FAR = ("centre", "zero", "origin", "axis", "clock"), 1.0  # not linear; m or rad
FALL = 2.2  # power by which noise falls with longer windows, at least
ROUNDS, SETTLED = 5, 1e-4  # of Gauss and Newton, and change of sizes that ends them
REFINED = 5  # hypotheses that are then fitted where they are not linear
PRIOR = [(0.0, 0.7), (0.0, 0.5), (0.0, 0.5), (0.5, 0.7)]  # a, b, c, part of the delay [samples]
BOUNDS = [(-1.1, 1.1)] * 3 + [(-0.6, 1.6)]  # samples: no scheme is later, and more is a delay
SURE = 1e-9  # samples
LAGS = 3  # windows over which residuals may be correlated
OFFSET, TILT, DRY = "effort offset", "gravity direction", "dry friction"
DELAY = Hypothesis("delay")
UNITS = {
    "centre": "m", "origin": "m", "axis": "rad", TILT: "rad", "armature": "kg m^2", "zero": "rad",
    "damping": "N m s/rad", DRY: "N m", OFFSET: "N m", "delay": "s",
}  # fmt: skip
SLIDING = {
    "armature": "kg", "zero": "m", "damping": "N s/m", DRY: "N", OFFSET: "N",
}  # fmt: skip
OF_DRIVES = ("armature", "damping", DRY)  # what descriptions of real robots lack
SCHEMES = {
    "forward Euler": (1.0, 0.5),
    "semi-implicit Euler": (0.0, 0.5),
    "of order 2 or more": (0.0, 0.0),
}
NEAR = 0.15  # samples from a scheme's a and b

Group = tuple[Hypothesis, ...]


@dataclass(frozen=True)
class LogCause:
    """Hold a difference of the log from the robot's file.

    Args:
        quantity, where: its name, and link or joint.
        value, low, high: by how much, and its interval of 95 %; parts of it where the unit is 1.
        unit: of these.
        axis: along or about which, or component; "" where it has none.
    """

    quantity: str
    where: str
    value: float
    low: float
    high: float
    unit: str
    axis: str = ""

    def __str__(self) -> str:
        if self.unit == EXCHANGED:
            kind, _, columns = self.quantity.partition(" of ")
            joints = self.where.replace(", ", " and ")
            return f"{columns} of {joints} {'reversed' if kind == 'sign' else 'interchanged'}"
        factor, unit = (100.0, "%") if self.unit == "1" else (1.0, self.unit)
        size, low, high = (f"{factor * x:+.4g}" for x in (self.value, self.low, self.high))
        name = " ".join(filter(None, [self.quantity, self.where and f"of {self.where}", self.axis]))
        return f"{name} {size} {unit} [{low}, {high}]"


@dataclass(frozen=True)
class LogReport(Shown):
    """Hold the result of the check of a log.

    Args:
        verdict, levels: of `one_step`, in windows.
        causes: what explains the residuals together.
        instead: of each other hypothesis that cannot be distinguished from the first cause, its
            causes.
        most: what explains most where nothing explains enough.
        window: steps of a window.
        noise, share, left: of what the efforts do in a window, where it is most: noise, residuals
            beside the scheme's, and what the causes leave of them.
        scheme: that fits, "" where it is unknown.
        columns, notes: what was read, and how.
    """

    verdict: Verdict | None
    levels: Levels
    causes: Sequence[LogCause] = ()
    instead: Sequence[Sequence[LogCause]] = ()
    most: Sequence[LogCause] = ()
    window: int = 0
    noise: float = np.nan
    share: float = np.nan
    left: float = np.nan
    scheme: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def ok(self) -> bool:
        """True if the log is within."""
        return self.verdict == "pass"


class Fit(NamedTuple):
    """Hold a least-squares fit.

    Args:
        groups: hypotheses, each with its components.
        sizes, deviations: theirs, then of a, b, c and the part of the delay.
        cost: squared residuals over the noise's, and the prior's.
        left: residuals over the noise (w, (k + 1) n).
        shift: whole samples of the delay.
    """

    groups: tuple[Group, ...]
    sizes: Array
    deviations: Array
    cost: float
    left: Array
    shift: int

    @property
    def ones(self) -> Group:
        """All components of the hypotheses, a delay apart."""
        return tuple(one for group in self.groups for one in group if one != DELAY)

    @property
    def late(self) -> bool:
        """Whether efforts act late."""
        return (DELAY,) in self.groups

    @property
    def unit(self) -> float:
        """Square of a residual that counts as noise."""
        return max(1.0, float((self.left**2).mean()))


class LogRegression:
    """Regress what a robot's file leaves in the windows of a log on hypotheses.

    Args:
        windows: of the log.
        dry: joints with dry friction: windows in which they turn back, and may stick, are left out.
    """

    def __init__(self, windows: Windows, dry: Iterable[str] = ()) -> None:
        self.windows, self.dry = windows, frozenset(dry)
        self.kept = windows.moving(self.dry)
        self.measured, self.scheme = windows.measured[self.kept], windows.scheme[self.kept]
        self._slopes = dict[Hypothesis, Array]()
        self._driven = dict[int, Array]()
        shortest = min(s.stop - s.start for s in windows.log.segments)
        self.latest = min(LATEST, shortest // 10)

    def driven(self, shift: int) -> Array:
        """Return what the efforts of each joint do, late by whole samples (w, (k + 1) n, n)."""
        if shift not in self._driven:
            efforts = self.windows.applied(shift)
            columns = self.windows.driven(efforts[..., None] * np.eye(efforts.shape[-1]))
            self._driven[shift] = columns[self.kept]
        return self._driven[shift]

    def slope(self, one: Hypothesis, shift: int, body: DynamicParameters | None = None) -> Array:
        """Return how residuals change with a parameter (w, (k + 1) n)."""
        if one.quantity == "gear":
            return -self.driven(shift)[..., self.windows.log.joints.index(one.where)]
        if body is None and one in self._slopes:
            return self._slopes[one]
        plain = self.windows.plain if body is None else self.windows.needed(body)
        changed = self.windows.needed(varied(body or self.windows.body, {one: PROBE}))
        found = self._made_by((changed - plain) / PROBE)
        if body is None:
            self._slopes[one] = found
        return found

    def _made_by(self, efforts: Array) -> Array:
        return np.asarray(self.windows.made_by(efforts[..., None])[self.kept, :, 0])

    def fit(self, groups: tuple[Group, ...], shift: int = -1, rounds: int = ROUNDS) -> Fit:
        """Fit hypotheses beside scheme and delay, in so many rounds where they are not linear."""
        ones = tuple(one for group in groups for one in group if one != DELAY)
        count = len(ones)
        part = (self.driven(shift) - self.driven(shift + 1)).sum(axis=-1)
        beside = [*np.moveaxis(self.scheme, -1, 0), part]
        slopes = np.array([*(self.slope(one, shift) for one in ones), *beside])
        start = self.measured - self.driven(shift).sum(axis=-1)
        means, spreads = np.array(PRIOR).T
        sizes = np.r_[np.zeros(count), means]
        bent = any(one.quantity in BENT for one in ones)
        for turn in range(rounds if bent else 1):
            now = start
            if turn:
                body = varied(self.windows.body, dict(zip(ones, sizes.tolist())))
                more = self.windows.needed(body) - self.windows.plain
                now = start + self._made_by(more)
                for i, one in enumerate(ones):
                    if one.quantity == "gear":
                        now = now + sizes[i] * slopes[i]
                    else:
                        slopes[i] = self.slope(one, shift, body)
            now = now + np.tensordot(sizes[count:], slopes[count:], 1)
            change, inverse = bounded(slopes, now, sizes)
            sizes = sizes + change
            moved, size = (np.abs(x[:count]).max(initial=0.0) for x in (change, sizes))
            sizes[:count] = [
                np.clip(size, -FAR, FAR) if one.quantity in BENT else size
                for one, size in zip(ones, sizes)
            ]
            if moved < SETTLED * size:
                break
        left = now + np.tensordot(change, slopes, 1)
        cost = float((left**2).sum() + (((sizes[-4:] - means) / spreads) ** 2).sum())
        scores = np.einsum("pwr,wr->wp", slopes, left)
        robust = np.diag(inverse @ long_run(scores) @ inverse)
        fit = Fit(groups, sizes, np.empty(0), cost, left, shift)
        deviations = np.sqrt(np.maximum(robust, fit.unit * np.diag(inverse)))
        return fit._replace(deviations=deviations)

    def more(self, now: Fit, group: Group) -> Fit:
        """Return the best linear fit of a hypothesis more, by the delay."""
        shifts = [now.shift]
        if group == (DELAY,):
            shifts = [*range(self.latest + 1)]
        elif now.late:
            shifts = [*range(max(now.shift - 1, 0), now.shift + 2)]
        groups = (*now.groups, group)
        fits = [self.fit(groups, each, 1) for each in shifts]
        return ranked(fits, lambda each: each.cost)[0]

    def groups(self) -> Iterator[Group]:
        """Yield the hypotheses that change anything."""
        log, tree = self.windows.log, self.windows.body.tree
        links = [link.name for link in tree.links[1:] if link.mass]
        wholes = [Hypothesis(*each) for each in product(OF_LINKS, links)]
        kinds = (*OF_JOINTS, "axis", "zero", OFFSET)
        wholes += [Hypothesis(*each) for each in product(kinds, log.joints)]
        yield (DELAY,)
        for joint, i in product(log.joints, range(1, len(SPEEDS))):
            yield (Hypothesis(DRY, joint, i),)
        for parts in (
            *map(components, wholes),
            [Hypothesis("gravity")],
            [Hypothesis("clock")],
            [Hypothesis(TILT, "", axis) for axis in (0, 1)],
        ):
            sizes = {one: float(np.linalg.norm(self.slope(one, -1))) for one in parts}
            most = max(sizes.values())
            if found := tuple(one for one in parts if sizes[one] > 1e-6 * most):
                yield found

    @property
    def effort_share(self) -> Array:
        """Noise of the efforts in windows, as `share` has residuals (n,)."""
        log, rng = self.windows.log, np.random.default_rng(0)
        noise = noise_of(log, log.effort) * rng.standard_normal(log.effort.shape)
        noisy = self.windows.applied(0, noise)
        return self.share(self.windows.driven(noisy[..., None])[self.kept, :, 0])

    def share(self, left: Array) -> Array:
        """Return rms residuals over what the efforts do (n,)."""
        rms = np.sqrt((left.reshape(-1, len(self.windows.scale)) ** 2).mean(axis=0))
        return np.asarray(rms * self.windows.scale / self.windows.reach)


def solved(
    slopes: Array, now: Array, sizes: Array, prior: Sequence[tuple[float, float]]
) -> tuple[Array, Array]:
    """Return the change (p,) of sizes that leaves least, and the inverse of the normal matrix."""
    means, spreads = np.array(prior).T
    flat = slopes.reshape(len(slopes), -1)
    normal, right = flat @ flat.T, -flat @ now.ravel()
    weights = spreads**-2.0
    normal[-4:, -4:] += np.diag(weights)
    right[-4:] += weights * (means - sizes[-4:])
    norm = np.sqrt(np.maximum(np.diag(normal), 1e-300))
    inverse = np.linalg.pinv(normal / np.outer(norm, norm), rcond=1e-10, hermitian=True)
    inverse = inverse / np.outer(norm, norm)
    return inverse @ right, inverse


def bounded(slopes: Array, now: Array, sizes: Array) -> tuple[Array, Array]:
    """Return what `solved` does, with a, b, c and the part of the delay within their bounds."""
    prior = list(PRIOR)
    while True:
        change, inverse = solved(slopes, now, sizes, prior)
        found = sizes[-4:] + change[-4:]
        for i, (value, (low, high)) in enumerate(zip(found.tolist(), BOUNDS)):
            if prior[i][1] != SURE and not low <= value <= high:
                prior[i] = (min(max(value, low), high), SURE)
                break
        else:
            return change, inverse


def varied(body: DynamicParameters, sizes: Mapping[Hypothesis, float]) -> DynamicParameters:
    """Return a robot whose parameters are off."""
    for one, size in sizes.items():
        unit = np.array([size if joint == one.where else 0.0 for joint in body.joints])
        along = np.eye(3)[one.axis % 3]
        match one.quantity:
            case "damping":
                body = replace(body, damping=body.damping + unit)
            case "dry friction":
                dry = body.dry.copy()
                dry[one.axis] += unit
                body = replace(body, dry=dry)
            case "armature":
                body = replace(body, armature=body.armature + unit)
            case "effort offset":
                body = replace(body, offset=body.offset + unit)
            case "clock":
                body = replace(body, clock=body.clock + size)
            case "zero":
                body = replace(body, zero=body.zero + unit)
            case "gravity":
                body = replace(body, gravity=(1.0 + size) * body.gravity)
            case "gravity direction":
                pull = np.linalg.norm(body.gravity)
                body = replace(body, gravity=body.gravity + size * pull * along)
            case "origin" | "axis":
                joints = (
                    _moved(x, one, size) if x.name == one.where else x for x in body.tree.joints
                )
                body = replace(body, tree=replace(body.tree, joints=tuple(joints)))
            case "mass" | "centre" | "inertia":
                links = (
                    _heavier(x, one, size) if x.name == one.where else x for x in body.tree.links
                )
                body = replace(body, tree=replace(body.tree, links=tuple(links)))
    return body


def _moved(joint: Joint, one: Hypothesis, size: float) -> Joint:
    along = np.eye(3)[one.axis]
    if one.quantity == "origin":
        return replace(joint, position=joint.position + size * along)
    return replace(joint, axis=axis_angle_matrix(along, np.array(size)) @ joint.axis)


def _heavier(link: Link, one: Hypothesis, size: float) -> Link:
    """Return a link with a parameter off; as of `TreeDynamics.changed`, the inertia kept."""
    if one.quantity == "mass":
        return replace(link, mass=link.mass * (1.0 + size))
    if one.quantity == "centre":
        return replace(link, centre=link.centre + size * np.eye(3)[one.axis])
    i, j = (half[one.axis] for half in np.triu_indices(3))
    inertia = link.inertia.copy()
    part = size * np.sqrt(abs(link.inertia[i, i] * link.inertia[j, j]))
    inertia[i, j] = inertia[j, i] = inertia[i, j] + part
    return replace(link, inertia=inertia)


def long_run(scores: Array) -> Array:
    """Return the covariance (p, p) of the sum of correlated scores (w, p)."""
    found = scores.T @ scores
    for lag in range(1, min(LAGS, len(scores))):
        both = scores[lag:].T @ scores[:-lag]
        found += (1.0 - lag / LAGS) * (both + both.T)
    return np.asarray(found)


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


class Choice(NamedTuple):
    """Hold what was selected: the fit, others instead of it, and the best of one hypothesis."""

    fit: Fit
    alike: Sequence[Fit]
    most: Fit


def selected(work: LogRegression, plain: Fit) -> Choice:
    """Return the fewest errors that explain the residuals: at last with whole drives among them."""
    singles = [*work.groups()]
    drives = [
        tuple(Hypothesis(each, joint) for each in OF_DRIVES) for joint in work.windows.log.joints
    ]
    for candidates in (singles, [*drives, *singles]):
        found = grown(work, plain, candidates)
        fit, count = found.fit, len(found.fit.groups)
        part = LEFT if count == 1 else LEFT_BY_TWO
        little = fit.cost <= max(part * plain.cost, LIKELY * fit.left.size)
        most = np.hypot(NOISY if count == 1 else UNKNOWN, LIKELY * work.windows.share.max())
        little &= work.share(fit.left).max() < most
        if not count or little:
            return found if count == 1 else found._replace(alike=())
    return Choice(plain, (), found.most)


def grown(work: LogRegression, plain: Fit, candidates: Sequence[Group]) -> Choice:
    """Return a fit to which hypotheses are added as long as they explain more."""
    now, others, most = plain, list[Fit](), plain
    while len(now.groups) < TOGETHER:
        tried = [work.more(now, group) for group in candidates if free(group, now)]
        refined = ranked(tried, score, SAME)[: max(REFINED, len(alike(tried, score)))]
        tried = [work.fit(each.groups, each.shift) for each in refined]
        first, *rest = alike(tried, score)
        count = max(len(first.sizes) - len(now.sizes), 1)
        enough = SIGNIFICANT**2 * first.unit * count
        if now.cost - first.cost < enough or not explains(work, now, first):
            break
        if not now.groups:
            others, most = [each for each in rest if free(each.groups[0], first)], first
        now = first
        if first.cost <= LIKELY * first.left.size:
            break
    return Choice(now, others, most)


def alike(fits: Sequence[Fit], cost: Callable[[Fit], float]) -> list[Fit]:
    """Return the best of fits and those that the noise does not distinguish from it.

    The best comes first; those that differ by less than any noise are in the order of hypotheses.
    """
    found = ranked(fits, cost, SAME)
    most = cost(found[0]) + SIGNIFICANT**2 * found[0].unit
    return [fit for fit in found if cost(fit) <= most]


def explains(work: LogRegression, now: Fit, more: Fit) -> bool:
    """Return whether a fit leaves so much less than another that schemes do not explain it."""
    explained = float(work.share(now.left - more.left).max())
    nearly_all = more.cost < NEARLY**2 * now.cost
    return explained > (NEARLY * BOUND if nearly_all else BOUND)


def free(group: Group, fit: Fit) -> bool:
    """Return whether a hypothesis is not in a fit yet."""
    taken = {one[:2] for other in fit.groups for one in other}
    return all(one[:2] not in taken for one in group)


def score(fit: Fit) -> float:
    """Return the cost of a fit, and of its parameters; infinite where no body can be like that."""
    parts = [size for one, size in zip(fit.ones, fit.sizes) if one.quantity in ("mass", "inertia")]
    possible = all(-1.0 < size < MOST_HEAVY for size in parts)
    whole = [size for one, size in zip(fit.ones, fit.sizes) if one.quantity in ("gear", "gravity")]
    possible &= all(abs(1.0 + size) > NOTHING for size in whole)  # else 0 = 0 would explain all
    return fit.cost + COST * (len(fit.ones) + fit.late) if possible else np.inf


def causes_of(fit: Fit, longer: LogRegression) -> list[LogCause]:
    """Return the components of hypotheses as they were fitted."""
    log, found = longer.windows.log, []
    again = longer.fit(fit.groups, fit.shift)
    widths = INTERVAL * fit.deviations + np.abs(again.sizes - fit.sizes)
    if fit.late:
        at = fit.shift + fit.sizes[-1]
        half = 0.5 + widths[-1]  # a scheme moves it by half a step
        value, low, high = (float(log.period * (at + part * half)) for part in (0.0, -1.0, 1.0))
        found.append(LogCause("delay", "", value, low, high, "s"))
    slides = {joint.name for joint in longer.windows.body.tree.moving if joint.kind == "prismatic"}
    ones = fit.ones
    for i, one in enumerate(ones):
        widths[i] += FLOOR / longer.share(longer.slope(one, fit.shift)).max()
    for one, size, half in zip(ones, fit.sizes.tolist(), widths.tolist()):
        most = max(abs(s) for o, s in zip(ones, fit.sizes) if o.whole == one.whole)
        if abs(size) < most and (abs(size) < SMALL * most or abs(size) < half):
            continue
        quantity, unit = one.quantity, UNITS.get(one.quantity, "1")
        if one.where in slides:
            unit = SLIDING.get(quantity, unit)
        axes = AXES.get("centre" if quantity == TILT else quantity, ())
        axis = axes[one.axis] if axes and quantity != "gravity" else ""
        found.append(LogCause(quantity, one.where, size, size - half, size + half, unit, axis))
    return found


def scheme_of(fit: Fit) -> str:
    """Return the scheme that a fit shows, "" where it does not."""
    late, slow = fit.sizes[-4:-2]
    if fit.deviations[-4:-2].max() > NEAR / INTERVAL:
        return ""
    near = {name: max(abs(late - a), abs(slow - b)) for name, (a, b) in SCHEMES.items()}
    name = min(near, key=near.__getitem__)
    return name if near[name] < NEAR else ""


def body_of(
    tree: Tree, joints: tuple[str, ...], gravity: float, damping: float = 1.0, dry: float = 1.0
) -> DynamicParameters:
    """Return what the equations know of a robot.

    Args:
        tree, joints: as of `DynamicParameters`.
        gravity: downwards [m/s^2].
        damping, dry: factors on the friction of the file.
    """
    n, inner = len(joints), {joint.name: joint for joint in tree.moving}
    sliding, zero = np.zeros((len(SPEEDS), n)), np.zeros(n)
    sliding[0] = [dry * inner[name].friction for name in joints]
    viscous = damping * np.array([inner[name].damping for name in joints])
    return DynamicParameters(
        tree, joints, np.array([0.0, 0.0, -gravity]), viscous, sliding, zero, zero, zero
    )

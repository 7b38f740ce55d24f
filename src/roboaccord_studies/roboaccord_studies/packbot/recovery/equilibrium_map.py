"""All equilibria of one loose joint over a grid of the angles of active joints, and their folds.

A loose joint has no drive. While the active joints are held, it has two equilibria under gravity:
it hangs stably at one angle, and could be balanced at the other, half a turn away. It is also in
equilibrium on a contact, or at a stop, against which gravity presses it. Within half a turn of a
stable angle the joint is in the same well of the potential energy.

Stable equilibria of neighbouring grid cells are joined if they are in the same well and close to
each other: a slow motion leads from one to the other. If an equilibrium has no such neighbour,
bisection finds the angles at which it vanishes. That is a fold if it meets the unstable equilibrium
there.

SLACK and HALVINGS may be tuned, which may change figures of docs/packbot_recovery.md. Fields of the
dataclasses are keys of the JSON output and must stay (test_equilibrium_map).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Annotated

import numpy as np
from packbot.model.parameters import JOINTS
from packbot.planning.failed_arm import FALL, FINE, GAP, FailedArm
from roboaccord.contract import AccordError, Array, Quantity
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

PLANE = ("shoulder", "elbow1", "elbow2")  # joints that move the hand in the plane
# Number of bisections for a fold, to the width of a cell over 16,000, below a milliradian.
HALVINGS = 14
# rad; an equilibrium may move by that plus three cell widths from cell to cell: 3 degrees.
SLACK = 0.05


@dataclass(frozen=True)
class Equilibrium:
    """An equilibrium of the loose joint, the active ones at `q` (7,) [rad].

    Args:
        q: angles (7,) [rad].
        kind: stable or unstable, without contact; propped on a contact, or at a stop.
        well: number of the well of the potential energy that it is in.
        stiffness: second derivative of the potential energy [N m/rad].
        part: number of the set of joined equilibria that it belongs to; -1 if it is unstable.
    """

    q: Array
    kind: str
    well: int
    stiffness: float
    part: int = -1


@dataclass(frozen=True)
class Fold:
    """The angles [rad] at which a stable and the unstable equilibrium meet, by joint."""

    angles: Annotated[dict[str, float], Quantity("rad", form=".4f")]


@dataclass(frozen=True)
class Part:
    """A set of equilibria that quasi-static paths join: their well and number, by kind."""

    well: int
    rests: int
    kinds: dict[str, int]


@dataclass(frozen=True)
class EquilibriumMap:
    """Equilibria over a grid of active angles.

    Args:
        joint: name of the loose joint.
        over: names of the active joints whose angles make the grid.
        axes: angles of each active joint [rad].
        found: equilibria of each cell; the angle of the last of `over` changes fastest.
        folds: folds between neighbouring cells.
    """

    joint: str
    over: tuple[str, ...]
    axes: tuple[Array, ...]
    found: list[list[Equilibrium]]
    folds: list[Fold]

    @property
    def parts(self) -> list[Part]:
        """The sets of equilibria that are joined, the largest first."""
        sets = dict[int, list[Equilibrium]]()  # of joined equilibria, by their number
        for equilibrium in (e for cell in self.found for e in cell if e.part >= 0):
            sets.setdefault(equilibrium.part, []).append(equilibrium)
        in_order = sorted((sets[part] for part in sorted(sets)), key=len, reverse=True)
        return [Part(s[0].well, len(s), dict(Counter(e.kind for e in s))) for s in in_order]


def equilibria_at(arm: FailedArm, q: Array) -> list[Equilibrium]:
    """Return the equilibria of the loose joint, with the others at the angles q (7,) [rad].

    Contact is checked in steps of 0.02 rad, so that smaller obstacles and gaps may be missed.
    """
    (joint,) = arm.loose.tolist()
    past, size = arm.swing(q, joint)
    # Stable angle of well 0, chosen so that it changes continuously with the other joints.
    pitch = float(q[1:joint].sum())
    turn = np.angle(np.exp(1j * (-0.5 * np.pi - pitch - (q[joint] - past))))
    zero = -0.5 * np.pi - pitch - float(turn)

    def at(angle: float) -> Array:
        pose = q.copy()
        pose[joint] = angle
        return pose

    def make(angle: float, kind: str) -> Equilibrium:
        well = round((angle - zero) / (2.0 * np.pi))
        return Equilibrium(at(angle), kind, well, size * float(np.cos(angle - zero)))

    def clear(angle: float) -> bool:
        return not arm.clearance.touches(at(angle), GAP)

    # Equilibria without contact: stable and unstable ones alternate, half a turn apart.
    low, high = float(arm.lower[joint]), float(arm.upper[joint])
    zeros = (zero + np.pi * np.arange(-4, 5)).tolist()
    kinds = ["unstable" if i % 2 else "stable" for i in range(len(zeros))]
    without_contact = [
        make(angle, kind)
        for angle, kind in zip(zeros, kinds, strict=True)
        if low < angle < high and clear(angle)
    ]
    # On contacts and at stops: only those against which gravity presses the joint.
    ends = _free_ends(clear, low, high)
    pressed = [make(end, kind) for end, side, kind in ends if side * np.sin(end - zero) < 0.0]
    return sorted([*without_contact, *pressed], key=lambda e: float(e.q[joint]))


def _free_ends(
    clear: Callable[[float], bool], low: float, high: float
) -> list[tuple[float, int, str]]:
    """Return the ends of the intervals of angles without contact, between the limits [rad].

    Each with its side, 1 for an upper end and -1 for a lower one, and `stop` or `propped`: whether
    a limit or a contact ends the interval.
    """
    angles = np.linspace(low, high, int((high - low) / FALL) + 2).tolist()
    free = [clear(angle) for angle in angles]
    ends = [(low, -1, "stop")] if free[0] else []
    ends += [(high, 1, "stop")] if free[-1] else []
    for (a, b), (free_a, free_b) in zip(pairwise(angles), pairwise(free), strict=True):
        if free_a and not free_b:
            ends.append((_boundary(clear, a, b), 1, "propped"))
        elif free_b and not free_a:
            ends.append((_boundary(clear, b, a), -1, "propped"))
    return ends


def _boundary(clear: Callable[[float], bool], free: float, not_free: float) -> float:
    """Return the last free angle [rad] between a free angle and one that is not, by bisection."""
    while abs(not_free - free) > FINE:
        middle = 0.5 * (free + not_free)
        free, not_free = (middle, not_free) if clear(middle) else (free, middle)
    return free


def map_equilibria(
    arm: FailedArm, q: Array, over: Sequence[str], cells: int,
    done: Callable[[int], object] = lambda n: None,
) -> EquilibriumMap:  # fmt: skip
    """Return the equilibria over the angles of one or two active joints, within their limits.

    Args:
        arm: with its failures: shoulder, elbow 1 or elbow 2 is loose.
        q: angles (7,) [rad] of all other joints.
        over: names of the active joints.
        cells: number of angles of each.
        done: called after each cell.

    Raises:
        AccordError: with other failures, or other joints.
    """
    names = [JOINTS[i] for i in arm.loose]
    if len(names) != 1 or names[0] not in PLANE or len(arm.frozen):
        raise AccordError(f"a map takes one loose joint, no frozen one: {', '.join(PLANE)}")
    if not 0 < len(over) < 3 or len({*over}) < len(over) or not {*over} <= {*PLANE} - {*names}:
        raise AccordError(f"--over takes one or two of {', '.join({*PLANE} - {*names})}")
    joints = [JOINTS.index(name) for name in over]
    axes = tuple(np.linspace(arm.lower[i], arm.upper[i], cells) for i in joints)
    by_cell, poses = list[list[Equilibrium]](), list[Array]()
    for angles in product(*axes):
        pose = q.copy()
        pose[joints] = angles
        poses.append(pose)
        by_cell.append(equilibria_at(arm, pose))
        done(1)
    shape = tuple(len(axis) for axis in axes)
    slack = SLACK + 3.0 * max(float(axis[1] - axis[0]) for axis in axes)
    return EquilibriumMap(names[0], tuple(over), axes, *_joined(arm, by_cell, poses, shape, slack))


def _joined(
    arm: FailedArm, by_cell: list[list[Equilibrium]], poses: list[Array], shape: tuple[int, ...],
    slack: float,
) -> tuple[list[list[Equilibrium]], list[Fold]]:  # fmt: skip
    """Return equilibria with their parts, and the folds between cells next to each other.

    Equilibria of adjacent cells are joined if they are in the same well and close. Where one
    is joined to none, and is close to half a turn from its stable zero, there is a fold.
    """
    (joint,) = arm.loose.tolist()

    def are_joined(a: Equilibrium, b: Equilibrium) -> bool:
        is_close = abs(a.q[joint] - b.q[joint]) < slack
        return "unstable" not in (a.kind, b.kind) and a.well == b.well and is_close

    index = np.arange(len(by_cell)).reshape(shape)
    stable = [e for cell in by_cell for e in cell if e.kind != "unstable"]
    numbers = {id(e): number for number, e in enumerate(stable)}
    links, folds = list[tuple[int, int]](), list[Fold]()
    for axis in range(len(shape)):
        ahead = np.moveaxis(index, axis, 0)
        for i, j in zip(ahead[:-1].ravel().tolist(), ahead[1:].ravel().tolist(), strict=True):
            pairs = [(a, b) for a, b in product(by_cell[i], by_cell[j]) if are_joined(a, b)]
            links += [(numbers[id(a)], numbers[id(b)]) for a, b in pairs]
            linked = {id(e) for pair in pairs for e in pair}
            for cell, neighbour in ((i, j), (j, i)):
                lost = [e for e in by_cell[cell] if id(e) not in linked]
                candidates = [_fold(arm, e, poses[neighbour]) for e in lost]
                folds += [fold for fold in candidates if fold]
    ends = np.array(links, dtype=int).reshape(-1, 2).T
    graph = coo_array((np.ones(len(links)), tuple(ends)), (len(stable), len(stable)))
    labels = connected_components(graph, directed=False)[1].tolist()
    parts = {id(e): label for e, label in zip(stable, labels, strict=True)}
    with_parts = [[replace(e, part=parts.get(id(e), -1)) for e in cell] for cell in by_cell]
    return with_parts, folds


def _fold(arm: FailedArm, last: Equilibrium, beyond: Array) -> Fold | None:
    """Return where an equilibrium vanishes before the next cell, by bisection; None if at no fold.

    Args:
        arm: the arm with its failures.
        last: equilibrium without a neighbour.
        beyond: angles (7,) [rad] of the next cell.
    """
    if last.kind == "unstable":
        return None
    (joint,) = arm.loose.tolist()
    with_it, without = last.q.copy(), beyond.copy()  # angles with and without the equilibrium
    without[joint] = with_it[joint]
    for _ in range(HALVINGS):
        middle = 0.5 * (with_it + without)
        of_kind = [
            e.q for e in equilibria_at(arm, middle) if (e.well, e.kind) == (last.well, last.kind)
        ]
        same = [q for q in of_kind if abs(q[joint] - with_it[joint]) < SLACK]
        if same:
            with_it = same[0]
        else:
            without = middle
    past, _ = arm.swing(with_it, joint)
    if np.pi - abs(past) > SLACK:
        return None
    return Fold({name: float(with_it[JOINTS.index(name)]) for name in PLANE})

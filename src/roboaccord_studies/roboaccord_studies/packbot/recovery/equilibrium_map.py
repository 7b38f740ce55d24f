"""All equilibria of one loose joint over a grid of the angles of active joints, and their folds.

`map_equilibria` computes the maps of `accord packbot equilibria --over` (equilibria.py). A loose
joint has no drive. While the active joints are held, it has two equilibria under gravity: it hangs
stably at one angle, and could be balanced at the other, half a turn away. It is also in equilibrium
on a contact, or at a stop, against which gravity presses it. Within half a turn of a stable angle
the joint is in the same well of the potential energy.

Stable equilibria of neighbouring grid cells are joined if they are in the same well and close to
each other: a slow motion leads from one to the other. If an equilibrium has no such neighbour,
bisection finds the angles at which it vanishes. That is a fold if it meets the unstable equilibrium
there.

SLACK and HALVINGS may be tuned, which may change figures of docs/packbot_recovery.md. Fields of the
dataclasses are keys of the JSON output and must stay (test_equilibrium_map).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise, product
from typing import Annotated, NamedTuple

import numpy as np
from packbot.model.parameters import JOINTS
from packbot.planning.failed_arm import CONTACT_ANGLE_ACCURACY, CONTACT_GAP, FALL_STEP, FailedArm
from roboaccord.contract import AccordError, Array, Index, Quantity
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

PLANE = ("shoulder", "elbow1", "elbow2")  # joints that move the hand in the plane
# Number of bisections for a fold, to the width of a cell over 16,000, below a milliradian.
HALVINGS = 14
# rad; an equilibrium may move by that plus three cell widths from cell to cell: 3 degrees. Within
# it two equilibria count as one, in a bisection and at a fold.
SLACK = 0.05

Done = Callable[[int], object]  # called with the number of finished cells


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


Cells = list[list[Equilibrium]]  # equilibria of each cell of a grid


@dataclass(frozen=True)
class Fold:
    """The angles [rad] at which a stable and the unstable equilibrium meet, by joint."""

    angles: Annotated[dict[str, float], Quantity("rad", form=".4f")]


@dataclass(frozen=True)
class Part:
    """A set of equilibria that quasi-static paths join.

    Args:
        well: number of their well of the potential energy.
        rests: number of equilibria in the set.
        kinds: number of equilibria by kind.
    """

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
        by_cell: equilibria of each cell; the angle of the last of `over` changes fastest.
        folds: folds between neighbouring cells.
    """

    joint: str
    over: tuple[str, ...]
    axes: tuple[Array, ...]
    by_cell: Cells
    folds: list[Fold]

    @property
    def parts(self) -> list[Part]:
        """The sets of equilibria that are joined, the largest first; of equal ones by number."""
        sets = defaultdict[int, list[Equilibrium]](list)  # of joined equilibria, by their number
        for equilibrium in chain(*self.by_cell):
            if equilibrium.part >= 0:
                sets[equilibrium.part].append(equilibrium)
        in_order = sorted(sets.items(), key=lambda item: (-len(item[1]), item[0]))
        return [Part(s[0].well, len(s), dict(Counter(e.kind for e in s))) for _, s in in_order]


class LooseJoint(NamedTuple):
    """The loose joint of an arm whose other joints are held.

    Args:
        arm: the arm with its failures.
        joint: index of the loose joint.
        q: angles (7,) [rad]; that of the loose joint has no effect.
        hanging: angle of the stable equilibrium in well 0 [rad].
        stiffness: second derivative of the potential energy there [N m/rad].
    """

    arm: FailedArm
    joint: int
    q: Array
    hanging: float
    stiffness: float

    @classmethod
    def of(cls, arm: FailedArm, q: Array) -> LooseJoint:
        """Return the loose joint of an arm, with the others at the angles q (7,) [rad]."""
        (joint,) = arm.loose.tolist()
        past_stable, stiffness = arm.pendulum(q, joint)
        # Of all stable angles, a full turn apart, the one that changes continuously with `pitch`.
        pitch = float(q[1:joint].sum())
        turn = np.angle(np.exp(1j * (-0.5 * np.pi - pitch - (q[joint] - past_stable))))
        return cls(arm, joint, q, -0.5 * np.pi - pitch - float(turn), stiffness)

    def pose_at(self, angle: float) -> Array:
        """Return the angles (7,) of all joints with the loose one at an angle [rad]."""
        pose = self.q.copy()
        pose[self.joint] = angle
        return pose

    def is_clear(self, angle: float) -> bool:
        """Return whether nothing touches with the loose joint at an angle [rad]."""
        return not self.arm.clearance.touches(self.pose_at(angle), CONTACT_GAP)

    def equilibrium(self, angle: float, kind: str) -> Equilibrium:
        """Return the equilibrium of a kind at an angle [rad]."""
        well = round((angle - self.hanging) / (2.0 * np.pi))
        stiffness = self.stiffness * float(np.cos(angle - self.hanging))
        return Equilibrium(self.pose_at(angle), kind, well, stiffness)


def equilibria_at(arm: FailedArm, q: Array) -> list[Equilibrium]:
    """Return the equilibria of the loose joint, with the others at the angles q (7,) [rad].

    Contact is checked in steps of 0.02 rad, so that smaller obstacles and gaps may be missed.
    """
    loose = LooseJoint.of(arm, q)
    low, high = float(arm.lower[loose.joint]), float(arm.upper[loose.joint])
    # Equilibria without contact: stable and unstable ones alternate, half a turn apart.
    equilibria = []
    for half_turns in range(-4, 5):
        angle = float(loose.hanging + np.pi * half_turns)
        if low < angle < high and loose.is_clear(angle):
            equilibria.append(loose.equilibrium(angle, "unstable" if half_turns % 2 else "stable"))
    # On contacts and at stops: only those against which gravity presses the joint.
    ends = _free_ends(loose, low, high)
    pressed = [end for end in ends if end.side * np.sin(end.angle - loose.hanging) < 0.0]
    equilibria += [loose.equilibrium(end.angle, end.kind) for end in pressed]
    return sorted(equilibria, key=lambda equilibrium: float(equilibrium.q[loose.joint]))


class FreeEnd(NamedTuple):
    """An end of an interval of angles without contact.

    Args:
        angle: at which the interval ends [rad].
        side: 1 for the upper end of the interval, -1 for the lower one.
        kind: `stop` if a limit of the joint ends it, `propped` if a contact does.
    """

    angle: float
    side: int
    kind: str


def _free_ends(loose: LooseJoint, low: float, high: float) -> list[FreeEnd]:
    """Return the ends of the intervals of angles without contact, between two limits [rad]."""
    angles = np.linspace(low, high, int((high - low) / FALL_STEP) + 2).tolist()
    free = [loose.is_clear(angle) for angle in angles]
    ends = [FreeEnd(low, -1, "stop")] if free[0] else []
    ends += [FreeEnd(high, 1, "stop")] if free[-1] else []
    for (a, b), (free_a, free_b) in zip(pairwise(angles), pairwise(free), strict=True):
        if free_a and not free_b:
            ends.append(FreeEnd(_last_free(loose, a, b), 1, "propped"))
        elif free_b and not free_a:
            ends.append(FreeEnd(_last_free(loose, b, a), -1, "propped"))
    return ends


def _last_free(loose: LooseJoint, free: float, blocked: float) -> float:
    """Return the last free angle [rad] before a contact, by bisection to CONTACT_ANGLE_ACCURACY.

    Args:
        loose: the loose joint.
        free, blocked: an angle without contact, and one with it [rad].
    """
    while abs(blocked - free) > CONTACT_ANGLE_ACCURACY:
        middle = 0.5 * (free + blocked)
        if loose.is_clear(middle):
            free = middle
        else:
            blocked = middle
    return free


def map_equilibria(
    arm: FailedArm, q: Array, over: Sequence[str], cells: int, done: Done = lambda count: None
) -> EquilibriumMap:
    """Return the equilibria over the angles of one or two active joints, within their limits.

    Args:
        arm: with its failures: shoulder, elbow 1 or elbow 2 is loose.
        q: angles (7,) [rad] of all other joints.
        over: names of the active joints.
        cells: number of angles of each.
        done: called after each cell with 1, the number of cells.

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
    grid = np.arange(len(by_cell)).reshape([len(axis) for axis in axes])
    leap = SLACK + 3.0 * max(float(axis[1] - axis[0]) for axis in axes)
    joined, folds = _joined(arm, by_cell, poses, _neighbours(grid), leap)
    return EquilibriumMap(names[0], tuple(over), axes, joined, folds)


def _neighbours(grid: Index) -> list[tuple[int, int]]:
    """Return the pairs of numbers that are next to each other in a grid, along any of its axes."""
    pairs = []
    for axis in range(grid.ndim):
        along = np.moveaxis(grid, axis, 0)
        pairs += list(zip(along[:-1].ravel().tolist(), along[1:].ravel().tolist(), strict=True))
    return pairs


def _joined(
    arm: FailedArm, by_cell: Cells, poses: list[Array], pairs: list[tuple[int, int]], leap: float
) -> tuple[Cells, list[Fold]]:
    """Return equilibria with the numbers of their parts, and the folds between cells.

    Args:
        arm: the arm with its failures.
        by_cell: equilibria of each cell.
        poses: angles (7,) [rad] of each cell.
        pairs: indices of adjacent cells.
        leap: largest distance of joined equilibria of adjacent cells [rad].
    """
    (joint,) = arm.loose.tolist()
    stable = [e for cell in by_cell for e in cell if e.kind != "unstable"]
    # Equilibria are known by their identity: those of neighbouring cells may be equal.
    numbers = {id(equilibrium): number for number, equilibrium in enumerate(stable)}
    links, folds = list[tuple[int, int]](), list[Fold]()  # pairs of numbers of joined equilibria
    for first, second in pairs:
        linked = set[int]()  # numbers of the equilibria of either cell that are joined
        for a, b in product(by_cell[first], by_cell[second]):
            is_close = a.well == b.well and abs(a.q[joint] - b.q[joint]) < leap
            if is_close and "unstable" not in (a.kind, b.kind):
                links.append((numbers[id(a)], numbers[id(b)]))
                linked.update(links[-1])
        for cell, neighbour in ((first, second), (second, first)):
            for equilibrium in by_cell[cell]:
                if numbers.get(id(equilibrium)) not in linked:
                    folds += _fold(arm, equilibrium, poses[neighbour])
    ends = np.array(links, dtype=int).reshape(-1, 2).T
    graph = coo_array((np.ones(len(links)), tuple(ends)), (len(stable), len(stable)))
    parts = connected_components(graph, directed=False)[1].tolist()
    part_of = {id(equilibrium): part for equilibrium, part in zip(stable, parts, strict=True)}
    return [[replace(e, part=part_of.get(id(e), -1)) for e in cell] for cell in by_cell], folds


def _fold(arm: FailedArm, last: Equilibrium, beyond: Array) -> list[Fold]:
    """Return the fold at which an equilibrium vanishes before the next cell, found by bisection.

    The list is empty if the equilibrium is unstable, or does not vanish in a fold.

    Args:
        arm: the arm with its failures.
        last: equilibrium without a neighbour.
        beyond: angles (7,) [rad] of the next cell.
    """
    if last.kind == "unstable":
        return []
    (joint,) = arm.loose.tolist()
    with_it, without = last.q.copy(), beyond.copy()  # angles with and without the equilibrium
    without[joint] = with_it[joint]
    for _ in range(HALVINGS):
        middle = 0.5 * (with_it + without)
        candidates = [e for e in equilibria_at(arm, middle) if e.well == last.well]
        same = [e.q for e in candidates if e.kind == last.kind]
        near = [q for q in same if abs(q[joint] - with_it[joint]) < SLACK]
        if near:
            with_it = near[0]
        else:
            without = middle
    # At a fold the stable equilibrium meets the unstable one, half a turn past the stable angle.
    past_stable, _ = arm.pendulum(with_it, joint)
    if np.pi - abs(past_stable) > SLACK:
        return []
    return [Fold({name: float(with_it[JOINTS.index(name)]) for name in PLANE})]

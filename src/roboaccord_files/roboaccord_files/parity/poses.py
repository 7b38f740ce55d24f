"""Propose where a body of one robot may lie in the frame of the body that is matched with it.

The two files may put the frame of a body anywhere. Candidates are: the same frame; both bodies
standing alike at rest; and poses that bring marks of the first body onto those of the other. Marks
are axes of joints, centres of mass and feet of perpendiculars: a point and two directions fix a
pose. placing.py chooses the best candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TypeAlias

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.numerics.rotations import rotation_vector, turn_between

from roboaccord_files.parity.frames import HERE, Frame
from roboaccord_files.parity.rigid_bodies import Line, RigidBody

Both: TypeAlias = tuple[Array, Array]
"""A point, or a direction, of one body and of the other (3,), each in its own frame."""
# Of the robot's size, or of 1; a shorter vector has no direction, for texts have six digits.
# Rounding then turns a direction by 1e-3 rad at most.
SHORT = 1e-3
# Cosine of 177.4 degrees; beyond it an axis is reversed, and not tilted. Axes of files are rounded
# to six digits, so any from 90.1 to 179.9 degrees would do.
REVERSED = -0.999
# Points whose differences are directions; their six pairs bound the search. Five would be ten.
JOINED = 4


@dataclass(frozen=True)
class JointMotion:
    """How a joint of the other robot lies in the frames of the first.

    Args:
        offset: of its origin, in the frame of the body that carries it (3,) [m].
        along: its axis at rest, in its own frame (3,).
        tilt: that takes its axis there (3, 3); none where it is reversed.
        tilted: whether that tilts the body, too; the axis alone otherwise.
        zero: rotation vector of its body at rest, without the tilt (3,) [rad].
    """

    offset: Array
    along: Array
    tilt: Array
    tilted: bool
    zero: Array


@dataclass(frozen=True)
class Match:
    """A body of each robot, and the pose of the first's frame in that of the other.

    Args:
        one, other: the bodies.
        above: the match of those that carry them; None for roots.
        pose: of the first's frame in the other's.
    """

    one: RigidBody
    other: RigidBody
    above: Match | None
    pose: Frame = HERE

    def motion(self) -> JointMotion:
        """Return how the joint of the other lies in the frames of the first."""
        assert self.above
        one, frame = self.one, self.above.pose.inverse.then(self.other.pose).then(self.pose)
        turn = one.pose.turn.T @ frame.turn
        along = turn @ self.pose.turn.T @ self.other.axis
        tilt = turn_between(one.axis, along) if one.axis @ along > REVERSED else np.eye(3)
        zeros = rotation_vector(turn), rotation_vector(tilt.T @ turn)
        tilted = bool(np.linalg.norm(zeros[1]) < np.linalg.norm(zeros[0]))
        return JointMotion(frame.place - one.pose.place, along, tilt, tilted, zeros[tilted])

    def through_axis(self, pose: Frame) -> Frame:
        """Return the pose with the first's origin on the axis of the other's joint, if it turns."""
        axis = self.other.axis
        fixed = not self.above or self.other.slides
        return pose if fixed else Frame(axis * (axis @ pose.place), pose.turn)

    def at_rest(self) -> Frame:
        """Return the pose in which both bodies stand alike at rest."""
        assert self.above
        return self.above.pose.inverse.then(self.other.pose).inverse.then(self.one.pose)

    def turned(self) -> Array | None:
        """Return the rotation (3, 3) at rest, tilted so that the axes of both joints are one."""
        if not self.above:
            return None
        turn = self.at_rest().turn
        along = turn @ self.one.axis
        straight = along @ self.other.axis > REVERSED
        return turn_between(along, self.other.axis) @ turn if straight else None


def plain_poses(match: Match) -> Iterator[Frame]:
    """Yield the plain poses: both frames are one, or both bodies stand alike at rest."""
    yield HERE
    if match.above:
        rest = match.at_rest()
        yield match.through_axis(rest)
        if (turned := match.turned()) is not None:
            yield match.through_axis(Frame(rest.place, turned))


def marked_poses(
    match: Match,
    carried: Iterable[Sequence[tuple[RigidBody, RigidBody]]],
    centres: Sequence[Both],
    size: float,
) -> Iterator[Frame]:
    """Yield the poses that bring marks of a body onto those of the other.

    Args:
        match: of the bodies.
        carried: ways to pair the bodies that they carry.
        centres: of masses.
        size: of the robot [m].
    """
    turned = match.turned()
    turns = [] if turned is None else [turned]
    for pairs in carried:
        points, arrows = _marks(match, pairs, centres, size)
        for (u, v), (w, x) in combinations(arrows, 2):
            first, second = triad(u, w), triad(v, x)
            if first is not None and second is not None:
                turns.append(second @ first.T)
        for turn, (p, q) in product(turns, points):
            yield match.through_axis(Frame(q - turn @ p, turn))


def _marks(
    match: Match, pairs: Sequence[tuple[RigidBody, RigidBody]], centres: Sequence[Both], size: float
) -> tuple[list[Both], list[Both]]:
    """Return the points and directions that both bodies have, in pairs."""
    one, other = match.one, match.other
    lines = [(a.line, b.line) for a, b in pairs]
    if one.joint:
        lines.insert(0, ((np.zeros(3), one.axis), (np.zeros(3), other.axis)))
    points, arrows = [*centres], [(a[1], b[1]) for a, b in lines]
    for (a, b), (c, d) in combinations(lines, 2):
        points += [(foot(a, *c), foot(b, *d)), (foot(c, *a), foot(d, *b))]
    for (p, q), (a, b) in product(centres, lines):
        arrows.append((foot(a, p, a[1]) - p, foot(b, q, b[1]) - q))
    arrows += [(p[0] - q[0], p[1] - q[1]) for p, q in combinations(points[:JOINED], 2)]
    return points, [a for a in arrows if min(map(np.linalg.norm, a)) > SHORT * size]


def foot(line: Line, other: Array, along: Array) -> Array:
    """Return the point of a line that is nearest to another line, or to the point of a parallel."""
    point, axis = line
    cosine, away = float(axis @ along), other - point
    sine = 1.0 - cosine * cosine
    share = axis @ away if sine < SHORT**2 else (axis @ away - cosine * (along @ away)) / sine
    return np.asarray(point + axis * share)


def triad(one: Array, other: Array) -> Array | None:
    """Return axes (3, 3) in columns, the first along a vector, the second towards another."""
    normal = np.cross(one, other)
    if np.linalg.norm(normal) < SHORT * np.linalg.norm(one) * np.linalg.norm(other):
        return None
    axes = one, np.cross(normal, one), normal
    return np.column_stack([axis / np.linalg.norm(axis) for axis in axes])

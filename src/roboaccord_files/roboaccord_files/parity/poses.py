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
from typing import NamedTuple, TypeAlias

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.numerics.rotations import rotation_vector, turn_between

from roboaccord_files.parity.frames import HERE, Frame
from roboaccord_files.parity.rigid_bodies import Line, RigidBody

# Of the robot's size, or of 1; a shorter vector has no direction, for texts have six digits.
# Rounding then turns a direction by 1e-3 rad at most.
SHORT = 1e-3
# Cosine of 177.4 degrees; beyond it an axis is reversed, and not tilted. Axes of files are rounded
# to six digits, so any from 90.1 to 179.9 degrees would do.
REVERSED = -0.999
# Points whose differences are directions; their six pairs bound the search. Five would be ten.
JOINED = 4


BodyPairs: TypeAlias = Sequence[tuple[RigidBody, RigidBody]]
"""Bodies of the first robot, each with its counterpart in the other."""


class VectorPair(NamedTuple):
    """A point, or a direction, of one body and of the other (3,), each in its own frame."""

    one: Array
    other: Array


@dataclass(frozen=True)
class JointPose:
    """How a joint of the other robot lies in the frames of the first.

    Args:
        offset: of its origin from that of the first's joint, in the frame of the body that carries
            it (3,) [m].
        axis: the axis of the other's joint at rest, in the frame of the first's joint (3,).
        tilt: smallest rotation from the first's axis to it (3, 3); none if it is reversed.
        is_tilted: whether the body is tilted with the axis; if not, the axis alone differs.
        zero: rotation vector of the body at rest, without the tilt (3,) [rad].
    """

    offset: Array
    axis: Array
    tilt: Array
    is_tilted: bool
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

    def joint_pose(self) -> JointPose:
        """Return how the joint of the other lies in the frames of the first."""
        assert self.above
        pose = self.one.pose
        other_pose = self.above.pose.inverse.then(self.other.pose).then(self.pose)
        turn = pose.turn.T @ other_pose.turn
        axis = turn @ self.pose.turn.T @ self.other.axis
        is_reversed = self.one.axis @ axis <= REVERSED
        tilt = np.eye(3) if is_reversed else turn_between(self.one.axis, axis)
        whole, rest = rotation_vector(turn), rotation_vector(tilt.T @ turn)
        is_tilted = bool(np.linalg.norm(rest) < np.linalg.norm(whole))
        offset = other_pose.position - pose.position
        return JointPose(offset, axis, tilt, is_tilted, rest if is_tilted else whole)

    def through_axis(self, pose: Frame) -> Frame:
        """Return the pose with the first's origin on the axis of the other's joint, if it turns."""
        axis = self.other.axis
        if not self.above or self.other.slides:
            return pose
        return Frame(axis * (axis @ pose.position), pose.turn)

    def at_rest(self) -> Frame:
        """Return the pose in which both bodies stand alike at rest."""
        assert self.above
        return self.above.pose.inverse.then(self.other.pose).inverse.then(self.one.pose)

    def tilted_at_rest(self) -> Array | None:
        """Return the rotation (3, 3) at rest, tilted so that the axes of both joints are one.

        None for roots, and where the axes are opposite.
        """
        if not self.above:
            return None
        turn = self.at_rest().turn
        axis = turn @ self.one.axis
        if axis @ self.other.axis <= REVERSED:
            return None
        return turn_between(axis, self.other.axis) @ turn


def plain_poses(match: Match) -> Iterator[Frame]:
    """Yield the plain poses: both frames are one, or both bodies stand alike at rest."""
    yield HERE
    if match.above:
        rest, turn = match.at_rest(), match.tilted_at_rest()
        yield match.through_axis(rest)
        if turn is not None:
            yield match.through_axis(Frame(rest.position, turn))


def marked_poses(
    match: Match, pairings: Iterable[BodyPairs], centres: Sequence[VectorPair], size: float
) -> Iterator[Frame]:
    """Yield the poses that bring marks of a body onto those of the other.

    Args:
        match: of the bodies.
        pairings: ways to pair the bodies that they carry.
        centres: of masses.
        size: of the robot [m].
    """
    at_rest = match.tilted_at_rest()
    turns = [] if at_rest is None else [at_rest]
    for pairs in pairings:
        points, directions = _marks(match, pairs, centres, size)
        for first, second in combinations(directions, 2):
            axes, other_axes = triad(first.one, second.one), triad(first.other, second.other)
            if axes is not None and other_axes is not None:
                turns.append(other_axes @ axes.T)
        for turn, point in product(turns, points):
            yield match.through_axis(Frame(point.other - turn @ point.one, turn))


def _marks(
    match: Match, pairs: BodyPairs, centres: Sequence[VectorPair], size: float
) -> tuple[list[VectorPair], list[VectorPair]]:
    """Return the points and the directions that both bodies have.

    Points are the centres of mass, and where two axes are nearest to each other. Directions are
    axes, perpendiculars from centres to axes, and those from a point to another.
    """
    axes = [(one.line, other.line) for one, other in pairs]
    if match.one.joint:
        axes.insert(0, (Line(np.zeros(3), match.one.axis), Line(np.zeros(3), match.other.axis)))
    points, directions = [*centres], [VectorPair(a.direction, b.direction) for a, b in axes]
    for (first, other_first), (second, other_second) in combinations(axes, 2):
        points.append(VectorPair(foot(first, second), foot(other_first, other_second)))
        points.append(VectorPair(foot(second, first), foot(other_second, other_first)))
    for centre, (axis, other_axis) in product(centres, axes):
        near = foot(axis, Line(centre.one, axis.direction))
        other_near = foot(other_axis, Line(centre.other, other_axis.direction))
        directions.append(VectorPair(near - centre.one, other_near - centre.other))
    for end, start in combinations(points[:JOINED], 2):
        directions.append(VectorPair(end.one - start.one, end.other - start.other))
    return points, [pair for pair in directions if min(map(np.linalg.norm, pair)) > SHORT * size]


def foot(line: Line, other: Line) -> Array:
    """Return the point of a line (3,) that is nearest to another line.

    If they are parallel, it is the point that is nearest to the other line's point.
    """
    cosine, away = float(line.direction @ other.direction), other.point - line.point
    sine_squared = 1.0 - cosine * cosine
    along = line.direction @ away
    if sine_squared >= SHORT**2:
        along = (along - cosine * (other.direction @ away)) / sine_squared
    return np.asarray(line.point + line.direction * along)


def triad(one: Array, other: Array) -> Array | None:
    """Return axes (3, 3) in columns, the first along a vector, the second towards another.

    None if the two vectors are parallel, but for rounding.
    """
    normal = np.cross(one, other)
    if np.linalg.norm(normal) < SHORT * np.linalg.norm(one) * np.linalg.norm(other):
        return None
    axes = one, np.cross(normal, one), normal
    return np.column_stack([axis / np.linalg.norm(axis) for axis in axes])

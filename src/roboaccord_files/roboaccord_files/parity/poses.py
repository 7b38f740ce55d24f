"""Propose poses of a body of one robot in the frame of the body that it is matched with.

The two files may put the frame of a body anywhere, so the pose between both frames is unknown.
Candidates are: the same frame; the pose in which both bodies have the same pose at rest (q = 0);
and poses that bring marks of the first body onto those of the other. Marks are axes of joints,
centres of mass and feet of perpendiculars: a point and two directions determine a pose. placing.py
tries the candidates and chooses the best one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.numerics.rotations import rotation_vector, turn_between

from roboaccord_files.parity.frames import IDENTITY, Frame
from roboaccord_files.parity.rigid_bodies import Line, RigidBody

# Relative to the robot's size, or to 1; a shorter vector has no reliable direction. The rounding of
# numbers to six digits turns the direction of a vector of this length by 1e-3 rad at most.
MIN_LENGTH = 1e-3
# Cosine of 177.4 degrees; an axis beyond this angle is reversed, and not tilted. Axes of files are
# rounded to six digits, so any angle from 90.1 to 179.9 degrees would do.
REVERSED_COSINE = -0.999
# Number of points of which the differences in pairs are directions; four have six pairs, five would
# have ten. It bounds the search.
MAX_JOINED_POINTS = 4

# Bodies of the first robot, each with its counterpart in the other.
BodyPairs: TypeAlias = Sequence[tuple[RigidBody, RigidBody]]


class VectorPair(NamedTuple):
    """A point, or a direction, of one body and of the other (3,), each in its own frame."""

    one: Array
    other: Array


@dataclass(frozen=True)
class JointPose:
    """Pose of a joint of the other robot in the frames of the first robot.

    Args:
        offset: vector from the origin of the first robot's joint to that of the other's, in the
            frame of the body that carries it (3,) [m].
        axis: axis of the other's joint at rest, in the frame of the first's joint (3,).
        tilt: smallest rotation from the first's axis to it (3, 3); the identity if it is reversed.
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
        above: match of the bodies that carry them; None for roots.
        pose: pose of the first body's frame in that of the other.
    """

    one: RigidBody
    other: RigidBody
    above: Match | None
    pose: Frame = IDENTITY

    def joint_pose(self) -> JointPose:
        """Return the pose of the other body's joint in the frames of the first robot."""
        assert self.above
        pose = self.one.pose
        other_pose = self.above.pose.inverse.then(self.other.pose).then(self.pose)
        # Rotation at rest of the other's body from the first's, then the other's axis.
        turn = pose.rotation.T @ other_pose.rotation
        axis = turn @ self.pose.rotation.T @ self.other.axis
        is_reversed = self.one.axis @ axis <= REVERSED_COSINE
        tilt = np.eye(3) if is_reversed else turn_between(self.one.axis, axis)
        rotation, without_tilt = rotation_vector(turn), rotation_vector(tilt.T @ turn)
        # Of the two explanations, tilted or not, the smaller rotation is taken.
        is_tilted = bool(np.linalg.norm(without_tilt) < np.linalg.norm(rotation))
        offset = other_pose.position - pose.position
        zero = without_tilt if is_tilted else rotation
        return JointPose(offset, axis, tilt, is_tilted, zero)

    def through_axis(self, pose: Frame) -> Frame:
        """Return a pose, shifted so that the first's origin is on the axis of the other's hinge."""
        axis = self.other.axis
        if not self.above or self.other.slides:
            return pose
        return Frame(axis * (axis @ pose.position), pose.rotation)

    def at_rest(self) -> Frame:
        """Return the pose in which both bodies have the same pose at rest."""
        assert self.above
        return self.above.pose.inverse.then(self.other.pose).inverse.then(self.one.pose)

    def tilted_at_rest(self) -> Array | None:
        """Return the rotation (3, 3) at rest, tilted so that the axes of both joints coincide.

        None for roots, and where the axes are opposite.
        """
        if not self.above:
            return None
        turn = self.at_rest().rotation
        axis = turn @ self.one.axis
        if axis @ self.other.axis <= REVERSED_COSINE:
            return None
        return turn_between(axis, self.other.axis) @ turn


def plain_poses(match: Match) -> Iterator[Frame]:
    """Yield the poses of the files: both frames coincide, or both bodies coincide at rest."""
    yield IDENTITY
    if match.above:
        at_rest, rotation = match.at_rest(), match.tilted_at_rest()
        yield match.through_axis(at_rest)
        if rotation is not None:
            yield match.through_axis(Frame(at_rest.position, rotation))


def marked_poses(
    match: Match, pairings: Iterable[BodyPairs], centres: Sequence[VectorPair], size: float
) -> Iterator[Frame]:
    """Yield the poses that bring marks of a body onto those of the other.

    Args:
        match: match of the bodies.
        pairings: ways to pair the bodies that they carry.
        centres: centres of mass.
        size: size of the robot [m].
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
        foot_point = foot(axis, Line(centre.one, axis.direction))
        other_foot = foot(other_axis, Line(centre.other, other_axis.direction))
        directions.append(VectorPair(foot_point - centre.one, other_foot - centre.other))
    for end, start in combinations(points[:MAX_JOINED_POINTS], 2):
        directions.append(VectorPair(end.one - start.one, end.other - start.other))
    shortest = MIN_LENGTH * size
    return points, [pair for pair in directions if min(map(np.linalg.norm, pair)) > shortest]


def foot(line: Line, other: Line) -> Array:
    """Return the point of a line (3,) that is nearest to another line.

    If they are parallel, it is the point that is nearest to the other line's point.
    """
    cosine, offset = float(line.direction @ other.direction), other.point - line.point
    sine_squared = 1.0 - cosine * cosine
    along = line.direction @ offset
    if sine_squared >= MIN_LENGTH**2:
        along = (along - cosine * (other.direction @ offset)) / sine_squared
    return np.asarray(line.point + line.direction * along)


def triad(one: Array, other: Array) -> Array | None:
    """Return axes (3, 3) in columns, the first along a vector, the second towards another.

    None if the two vectors are parallel within rounding.
    """
    normal = np.cross(one, other)
    if np.linalg.norm(normal) < MIN_LENGTH * np.linalg.norm(one) * np.linalg.norm(other):
        return None
    axes = one, np.cross(normal, one), normal
    return np.column_stack([axis / np.linalg.norm(axis) for axis in axes])

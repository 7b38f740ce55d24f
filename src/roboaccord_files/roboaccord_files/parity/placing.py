"""Match the bodies of two robots, and find where each body of the second lies in the first.

A body is a set of links that fixed joints connect. Two files of one robot may use other names and
other frames, so `Pairing` matches bodies from the root outwards: those that the joints of two
matched bodies carry, first by names of joints and links, and the remaining ones by position. For
each pair of bodies the candidate poses of poses.py are tried. The pose in which the fewest
quantities of the two bodies differ is taken, so that one changed quantity of a file shows as one
difference. pair_comparison.py uses the result.

In this module `one` belongs to the first robot, and `other` is its counterpart in the second; a
parameter `robot` is 0 for the first and 1 for the second. MAX_POSES bounds the time of the search;
it and the largest distances may be tuned.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain, islice, permutations, product
from typing import NamedTuple, TypeVar

import numpy as np
from roboaccord.description.tree import Tree
from roboaccord.engines.differences import Difference, compare_axis, compare_link, compare_value
from roboaccord.engines.model import LinkProperties
from roboaccord.numerics.ranking import ranked

from roboaccord_files.parity.compare import INERTIA_ROUND_OFF, size_of
from roboaccord_files.parity.frames import Frame
from roboaccord_files.parity.lumps import fixed_parents, lump, nearest_above
from roboaccord_files.parity.poses import Match, VectorPair, marked_poses, plain_poses
from roboaccord_files.parity.rigid_bodies import RigidBody, bodies_of, in_frame

T = TypeVar("T")  # a link or a body
# Number of poses that are tried for a body at most, which bounds the time for bodies with many
# joints. By choice: a pose is sought no further once one leaves a single difference (PLAIN_POSES).
MAX_POSES = 2000
# Number of the first poses, which are those of the file (poses.plain_poses). Beyond them a pose is
# taken as soon as it leaves a single difference.
PLAIN_POSES = 3
# Number of joints of a body up to which they are matched in every order: 24 orders of four.
MAX_PERMUTED = 4
# Largest distance of two joints that may be the same: the sum of relative differences and angles
# [rad] by `_distance`. By choice: joints that differ by a radian, or in place by the robot's size,
# have nothing in common.
MAX_BODY_DISTANCE = 1.0
# The same for fixed links, of which a body may have several that resemble each other: two matched
# links may differ by 20 % of the mass, or in place by a fifth of the robot's size.
MAX_LINK_DISTANCE = 0.2
# Distances below those of all other pairs, so that these names are matched first.
SAME_JOINT_NAME, SAME_LINK_NAME = -2.0, -1.0


class LinkPair(NamedTuple):
    """A link of each robot, each with the links that are lumped in it (lumps.py).

    Args:
        name, partner: names of the link in the first robot and in the other.
        members: names of the first robot's links that are lumped in this one, itself included.
        one, other: mass properties in the first robot and in the other, both in the frame of the
            first robot's link; equal where one of them is not known.
    """

    name: str
    partner: str
    members: Sequence[str]
    one: LinkProperties
    other: LinkProperties


class Pairing:
    """Match the bodies of two robots, and place those of the other in the frames of the first.

    Args:
        one, other: trees of the two robots.
        names: links and joints of the other by those of the first, as the user states them.
        allowed: relative difference up to which quantities count as equal.
        unweighed: links of unknown mass in the first robot, and in the other.

    Attributes:
        matches: matched bodies by name of the first robot's body, each after the one that carries
            it.
        unmatched: names of joints that only the first robot has, and that only the other has.
        size: size of the first robot [m] (compare.size_of).
    """

    def __init__(
        self,
        one: Tree,
        other: Tree,
        names: Mapping[str, str],
        allowed: float,
        unweighed: Sequence[Collection[str]] = ((), ()),
    ) -> None:
        self.allowed = allowed
        self._names = names
        self._trees = (one, other)
        self._unweighed = [frozenset(links) for links in unweighed]
        self.size = size_of(one)
        self._bodies = bodies_of(one), bodies_of(other)
        # Mass properties of links of a robot, lumped in the frame of a link.
        self._lump = cache(lambda robot, frame, *links: lump(self._trees[robot], frame, links))
        self.matches = dict[str, Match]()
        self._match(self._bodies[0][0], self._bodies[1][0])
        matches = self.matches.values()
        matched = [id(m.one) for m in matches] + [id(m.other) for m in matches]
        self.unmatched = [
            [body.moved_by for body in bodies if id(body) not in matched] for bodies in self._bodies
        ]

    def link_differences(self, pair: LinkPair) -> Iterator[Difference]:
        """Yield how two links differ in mass, centre and inertia."""
        noise = INERTIA_ROUND_OFF * self.size**2
        return compare_link(pair.name, pair.one, pair.other, self.allowed, self.size, noise)

    def links(self, match: Match) -> Iterator[LinkPair]:
        """Yield the links of two bodies, each with those that only one robot has lumped in it."""
        partners = self._link_partners(match)
        members = self._members(0, match.one, [*partners])
        partner_members = self._members(1, match.other, [*partners.values()])
        for name, partner in partners.items():
            pose = match.other.links[partner].inverse.then(match.pose).then(match.one.links[name])
            one = self._lump(0, name, *members[name])
            other = in_frame(self._lump(1, partner, *partner_members[partner]), pose)
            if not self._unweighed[1].isdisjoint(partner_members[partner]):
                other = one
            elif not self._unweighed[0].isdisjoint(members[name]):
                one = other
            yield LinkPair(name, partner, members[name], one, other)

    def _link_partners(self, match: Match) -> dict[str, str]:
        """Return the links of the other body by those of the first, by names, then by nearness."""
        inverse = match.pose.inverse
        mine = {n: self._link(0, n, pose) for n, pose in match.one.links.items()}
        others = {n: self._link(1, n, inverse.then(pose)) for n, pose in match.other.links.items()}

        def distance(name: str, partner: str) -> float:
            """Return how unlike two links are, in place and mass."""
            if self._other_name(name) == partner:
                return SAME_LINK_NAME
            one, other = mine[name], others[partner]
            offset = float(np.linalg.norm(one.centre - other.centre)) / self.size
            return offset + mass_difference(one, other) if one.mass and other.mass else np.inf

        partners = dict(nearest([*mine], [*others], distance, MAX_LINK_DISTANCE))
        return partners or {match.one.name: match.other.name}

    def _link(self, robot: int, name: str, pose: Frame) -> LinkProperties:
        """Return the properties of one link of a robot in the frame in which it has a pose."""
        return in_frame(self._lump(robot, name, name), pose.inverse)

    def _other_name(self, name: str) -> str:
        """Return the name in the other robot of a link or joint of the first."""
        return self._names.get(name, name)

    def _members(self, robot: int, body: RigidBody, kept: Sequence[str]) -> dict[str, list[str]]:
        """Return the links of a body that are lumped in each of the links `kept`.

        A link is lumped in the nearest one of them above it, else in the first of them.
        """
        parents = fixed_parents(self._trees[robot])
        members = dict[str, list[str]]()
        for name in body.links:
            link = nearest_above(name, parents, kept)
            members.setdefault(link if link in kept else kept[0], []).append(name)
        return members

    def _match(self, one: RigidBody, other: RigidBody, above: Match | None = None) -> None:
        """Match two bodies in the best pose, and then the bodies that they carry.

        The best pose leaves the fewest differences. Among poses that leave equally many, a later
        one must have half the sum of errors to be better.
        """
        best, fewest, smallest = Match(one, other, above), np.inf, np.inf
        poses = chain(plain_poses(best), self._marked_poses(best))
        for number, pose in enumerate(islice(poses, MAX_POSES), 1):
            match = Match(one, other, above, pose)
            errors = [d.error for d in self._differences(match) if d.excess > 1.0]
            count, total = len(errors), sum(min(error, 1.0) for error in errors)
            if count < fewest or (count == fewest and total < 0.5 * smallest):
                best, fewest, smallest = match, count, total
            if fewest == 0 or (fewest == 1 and number >= PLAIN_POSES):
                break
        self.matches[one.name] = best
        for carried, other_carried in self._carried(best):
            self._match(carried, other_carried, best)

    def _differences(self, match: Match) -> Iterator[Difference]:
        """Yield how two bodies differ in a pose: links, joint, and the axes of carried bodies."""
        for pair in self.links(match):
            yield from self.link_differences(pair)
        carried = self._carried(match)
        for one, other in carried:
            yield from self._compare_axes(one, other, match.pose)
        joint_count = len(self._children(0, match.one)) + len(self._children(1, match.other))
        missing = Difference("joint", match.one.name, np.inf, self.allowed)
        yield from [missing] * (joint_count - 2 * len(carried))
        if match.above:
            joint, name = match.joint_pose(), match.one.name
            yield compare_value("origin", name, 0.0, joint.offset, self.allowed, self.size)
            yield compare_value("axis", name, np.eye(3), joint.tilt, self.allowed)
            yield compare_value("zero", name, 0.0, joint.zero, self.allowed)

    def _carried(self, match: Match) -> list[tuple[RigidBody, RigidBody]]:
        """Return pairs of bodies that two bodies carry, by name, and then by position."""
        mine, others = self._children(0, match.one), self._children(1, match.other)
        return nearest(mine, others, partial(self._distance, pose=match.pose), MAX_BODY_DISTANCE)

    def _children(self, robot: int, body: RigidBody) -> list[RigidBody]:
        """Return the bodies that a joint connects to a body of a robot."""
        return [b for b in self._bodies[robot] if b.joint and b.parent == body.name]

    def _rank_by_name(self, one: RigidBody, other: RigidBody) -> float:
        """Return SAME_JOINT_NAME or SAME_LINK_NAME if two bodies share such a name, else 0."""
        if self._other_name(one.moved_by) == other.moved_by:
            return SAME_JOINT_NAME
        is_shared = any(self._other_name(name) in other.links for name in one.links)
        return SAME_LINK_NAME if is_shared else 0.0

    def _distance(self, one: RigidBody, other: RigidBody, pose: Frame) -> float:
        """Return a measure of how unlike two bodies are, to rank pairs; below 0 for equal names."""
        rank = self._rank_by_name(one, other)
        if rank < 0.0 or one.slides != other.slides:
            return rank or np.inf  # a slide never matches a hinge
        assert one.joint and other.joint
        centre = in_frame(one.subtree, one.pose.inverse).centre
        other_centre = in_frame(other.subtree, pose.inverse.then(other.pose).inverse).centre
        errors = [d.error for d in self._compare_axes(one, other, pose)]
        errors.append(float(np.linalg.norm(centre - other_centre)) / self.size)
        errors.append(mass_difference(one.subtree, other.subtree))
        # Other limits count little: they decide only between bodies that are alike else.
        return sum(errors) + 0.1 * (one.joint.ends != other.joint.ends)

    def _compare_axes(self, one: RigidBody, other: RigidBody, pose: Frame) -> Iterator[Difference]:
        """Yield the differences of the axes of two joints; origins may be anywhere on an axis."""
        point, axis = one.line
        frame = pose.inverse.then(other.pose)
        yield compare_axis(one.name, axis, frame.rotation @ other.axis, self.allowed)
        if not one.slides:
            offset = np.cross(axis, frame.position - point)
            yield compare_value("origin", one.name, 0.0, offset, self.allowed, self.size)

    def _marked_poses(self, match: Match) -> Iterator[Frame]:
        """Yield candidate poses that bring marks of two bodies onto each other (poses.py)."""
        one, other = match.one, match.other
        mine, others = self._children(0, one), self._children(1, other)
        by_name = nearest(mine, others, self._rank_by_name, 0.0)
        pairings = [by_name]
        counts = len(mine), len(others)
        if len(by_name) < min(counts) and max(counts) <= MAX_PERMUTED:
            pairings = [[*zip(mine, order, strict=False)] for order in permutations(others)]
        body, other_body = one.properties, other.properties
        centres = [VectorPair(body.centre, other_body.centre)] if body.mass else []
        for name in [n for n in one.links if n in other.links and self._lump(0, n, n).mass]:
            link = self._link(0, name, one.links[name])
            other_link = self._link(1, name, other.links[name])
            centres.append(VectorPair(link.centre, other_link.centre))
        yield from marked_poses(match, pairings, centres, self.size)


def mass_difference(one: LinkProperties, other: LinkProperties) -> float:
    """Return the difference of two masses, relative to the heavier one."""
    return abs(one.mass - other.mass) / (max(one.mass, other.mass) or 1.0)


def nearest(
    mine: Sequence[T], others: Sequence[T], distance: Callable[[T, T], float], limit: float
) -> list[tuple[T, T]]:
    """Return pairs of the nearest items, each item at most once, in the order of `mine`.

    Args:
        mine, others: items to pair.
        distance: function that measures how far two items differ.
        limit: distance that a pair must be below.
    """
    pairs = [*product(range(len(mine)), range(len(others)))]  # of indices
    distances = {(i, k): distance(mine[i], others[k]) for i, k in pairs}
    partners = dict[int, int]()
    for i, k in ranked(pairs, distances.__getitem__):
        if i not in partners and k not in partners.values() and distances[i, k] < limit:
            partners[i] = k
    return [(mine[i], others[k]) for i, k in sorted(partners.items())]

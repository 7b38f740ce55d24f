"""Match the bodies of two robots, and find where each body of the second lies in the first.

A body is a set of links that fixed joints hold together. Two files of one robot may use other names
and other frames. Bodies are matched from the root outwards: the joints of two matched bodies by
name, by the links that they carry, and the remaining ones by position. For each pair the candidates
of poses.py are tried, and that pose is taken in which the fewest quantities of the two bodies
differ, so that one changed quantity shows as one difference.

CANDIDATES bounds the time of this search; it may be tuned, as NEAR and ALIKE may. In this module
`one` is what belongs to the first robot, and `other` its counterpart in the second.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice, permutations
from typing import NamedTuple, TypeVar

import numpy as np
from roboaccord.description.tree import MOVING, Tree
from roboaccord.engines.differences import Difference, compare_axis, compare_link, compare_value
from roboaccord.engines.model import LinkProperties
from roboaccord.numerics.ranking import ranked

from roboaccord_files.parity.compare import NOISE
from roboaccord_files.parity.frames import Frame
from roboaccord_files.parity.lumps import lump
from roboaccord_files.parity.poses import Match, VectorPair, marked_poses, plain_poses
from roboaccord_files.parity.rigid_bodies import RigidBody, bodies_of, in_frame

T = TypeVar("T")
# Poses that are tried for a body at most; bounds the time with many joints, as 24 orders of FEW
# joints have more.
CANDIDATES = 2000
# The first of these are the poses of the file; one that leaves a single difference is taken.
PLAIN = 3
FEW = 4  # joints; so many on one body are matched in every order (24)
# Largest distance of joints that may be the same: the sum of relative differences and angles [rad].
NEAR = 1.0
# The same for fixed links, of which several may be alike: such a pair may differ by 20 % of the
# mass, or by a fifth of the robot's size.
ALIKE = 0.2


class LinkPair(NamedTuple):
    """A link of each robot, each with the links that are lumped in it.

    Args:
        name, partner: names of the link in the first robot and in the other.
        members: names of the first robot's links that are lumped in it, itself included.
        one, other: properties in the first robot and in the other, both in the frame of the first's
            link; the same where one of them is not known.
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
        allowed: relative difference that is none.
        unweighed: links of the first, and of the other, whose mass is not known.

    Attributes:
        matches: by name of the first's body, each after the one that carries it.
        unmatched: joints that only the first has, and only the other.
        size: largest coordinate of a joint's origin in the first robot, but at least 0.1 [m].
    """

    def __init__(
        self,
        one: Tree,
        other: Tree,
        names: Mapping[str, str],
        allowed: float,
        unweighed: Sequence[Collection[str]] = ((), ()),
    ) -> None:
        self.allowed, self._names, self._trees = allowed, names, (one, other)
        self._unweighed = [frozenset(links) for links in unweighed]
        self.size = max([float(np.abs(j.position).max()) for j in one.joints] + [0.1])
        self._bodies = bodies_of(one), bodies_of(other)
        # Mass properties of links, lumped in the frame of one; robot 0 is the first, 1 the other.
        self._lump = cache(lambda robot, frame, *links: lump(self._trees[robot], frame, links))
        self.matches = dict[str, Match]()
        self._match(self._bodies[0][0], self._bodies[1][0])
        matched = {id(body) for m in self.matches.values() for body in (m.one, m.other)}
        self.unmatched = [
            [body.moved_by for body in bodies if id(body) not in matched] for bodies in self._bodies
        ]

    def link_differences(self, pair: LinkPair) -> Iterator[Difference]:
        """Yield how two links differ in mass, centre and inertia."""
        noise = NOISE * self.size**2
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
        """Return the links of the other body by those of the first: by name, then by likeness."""
        mine = {n: in_frame(self._lump(0, n, n), pose.inverse)
                for n, pose in match.one.links.items()}  # fmt: skip
        others = {n: in_frame(self._lump(1, n, n), match.pose.inverse.then(pose).inverse)
                  for n, pose in match.other.links.items()}  # fmt: skip

        def distance(name: str, partner: str) -> float:
            if self._other_name(name) == partner:
                return -1.0
            one, other = mine[name], others[partner]
            away = float(np.linalg.norm(one.centre - other.centre)) / self.size
            return away + mass_difference(one, other) if one.mass and other.mass else np.inf

        partners = dict(nearest([*mine], [*others], distance, ALIKE))
        return partners or {match.one.name: match.other.name}

    def _other_name(self, name: str) -> str:
        """Return the name in the other robot of a link or joint of the first."""
        return self._names.get(name, name)

    def _members(self, robot: int, body: RigidBody, kept: Sequence[str]) -> dict[str, list[str]]:
        """Return the links of a body that are lumped in each of the links that are kept.

        A link is lumped in the nearest one above it that is kept, else in the first of them.
        """
        joints = self._trees[robot].joints
        parents = {joint.child: joint.parent for joint in joints if joint.kind not in MOVING}
        members = dict[str, list[str]]()
        for name in body.links:
            holder = name
            while holder not in kept and holder in parents:
                holder = parents[holder]
            members.setdefault(holder if holder in kept else kept[0], []).append(name)
        return members

    def _match(self, one: RigidBody, other: RigidBody, above: Match | None = None) -> None:
        """Match two bodies in the best pose, and then the bodies that they carry.

        The best pose leaves the fewest differences; of equal ones, clearly smaller differences.
        """
        best, fewest, smallest = Match(one, other, above), 10**9, np.inf
        poses = chain(plain_poses(best), self._marked_poses(best))
        for number, pose in enumerate(islice(poses, CANDIDATES), 1):
            match = Match(one, other, above, pose)
            errors = [d.error for d in self._differences(match) if d.excess > 1.0]
            count, total = len(errors), sum(min(error, 1.0) for error in errors)
            if count < fewest or (count == fewest and total < 0.5 * smallest):
                best, fewest, smallest = match, count, total
            if fewest == 0 or (fewest == 1 and number >= PLAIN):
                break
        self.matches[one.name] = best
        for carried, other_carried in self._carried(best):
            self._match(carried, other_carried, best)

    def _differences(self, match: Match) -> Iterator[Difference]:
        """Yield how two bodies differ in a pose: links, joint, and axes of what they carry."""
        for pair in self.links(match):
            yield from self.link_differences(pair)
        carried = self._carried(match)
        for one, other in carried:
            yield from self._of_axes(one, other, match.pose)
        joints = len(self._children(0, match.one)) + len(self._children(1, match.other))
        missing = Difference("joint", match.one.name, np.inf, self.allowed)
        yield from [missing] * (joints - 2 * len(carried))
        if match.above:
            joint, name = match.joint_pose(), match.one.name
            yield compare_value("origin", name, 0.0, joint.offset, self.allowed, self.size)
            yield compare_value("axis", name, np.eye(3), joint.tilt, self.allowed)
            yield compare_value("zero", name, 0.0, joint.zero, self.allowed)

    def _carried(self, match: Match) -> list[tuple[RigidBody, RigidBody]]:
        """Return pairs of bodies that two bodies carry, by name, and then by position."""
        mine, others = self._children(0, match.one), self._children(1, match.other)
        return nearest(mine, others, lambda a, b: self._distance(a, b, match.pose), NEAR)

    def _children(self, robot: int, body: RigidBody) -> list[RigidBody]:
        """Return the bodies that a joint connects to a body of a robot."""
        return [b for b in self._bodies[robot] if b.joint and b.parent == body.name]

    def _rank_by_name(self, one: RigidBody, other: RigidBody) -> float:
        """Return -2 if the joints of two bodies have the same name, -1 if their links, else 0."""
        if self._other_name(one.moved_by) == other.moved_by:
            return -2.0
        return -1.0 if any(self._other_name(name) in other.links for name in one.links) else 0.0

    def _distance(self, one: RigidBody, other: RigidBody, pose: Frame) -> float:
        """Return a measure of how unlike two bodies are, to rank pairs; below 0 for equal names."""
        rank = self._rank_by_name(one, other)
        if rank < 0.0 or one.slides != other.slides:
            return rank or np.inf
        assert one.joint and other.joint
        centre = in_frame(one.below, one.pose.inverse).centre
        other_centre = in_frame(other.below, pose.inverse.then(other.pose).inverse).centre
        errors = [d.error for d in self._of_axes(one, other, pose)]
        errors.append(float(np.linalg.norm(centre - other_centre)) / self.size)
        errors.append(mass_difference(one.below, other.below))
        return sum(errors) + 0.1 * (one.joint.ends != other.joint.ends)

    def _of_axes(self, one: RigidBody, other: RigidBody, pose: Frame) -> Iterator[Difference]:
        """Yield the differences of two joints' axes, wherever on them their origins are."""
        point, axis = one.line
        frame = pose.inverse.then(other.pose)
        yield compare_axis(one.name, axis, frame.turn @ other.axis, self.allowed)
        if not one.slides:
            offset = np.cross(axis, frame.position - point)
            yield compare_value("origin", one.name, 0.0, offset, self.allowed, self.size)

    def _marked_poses(self, match: Match) -> Iterator[Frame]:
        """Yield candidates of poses by marks of two bodies, and of what they carry."""
        one, other = match.one, match.other
        mine, others = self._children(0, one), self._children(1, other)
        by_name = nearest(mine, others, self._rank_by_name, 0.0)
        pairings = [by_name]
        if len(by_name) < min(len(mine), len(others)) and max(len(mine), len(others)) <= FEW:
            pairings = [[*zip(mine, order, strict=False)] for order in permutations(others)]
        centres = [VectorPair(one.whole.centre, other.whole.centre)] if one.whole.mass else []
        for name in [n for n in one.links if n in other.links and self._lump(0, n, n).mass]:
            link = in_frame(self._lump(0, name, name), one.links[name].inverse)
            other_link = in_frame(self._lump(1, name, name), other.links[name].inverse)
            centres.append(VectorPair(link.centre, other_link.centre))
        yield from marked_poses(match, pairings, centres, self.size)


def mass_difference(one: LinkProperties, other: LinkProperties) -> float:
    """Return the difference of two masses, relative to the heavier one."""
    return abs(one.mass - other.mass) / (max(one.mass, other.mass) or 1.0)


def nearest(
    mine: Sequence[T], others: Sequence[T], distance: Callable[[T, T], float], most: float
) -> list[tuple[T, T]]:
    """Return pairs of nearest items, each item once, and no pair farther apart than `most`."""
    distances = {(i, k): distance(a, b) for i, a in enumerate(mine) for k, b in enumerate(others)}
    partners = dict[int, int]()
    for i, k in ranked([*distances], distances.__getitem__):
        if i not in partners and k not in partners.values() and distances[i, k] < most:
            partners[i] = k
    return [(mine[i], others[k]) for i, k in sorted(partners.items())]

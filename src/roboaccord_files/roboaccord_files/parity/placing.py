"""Match the bodies of two robots, and find where each body of the second lies in the first.

A body is a set of links that fixed joints hold together. Two files of one robot may use other names
and other frames. Bodies are matched from the root outwards: the joints of two matched bodies by
name, by the links that they carry, and the remaining ones by position. For each pair the candidates
of poses.py are tried, and that pose is taken in which the fewest quantities of the two bodies
differ, so that one changed quantity shows as one difference.

CANDIDATES bounds the time of this search; it may be tuned, as NEAR and ALIKE may.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice, permutations
from typing import NamedTuple, TypeVar

import numpy as np
from roboaccord.description.tree import MOVING, Tree
from roboaccord.engines import differences as by
from roboaccord.engines.differences import Difference
from roboaccord.engines.model import LinkProperties
from roboaccord.numerics.ranking import ranked

from roboaccord_files.parity.compare import NOISE, lump
from roboaccord_files.parity.frames import Frame
from roboaccord_files.parity.poses import Both, Match, marked_poses, plain_poses
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
    """A link of each robot with those lumped in it, in the frame of the first.

    Args:
        name, partner: of the links.
        members: of the first.
        want, have: their properties in the first and in the other; the same where one is not known.
    """

    name: str
    partner: str
    members: Sequence[str]
    want: LinkProperties
    have: LinkProperties


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
        size: of the first robot [m].
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
        self._lump = cache(lambda which, *names: lump(self._trees[which], names[0], names[1:]))
        self.matches = dict[str, Match]()
        self._match(self._bodies[0][0], self._bodies[1][0])
        matched = {id(b) for m in self.matches.values() for b in (m.one, m.other)}
        self.unmatched = [
            [b.moved_by for b in bodies if id(b) not in matched] for bodies in self._bodies
        ]

    def name(self, name: str) -> str:
        """Return the name in the other robot of a link or joint of the first."""
        return self._names.get(name, name)

    def link_differences(self, pair: LinkPair) -> Iterator[Difference]:
        """Yield how two links differ."""
        noise = NOISE * self.size**2
        return by.compare_link(pair.name, *pair[3:], self.allowed, self.size, noise)

    def links(self, match: Match) -> Iterator[LinkPair]:
        """Yield the links of two bodies, each with those that only one robot has lumped in it."""
        one, other = match.one.links, match.other.links
        mine = {n: in_frame(self._lump(0, n, n), one[n].inverse) for n in one}
        there = {n: in_frame(self._lump(1, n, n), match.pose.inverse.then(p).inverse)
                 for n, p in other.items()}  # fmt: skip

        def distance(a: str, b: str) -> float:
            if self.name(a) == b:
                return -1.0
            away = float(np.linalg.norm(mine[a].centre - there[b].centre)) / self.size
            return away + unlike(mine[a], there[b]) if mine[a].mass and there[b].mass else np.inf

        pairs = dict(nearest([*one], [*other], distance, ALIKE))
        pairs = pairs or {match.one.name: match.other.name}
        homes = self._homes(0, match.one, [*pairs]), self._homes(1, match.other, [*pairs.values()])
        for name, partner in pairs.items():
            frame = other[partner].inverse.then(match.pose).then(one[name])
            want = self._lump(0, name, *homes[0][name])
            have = in_frame(self._lump(1, partner, *homes[1][partner]), frame)
            if not self._unweighed[1].isdisjoint(homes[1][partner]):
                have = want
            elif not self._unweighed[0].isdisjoint(homes[0][name]):
                want = have
            yield LinkPair(name, partner, homes[0][name], want, have)

    def _homes(self, which: int, body: RigidBody, keep: Sequence[str]) -> dict[str, list[str]]:
        """Return links of a body by the one in which each is lumped: one above, or the first."""
        joints = self._trees[which].joints
        above = {joint.child: joint.parent for joint in joints if joint.kind not in MOVING}
        homes = dict[str, list[str]]()
        for name in body.links:
            at = name
            while at not in keep and at in above:
                at = above[at]
            homes.setdefault(at if at in keep else keep[0], []).append(name)
        return homes

    def _match(self, one: RigidBody, other: RigidBody, above: Match | None = None) -> None:
        """Match two bodies in the best pose, and then the bodies that they carry.

        The best pose leaves the fewest differences; of equal ones, clearly smaller differences.
        """
        best, least = Match(one, other, above), (10**9, np.inf)
        poses = chain(plain_poses(best), self._marked(best))
        for tried, pose in enumerate(islice(poses, CANDIDATES), 1):
            match = Match(one, other, above, pose)
            errors = [d.error for d in self._differences(match) if d.excess > 1.0]
            score = len(errors), sum(min(error, 1.0) for error in errors)
            if score[0] < least[0] or (score[0] == least[0] and score[1] < 0.5 * least[1]):
                best, least = match, score
            if least[0] <= (tried >= PLAIN):
                break
        self.matches[one.name] = best
        for pair in self._carried(best):
            self._match(*pair, best)

    def _differences(self, match: Match) -> Iterator[Difference]:
        """Yield how two bodies differ in a pose: links, joint, and axes of what they carry."""
        for pair in self.links(match):
            yield from self.link_differences(pair)
        pairs, hanging = self._carried(match), self._hanging(match.one, match.other)
        for carried in pairs:
            yield from self._axes(*carried, match.pose)
        for _ in range(sum(map(len, hanging)) - 2 * len(pairs)):
            yield Difference("joint", match.one.name, np.inf, self.allowed)
        if match.above:
            motion, name = match.motion(), match.one.name
            yield by.compare_value("origin", name, 0.0, motion.offset, self.allowed, self.size)
            yield by.compare_value("axis", name, np.eye(3), motion.tilt, self.allowed)
            yield by.compare_value("zero", name, 0.0, motion.zero, self.allowed)

    def _carried(self, match: Match) -> list[tuple[RigidBody, RigidBody]]:
        """Return pairs of bodies that two bodies carry, by name, and then by place."""
        mine, others = self._hanging(match.one, match.other)
        return nearest(mine, others, lambda a, b: self._distance(a, b, match.pose), NEAR)

    def _hanging(self, *both: RigidBody) -> list[list[RigidBody]]:
        """Return the bodies that hang on a body of each robot."""
        pairs = zip(self._bodies, both, strict=True)
        return [[b for b in bodies if b.joint and b.parent == body.name] for bodies, body in pairs]

    def _named(self, one: RigidBody, other: RigidBody) -> float:
        """Return -2 if the joints of two bodies have the same name, -1 if their links, else 0."""
        alike = any(self.name(name) in other.links for name in one.links)
        return -2.0 if self.name(one.moved_by) == other.moved_by else -1.0 if alike else 0.0

    def _distance(self, one: RigidBody, other: RigidBody, pose: Frame) -> float:
        """Return a measure of how unlike two bodies are, to rank pairs; below 0 for equal names."""
        if (named := self._named(one, other)) < 0.0 or one.slides != other.slides:
            return named or np.inf
        assert one.joint and other.joint
        frames = one.pose, pose.inverse.then(other.pose)
        here, there = (
            in_frame(b.below, f.inverse).centre for f, b in zip(frames, (one, other), strict=True)
        )
        errors = [d.error for d in self._axes(one, other, pose)]
        errors += [float(np.linalg.norm(here - there)) / self.size, unlike(one.below, other.below)]
        return sum(errors) + 0.1 * (one.joint.ends != other.joint.ends)

    def _axes(self, one: RigidBody, other: RigidBody, pose: Frame) -> Iterator[Difference]:
        """Yield the differences of two joints' axes, wherever on them their origins are."""
        point, axis = one.line
        frame = pose.inverse.then(other.pose)
        yield by.compare_axis(one.name, axis, frame.turn @ other.axis, self.allowed)
        if not one.slides:
            away = np.cross(axis, frame.place - point)
            yield by.compare_value("origin", one.name, 0.0, away, self.allowed, self.size)

    def _marked(self, match: Match) -> Iterator[Frame]:
        """Yield candidates of poses by marks of two bodies, and of what they carry."""
        one, other = match.one, match.other
        mine, others = self._hanging(one, other)
        carried = [nearest(mine, others, self._named, 0.0)]
        if len(carried[0]) < min(len(mine), len(others)) <= max(len(mine), len(others)) <= FEW:
            carried = [[*zip(mine, order, strict=False)] for order in permutations(others)]
        centres: list[Both] = [(one.whole.centre, other.whole.centre)] if one.whole.mass else []
        for name in [n for n in one.links if n in other.links and self._lump(0, n, n).mass]:
            first, second = (in_frame(self._lump(i, name, name), b.links[name].inverse).centre
                             for i, b in enumerate((one, other)))  # fmt: skip
            centres.append((first, second))
        yield from marked_poses(match, carried, centres, self.size)


def unlike(one: LinkProperties, other: LinkProperties) -> float:
    """Return the difference of two masses, relative to the heavier one."""
    return abs(one.mass - other.mass) / (max(one.mass, other.mass) or 1.0)


def nearest(
    mine: Sequence[T], others: Sequence[T], distance: Callable[[T, T], float], most: float
) -> list[tuple[T, T]]:
    """Return pairs of nearest items, each item once, and no pair farther apart than `most`."""
    sizes = {(i, k): distance(a, b) for i, a in enumerate(mine) for k, b in enumerate(others)}
    partners = dict[int, int]()
    for i, k in ranked([*sizes], sizes.__getitem__):
        if i not in partners and k not in partners.values() and sizes[i, k] < most:
            partners[i] = k
    return [(mine[i], others[k]) for i, k in sorted(partners.items())]

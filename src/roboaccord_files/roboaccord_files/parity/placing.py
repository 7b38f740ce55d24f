"""Two robots body by body: which joint of one is which of the other, and where its body lies.

A body is what fixed joints hold together. Bodies are matched from the root on, joints by name, by
the links that they carry, and what is left by place. Frames of links are anyone's choice: `Match`
has the pose in which the fewest quantities of a body differ, so that one quantity that was changed
is one difference. CANDIDATES bounds the search for it, and may be tuned, as NEAR and ALIKE may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, islice, permutations, product
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.description.tree import MOVING, Joint, Tree
from roboaccord.engines import differences as by
from roboaccord.engines.differences import Difference
from roboaccord.engines.model import LinkProperties
from roboaccord.numerics.ranking import ranked
from roboaccord.numerics.rotations import rotation_vector, turn_between

from roboaccord_files.parity.compare import NOISE, lump
from roboaccord_files.parity.frames import HERE, Frame

T = TypeVar("T")
Vectors: TypeAlias = tuple[Array, Array]
"""Of one body and of the other."""
CANDIDATES = 2000  # poses of a body that are tried
PLAIN = 3  # of these, as written or carried: one difference in them is that of the file
FEW = 4  # joints of a body that are matched in every order
NEAR = 1.0  # parts of size and mass, and rad: what is farther apart is not the same joint
ALIKE = 0.2  # likewise of links that are fixed
SHORT = 1e-3  # of the robot's size, or of 1: no direction
REVERSED = -0.999  # cosine


@dataclass(frozen=True, eq=False)
class RigidBody:
    """Hold links that are fixed to each other.

    Args:
        name: of its first link, whose frame is the body's.
        joint: by which it moves; None for the root's.
        parent: name of the body that carries it.
        pose: in that one's frame, at rest.
        links: poses of its links in its frame.
        whole: its mass properties.
        below: those of all that it carries, too, at rest.
    """

    name: str
    joint: Joint | None
    parent: str
    pose: Frame
    links: Mapping[str, Frame]
    whole: LinkProperties
    below: LinkProperties

    @property
    def moved_by(self) -> str:
        """Its joint's name; "" for the root."""
        return self.joint.name if self.joint else ""

    @property
    def axis(self) -> Array:
        """Of its joint, in its frame (3,)."""
        return self.joint.axis if self.joint else np.zeros(3)

    @property
    def line(self) -> Vectors:
        """A point of its axis and its direction (3,), in the frame of the body that carries it."""
        return self.pose.place, self.pose.turn @ self.axis

    @property
    def slides(self) -> bool:
        """Whether its joint is prismatic, and its axis has a direction, but no place."""
        return bool(self.joint and self.joint.kind == "prismatic")


def bodies_of(tree: Tree) -> list[RigidBody]:
    """Return the bodies of a tree, each after the one that carries it."""
    root = tree.links[0].name
    frames = {root: (root, HERE)}
    heads: dict[str, tuple[Joint | None, str, Frame]] = {root: (None, "", HERE)}
    for joint in tree.joints:
        body, pose = frames[joint.parent]
        pose = pose.then(Frame(joint.position, joint.rotation))
        if joint.kind in MOVING:
            heads[joint.child] = joint, body, pose
            body, pose = joint.child, HERE
        frames[joint.child] = body, pose
    found, all_of = (
        [],
        {head: [k for k, (body, _) in frames.items() if body == head] for head in heads},
    )
    for head, (_, parent, _) in reversed(heads.items()):
        if parent:
            all_of[parent] += all_of[head]
    for head, rest in heads.items():
        links = {name: pose for name, (body, pose) in frames.items() if body == head}
        found.append(
            RigidBody(head, *rest, links, *(lump(tree, head, [*k]) for k in (links, all_of[head])))
        )
    return found


@dataclass(frozen=True)
class Match:
    """Hold a body of each robot, the pose of the first's frame in that of the other, and above.

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


@dataclass(frozen=True)
class JointMotion:
    """Hold how a joint of the other robot lies in the frames of the first.

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


class LinkPair(NamedTuple):
    """Hold a link of each robot with those lumped in it, in the frame of the first.

    Args:
        name, partner: of the links.
        members: of the first.
        want, have: their properties in the first and in the other.
    """

    name: str
    partner: str
    members: Sequence[str]
    want: LinkProperties
    have: LinkProperties


class Pairing:
    """Match the bodies of two robots, and place those of the other in the frames of the first.

    Args:
        one, other: their trees.
        names: links and joints of the other, by those of the first.
        allowed: relative difference.
        unweighed: links of the first, and of the other, whose mass is not known.

    Attributes:
        matches: by name of the first's body, each after the one that carries it.
        left: joints that only the first has, and only the other.
        size: of the first robot [m].
    """

    def __init__(
        self,
        one: Tree,
        other: Tree,
        names: Mapping[str, str],
        allowed: float,
        unweighed: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset()),
    ) -> None:
        self.allowed, self._names, self._trees = allowed, names, (one, other)
        self._unweighed = unweighed
        self.size = max([float(np.abs(j.position).max()) for j in one.joints] + [0.1])
        self._bodies = bodies_of(one), bodies_of(other)
        self._lump = cache(lambda which, *names: lump(self._trees[which], names[0], names[1:]))
        self.matches = dict[str, Match]()
        self._match(self._bodies[0][0], self._bodies[1][0])
        matched = {id(b) for m in self.matches.values() for b in (m.one, m.other)}
        self.left = [
            [b.moved_by for b in bodies if id(b) not in matched] for bodies in self._bodies
        ]

    def name(self, name: str) -> str:
        """Return what a link or joint of the first is called in the other."""
        return self._names.get(name, name)

    def _match(self, one: RigidBody, other: RigidBody, above: Match | None = None) -> None:
        best, least = Match(one, other, above), (10**9, np.inf)
        for tried, pose in enumerate(islice(self._poses(one, other, above), CANDIDATES), 1):
            match = Match(one, other, above, pose)
            off = [d.error for d in self._differences(match) if d.excess > 1.0]
            score = len(off), sum(min(error, 1.0) for error in off)
            if score[0] < least[0] or (score[0] == least[0] and score[1] < 0.5 * least[1]):
                best, least = match, score
            if least[0] <= (tried >= PLAIN):
                break
        self.matches[one.name] = best
        for pair in self._carried(best):
            self._match(*pair, best)

    def _carried(self, match: Match) -> list[tuple[RigidBody, RigidBody]]:
        """Return pairs of bodies that two bodies carry, by name, and then by place."""
        mine, others = self._hanging(match.one, match.other)
        return nearest(mine, others, lambda a, b: self._apart(a, b, match.pose), NEAR)

    def _hanging(self, *both: RigidBody) -> list[list[RigidBody]]:
        found = zip(self._bodies, both, strict=True)
        return [[b for b in bodies if b.joint and b.parent == body.name] for bodies, body in found]

    def _named(self, one: RigidBody, other: RigidBody) -> float:
        """Return a number below 0 if two bodies, or their joints, have the same name."""
        alike = any(self.name(name) in other.links for name in one.links)
        return -2.0 if self.name(one.moved_by) == other.moved_by else -1.0 if alike else 0.0

    def _apart(self, one: RigidBody, other: RigidBody, pose: Frame) -> float:
        """Return how unlike two bodies are that matched ones carry, to rank them."""
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
        """Yield how far the axes of two joints are apart, whatever point of them is the origin."""
        point, axis = one.line
        frame = pose.inverse.then(other.pose)
        yield by.compare_axis(one.name, axis, frame.turn @ other.axis, self.allowed)
        if not one.slides:
            away = np.cross(axis, frame.place - point)
            yield by.compare_value("origin", one.name, 0.0, away, self.allowed, self.size)

    def link_differences(self, pair: LinkPair) -> Iterator[Difference]:
        """Yield how two links differ."""
        noise = NOISE * self.size**2
        return by.compare_link(pair.name, *pair[3:], self.allowed, self.size, noise)

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

    def links(self, match: Match) -> Iterator[LinkPair]:
        """Yield the links of two bodies, each with those that only one robot has lumped in it."""
        one, other = match.one.links, match.other.links
        mine = {n: in_frame(self._lump(0, n, n), one[n].inverse) for n in one}
        there = {n: in_frame(self._lump(1, n, n), match.pose.inverse.then(p).inverse)
                 for n, p in other.items()}  # fmt: skip

        def apart(a: str, b: str) -> float:
            if self.name(a) == b:
                return -1.0
            away = float(np.linalg.norm(mine[a].centre - there[b].centre)) / self.size
            return away + unlike(mine[a], there[b]) if mine[a].mass and there[b].mass else np.inf

        pairs = dict(nearest([*one], [*other], apart, ALIKE))
        pairs = pairs or {match.one.name: match.other.name}
        homes = self._homes(0, match.one, [*pairs]), self._homes(1, match.other, [*pairs.values()])
        for name, partner in pairs.items():
            frame = other[partner].inverse.then(match.pose).then(one[name])
            both = [self._lump(i, n, *homes[i][n]) for i, n in enumerate((name, partner))]
            want, have = both[0], in_frame(both[1], frame)
            if not self._unweighed[1].isdisjoint(homes[1][partner]):
                have = want
            elif not self._unweighed[0].isdisjoint(homes[0][name]):
                want = have
            yield LinkPair(name, partner, homes[0][name], want, have)

    def _homes(self, which: int, body: RigidBody, keep: Sequence[str]) -> dict[str, list[str]]:
        """Return links of a body by the one in which each is lumped: one above, or the first."""
        joints = self._trees[which].joints
        above = {joint.child: joint.parent for joint in joints if joint.kind not in MOVING}
        found = dict[str, list[str]]()
        for name in body.links:
            at = name
            while at not in keep and at in above:
                at = above[at]
            found.setdefault(at if at in keep else keep[0], []).append(name)
        return found

    def _poses(self, one: RigidBody, other: RigidBody, above: Match | None) -> Iterator[Frame]:
        """Yield poses in which a body may lie: as written, as carried, and by its marks."""
        axis, turns = other.axis, list[Array]()

        def through(pose: Frame) -> Frame:
            fixed = not above or other.slides
            return pose if fixed else Frame(axis * (axis @ pose.place), pose.turn)

        yield HERE
        if above:
            carried = above.pose.inverse.then(other.pose).inverse.then(one.pose)
            yield through(carried)
            if (carried.turn @ one.axis) @ axis > REVERSED:
                turns = [turn_between(carried.turn @ one.axis, axis) @ carried.turn]
                yield through(Frame(carried.place, turns[0]))
        for points, arrows in self._marks(Match(one, other, above)):
            for (u, v), (w, x) in combinations(arrows, 2):
                first, second = triad(u, w), triad(v, x)
                if first is not None and second is not None:
                    turns.append(second @ first.T)
            yield from (through(Frame(q - turn @ p, turn)) for turn in turns for p, q in points)

    def _marks(self, match: Match) -> Iterator[tuple[list[Vectors], list[Vectors]]]:
        """Yield points and directions of two bodies, each in its own frame, for each matching."""
        one, other = match.one, match.other
        mine, others = self._hanging(one, other)
        several = [nearest(mine, others, self._named, 0.0)]
        if len(several[0]) < min(len(mine), len(others)) <= max(len(mine), len(others)) <= FEW:
            several = [[*zip(mine, order, strict=False)] for order in permutations(others)]
        centres = [(one.whole.centre, other.whole.centre)] if one.whole.mass else []
        for name in [n for n in one.links if n in other.links and self._lump(0, n, n).mass]:
            pair = [in_frame(self._lump(i, name, name), b.links[name].inverse).centre
                    for i, b in enumerate((one, other))]  # fmt: skip
            centres.append((pair[0], pair[1]))
        own = [((np.zeros(3), one.axis), (np.zeros(3), other.axis))] if one.joint else []
        for pairs in several:
            lines = [*own, *((a.line, b.line) for a, b in pairs)]
            points, arrows = [*centres], [(a[1], b[1]) for a, b in lines]
            for (a, b), (c, d) in combinations(lines, 2):
                points += [(foot(a, *c), foot(b, *d)), (foot(c, *a), foot(d, *b))]
            for (p, q), (a, b) in product(centres, lines):
                arrows.append((foot(a, p, a[1]) - p, foot(b, q, b[1]) - q))
            arrows += [(p[0] - q[0], p[1] - q[1]) for p, q in combinations(points[:FEW], 2)]
            least = SHORT * self.size
            yield points, [a for a in arrows if min(map(np.linalg.norm, a)) > least]


def in_frame(link: LinkProperties, pose: Frame) -> LinkProperties:
    """Return the properties of a link in the frame of a pose, from those in the other frame."""
    centre, inertia = link.centre - pose.place, pose.turn.T @ link.inertia @ pose.turn
    return LinkProperties(link.mass, pose.turn.T @ centre, inertia)


def unlike(one: LinkProperties, other: LinkProperties) -> float:
    """Return by which part of the heavier two masses differ."""
    return abs(one.mass - other.mass) / (max(one.mass, other.mass) or 1.0)


def nearest(
    mine: Sequence[T], others: Sequence[T], apart: Callable[[T, T], float], most: float
) -> list[tuple[T, T]]:
    """Return pairs of what is nearest, each once, and none farther apart than `most`."""
    sizes = {(i, k): apart(a, b) for i, a in enumerate(mine) for k, b in enumerate(others)}
    found = dict[int, int]()
    for i, k in ranked([*sizes], sizes.__getitem__):
        if i not in found and k not in found.values() and sizes[i, k] < most:
            found[i] = k
    return [(mine[i], others[k]) for i, k in sorted(found.items())]


def foot(line: Vectors, other: Array, along: Array) -> Array:
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
    return np.column_stack([each / np.linalg.norm(each) for each in axes])

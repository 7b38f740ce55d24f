"""Compare an engine's reading of a robot with the reference's, quantity by quantity.

The reference is the analytical model of the same text. Compared are joints (axis, origin, limits,
rotor inertia), links (mass, centre, inertia), and for the whole robot mass matrix, gravity forces
and accelerations at random states. Each difference has its relative error and the error allowed,
which follows from round-off. Links that an engine merges into one ("lumps") are merged in the
reference, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from roboaccord.contract.outcome import Code, Finding, Outcome, because
from roboaccord.contract.state import Array
from roboaccord.description.tree import MOVING, Tree
from roboaccord.engines.differences import (
    Difference,
    compare_axis,
    compare_limits,
    compare_link,
    compare_value,
    relative_at,
)
from roboaccord.engines.model import LinkProperties
from roboaccord.engines.reading import GRAVITY, Question, Reading, TreeReading
from roboaccord.numerics.ranking import ranked
from roboaccord.numerics.rotations import rpy_matrix

from roboaccord_files.parity.words import ParityCode

# Relative; a smaller error is no difference. Half of the digits (sqrt(eps) = 1.5e-8), so that
# numbers of six digits differ.
SAME = 1e-8
# States in which mass matrices and gravity forces are compared. A matrix has n^2 numbers, so few
# states will do.
STATICS = 10
# Relative error of accelerations allowed for each unit of the mass matrix' condition number. Ten
# eps are the errors of some ten operations on a number, which the condition number enlarges.
EPSILONS = 10.0 * float(np.finfo(float).eps)
# rad; error of angles in SDFormat's text, near a pitch of 90 degrees: sqrt(eps / 2), by arcsin.
ROUNDED = 1e-8
DYNAMICS = ("mass matrix", "gravity forces", "acceleration")  # quantities of a whole robot
NOISE = 1e-13  # of m L^2; round-off of an inertia: 500 eps, for some 100 sums
# Of m g L; round-off of gravity forces, which cancel where a robot is balanced: 50 eps.
ROUND_OFF = 1e-14
OPEN = (
    ParityCode.NO_ANSWER,
    ParityCode.NOT_READ,
    ParityCode.CONVERTED,
)  # for which an engine is not to blame


@dataclass
class ReferenceReading:
    """The reference's reading of a text, and its answers.

    Args:
        tree: links and joints of the text.
        question: base, joints and states that are compared.
        rounded: whether the engine reads a text whose angles are rounded.

    Attributes:
        statics: mass matrix (m, m) and gravity forces (m,) in each state.
    """

    tree: Tree
    question: Question
    rounded: bool = False

    def __post_init__(self) -> None:
        self.reading = TreeReading(self.tree, self.question)
        self.statics = self.reading.all_statics(self.question.states)
        self.answers = self.reading.accelerations(self.question.states)
        self.static = 10.0 * ROUNDED if self.rounded else SAME
        self.cancelled = (self.static if self.rounded else ROUND_OFF) * self._moment()
        self.size = max([float(np.abs(j.position).max()) for j in self.tree.joints] + [0.1])
        self._floor = self._rounding() if self.rounded else 0.0

    def allowed(self, state: int) -> float:
        """Return the relative error of accelerations that round-off explains in state `state`."""
        matrix, _ = self.statics[state]
        if not matrix.size:  # nothing moves
            return SAME
        condition = np.linalg.cond(matrix) if np.isfinite(matrix).all() else np.inf
        return max(SAME, self._floor, EPSILONS * float(condition))

    def _moment(self) -> float:
        """Return m g L: the robot's weight at the end of its longest arm [N m]."""
        tree, far = self.tree, reaches(self.tree)
        arms = [far[k.name] + float(np.linalg.norm(k.centre)) for k in tree.links]
        return GRAVITY * self.reading.mass * max(arms)

    def _rounding(self) -> float:
        """Return ten times the relative change of accelerations if joint frames turn by ROUNDED."""
        rng = np.random.default_rng(0)
        joints = tuple(
            replace(j, rotation=j.rotation @ rpy_matrix(*rng.uniform(-ROUNDED, ROUNDED, 3)))
            for j in self.tree.joints
        )
        turned = TreeReading(replace(self.tree, joints=joints), self.question)
        pairs = zip(turned.accelerations(self.question.states), self.answers, strict=True)
        return 10.0 * max(relative_at(mine, other)[0] for mine, other in pairs)


def reaches(tree: Tree) -> dict[str, float]:
    """Return the length of the chain of joint origins from the root to each link [m]."""
    lengths = {tree.links[0].name: 0.0}
    for joint in tree.joints:
        lengths[joint.child] = lengths[joint.parent] + float(np.linalg.norm(joint.position))
    return lengths


def finding_of(worst: Difference | None, ended: ParityCode | None, why: str) -> Finding:
    """Return the outcome of a reading.

    Args:
        worst: the largest difference; None if there is none.
        ended: why there is no reading; None if there is one.
        why: the engine's words for that.
    """
    if ended:
        reasons = because(ended), because(Code.TEXT, text=why)
        return Finding.not_judged(*reasons) if ended in OPEN else Finding.outside(*reasons)
    if worst and worst.excess > 1.0:
        differs = because(ParityCode.DIFFERS, error=worst.error)
        where, size = worst.where, worst.finite
        return Finding.outside(differs, quantity=worst.quantity, where=where, size=size)
    return Finding.within()


@dataclass(frozen=True)
class Asked:
    """The outcome of an engine's reading of a text.

    Args:
        differences: from the reference, the worst first.
        reading: of the engine; None if it refuses the text.
        refusal: why it does, in its words.
        reference: reading that it was compared with; None if that has no accelerations.
    """

    differences: tuple[Difference, ...]
    reading: Reading | None
    refusal: str = ""
    reference: ReferenceReading | None = None

    @property
    def ended(self) -> ParityCode | None:
        """REFUSED if the engine refuses the text, else None."""
        return ParityCode.REFUSED if self.reading is None else None

    @property
    def lost(self) -> bool:
        """Whether the engine refuses the text, or lacks some of its links and joints."""
        return self.reading is None or (self.worst is not None and self.error is None)

    @property
    def worst(self) -> Difference | None:
        """The worst difference."""
        return self.differences[0] if self.differences else None

    @property
    def error(self) -> float | None:
        """Its relative error; None for a refusal, or if it is not finite."""
        return self.worst.finite if self.worst else None

    @property
    def finding(self) -> Finding:
        """The finding of this reading."""
        return finding_of(self.worst, self.ended, self.refusal)

    @property
    def same(self) -> bool:
        """Whether the engine reads the text as the reference does."""
        return self.finding.outcome is Outcome.WITHIN


def compare(reference: ReferenceReading, reading: Reading) -> list[Difference]:
    """Return all differences of a reading, within what is allowed or not, the worst first."""
    differences = [*_joints(reference, reading), *_links(reference, reading)]
    missing = set(reference.question.joints) ^ set(reading.joints)
    differences += [
        Difference("joint", name, np.inf, SAME, because(Code.MISSING)) for name in sorted(missing)
    ]
    if not missing:
        differences += _dynamics(reference, reading)
    return ranked(differences, lambda d: -d.excess)


def _dynamics(reference: ReferenceReading, reading: Reading) -> Iterator[Difference]:
    """Yield the worst difference of each quantity of DYNAMICS over all states."""
    question = reference.question
    names = [*(["base"] * 6 if question.base == "free" else []), *question.joints]
    worst = {q: Difference(q, "", 0.0, SAME) for q in DYNAMICS}

    def see(quantity: str, mine: Array, other: Array, state: int) -> None:
        error, where = relative_at(mine, other)
        allowed = reference.static
        if quantity == "gravity forces":
            size = float(np.abs(other).max(initial=0.0)) or 1.0
            allowed = max(allowed, reference.cancelled / size)
        if quantity == "acceleration" and error > SAME:
            allowed = reference.allowed(state)
        if error / allowed > worst[quantity].excess:
            worst[quantity] = Difference(quantity, names[where % len(names)], error, allowed)

    answers = reading.accelerations(question.states), reference.answers
    for i, (mine, other) in enumerate(zip(*answers, strict=True)):
        see("acceleration", mine, other, i)
    for i, state in enumerate(question.states[:STATICS]):
        both = reading.statics(state), reference.statics[i]
        for quantity, mine, other in zip(DYNAMICS[:2], *both, strict=True):
            see(quantity, mine, other, i)
    yield from worst.values()


def _joints(reference: ReferenceReading, reading: Reading) -> Iterator[Difference]:
    """Yield the differences of each joint: axis, origin, limits and rotor inertia."""
    static = reference.static
    for name, want in reference.reading.hinges.items():
        have = reading.hinges.get(name)
        if have is None:
            continue
        yield compare_axis(name, want.axis, have.axis, static)
        yield compare_value("origin", name, want.anchor, have.anchor, static, reference.size, "m")
        ends = (want.lower, want.upper), (have.lower, have.upper)
        yield compare_limits(name, *ends, static)
        rotors = (side.apart.get("armature", {}) for side in (reference.reading, reading))
        wanted, has = (armatures.get(name, 0.0) for armatures in rotors)
        yield compare_value(
            "armature", name, wanted, has, static, max(wanted, has) or 1.0, "kg m^2"
        )


def _links(reference: ReferenceReading, reading: Reading) -> Iterator[Difference]:
    """Yield the differences of each link in mass, centre of mass and inertia."""
    size = reference.size
    for name, want in kept(reference, reading).items():
        have = reading.links.get(name)
        yield from compare_link(name, want, have, reference.static, size, NOISE * size**2)


def lumps(reference: ReferenceReading, reading: Reading) -> dict[str, list[str]]:
    """Return, for each link that a reading keeps, the links that it has merged into it.

    A link that is lost without having been merged stands for itself. With a fixed base, links that
    are welded to the world do not count.
    """
    tree = reference.tree
    fixed = {j.child: j.parent for j in tree.joints if j.kind not in MOVING}
    lumped = dict[str, list[str]]()
    for link in tree.links:
        name = link.name
        while name not in reading.links and name in fixed:
            name = fixed[name]
        welded = name
        while welded in fixed:
            welded = fixed[welded]
        if reference.question.base == "fixed" and welded == tree.links[0].name:
            continue
        lumped.setdefault(name if name in reading.links else link.name, []).append(link.name)
    return lumped


def kept(reference: ReferenceReading, reading: Reading) -> dict[str, LinkProperties]:
    """Return the reference's properties of the links that a reading keeps or loses, by name."""
    return {
        name: lump(reference.tree, name, members)
        for name, members in lumps(reference, reading).items()
    }


def lump(tree: Tree, frame: str, members: Sequence[str]) -> LinkProperties:
    """Return the properties of links that are fixed to each other, in the frame of one."""
    links = {link.name: link for link in tree.links}
    if members == [frame]:
        return LinkProperties(links[frame].mass, links[frame].centre, links[frame].inertia)
    poses = relative_poses(tree, frame)
    mass = sum(links[name].mass for name in members)
    centres = {n: poses[n][0] + poses[n][1] @ links[n].centre for n in members}
    centre = sum((links[n].mass * centres[n] for n in members), np.zeros(3)) / (mass or 1.0)
    inertia = np.zeros((3, 3))
    for n in members:
        turn = poses[n][1]
        inertia += turn @ links[n].inertia @ turn.T + links[n].mass * steiner(centres[n] - centre)
    return LinkProperties(float(mass), centre, inertia)


def steiner(r: Array) -> Array:
    """Return the inertia (3, 3) of a unit mass at r (3,) about the origin."""
    return np.asarray(r @ r * np.eye(3) - np.outer(r, r))


def relative_poses(tree: Tree, frame: str) -> dict[str, tuple[Array, Array]]:
    """Return position (3,) and rotation (3, 3) of all links in the frame of one, at q = 0."""
    joints = tuple(joint.name for joint in tree.moving)
    at_zero = np.zeros(len(joints)), np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
    origins, rotations = tree.forward(joints, *at_zero)
    index = {link.name: i for i, link in enumerate(tree.links)}
    place, turn = origins[index[frame]], rotations[index[frame]]
    return {n: (turn.T @ (origins[i] - place), turn.T @ rotations[i]) for n, i in index.items()}

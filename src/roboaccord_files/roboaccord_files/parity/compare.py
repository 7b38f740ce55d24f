"""Compare an engine's reading of a robot with the reference's, quantity by quantity.

The reference is the analytical model of the same text. `compare` takes both readings and returns
their differences: in joints (axis, origin, limits, rotor inertia), in links (mass, centre, inertia)
and, for the whole robot, in mass matrix, gravity forces and accelerations at random states. Each
difference has its relative error and the error allowed, which follows from round-off
(`ReferenceReading`). Links that an engine merges into one are merged in the reference, too
(lumps.py). `ReadingOutcome` is the reading of an engine with its differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from roboaccord.contract.outcome import Code, Finding, Outcome, because
from roboaccord.contract.state import Array
from roboaccord.description.tree import Tree
from roboaccord.engines import differences as differ
from roboaccord.engines.differences import Difference, relative_at
from roboaccord.engines.reading import GRAVITY, Question, Reading, TreeReading
from roboaccord.numerics.ranking import ranked
from roboaccord.numerics.rotations import rpy_matrix

from roboaccord_files.parity.lumps import lumped_links
from roboaccord_files.parity.words import ParityCode

DYNAMICS = ("mass matrix", "gravity forces", "acceleration")  # quantities of a whole robot
# Codes of failures for which an engine is not to blame, so that it is not judged.
NOT_JUDGED = (ParityCode.NO_ANSWER, ParityCode.NOT_READ, ParityCode.CONVERTED)
# Number of states, of all that are drawn, in which mass matrices and gravity forces are compared. A
# matrix has n^2 numbers, so few states will do.
STATICS_STATES = 10

# Errors allowed; eps = 2.2e-16 is the relative round-off of a number.
# Relative; a smaller error is no difference. It is half of the digits, sqrt(eps) = 1.5e-8, so that
# a number written with six digits differs from the exact one.
TOLERANCE = 1e-8
# Relative error of accelerations allowed for each unit of the condition number of the mass matrix:
# the errors of some ten operations, 10 eps, are enlarged by the condition number.
ROUND_OFF_PER_CONDITION = 10.0 * float(np.finfo(float).eps)
# rad; error of angles in SDFormat's text, near a pitch of 90 degrees: sqrt(eps / 2), by arcsin.
ANGLE_ERROR = 1e-8
# Multiple of the effect of ANGLE_ERROR that is allowed. By choice: the effect is computed for one
# random turn of the joints, which may miss the worst one; 1e-7 is still below six digits of a file.
ANGLE_ERROR_MARGIN = 10.0
# Fraction of the inertia m L^2; its round-off: 500 eps, for some 100 sums.
INERTIA_ROUND_OFF = 1e-13
# Fraction of m g L; round-off of gravity forces, which cancel where a robot is balanced: 50 eps.
GRAVITY_ROUND_OFF = 1e-14
# m; least size of a robot to which offsets are relative, so that none divides by 0: that of a robot
# whose joints are all at its origin. Offsets of 1 nm then count (TOLERANCE times it).
SMALLEST_SIZE = 0.1


@dataclass
class ReferenceReading:
    """The reference's reading of a text, its accelerations, and the errors that round-off explains.

    Args:
        tree: links and joints of the text.
        question: base, joints and states that are compared.
        rounded: whether the engine reads a text with rounded angles.

    Attributes:
        reading: links, joints and dynamics of the tree.
        statics: mass matrix (m, m) and gravity forces (m,) in each state.
        accelerations: accelerations (m,) in each state of the question.
        tolerance: relative error allowed of all quantities but accelerations.
        gravity_tolerance: error allowed of gravity forces [N m or N], which cancel in part.
        size: size of the robot, to which offsets are relative [m].
    """

    tree: Tree
    question: Question
    rounded: bool = False

    def __post_init__(self) -> None:
        self.reading = TreeReading(self.tree, self.question)
        self.statics = self.reading.all_statics(self.question.states)
        self.accelerations = self.reading.accelerations(self.question.states)
        self.tolerance = ANGLE_ERROR_MARGIN * ANGLE_ERROR if self.rounded else TOLERANCE
        cancellation = self.tolerance if self.rounded else GRAVITY_ROUND_OFF
        self.gravity_tolerance = cancellation * self._largest_moment()
        self.size = size_of(self.tree)
        self._rounding_error = self._error_by_rounding() if self.rounded else 0.0

    def allowed(self, state: int) -> float:
        """Return the relative error of accelerations that round-off explains in state `state`."""
        matrix, _ = self.statics[state]
        if not matrix.size:  # nothing moves
            return TOLERANCE
        condition = np.linalg.cond(matrix) if np.isfinite(matrix).all() else np.inf
        round_off = ROUND_OFF_PER_CONDITION * float(condition)
        return max(TOLERANCE, self._rounding_error, round_off)

    def _largest_moment(self) -> float:
        """Return m g L: the robot's weight at the end of its longest arm [N m]."""
        lengths = reaches(self.tree)
        arms = [lengths[k.name] + float(np.linalg.norm(k.centre)) for k in self.tree.links]
        return GRAVITY * self.reading.mass * max(arms)

    def _error_by_rounding(self) -> float:
        """Return the error of accelerations by joints turned by ANGLE_ERROR, times the margin."""
        rng = np.random.default_rng(0)
        turns = [rpy_matrix(*rng.uniform(-ANGLE_ERROR, ANGLE_ERROR, 3)) for _ in self.tree.joints]
        turned_joints = zip(self.tree.joints, turns, strict=True)
        joints = tuple(replace(j, rotation=j.rotation @ turn) for j, turn in turned_joints)
        turned = TreeReading(replace(self.tree, joints=joints), self.question)
        pairs = zip(turned.accelerations(self.question.states), self.accelerations, strict=True)
        return ANGLE_ERROR_MARGIN * max(relative_at(changed, exact)[0] for changed, exact in pairs)


def reaches(tree: Tree) -> dict[str, float]:
    """Return the length of the chain of joint origins from the root to each link [m], by name."""
    lengths = {tree.links[0].name: 0.0}
    for joint in tree.joints:
        lengths[joint.child] = lengths[joint.parent] + float(np.linalg.norm(joint.position))
    return lengths


def size_of(tree: Tree) -> float:
    """Return the largest coordinate of a joint's origin, but at least SMALLEST_SIZE [m]."""
    return max([float(np.abs(j.position).max()) for j in tree.joints] + [SMALLEST_SIZE])


def finding_of(worst: Difference | None, failure: ParityCode | None, refusal: str) -> Finding:
    """Return the finding of a reading: within the allowed errors, outside, or not judged.

    Args:
        worst: the largest difference; None if there is none.
        failure: code of the reason why there is no reading; None if there is one.
        refusal: that reason in the engine's words.
    """
    if failure:
        reasons = because(failure), because(Code.TEXT, text=refusal)
        return Finding.not_judged(*reasons) if failure in NOT_JUDGED else Finding.outside(*reasons)
    if worst and worst.excess > 1.0:
        differs = because(ParityCode.DIFFERS, error=worst.error)
        where, size = worst.where, worst.finite
        return Finding.outside(differs, quantity=worst.quantity, where=where, size=size)
    return Finding.within()


@dataclass(frozen=True)
class ReadingOutcome:
    """An engine's reading of a text, or its refusal, and the differences from the reference.

    Args:
        differences: from the reference, the worst first.
        reading: reading of the engine; None if it refuses the text.
        refusal: why it does, in its words; "" if it does not.
        reference: reading with which it was compared; None if that has no accelerations.
    """

    differences: tuple[Difference, ...]
    reading: Reading | None
    refusal: str = ""
    reference: ReferenceReading | None = None

    @property
    def failure(self) -> ParityCode | None:
        """REFUSED if the engine refuses the text, else None."""
        return ParityCode.REFUSED if self.reading is None else None

    @property
    def is_incomplete(self) -> bool:
        """Whether the engine refuses the text, or lacks some of its links and joints."""
        return self.reading is None or (self.worst is not None and self.error is None)

    @property
    def worst(self) -> Difference | None:
        """The difference with the largest error relative to the allowed one; None if none."""
        return self.differences[0] if self.differences else None

    @property
    def error(self) -> float | None:
        """The relative error of the worst one; None for a refusal, or if it is not finite."""
        return self.worst.finite if self.worst else None

    @property
    def agrees(self) -> bool:
        """Whether the engine reads the text as the reference does."""
        return finding_of(self.worst, self.failure, self.refusal).outcome is Outcome.WITHIN


def compare(reference: ReferenceReading, reading: Reading) -> list[Difference]:
    """Return all differences of a reading, within what is allowed or not, the worst first."""
    differences = [*_joint_differences(reference, reading), *_link_differences(reference, reading)]
    missing = sorted(set(reference.question.joints) ^ set(reading.joints))
    reason = because(Code.MISSING)
    differences += [Difference("joint", name, np.inf, TOLERANCE, reason) for name in missing]
    if not missing:
        differences += _dynamics_differences(reference, reading)
    return ranked(differences, lambda d: -d.excess)


def _joint_differences(reference: ReferenceReading, reading: Reading) -> Iterator[Difference]:
    """Yield the differences of each joint: axis, origin, limits and rotor inertia."""
    allowed, size = reference.tolerance, reference.size
    expected_rotors = reference.reading.apart.get("armature", {})
    rotors = reading.apart.get("armature", {})
    for name, expected in reference.reading.hinges.items():
        read = reading.hinges.get(name)
        if read is None:
            continue
        yield differ.compare_axis(name, expected.axis, read.axis, allowed)
        yield differ.compare_value("origin", name, expected.anchor, read.anchor, allowed, size, "m")
        limits = (expected.lower, expected.upper), (read.lower, read.upper)
        yield differ.compare_limits(name, *limits, allowed)
        inertias = expected_rotors.get(name, 0.0), rotors.get(name, 0.0)
        largest = max(inertias) or 1.0
        yield differ.compare_value("armature", name, *inertias, allowed, largest, "kg m^2")


def _link_differences(reference: ReferenceReading, reading: Reading) -> Iterator[Difference]:
    """Yield the differences of each link in mass, centre of mass and inertia."""
    allowed, size = reference.tolerance, reference.size
    round_off = INERTIA_ROUND_OFF * size**2
    for name, expected in lumped_links(reference.tree, reading).items():
        read = reading.links.get(name)
        yield from differ.compare_link(name, expected, read, allowed, size, round_off)


def _dynamics_differences(reference: ReferenceReading, reading: Reading) -> Iterator[Difference]:
    """Yield the worst difference of each quantity of DYNAMICS over all states."""
    question = reference.question
    base_names = ["base"] * 6 if question.base == "free" else []  # a free base has six rows
    names = [*base_names, *question.joints]
    worst = {quantity: Difference(quantity, "", 0.0, TOLERANCE) for quantity in DYNAMICS}

    def keep_worse(quantity: str, read: Array, expected: Array, state: int) -> None:
        """Keep the difference of a quantity in a state if it is the worst so far."""
        error, index = relative_at(read, expected)
        allowed = reference.tolerance
        if quantity == "gravity forces":
            largest = float(np.abs(expected).max(initial=0.0)) or 1.0
            allowed = max(allowed, reference.gravity_tolerance / largest)
        if quantity == "acceleration" and error > TOLERANCE:
            allowed = reference.allowed(state)
        if error / allowed > worst[quantity].excess:
            # `index` counts all numbers of a matrix, row by row; each has a name by its column.
            worst[quantity] = Difference(quantity, names[index % len(names)], error, allowed)

    for i, read in enumerate(reading.accelerations(question.states)):
        keep_worse("acceleration", read, reference.accelerations[i], i)
    for i, state in enumerate(question.states[:STATICS_STATES]):
        mass, gravity = reading.statics(state)
        expected_mass, expected_gravity = reference.statics[i]
        keep_worse("mass matrix", mass, expected_mass, i)
        keep_worse("gravity forces", gravity, expected_gravity, i)
    yield from worst.values()

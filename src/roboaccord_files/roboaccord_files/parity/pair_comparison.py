"""Compare two descriptions: list what differs, and how much each difference changes accelerations.

Are two files, say of two versions, descriptions of one robot? placing.py matches the rigid bodies
of the two robots, and pair_differences.py finds the differences of matched links and joints, each
with a change: a function that gives the first robot's tree the value of the second. The effect of a
difference is the largest relative change of accelerations at random states when this change alone
is made. The second robot's tree is never changed.

`compare_files` returns a `Pair` (pair.py). door.py calls it in another process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
from roboaccord.contract import AccordError, Array, check_known
from roboaccord.contract.outcome import Cause
from roboaccord.description.tree import MOVING, Joint, Tree
from roboaccord.description.urdf_file import UrdfFile
from roboaccord.engines.differences import relative_at
from roboaccord.engines.reading import Base, TreeReading, draw_question
from roboaccord.numerics.ranking import ranked
from roboaccord.numerics.rotations import rotation_vector

from roboaccord_files.parity import pair_differences as differ
from roboaccord_files.parity.bench import Bench
from roboaccord_files.parity.pair import Pair
from roboaccord_files.parity.pair_differences import Change, DifferenceAndChange, Mimic, difference
from roboaccord_files.parity.placing import LinkPair, Pairing
from roboaccord_files.parity.poses import Match
from roboaccord_files.repair.joints import MIMIC


def compare_files(
    one: UrdfFile, other: UrdfFile, names: Mapping[str, str], tolerance: float, seed: int
) -> Pair | str:
    """Compare two descriptions; called in another process, from which no exception comes back.

    Args:
        one, other: the first and the second file, as they were read.
        names: links and joints of the second by those of the first, as the user states them.
        tolerance: relative deviation below which quantities count as equal.
        seed: seed of the random states.

    Returns:
        The differences, or the reason why nothing could be compared.
    """
    try:
        return Comparison(one, other, names, tolerance, seed).result()
    except AccordError as error:
        return str(error)


class Comparison:
    """Comparison of two descriptions; the arguments are those of `compare_files`."""

    def __init__(
        self, one: UrdfFile, other: UrdfFile, names: Mapping[str, str], tolerance: float, seed: int
    ) -> None:
        self._names = names
        self._tolerance = tolerance
        self._same_format = one.form == other.form  # formats do not state the same quantities
        # Joints by each quantity that one of the two formats cannot state.
        self._unstated = dict[str, dict[str, None]]()
        self._benches = Bench(one, seed=seed), Bench(other, seed=seed)
        # Two trees with the same moving joints (`_fixed`: those that move in one robot alone, and
        # are fixed in both trees), and their bodies matched.
        one_tree, other_tree = (bench.tree for bench in self._benches)
        check_names(names, one_tree, other_tree)
        first, second, self._fixed = fix_both(one_tree, other_tree, names)
        self._pairing = Pairing(first, second, names, tolerance, (one.unweighed, other.unweighed))
        # Links and joints of the second robot by those of the first.
        matches = self._pairing.matches.values()
        links = [pair for match in matches for pair in self._pairing.links(match)]
        joints = ((match.one.joint, match.other.joint) for match in matches)
        self._links = {pair.name: pair.partner for pair in links}
        self._joints = {one.name: two.name for one, two in joints if one and two}
        self._mimics, other_mimics = differ.mimics_of(one), differ.mimics_of(other)
        leaders = {self._partner(n): self._partner(m.leader) for n, m in self._mimics.items()}
        self._other_mimics = differ.inverted_mimics(other_mimics, leaders)
        # States at which accelerations are compared; fixed base if one of the robots has it.
        self._bases = [bench.question.base for bench in self._benches]
        self._base: Base = "fixed" if "fixed" in self._bases else "free"
        self._question = draw_question(first, self._base, seed)
        # The first robot's tree, to which changes are made, and its accelerations before them.
        self._tree = differ.with_lumped_masses(first, links)
        self._accelerations: list[Array] | None = None
        with suppress(AccordError):  # raised if masses leave accelerations undetermined
            self._accelerations = self._accelerations_of(self._tree)

    def _partner(self, joint: str) -> str:
        """Return the name in the second robot of a joint of the first."""
        return self._joints.get(joint, self._names.get(joint, joint))

    def result(self) -> Pair:
        """Return all differences, in the order of their effect."""
        differences = [*self._differences()]
        with_effects = [replace(d, effect=self._effect([change])) for d, change in differences]
        total_effect = self._effect([change for _, change in differences])
        ordered = ranked(with_effects, lambda d: -np.inf if d.effect is None else -d.effect)
        robots = self._benches[0].summary(), self._benches[1].summary()
        partners = self._links | self._joints
        names = {name: partner for name, partner in partners.items() if name != partner}
        notes = tuple(self._notes())
        return Pair(robots, tuple(ordered), total_effect, names, notes, self._tolerance)

    def _differences(self) -> Iterator[DifferenceAndChange]:
        """Yield all differences: of bases, of joints that one robot lacks, then body by body."""
        if self._bases[0] != self._bases[1] and self._same_format:
            yield difference(Cause("base"), "")
        for name, partner in self._fixed.items():
            yield difference(Cause("kind", name), partner)
        only_in_first, only_in_second = self._pairing.unmatched
        yield from (difference(Cause("joint", name), "") for name in only_in_first)
        yield from (difference(Cause("joint", ""), name) for name in only_in_second)
        for match in self._pairing.matches.values():
            yield from self._link_differences(match)
            if match.one.joint and match.other.joint:
                yield from differ.pose_differences(match, self._tolerance, self._pairing.size)
                yield from self._number_differences(match.one.joint, match.other.joint)

    def _link_differences(self, match: Match) -> Iterator[DifferenceAndChange]:
        """Yield the differences of the links of a body that are compared."""
        for pair in self._pairing.links(match):
            differences = self._pairing.link_differences(pair)
            for quantity in [d.quantity for d in differences if d.excess > 1.0]:
                if self._is_compared(match, pair, quantity):
                    yield differ.link_difference(pair, quantity)

    def _is_compared(self, match: Match, pair: LinkPair, quantity: str) -> bool:
        """Return whether a quantity of a link is compared.

        A link that is fixed to the world moves nothing. If only one robot states its mass, the
        difference counts only where the other's base is free.
        """
        both_have_mass = bool(pair.one.mass and pair.other.mass)
        if both_have_mass or self._base == "free" or match.above:
            return True
        return quantity == "mass" and self._bases[0 if pair.one.mass else 1] == "free"

    def _number_differences(self, one: Joint, other: Joint) -> Iterator[DifferenceAndChange]:
        """Yield the differences of the numbers of a joint, and of what it mimics.

        Quantities that the format of one file cannot state become a note instead.
        """
        mimic = self._mimics.get(one.name, Mimic())
        other_mimic = self._other_mimics.get(other.name, Mimic())
        if self._partner(mimic.leader) != other_mimic.leader:
            yield difference(Cause(MIMIC, one.name, axis="joint"), other.name, differ.unchanged)
            mimic = other_mimic = Mimic()
        mimics = mimic, other_mimic
        for number in differ.number_differences(one, other, mimics, self._tolerance):
            cause = number.difference.cause
            is_number = cause.size is not None or cause.quantity == "limit"
            if self._same_format or (is_number and cause.quantity != differ.SERVO):
                yield number
            else:
                self._unstated.setdefault(cause.quantity, {})[one.name] = None

    def _accelerations_of(self, tree: Tree) -> list[Array]:
        """Return the accelerations of a tree, with damping and dry friction as efforts."""
        by_name = {joint.name: joint for joint in tree.moving}
        joints = [by_name[name] for name in self._question.joints]
        damping = np.array([joint.damping for joint in joints])
        friction = np.array([joint.friction for joint in joints])
        states = [
            replace(state, effort=state.effort - damping * state.qd - friction * np.sign(state.qd))
            for state in self._question.states
        ]
        return TreeReading(tree, self._question).accelerations(states)

    def _effect(self, changes: Sequence[Change]) -> float | None:
        """Return the largest relative change of accelerations by changes of the first robot.

        None if a difference has no change, or accelerations are not determined.
        """
        tree = self._tree
        for change in changes:
            if change is None:
                return None
            tree = change(tree)
        if self._accelerations is None:
            return None
        if tree is self._tree:
            return 0.0
        with suppress(AccordError):
            pairs = zip(self._accelerations_of(tree), self._accelerations, strict=True)
            return max((relative_at(after, before)[0] for after, before in pairs), default=0.0)
        return None

    def _notes(self) -> Iterator[str]:
        """Yield notes on what is not compared, or deviates without counting as a difference."""
        if self._bases[0] != self._bases[1]:
            yield f"the base is {self._bases[0]} in the first alone; compared {self._base}"
        pose = self._pairing.matches[self._tree.links[0].name].pose
        distance = float(np.linalg.norm(pose.position))
        angle = float(np.linalg.norm(rotation_vector(pose.rotation)))
        if max(distance / self._pairing.size, angle) > self._tolerance:
            moved = f"{distance:.4g} m and {np.degrees(angle):.4g} degrees"
            yield f"the root's frame is {moved} off in the second"
        for file in (bench.file for bench in self._benches):
            if file.missing:
                count, folder = len(file.missing), Path(file.missing[0]).parent
                yield f"shapes of {file.path.name} are missing: {count} files, in {folder}"
            if file.unweighed:
                links = ", ".join(file.unweighed)
                yield f"masses of missing meshes are not compared: {links}"
        for key, names in self._unstated.items():
            yield f"{key} is read from one alone, and not compared: {', '.join(names)}"


def check_names(names: Mapping[str, str], one: Tree, other: Tree) -> None:
    """Check that the robots have the links and joints that the user matches.

    Raises:
        AccordError: if no link or joint of a robot has the name.
    """
    for robot, tree, mapped in ("first", one, names.keys()), ("second", other, names.values()):
        existing = {link.name for link in tree.links} | {joint.name for joint in tree.joints}
        check_known(f"--map: the {robot} has no link or joint ", mapped, existing)


def fix_both(one: Tree, other: Tree, names: Mapping[str, str]) -> tuple[Tree, Tree, dict[str, str]]:
    """Return two trees whose joints are fixed if they are fixed in one of them, and these joints.

    The joints are names in the second tree, by names in the first.
    """
    moves_in_other = {joint.name: joint.kind in MOVING for joint in other.joints}
    fixed = dict[str, str]()
    for joint in one.joints:
        partner = names.get(joint.name, joint.name)
        moves = joint.kind in MOVING
        if moves_in_other.get(partner, moves) != moves:
            fixed[joint.name] = partner

    def with_fixed(tree: Tree, fixed_names: set[str]) -> Tree:
        """Return a tree in which some joints are fixed."""
        joints = (replace(j, kind="fixed") if j.name in fixed_names else j for j in tree.joints)
        return replace(tree, joints=tuple(joints))

    return with_fixed(one, {*fixed}), with_fixed(other, {*fixed.values()}), fixed

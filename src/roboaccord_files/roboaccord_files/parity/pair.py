"""Two descriptions side by side: one robot or two, and what each difference does to accelerations.

Bodies are matched and placed in placing.py; figures are those by which engines are compared. A
number that `Joint` gets is compared without a change here; what is compared of the text is
`numbers_of`. Keys of the JSON are fields of `Pair` and `PairDifference`, and stay. `compare_files`
is called by name in another process. TOLERANCE covers the digits of texts.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Annotated, Any, TypeAlias

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Cause
from roboaccord.contract.results import INLINE, Json, Quantity, Shown, by_fields
from roboaccord.contract.state import Array
from roboaccord.description.tree import MOVING, Joint, Tree
from roboaccord.description.tree_text import ENDLESS
from roboaccord.description.urdf_file import UrdfFile
from roboaccord.engines.differences import compare_value, relative_at
from roboaccord.engines.reading import Base, TreeReading, draw_question
from roboaccord.numerics.ranking import ranked
from roboaccord.numerics.rotations import axis_angle_matrix, rotation_vector

from roboaccord_files.parity.bench import Bench
from roboaccord_files.parity.placing import LinkPair, Match, Pairing
from roboaccord_files.parity.result import RobotParity
from roboaccord_files.repair.joints import MIMIC

TOLERANCE = 1e-5  # relative: MuJoCo, for one, writes six digits
PRINCIPAL = 1e-5  # products of inertia along principal axes that are digits of a text
AXES = "xyz"
TENSOR = [a + b for a in AXES for b in AXES]
ENDS = ("lower", "upper")
NUMBERS = [e.name for e in fields(Joint) if e.type == "float" and e.name not in ENDS]
PARTS = [e.name for e in fields(Joint) if str(e.type).startswith("tuple[float")]
ACTING = {*NUMBERS, *PARTS} - {"effort"}  # on accelerations
SERVO = "servo"  # which MJCF alone states
Mimic: TypeAlias = tuple[str, float, float]
"""The joint that one mimics, multiplier and offset."""
ALONE: Mimic = ("", 0.0, 0.0)
Change = Callable[[Tree], Tree] | None
"""Gives the first robot's tree the second's value; None for what makes other joints."""


@dataclass(frozen=True)
class PairDifference:
    """Hold a quantity that two descriptions have otherwise.

    Args:
        cause: what, where in the first, and by how much: the second's minus the first's, or a part
            of the first's where the unit is 1.
        other: the link or joint in the second.
        values: in the first and in the second; None for what is no number.
        effect: how much it alone changes accelerations at random states, relative; None where it
            makes other joints, or accelerations are not determined.
    """

    cause: Cause = field(metadata=INLINE)
    other: str
    values: tuple[float | None, float | None] = (None, None)
    effect: Annotated[float | None, Quantity("1", "change of accelerations by it alone")] = None


Found = tuple[PairDifference, Change]


@dataclass(frozen=True)
class Pair(Shown):
    """Hold whether two descriptions are of one robot, and how they differ.

    Args:
        robots: both, without engines.
        differences: by effect, the largest first.
        acceleration: how much all of them change accelerations; None where joints differ.
        names: links and joints of the second by those of the first, where they are others.
        notes: what is not counted.
        tolerance: relative, below which nothing is a difference.
        command: by which it is done again.
    """

    robots: tuple[RobotParity, RobotParity]
    differences: tuple[PairDifference, ...]
    acceleration: Annotated[float | None, Quantity("1", "change of accelerations by all")]
    names: Mapping[str, str]
    notes: tuple[str, ...]
    tolerance: float
    command: str = ""

    @property
    def ok(self) -> bool:
        """Whether they are one robot."""
        return not self.differences

    def to_json(self) -> Mapping[str, Json]:
        """Return the verdict, too."""
        return {"verdict": "pass" if self.ok else "fail", **by_fields(self)}


def unchanged(tree: Tree) -> Tree:
    """Return a tree: what is off acts on no acceleration."""
    return tree


def of_joint(name: str, **values: Any) -> Change:
    """Return what gives a joint of a tree other values."""
    return lambda tree: replace(
        tree, joints=tuple(replace(j, **values) if j.name == name else j for j in tree.joints)
    )


def of_link(name: str, **values: Any) -> Change:
    """Return what gives a link of a tree other values."""
    return lambda tree: replace(
        tree, links=tuple(replace(k, **values) if k.name == name else k for k in tree.links)
    )


def lumped(tree: Tree, pairs: Sequence[LinkPair]) -> Tree:
    """Return a tree whose links have what is lumped in them, which itself has nothing."""
    nothing: dict[str, Any] = {"mass": 0.0, "inertia": np.zeros((3, 3))}
    wants = {name: nothing for pair in pairs for name in pair.members}
    wants |= {pair.name: vars(pair.want) for pair in pairs}
    return replace(tree, links=tuple(replace(k, **wants.get(k.name, {})) for k in tree.links))


def found(
    cause: Cause, other: str, change: Change = None, values: tuple[float | None, ...] = (None, None)
) -> Found:
    """Return a difference without its effect."""
    return PairDifference(cause, other, (values[0], values[1])), change


def compare_files(
    one: UrdfFile, other: UrdfFile, names: Mapping[str, str], tolerance: float, seed: int
) -> Pair | str:
    """Compare two descriptions; for another process, to which no error goes.

    Args:
        one, other: as read.
        names: links and joints of the second by those of the first.
        tolerance: relative, below which nothing is a difference.
        seed: of the random states.

    Returns:
        What differs, or why nothing could be compared.
    """
    try:
        return Comparison(one, other, names, tolerance, seed).result()
    except AccordError as error:
        return str(error)


class Comparison:
    """Compare two descriptions; the arguments are those of `compare_files`."""

    def __init__(
        self, one: UrdfFile, other: UrdfFile, names: Mapping[str, str], tolerance: float, seed: int
    ) -> None:
        self._files, self._tolerance, self._names = (one, other), tolerance, names
        self._benches = Bench(one, seed=seed), Bench(other, seed=seed)
        trees = [bench.tree for bench in self._benches]
        for given, tree, which in zip((names, names.values()), trees, ("first", "second")):
            known = {k.name for k in tree.links} | {j.name for j in tree.joints}
            if unknown := [name for name in given if name not in known]:
                raise AccordError(f"--map: the {which} has no link or joint {unknown[0]}")
        self._one, self._other, self._held = held(trees[0], trees[1], names)
        self._pairing = Pairing(self._one, self._other, names, tolerance)
        self._bases = [bench.question.base for bench in self._benches]
        self._base: Base = "fixed" if "fixed" in self._bases else "free"
        self._question = draw_question(self._one, self._base, seed)
        self._alike = bool(one.notes) == bool(other.notes)  # no format that says less
        links = [p for m in self._pairing.matches.values() for p in self._pairing.links(m)]
        self._own: list[Array] | None = None
        self._one = lumped(self._one, links)
        with suppress(AccordError):  # masses that leave accelerations open
            self._own = self._answers(self._one)
        moving = ((m.one.joint, m.other.joint) for m in self._pairing.matches.values())
        self._joints = {a.name: b.name for a, b in moving if a and b}
        self._links = {pair.name: pair.partner for pair in links}
        mimics = mimics_of(one), mimics_of(other)
        wanted = {self._partner(n): self._partner(m[0]) for n, m in mimics[0].items()}
        self._mimics = mimics[0], led_by(mimics[1], wanted)
        self._unstated = dict[str, dict[str, None]]()

    def _partner(self, joint: str) -> str:
        """Return what a joint of the first is called in the second."""
        return self._joints.get(joint, self._names.get(joint, joint))

    def result(self) -> Pair:
        """Return what differs, by effect."""
        differ = [*self._all()]
        sized = [replace(d, effect=self._effect([change])) for d, change in differ]
        whole = self._effect([change for _, change in differ])
        order = ranked(sized, lambda d: -np.inf if d.effect is None else -d.effect)
        one, other = (
            RobotParity(bench.file.name, str(bench.file.path), bench.question.base,
                        len(bench.tree.moving), sum(link.mass for link in bench.tree.links))
            for bench in self._benches
        )  # fmt: skip
        both = [*self._links.items(), *self._joints.items()]
        names = {name: partner for name, partner in both if name != partner}
        notes = tuple(self._notes())
        return Pair((one, other), tuple(order), whole, names, notes, self._tolerance)

    def _all(self) -> Iterator[Found]:
        if self._bases[0] != self._bases[1] and self._alike:
            yield found(Cause("base"), "")
        for name, partner in self._held.items():
            yield found(Cause("kind", name), partner)
        for i, left in enumerate(self._pairing.left):
            yield from (found(Cause("joint", "" if i else n), n if i else "") for n in left)
        for match in self._pairing.matches.values():
            yield from self._of_links(match)
            if match.one.joint and match.other.joint:
                yield from self._of_motion(match, match.one.joint, match.other.joint.name)
                yield from self._of_numbers(match.one.joint, match.other.joint)

    def _of_links(self, match: Match) -> Iterator[Found]:
        """Yield what differs in the links of a body.

        Of what hangs on the world, masses that one robot lacks count if its base could be free.
        """
        for pair in self._pairing.links(match):
            want, have = pair.want, pair.have
            welded = self._base == "fixed" and not match.above
            off = self._pairing.link_differences(pair)
            for quantity in [d.quantity for d in off if d.excess > 1.0]:
                one, two, axes = np.array([want.mass]), np.array([have.mass]), [""]
                if quantity == "centre":
                    one, two, axes = want.centre, have.centre, [*AXES]
                elif quantity == "inertia":
                    one, two, axes = *along_axes(want.inertia, have.inertia), TENSOR
                at, size = largest(two - one)
                values = float(one.flat[at]), float(two.flat[at])
                if share := quantity != "centre":
                    size /= values[0] or float(np.abs(one).max()) or values[1]
                cause = Cause(quantity, pair.name, size, None, "1" if share else "m", axes[at])
                alone = welded and not (want.mass and have.mass)
                if not alone or (quantity == "mass" and self._bases[not want.mass] == "free"):
                    change = of_link(pair.name, **{quantity: getattr(have, quantity)})
                    yield found(cause, pair.partner, change, values)

    def _of_motion(self, match: Match, one: Joint, other: str) -> Iterator[Found]:
        """Yield what differs in where a joint is, and along or about what it moves."""
        name, motion, allowed = one.name, match.motion(), self._tolerance
        assert match.above
        if match.one.slides != match.other.slides:
            yield found(Cause("kind", name), other)
        offset = match.above.one.links[one.parent].turn.T @ motion.offset
        at, size = largest(offset)
        if compare_value("origin", name, 0.0, offset, allowed, self._pairing.size).excess > 1.0:
            there = one.position + offset
            values = float(one.position[at]), float(there[at])
            cause = Cause("origin", name, size, None, "m", AXES[at])
            yield found(cause, other, of_joint(name, position=there), values)
        turned = one.rotation @ motion.tilt if motion.tilted else one.rotation
        angle = np.arctan2(
            np.linalg.norm(np.cross(one.axis, motion.along)), one.axis @ motion.along
        )
        if angle > allowed:
            at, _ = largest(motion.along - one.axis)
            change = {"rotation": turned} if motion.tilted else {"axis": motion.along}
            cause = Cause("axis", name, float(angle), None, "rad", AXES[at])
            values = float(one.axis[at]), float(motion.along[at])
            yield found(cause, other, of_joint(name, **change), values)
        if (size := float(np.linalg.norm(motion.zero))) > allowed:
            turned = turned @ axis_angle_matrix(motion.zero / size, np.array(size))
            cause = Cause(
                "zero", name, float(np.copysign(size, one.axis @ motion.zero)), None, "rad"
            )
            yield found(cause, other, of_joint(name, rotation=turned), (0.0, cause.size))

    def _of_numbers(self, one: Joint, other: Joint) -> Iterator[Found]:
        """Yield what differs in the numbers of a joint."""
        name, partner, unit = one.name, other.name, "m" if one.kind == "prismatic" else "rad"
        leads = [m.get(j.name, ALONE) for m, j in zip(self._mimics, (one, other), strict=True)]
        mine, others = map(numbers_of, (one, other), self._files, leads)
        if self._partner(leads[0][0]) != leads[1][0]:
            yield found(Cause(MIMIC, name, axis="joint"), partner, unchanged)
        for (key, part), want in mine.items():
            have, limit = others[key, part], key == "limit"
            whole, size = bool(np.isfinite([want, have]).all()), None
            most = max(abs(want), abs(have), 1.0 if limit else 0.0)
            if want == have or (whole and abs(want - have) <= self._tolerance * most):
                continue
            if not self._alike and (key == SERVO or not (whole or limit)):
                self._unstated.setdefault(key, {})[name] = None
                continue
            share = bool(want) and not limit
            if whole:
                size = have / want - 1.0 if share else have - want
            change = of_joint(name, **{key: getattr(other, key)}) if key in ACTING else unchanged
            cause = Cause(key, name, size, None, "1" if share else unit if limit else "", part)
            yield found(cause, partner, change, (want, have))

    def _answers(self, tree: Tree) -> list[Array]:
        """Return accelerations of a tree, its damping and dry friction taken from the efforts."""
        by_name = {joint.name: joint for joint in tree.moving}
        joints = [by_name[name] for name in self._question.joints]
        damping, friction = (
            np.array([getattr(j, k) for j in joints]) for k in ("damping", "friction")
        )
        states = [
            replace(s, effort=s.effort - damping * s.qd - friction * np.sign(s.qd))
            for s in self._question.states
        ]
        return TreeReading(tree, self._question).accelerations(states)

    def _effect(self, changes: Sequence[Change]) -> float | None:
        """Return how much changes of the first robot change accelerations; None for no bound."""
        tree = self._one
        for change in changes:
            if change is None:
                return None
            tree = change(tree)
        if tree is self._one or self._own is None:
            return None if self._own is None else 0.0
        with suppress(AccordError):
            pairs = zip(self._answers(tree), self._own, strict=True)
            return max((relative_at(mine, other)[0] for mine, other in pairs), default=0.0)
        return None

    def _notes(self) -> Iterator[str]:
        """Yield what is otherwise and not counted."""
        if self._bases[0] != self._bases[1]:
            yield f"the base is {self._bases[0]} in the first alone; compared {self._base}"
        pose = self._pairing.matches[self._one.links[0].name].pose
        away, turn = (float(np.linalg.norm(x)) for x in (pose.place, rotation_vector(pose.turn)))
        if max(away / self._pairing.size, turn) > self._tolerance:
            moved = f"{away:.4g} m and {np.degrees(turn):.4g} degrees"
            yield f"the root's frame is {moved} off in the second"
        for key, names in self._unstated.items():
            yield f"{key} is read from one alone, and not compared: {', '.join(names)}"


def held(one: Tree, other: Tree, names: Mapping[str, str]) -> tuple[Tree, Tree, dict[str, str]]:
    """Return trees in which joints are fixed that are in one of them, and those joints."""
    kinds = {joint.name: joint.kind in MOVING for joint in other.joints}
    pairs = {j.name: names.get(j.name, j.name) for j in one.joints}
    off = {j.name: pairs[j.name] for j in one.joints
           if kinds.get(pairs[j.name], j.kind in MOVING) != (j.kind in MOVING)}  # fmt: skip

    def fixed(tree: Tree, which: set[str]) -> Tree:
        joints = (replace(j, kind="fixed") if j.name in which else j for j in tree.joints)
        return replace(tree, joints=tuple(joints))

    return fixed(one, {*off}), fixed(other, {*off.values()}), off


@lru_cache(maxsize=2)
def joints_in(text: str) -> dict[str, ET.Element]:
    """Return the joints of a URDF by name."""
    return {each.get("name", ""): each for each in ET.fromstring(text).findall("joint")}


def mimics_of(file: UrdfFile) -> dict[str, Mimic]:
    """Return what joints mimic."""
    tags = ((name, each.find(MIMIC)) for name, each in joints_in(file.text).items())
    return {n: (tag.get("joint", ""), float(tag.get("multiplier", "1")),
                float(tag.get("offset", "0"))) for n, tag in tags if tag is not None}  # fmt: skip


def led_by(mimics: Mapping[str, Mimic], wanted: Mapping[str, str]) -> dict[str, Mimic]:
    """Return mimics, those the other way round whose leader follows them in `wanted`."""
    changed = dict(mimics)
    for name, (lead, times, offset) in mimics.items():
        if wanted.get(lead) == name and lead not in mimics and times:
            del changed[name]
            changed[lead] = name, 1.0 / times, -offset / times
    return changed


def numbers_of(joint: Joint, file: UrdfFile, mimic: Mimic) -> dict[tuple[str, str], float]:
    """Return the numbers of a joint beside geometry, by part."""
    values = {(key, ""): ended(getattr(joint, key)) for key in NUMBERS}
    values |= {("limit", end): ended(x) for end, x in zip(ENDS, joint.ends, strict=True)}
    for key in PARTS:
        values |= {(key, str(i)): float(x) for i, x in enumerate(getattr(joint, key))}
    written = joints_in(file.text).get(joint.name)
    limit = None if written is None else written.find("limit")
    values["velocity", ""] = ended(float("inf" if limit is None else limit.get("velocity", "inf")))
    return {**values, (MIMIC, "multiplier"): mimic[1], (MIMIC, "offset"): mimic[2]}


def ended(value: float) -> float:
    """Return a limit; infinity where it stands for none."""
    return value if abs(value) < ENDLESS else float(np.copysign(np.inf, value))


def largest(values: Array) -> tuple[int, float]:
    """Return the flat index of the largest value and the value."""
    at = int(np.argmax(np.abs(values)))
    return at, float(values.flat[at])


def along_axes(want: Array, have: Array) -> tuple[Array, Array]:
    """Return inertias (3, 3), along the first's principal axes if they are the second's, too."""
    axes = np.linalg.eigh(want)[1]
    turned = axes.T @ have @ axes
    off = np.abs(turned - np.diag(np.diag(turned))).max()
    same = off <= PRINCIPAL * np.abs(turned).max()
    return (axes.T @ want @ axes, turned) if same else (want, have)

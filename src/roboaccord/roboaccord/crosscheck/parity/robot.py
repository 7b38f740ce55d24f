"""Parity of one robot: every engine asked for its URDF, and for the text without each trap."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.crosscheck.differences import Difference
from roboaccord.crosscheck.parity.causes import Ask, Outcome, ablate, by_property, jointly
from roboaccord.crosscheck.parity.compare import (
    SAME,
    ReferenceReading,
    accelerations,
    compare,
    lump,
)
from roboaccord.crosscheck.parity.result import (
    Apart,
    Body,
    DifferenceCause,
    Examined,
    Loading,
    ReadingStatus,
    Shipped,
)
from roboaccord.description.edits import applied, unified
from roboaccord.description.extensions import EFFECTS
from roboaccord.description.meshes import PACKAGE
from roboaccord.description.traps import (
    MIMIC,
    Trap,
    duplicates,
    find_traps,
    large_meshes,
    repaired,
    written,
)
from roboaccord.description.tree import Tree
from roboaccord.description.urdf_file import UrdfFile, find_root, keep_prefixes, strip
from roboaccord.engines import check_engine, specs
from roboaccord.engines.reading import (
    Base,
    Question,
    Reading,
    base_of,
    draw_question,
    read_tree,
)
from roboaccord.engines.spec import EngineSpec

Settings: TypeAlias = Literal["default", "accord"]
"""Of engines: their own, or ours."""
SETTINGS: tuple[Settings, ...] = ("default", "accord")
APART = {
    "damping": ("dynamics", "damping"),
    "friction": ("dynamics", "friction"),
    "effort": ("limit", "effort"),
    "armature": ("armature", "value"),  # for which URDF has no word
    MIMIC: (MIMIC, ""),
}
"""What no comparison mixes in: element and attribute of a joint."""
FOR_ALL = ("limit in degrees",)  # traps that no reader sees
GAZEBO_REFUSED = "gazebo refused"


def reader_names() -> tuple[str, ...]:
    """Return the names of the engines that read descriptions."""
    return tuple(each.name for each in specs().values() if each.reader)


def reader(engine: str) -> type[Reading]:
    """Return an engine's reader.

    Raises:
        AccordError: if the engine is unknown or not installed.
    """
    found = _spec(engine)
    assert found.reader
    return found.load(found.reader)


def version_of(engine: str) -> str:
    """Return the version of an engine's reader.

    Raises:
        AccordError: if the engine is unknown or not installed.
    """
    return _spec(engine).load(_spec(engine).version)


def _spec(engine: str) -> EngineSpec:
    check_engine(engine, reader_names())
    return specs()[engine]


@dataclass
class Bench:
    """Ask engines for texts of one robot.

    Args:
        file: of the robot.
        base: `fixed` or `free`; what its root asks for if None.
        seed: of the states.
        planted: what an engine is given instead of the file's text, to see the fault found.
    """

    file: UrdfFile
    base: Base | None = None
    seed: int = 0
    planted: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        keep_prefixes(self.file.text)
        self.text = without_mimic(self.file.stripped())
        self._references = dict[tuple[str, bool], ReferenceReading]()

    @cached_property
    def tree(self) -> Tree:
        """The tree of the file, joints and links that share a name renamed."""
        names = [*duplicates(ET.fromstring(self.text))]
        return read_tree(repaired(self.text, names), self.file.path.name)

    @cached_property
    def question(self) -> Question:
        """What every engine is asked."""
        root, first = self.tree.links[0].name, find_root(ET.fromstring(self.text), "")
        if self.base == "free" and root == "world":
            raise AccordError(f"{self.file.path.name} hangs on the link world: its base is fixed")
        if self.base == "fixed" and root != first:
            raise AccordError(f"{self.file.path.name} floats above its link {first}: it is free")
        return draw_question(self.tree, self.base or base_of(self.tree), self.seed)

    def reference(self, urdf: str, rounded: bool) -> ReferenceReading:
        """Return the reference's reading and answers of a text."""
        key = urdf, rounded
        if key not in self._references:
            tree = read_tree(urdf)
            question = self.question
            if urdf != self.text:
                base = "fixed" if tree.links[0].name == "world" else question.base
                question = draw_question(tree, base, self.seed)
            self._references[key] = ReferenceReading(tree, question, rounded)
        return self._references[key]

    def read(
        self, engine: str, settings: str, urdf: str, question: Question | None = None
    ) -> Reading:
        """Return an engine's reading of a text.

        Raises:
            AccordError: if the engine is missing, or refuses it.
        """
        packages = self.packages if "<mesh" in urdf else {}
        return reader(engine)(urdf, question or self.question, settings, packages)

    @cached_property
    def packages(self) -> dict[str, Path]:
        """Folders of the packages that meshes name, where they are found."""
        found = dict(self.file.packages)
        for mesh in ET.fromstring(self.file.text).iter("mesh"):
            name = mesh.get("filename", "")
            path = self.file.find(name)
            if path and name.startswith(PACKAGE):
                package, _, inside = name.removeprefix(PACKAGE).partition("/")
                found.setdefault(package, path.parents[inside.count("/")])
        return found

    @cached_property
    def large(self) -> tuple[str, ...]:
        """Links whose mesh is far too large."""
        return large_meshes(self.file)

    def ask(self, engine: str, settings: str, urdf: str) -> Outcome:
        """Return what an engine makes of a text, against the reference of the same text.

        A planted text is held against the file's own.
        """
        against = self.text if engine in self.planted else urdf
        try:
            reference = self.reference(against, reader(engine).rounds)
        except AccordError as error:
            reference, unknown = None, str(error)
        question = reference.question if reference else self.question
        try:
            reading = self.read(engine, settings, urdf, question)
            if reference is None:
                if set(question.joints) == set(reading.joints):
                    accelerations(reading, question)  # which the engine may refuse
                return Outcome((_unknown(unknown, self.tree),), reading, unknown)
            found = compare(reference, reading)
        except AccordError as error:
            return Outcome((), None, str(error))
        return Outcome(tuple(found), reading, "", reference)


def _unknown(reason: str, tree: Tree) -> Difference:
    """Return the difference that stands for accelerations that the description leaves open."""
    names = [*(link.name for link in tree.links), *(joint.name for joint in tree.joints)]
    named = [name for name in names if f" {name} " in f"{reason} "]
    return Difference("acceleration", (named or [""])[0], math.inf, SAME)


def examine(bench: Bench, engine: str, settings: str = "default") -> Examined:
    """Return what an engine makes of a robot.

    The status is that of the robot whose joints mimic none; what mimic changes is a cause of its
    own, which changes no status.

    Raises:
        AccordError: if the engine is not installed.
    """
    given = bench.planted.get(engine, bench.file.stripped())
    urdf = without_mimic(given)
    asked = dict[str, Outcome]()

    def ask(text: str) -> Outcome:
        if text not in asked:
            asked[text] = bench.ask(engine, settings, text)
        return asked[text]

    version = version_of(engine)
    outcome, traps = ask(urdf), find_traps(given)
    causes = _causes(given, urdf, traps, ask)
    names = {cause.cause for cause in causes}
    remarks = [*_remarks(bench, outcome), *_of_the_file(bench, traps)]
    causes += [cause for cause in remarks if cause.cause not in names]
    status, beside = outcome.status, list(_beside(bench, engine))
    if outcome.reading is None:  # which has its own causes
        beside = [cause for cause in beside if cause.cause != GAZEBO_REFUSED]
    causes += beside
    if any(cause.cause == GAZEBO_REFUSED for cause in beside):
        status = ReadingStatus.REFUSED
    elif status is ReadingStatus.SAME and beside:
        status = ReadingStatus.DIFFER
    reading = outcome.reading
    ours = outcome if not reader(engine).has_settings else bench.ask(engine, "accord", urdf)
    errors = [d.finite for d in outcome.differences if d.quantity == "acceleration"]
    return Examined(
        status=status,
        settings=settings,
        version=version,
        mass=reading.mass if reading else None,
        order=reading.joints if reading else None,
        worst=outcome.differences[0] if outcome.differences else None,
        causes=tuple(causes),
        apart=_apart(bench, engine, settings, urdf, reading) if reading else Apart(),
        accord=status if ours is outcome else ours.status,
        acceleration=errors[0] if errors else None,
        refusal=outcome.refusal,
    )


def _causes(given: str, urdf: str, traps: list[Trap], ask: Ask) -> list[DifferenceCause]:
    """Return what is proven to make an engine differ or refuse a text, and what mimic does.

    Args:
        given: the text as the engine is given it.
        urdf: without mimic.
        traps: of the former.
        ask: the engine.
    """
    outcome = ask(urdf)
    if outcome.status is ReadingStatus.SAME:
        return ablate(given, [trap for trap in traps if trap.cause == MIMIC], ask)
    causes = ablate(given, traps, ask)
    mine = [trap for trap in traps if trap.cause != MIMIC]

    def without(causes: list[DifferenceCause]) -> tuple[list[Trap], Outcome]:
        known = [trap for trap in mine if trap.cause in {cause.cause for cause in causes}]
        return known, ask(repaired(urdf, known) if known else urdf)

    found = by_property(without(causes)[1], traps)
    if without([*causes, *found])[1].status is not ReadingStatus.SAME:
        hidden, more = list[DifferenceCause](), True
        while more:
            known, left = without([*causes, *hidden])
            again = jointly(urdf, mine, known, ask) if left.status is not ReadingStatus.SAME else []
            hidden, more = [*hidden, *again], bool(again)
        found = hidden or found
    named = {(cause.cause, cause.where) for cause in causes}
    causes += [cause for cause in found if (cause.cause, cause.where) not in named]
    if all(cause.cause == MIMIC for cause in causes):
        causes.append(_unexplained(outcome))
    return causes


def without_mimic(urdf: str) -> str:
    """Return a text in which no joint mimics another."""
    found = [trap for trap in find_traps(urdf) if trap.cause == MIMIC]
    return repaired(urdf, found) if found else urdf


def _unexplained(outcome: Outcome) -> DifferenceCause:
    worst = outcome.differences[0] if outcome.differences else None
    where = (worst.where,) if worst else ()
    fix = outcome.refusal or "compare the text with what the engine expects there"
    return DifferenceCause("not explained", where, outcome.error, None, fix)


def _remarks(bench: Bench, outcome: Outcome) -> Iterator[DifferenceCause]:
    """Yield what changes no dynamics and misleads all the same: joint order, a welded root."""
    reading = outcome.reading
    if reading is None:
        return
    order = [n.get("name") for n in ET.fromstring(bench.text).findall("joint")]
    wanted = [name for name in order if name in reading.joints]
    if list(reading.joints) != wanted and len(wanted) == len(reading.joints):
        first = next(a for a, b in zip(reading.joints, wanted, strict=True) if a != b)
        yield DifferenceCause(
            "joint order", (first,), None, None, "map joints by name, never by index"
        )
    root, total = bench.tree.links[0], sum(link.mass for link in bench.tree.links)
    lost = root.name not in reading.links and reading.mass < total * (1.0 - SAME)
    if lost and bench.question.base == "fixed" and not reading.keeps_root:
        fix = "compare total masses with a free base: what is welded to the world is left out"
        yield DifferenceCause("welded root", (root.name,), None, None, fix)


def _beside(bench: Bench, engine: str) -> Iterator[DifferenceCause]:
    """Yield what an engine makes of `<gazebo>`, which is taken out of what is compared."""
    text = without_mimic(strip(bench.planted.get(engine, bench.file.text), ("material",)))
    if "<gazebo" not in text:
        return
    try:
        found = reader(engine).beside(text)
    except AccordError as error:
        yield DifferenceCause(GAZEBO_REFUSED, (), None, None, f"with <gazebo>, {error}")
        return
    for cause, places in found.items():
        does, cure = EFFECTS[cause.replace(" ", "-")]
        yield DifferenceCause(cause, tuple(places), None, None, f"Gazebo alone {does}: {cure}")


def _of_the_file(bench: Bench, traps: list[Trap]) -> Iterator[DifferenceCause]:
    """Yield what is wrong in the file, and alike for every engine."""
    for trap in traps:
        if trap.cause in FOR_ALL:
            yield DifferenceCause(trap.cause, trap.where, None, None, trap.fix)
    if bench.large:
        fix = 'write the mesh\'s scale: scale="0.001 0.001 0.001" for millimetres'
        yield DifferenceCause("mesh scale", bench.large, None, None, fix)


def _apart(bench: Bench, engine: str, settings: str, urdf: str, reading: Reading) -> Apart:
    """Return what is never mixed into the comparison, where an engine has it otherwise.

    Read with mimic, and with the transmissions, for Drake limits no other effort; `reading` is of
    the text without them, `urdf`.
    """
    text = strip(bench.planted.get(engine, bench.file.text), ("gazebo", "material"))
    try:
        reading = reading if text == urdf else bench.read(engine, settings, text)
    except AccordError as error:
        return Apart(refused=str(error))
    wanted: dict[str, dict[str, float]] = {key: {} for key in APART}
    for joint in ET.fromstring(bench.file.text).findall("joint"):
        name = joint.get("name", "")
        for key, (tag, attribute) in APART.items():
            element = joint.find(tag)
            if element is not None and name in reading.joints:
                wanted[key][name] = float(element.get(attribute, "0")) if attribute else 1.0
    found = {}
    for key, values in wanted.items():
        have = reading.apart.get(key, {})
        names = [n for n in reading.joints if not _alike(values.get(n, 0.0), have.get(n, 0.0))]
        if names:
            found[key] = {n: (values.get(n, 0.0), have.get(n, 0.0)) for n in names}
    return Apart(found)


def _alike(a: float, b: float) -> bool:
    return a == b or math.isclose(a, b, rel_tol=SAME)


def load_shipped(bench: Bench, engine: str, settings: str) -> Shipped:
    """Return whether an engine loads the file with its meshes.

    By default each engine gets the paths as they are written; with our settings, where they lead.
    """
    urdf = bench.file.resolved() if settings == "accord" else bench.file.text
    wanted = shapes_of(urdf)
    have = wanted
    if wanted or "<mesh" in urdf:
        try:
            have = bench.read(engine, settings, urdf).shapes
        except AccordError as error:
            return Shipped(Loading.REFUSED, str(error))
    kinds = [kind for kind in sorted({*wanted, *have}) if wanted[kind] != have[kind]]
    return Shipped(Loading.LOADED, geometry={kind: (wanted[kind], have[kind]) for kind in kinds})


def shapes_of(urdf: str) -> Counter[str]:
    """Return how many collision shapes of each kind a text has."""
    return Counter(shape.tag for shape in ET.fromstring(urdf).iterfind("link/collision/geometry/*"))


@dataclass(frozen=True)
class Repaired:
    """Hold the text of a file after its certain repairs, as bytes.

    Args:
        data: the text.
        diff: from what was shipped, unified, with why.
        done: what was repaired.
        needs: numbers that only the robot's maker knows, a line each.
    """

    data: bytes
    diff: str
    done: tuple[Trap, ...]
    needs: tuple[str, ...]


def repair(file: UrdfFile, causes: Collection[str]) -> Repaired:
    """Return a file with the repairs of the causes named that are certain."""
    traps = [trap for trap in find_traps(file.text) if trap.cause in causes]
    done = tuple(trap for trap in traps if trap.certain)
    needs = (
        f"needs your number: {t.needs} of {name}" for t in traps if t.needs for name in t.where
    )
    data = file.shipped()
    found = written(data, done)
    diff = unified(data, found, file.path.name)
    return Repaired(applied(data, found), diff, done, tuple(dict.fromkeys(needs)))


def body_of(tree: Tree) -> Body:
    """Return what a robot is as a whole, at q = 0."""
    root, reach = tree.links[0].name, {tree.links[0].name: 0.0}
    for joint in tree.joints:
        reach[joint.child] = reach[joint.parent] + float(np.linalg.norm(joint.position))
    whole = lump(tree, root, [link.name for link in tree.links])
    moments = np.linalg.eigvalsh(whole.inertia)
    return Body(whole.mass, tuple(map(float, moments)), max(reach.values()))

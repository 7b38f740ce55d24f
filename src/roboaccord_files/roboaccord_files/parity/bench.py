"""Let engines and the reference read texts of one robot, and compare what they have read.

A reader is an engine's class that parses a URDF as the engine does (`reader` of its EngineSpec);
what it has read is a `Reading` (core engines/reading.py). The reference is the analytical model of
the same text. The search for causes changes the text many times: `Bench.ask` gives a text to an
engine's reader, compares the reading with the reference's of the same text, and returns a
`ReadingOutcome` (compare.py). Only a text that a test plants is compared with that of the file.

A `FileCase` is a file in one engine, which the levels of levels.py measure; `FileLevel` is the base
class of these levels.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from roboaccord.contract import AccordError, Finding
from roboaccord.crosscheck.level import LevelOf
from roboaccord.description.meshes import PACKAGE
from roboaccord.description.tree import Tree
from roboaccord.description.urdf_file import UrdfFile, find_root, register_prefixes, strip
from roboaccord.engines import EngineSpec, check_engine, specs
from roboaccord.engines.differences import Difference
from roboaccord.engines.reading import Base, Question, Reading, base_of, draw_question, read_tree

from roboaccord_files.parity.compare import TOLERANCE, ReadingOutcome, ReferenceReading, compare
from roboaccord_files.parity.files import unchanged_path
from roboaccord_files.parity.result import RobotParity
from roboaccord_files.parity.words import ParityCode
from roboaccord_files.repair.find import find_traps, repaired
from roboaccord_files.repair.joints import MIMIC
from roboaccord_files.repair.names import duplicates

# Settings of engines: `default` are their own, `accord` those of this project.
Settings: TypeAlias = Literal["default", "accord"]
SETTINGS: tuple[Settings, ...] = ("default", "accord")
C = TypeVar("C")  # the check of a level: what it measures, such as ReadingCheck (result.py)


def reader_names() -> tuple[str, ...]:
    """Return the names of the engines that read descriptions."""
    return tuple(engine.name for engine in specs().values() if engine.reader)


def reader(engine: str) -> type[Reading]:
    """Return an engine's reader.

    Raises:
        AccordError: if the engine is unknown or not installed.
    """
    engine_spec = _spec(engine)
    assert engine_spec.reader
    return engine_spec.load(engine_spec.reader)


def version_of(engine: str) -> str:
    """Return the version of an engine's reader.

    Raises:
        AccordError: if the engine is unknown or not installed.
    """
    return _spec(engine).load(_spec(engine).version)


def _spec(engine: str) -> EngineSpec:
    """Return the specification of an engine that reads descriptions; AccordError for any other."""
    check_engine(engine, reader_names())
    return specs()[engine]


@dataclass(frozen=True)
class ReadingOptions:
    """Options of the readers.

    Args:
        settings: `default` for the engine's own settings, `accord` for those of this project.
        base: `fixed` or `free`; the one that suits the root link if None.
        seed: seed of the random states.
    """

    settings: str = "default"
    base: Base | None = None
    seed: int = 0


@dataclass
class Bench:
    """Let engines and the reference read texts of one robot.

    Args:
        file: file of the robot.
        base: `fixed` or `free`; the one that suits the root link if None.
        seed: seed of the random states.
        planted: text with a fault that an engine is given instead, by engine, for tests.

    Attributes:
        stripped: the URDF without shapes, and without elements that only Gazebo reads.
        text: the same without mimic: the text that the reference reads.
    """

    file: UrdfFile
    base: Base | None = None
    seed: int = 0
    planted: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        register_prefixes(self.file.text)
        self.stripped = self.file.stripped()
        self.text = without_mimic(self.stripped)
        # Readings of the reference, by the text and whether angles are rounded.
        self._references = dict[tuple[str, bool], ReferenceReading]()

    @cached_property
    def tree(self) -> Tree:
        """The tree of the file; of joints, or links, with the same name all but one are renamed."""
        names = [*duplicates(ET.fromstring(self.text))]
        return read_tree(repaired(self.text, names), self.file.path.name)

    @cached_property
    def question(self) -> Question:
        """What every engine is asked for: base, joints, and random states.

        Raises:
            AccordError: if the robot's root does not allow the base that was asked for.
        """
        root = self.tree.links[0].name  # the world, or a link
        top_link = find_root(ET.fromstring(self.text), "")
        name = self.file.path.name
        if self.base == "free" and root == "world":
            raise AccordError(f"{name} hangs on the link world: its base is fixed")
        if self.base == "fixed" and root != top_link:
            raise AccordError(f"{name} floats above its link {top_link}: it is free")
        return draw_question(self.tree, self.base or base_of(self.tree), self.seed)

    def summary(self) -> RobotParity:
        """Return name, file, base, number of joints and mass of the robot, without engines."""
        mass = sum(link.mass for link in self.tree.links)
        path, joint_count = str(self.file.path), len(self.tree.moving)
        return RobotParity(self.file.name, path, self.question.base, joint_count, mass)

    def reference(self, urdf: str, rounded: bool) -> ReferenceReading:
        """Return the reference's reading of a text, from a cache if it was read before.

        Args:
            urdf: the text.
            rounded: whether it is compared with an engine that rounds angles.
        """
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
        is_native = self.is_own(engine) and urdf == self.full_text
        text = self.file.origin if is_native else urdf
        is_unchanged = is_native or (not self.file.form and urdf == self.file.text)
        file = unchanged_path(self.file) if is_unchanged else None
        packages = self.packages if is_native or "<mesh" in urdf else {}
        return reader(engine)(text, question or self.question, settings, packages, file)

    def is_own(self, engine: str) -> bool:
        """Return whether the file is in an engine's own format, not URDF, and is given as it is."""
        is_native = self.file.form and reader(engine).form == self.file.form
        return bool(is_native) and engine not in self.planted

    @cached_property
    def full_text(self) -> str:
        """The text with all that the tree has: it stands for a file in an engine's own format."""
        return without_mimic(strip(self.file.text, ("material",)))

    def given(self, engine: str) -> str:
        """Return the text that an engine is given, without shapes.

        A URDF that was converted from another format has rotors for engines that read them. For
        MuJoCo a URDF keeps its shapes if its <mujoco> element makes masses of them.
        """
        compilers = ET.fromstring(self.file.text).iter("compiler")
        from_shapes = any(tag.get("inertiafromgeom") == "true" for tag in compilers)
        if engine == "mujoco" and from_shapes and not (self.planted or self.file.form):
            return self.file.text
        if engine in self.planted or not self.file.form:
            return self.planted.get(engine, self.stripped)
        if self.is_own(engine):
            return self.full_text
        return self.stripped if reader(engine).holds_rotors else without_rotors(self.stripped)

    @cached_property
    def packages(self) -> dict[str, Path]:
        """Folders of the packages that meshes name, as far as they are found."""
        folders = dict(self.file.packages)
        for mesh in ET.fromstring(self.file.text).iter("mesh"):
            name = mesh.get("filename", "")
            path = self.file.find(name)
            if path and name.startswith(PACKAGE):
                package, _, inside = name.removeprefix(PACKAGE).partition("/")
                folders.setdefault(package, path.parents[inside.count("/")])
        return folders

    def ask(self, engine: str, settings: str, urdf: str) -> ReadingOutcome:
        """Return an engine's reading of a text, compared with the reference of the same text.

        A planted text is compared with that of the file. If the reference has no accelerations, as
        for masses of 0, the engine must compute them all the same, so that it may refuse them.
        """
        reference_text = self.text if engine in self.planted else urdf
        reference: ReferenceReading | None = None
        undetermined = ""  # why the reference has no accelerations
        try:
            reference = self.reference(reference_text, reader(engine).rounds)
        except AccordError as error:
            undetermined = str(error)
        question = reference.question if reference else self.question
        try:
            reading = self.read(engine, settings, urdf, question)
            if reference is None:
                if set(question.joints) == set(reading.joints):
                    reading.accelerations(question.states)
                difference = _undetermined(undetermined, self.tree)
                return ReadingOutcome((difference,), reading, undetermined)
            differences = compare(reference, reading)
        except AccordError as error:
            return ReadingOutcome((), None, str(error))
        return ReadingOutcome(tuple(differences), reading, "", reference)


def _undetermined(reason: str, tree: Tree) -> Difference:
    """Return the difference that stands for accelerations which the description leaves open.

    It is at the first link or joint that the reference names in its reason.
    """
    names = [*(link.name for link in tree.links), *(joint.name for joint in tree.joints)]
    named = [name for name in names if f" {name} " in f"{reason} "]  # as a whole word
    return Difference("acceleration", (named or [""])[0], math.inf, TOLERANCE)


def without_rotors(urdf: str) -> str:
    """Return a URDF without transmissions, which have the inertias of rotors."""
    top = ET.fromstring(urdf)
    for transmission in top.findall("transmission"):
        top.remove(transmission)
    return ET.tostring(top, encoding="unicode")


def without_mimic(urdf: str) -> str:
    """Return a URDF in which no joint mimics another."""
    mimics = [trap for trap in find_traps(urdf) if trap.cause == MIMIC]
    return repaired(urdf, mimics) if mimics else urdf


@dataclass(frozen=True)
class FileCase:
    """The file of a robot in one engine, which the levels measure.

    Args:
        bench: bench of the robot.
        engine: its name.
        settings: `default` for the engine's own, `accord` for those of this project.
    """

    bench: Bench
    engine: str
    settings: str = "default"
    _outcomes: dict[str, ReadingOutcome] = field(default_factory=dict, init=False)

    @cached_property
    def with_mimic(self) -> str:
        """The text that the engine is given, without geometry."""
        return self.bench.given(self.engine)

    @cached_property
    def text(self) -> str:
        """The same without mimic: the text whose reading is compared with the reference."""
        return without_mimic(self.with_mimic)

    def ask(self, text: str) -> ReadingOutcome:
        """Return the engine's reading of a text, from a cache if it was asked before."""
        if text not in self._outcomes:
            self._outcomes[text] = self.bench.ask(self.engine, self.settings, text)
        return self._outcomes[text]


class FileLevel(LevelOf[FileCase, C]):
    """A question to an engine about a file: how it is measured and judged."""

    @abstractmethod
    def measure(self, case: FileCase) -> C:
        """Return what the level measures in an engine."""

    @abstractmethod
    def judge(self, check: C, tolerances: object = None) -> Finding:
        """Return the finding of a check; there are no tolerances for users to set."""

    @abstractmethod
    def absent(self, failure: ParityCode, reason: str) -> C:
        """Return the check that stands for a crash, or for no answer.

        Args:
            failure: code of the reason.
            reason: the same in words.
        """

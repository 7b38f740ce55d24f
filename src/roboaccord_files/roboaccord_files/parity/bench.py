"""Ask engines for their readings of texts about one robot, with the reference's reading of each.

A `Bench` has one robot's file. The search for causes changes the text many times, and the bench
gives each text to an engine's reader and to the reference (the analytical model), and compares the
two. A reader is the `reader` of an engine's SPEC; none is named here. A reading is compared with
the reference's of the same text; only a text that a test plants is compared with that of the file.

A `FileCase` is the file in one engine: what the levels of levels.py measure.
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

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Finding
from roboaccord.crosscheck.level import LevelOf
from roboaccord.description.meshes import PACKAGE
from roboaccord.description.tree import Tree
from roboaccord.description.urdf_file import UrdfFile, find_root, register_prefixes, strip
from roboaccord.engines import check_engine, specs
from roboaccord.engines.differences import Difference
from roboaccord.engines.reading import Base, Question, Reading, base_of, draw_question, read_tree
from roboaccord.engines.spec import EngineSpec

from roboaccord_files.parity.compare import SAME, ReadingOutcome, ReferenceReading, compare
from roboaccord_files.parity.files import shipped
from roboaccord_files.parity.words import ParityCode
from roboaccord_files.repair.find import find_traps, repaired
from roboaccord_files.repair.joints import MIMIC
from roboaccord_files.repair.names import duplicates

Settings: TypeAlias = Literal["default", "accord"]
"""Settings of engines: `default` are their own, `accord` those of this project."""
SETTINGS: tuple[Settings, ...] = ("default", "accord")
C = TypeVar("C")  # the check that a level returns


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
    check_engine(engine, reader_names())
    return specs()[engine]


@dataclass(frozen=True)
class ReadingOptions:
    """How readers are asked: settings, base (the one that suits the root if None), and seed."""

    settings: str = "default"
    base: Base | None = None
    seed: int = 0


@dataclass
class Bench:
    """Ask engines for texts of one robot.

    Args:
        file: of the robot.
        base: `fixed` or `free`; the one that suits its root link if None.
        seed: of the random states.
        planted: by engine, a text with a fault that it is given instead, for tests.

    Attributes:
        stripped: the URDF without geometry, and without what only Gazebo reads.
        text: the same without mimic: what the reference reads.
    """

    file: UrdfFile
    base: Base | None = None
    seed: int = 0
    planted: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        register_prefixes(self.file.text)
        self.stripped = self.file.stripped()
        self.text = without_mimic(self.stripped)
        self._references = dict[tuple[str, bool], ReferenceReading]()  # by text, and if rounded

    @cached_property
    def tree(self) -> Tree:
        """The tree of the file, joints and links that share a name renamed."""
        names = [*duplicates(ET.fromstring(self.text))]
        return read_tree(repaired(self.text, names), self.file.path.name)

    @cached_property
    def question(self) -> Question:
        """What every engine is asked: base, joints, and random states.

        Raises:
            AccordError: if the robot's root does not allow the base that was asked for.
        """
        root, top_link = self.tree.links[0].name, find_root(ET.fromstring(self.text), "")
        name = self.file.path.name
        if self.base == "free" and root == "world":
            raise AccordError(f"{name} hangs on the link world: its base is fixed")
        if self.base == "fixed" and root != top_link:
            raise AccordError(f"{name} floats above its link {top_link}: it is free")
        return draw_question(self.tree, self.base or base_of(self.tree), self.seed)

    def reference(self, urdf: str, rounded: bool) -> ReferenceReading:
        """Return the reference's reading of a text, which is computed once.

        Args:
            urdf: the text.
            rounded: whether the engine in question reads it with rounded angles.
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
        native = self.is_own(engine) and urdf == self.whole
        text = self.file.origin if native else urdf
        as_it_is = native or (not self.file.form and urdf == self.file.text)
        file = shipped(self.file) if as_it_is else None
        packages = self.packages if native or "<mesh" in urdf else {}
        return reader(engine)(text, question or self.question, settings, packages, file)

    def is_own(self, engine: str) -> bool:
        """Return whether the file, in another format, is given to the engine as it is."""
        native = self.file.form and reader(engine).form == self.file.form
        return bool(native) and engine not in self.planted

    @cached_property
    def whole(self) -> str:
        """The text with all that the tree holds, which stands for the file in its own format."""
        return without_mimic(strip(self.file.text, ("material",)))

    def given(self, engine: str) -> str:
        """Return the text that an engine is given, without geometry.

        A URDF that is converted has rotors for the engines that read them. One whose `<mujoco>`
        computes masses from shapes keeps these for MuJoCo.
        """
        compilers = ET.fromstring(self.file.text).iter("compiler")
        from_shapes = any(tag.get("inertiafromgeom") == "true" for tag in compilers)
        if engine == "mujoco" and from_shapes and not (self.planted or self.file.form):
            return self.file.text
        if engine in self.planted or not self.file.form:
            return self.planted.get(engine, self.stripped)
        if self.is_own(engine):
            return self.whole
        return self.stripped if reader(engine).holds_rotors else without_rotors(self.stripped)

    @cached_property
    def packages(self) -> dict[str, Path]:
        """Folders of the packages that meshes name, where they are found."""
        folders = dict(self.file.packages)
        for mesh in ET.fromstring(self.file.text).iter("mesh"):
            name = mesh.get("filename", "")
            path = self.file.find(name)
            if path and name.startswith(PACKAGE):
                package, _, inside = name.removeprefix(PACKAGE).partition("/")
                folders.setdefault(package, path.parents[inside.count("/")])
        return folders

    def ask(self, engine: str, settings: str, urdf: str) -> ReadingOutcome:
        """Return what an engine makes of a text, compared with the reference of the same text.

        A planted text is compared with the file's own. If the reference has no accelerations, as
        for masses of 0, the engine is only asked whether it has any.
        """
        reference_text = self.text if engine in self.planted else urdf
        try:
            reference = self.reference(reference_text, reader(engine).rounds)
        except AccordError as error:
            reference, undetermined = None, str(error)
        question = reference.question if reference else self.question
        try:
            reading = self.read(engine, settings, urdf, question)
            if reference is None:
                if set(question.joints) == set(reading.joints):
                    reading.accelerations(question.states)  # which the engine may refuse
                difference = _undetermined(undetermined, self.tree)
                return ReadingOutcome((difference,), reading, undetermined)
            differences = compare(reference, reading)
        except AccordError as error:
            return ReadingOutcome((), None, str(error))
        return ReadingOutcome(tuple(differences), reading, "", reference)


def _undetermined(reason: str, tree: Tree) -> Difference:
    """Return the difference that stands for accelerations that the description leaves open.

    It is at the first link or joint that the reference's reason names.
    """
    names = [*(link.name for link in tree.links), *(joint.name for joint in tree.joints)]
    named = [name for name in names if f" {name} " in f"{reason} "]
    return Difference("acceleration", (named or [""])[0], math.inf, SAME)


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
    """A robot's file in an engine, which the levels measure.

    Args:
        bench: of the robot.
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
        """The same without mimic: what is compared with the reference."""
        return without_mimic(self.with_mimic)

    def ask(self, text: str) -> ReadingOutcome:
        """Return what the engine makes of a text; it is asked once."""
        if text not in self._outcomes:
            self._outcomes[text] = self.bench.ask(self.engine, self.settings, text)
        return self._outcomes[text]


class FileLevel(LevelOf[FileCase, C]):
    """A question to an engine about a file: how it is measured and judged."""

    @abstractmethod
    def judge(self, check: C, tolerances: object = None) -> Finding:
        """Return whether what was measured is what it should be; users set no tolerance here."""

    @abstractmethod
    def absent(self, ended: ParityCode, reason: str) -> C:
        """Return the check that stands for one that crashed, or was not finished.

        Args:
            ended: code of the reason.
            reason: the same in words.
        """

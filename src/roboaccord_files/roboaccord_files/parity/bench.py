"""Ask engines for their readings of texts about one robot, with the reference's reading of each.

A `Bench` has one robot's file. The search for causes changes the text many times, and the bench
gives each text to an engine's reader and to the reference (the analytical model), and compares the
two. A reader is the `reader` of an engine's SPEC; none is named here. A reading is compared with
the reference's of the same text; only a text that a test plants is compared with that of the file.
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
from roboaccord.description.urdf_file import UrdfFile, find_root, keep_prefixes, strip
from roboaccord.engines import check_engine, specs
from roboaccord.engines.differences import Difference
from roboaccord.engines.reading import Base, Question, Reading, base_of, draw_question, read_tree
from roboaccord.engines.spec import EngineSpec

from roboaccord_files.parity.compare import SAME, Asked, ReferenceReading, compare
from roboaccord_files.parity.files import shipped
from roboaccord_files.parity.words import ParityCode
from roboaccord_files.repair.find import find_traps, repaired
from roboaccord_files.repair.joints import MIMIC
from roboaccord_files.repair.names import duplicates

Settings: TypeAlias = Literal["default", "accord"]
"""Settings of engines: `default` are their own, `accord` those of this project."""
SETTINGS: tuple[Settings, ...] = ("default", "accord")
C = TypeVar("C")


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
    """

    file: UrdfFile
    base: Base | None = None
    seed: int = 0
    planted: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        keep_prefixes(self.file.text)
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
        weighs links by their shapes keeps these for MuJoCo.
        """
        compilers = ET.fromstring(self.file.text).iter("compiler")
        weighed = any(each.get("inertiafromgeom") == "true" for each in compilers)
        if engine == "mujoco" and weighed and not (self.planted or self.file.form):
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

    def ask(self, engine: str, settings: str, urdf: str) -> Asked:
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
                    reading.accelerations(question.states)  # which the engine may refuse
                return Asked((_unknown(unknown, self.tree),), reading, unknown)
            found = compare(reference, reading)
        except AccordError as error:
            return Asked((), None, str(error))
        return Asked(tuple(found), reading, "", reference)


def _unknown(reason: str, tree: Tree) -> Difference:
    """Return the difference that stands for accelerations that the description leaves open."""
    names = [*(link.name for link in tree.links), *(joint.name for joint in tree.joints)]
    named = [name for name in names if f" {name} " in f"{reason} "]
    return Difference("acceleration", (named or [""])[0], math.inf, SAME)


def without_rotors(urdf: str) -> str:
    """Return a text without transmissions."""
    top = ET.fromstring(urdf)
    for each in top.findall("transmission"):
        top.remove(each)
    return ET.tostring(top, encoding="unicode")


def without_mimic(urdf: str) -> str:
    """Return a text in which no joint mimics another."""
    found = [trap for trap in find_traps(urdf) if trap.cause == MIMIC]
    return repaired(urdf, found) if found else urdf


@dataclass(frozen=True)
class FileCase:
    """What the levels measure: a robot's file in an engine.

    Args:
        bench: of the robot.
        engine: its name.
        settings: the engine's own, or ours.
    """

    bench: Bench
    engine: str
    settings: str = "default"
    _asked: dict[str, Asked] = field(default_factory=dict, init=False)

    @cached_property
    def given(self) -> str:
        """The text that the engine is given, without geometry."""
        return self.bench.given(self.engine)

    @cached_property
    def urdf(self) -> str:
        """The same without mimic."""
        return without_mimic(self.given)

    def ask(self, text: str) -> Asked:
        """Return what the engine makes of a text; it is asked once."""
        if text not in self._asked:
            self._asked[text] = self.bench.ask(self.engine, self.settings, text)
        return self._asked[text]


class FileLevel(LevelOf[FileCase, C]):
    """Measure what an engine makes of a file, against the reference."""

    @abstractmethod
    def judge(self, check: C, tolerances: object = None) -> Finding:
        """Return whether what was measured is what it should be; no tolerance is set."""

    @abstractmethod
    def absent(self, ended: ParityCode, reason: str) -> C:
        """Return what stands for a check that came to no end."""

"""The level `shipped`: whether an engine loads a robot's file as it is, with its meshes.

A level is a question to an engine about a file (levels.py). This one also counts the collision
shapes that the engine lacks or adds. No verdict and no exit status depends on it, since whether
meshes are found depends on the machine, and which formats of meshes are read on the engine.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter

from roboaccord.contract import AccordError, Finding

from roboaccord_files.parity.bench import FileCase, FileLevel
from roboaccord_files.parity.compare import finding_of
from roboaccord_files.parity.files import unchanged_path
from roboaccord_files.parity.result import ShippedCheck
from roboaccord_files.parity.words import OF_CONVERTED, ParityCode


class ShippedLevel(FileLevel[ShippedCheck]):
    """Load the file with its meshes.

    With the engine's own settings the engine gets the file as it is. With this project's, and for
    xacro, it gets the text with paths of the meshes in place of the names of packages.
    """

    name = "shipped"

    def measure(self, case: FileCase) -> ShippedCheck:
        """Return whether the engine loads the file, and where numbers of its shapes differ.

        A file in the engine's own format was loaded by the level `reading` already, as far as no
        mesh is missing; it has no URDF shapes to count.
        """
        bench, file = case.bench, case.bench.file
        if bench.is_own(case.engine):
            if file.missing:
                return ShippedCheck(ParityCode.REFUSED, f"{file.missing[0]} is not there")
            return ShippedCheck()
        urdf = file.text if case.settings == "default" and unchanged_path(file) else file.resolved()
        # Numbers of collision shapes by kind, in the file and in the engine.
        shapes = ET.fromstring(urdf).iterfind("link/collision/geometry/*")
        in_file = Counter(shape.tag for shape in shapes)
        if not in_file and "<mesh" not in urdf:  # nothing to load
            return ShippedCheck()
        try:
            loaded = bench.read(case.engine, case.settings, urdf).shapes
        except AccordError as error:
            if file.form:  # the text that it refuses was converted from the user's file
                return ShippedCheck(ParityCode.CONVERTED, f"{OF_CONVERTED}: {error}")
            return ShippedCheck(ParityCode.REFUSED, str(error))
        counts = {kind: (in_file[kind], loaded[kind]) for kind in sorted({*in_file, *loaded})}
        differing = {kind: pair for kind, pair in counts.items() if pair[0] != pair[1]}
        return ShippedCheck(geometry=differing)

    def judge(self, check: ShippedCheck, tolerances: object = None) -> Finding:
        """Return whether the engine loads the file; numbers of shapes are not judged.

        No level of files has tolerances; the parameter is the base class's.
        """
        return finding_of(worst=None, failure=check.failure, refusal=check.refusal)

    def absent(self, failure: ParityCode, reason: str) -> ShippedCheck:
        """Return the check of an engine that gave no answer."""
        return ShippedCheck(failure, reason)

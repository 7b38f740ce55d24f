"""The level `shipped`: whether an engine loads a robot's file as it is, with its meshes.

A level is a question to an engine about a file (levels.py). This one also counts the collision
shapes that the engine lacks or adds. No verdict depends on it, since whether meshes are found
depends on the machine.
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
        """Return whether the engine loads the file, and where numbers of its shapes differ."""
        file = case.bench.file
        urdf = file.text if case.settings == "default" and unchanged_path(file) else file.resolved()
        # Numbers of collision shapes by kind, in the file and in the engine.
        shapes = ET.fromstring(urdf).iterfind("link/collision/geometry/*")
        in_file = Counter(shape.tag for shape in shapes)
        loaded = in_file  # without shapes and meshes there is nothing to load
        if case.bench.is_own(case.engine):  # it has loaded the file already, if no mesh is missing
            if file.missing:
                return ShippedCheck(ParityCode.REFUSED, f"{file.missing[0]} is not there")
            in_file = loaded = Counter()
        elif in_file or "<mesh" in urdf:
            try:
                loaded = case.bench.read(case.engine, case.settings, urdf).shapes
            except AccordError as error:
                if file.form:
                    return ShippedCheck(ParityCode.CONVERTED, f"{OF_CONVERTED}: {error}")
                return ShippedCheck(ParityCode.REFUSED, str(error))
        counts = {kind: (in_file[kind], loaded[kind]) for kind in sorted({*in_file, *loaded})}
        differing = {kind: pair for kind, pair in counts.items() if pair[0] != pair[1]}
        return ShippedCheck(geometry=differing)

    def judge(self, check: ShippedCheck, tolerances: object = None) -> Finding:
        """Return whether the engine loads the file; its collision shapes are not judged."""
        return finding_of(None, check.failure, check.refusal)

    def absent(self, failure: ParityCode, reason: str) -> ShippedCheck:
        """Return the check of an engine that gave no answer."""
        return ShippedCheck(failure, reason)

"""The level `shipped`: whether an engine loads a file as it is, with its meshes.

No verdict depends on this level, since whether meshes are found depends on the machine.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Finding

from roboaccord_files.parity.bench import FileCase, FileLevel
from roboaccord_files.parity.compare import finding_of
from roboaccord_files.parity.files import shipped
from roboaccord_files.parity.result import ShippedCheck
from roboaccord_files.parity.words import OF_CONVERTED, ParityCode


class ShippedLevel(FileLevel[ShippedCheck]):
    """Load the file with its meshes.

    By default each engine gets the file; with our settings, and of xacro, the paths of its meshes.
    """

    name = "shipped"

    def measure(self, case: FileCase) -> ShippedCheck:
        """Return whether the engine loads it, and collision shapes that it lacks or adds."""
        file = case.bench.file
        urdf = file.text if case.settings == "default" and shipped(file) else file.resolved()
        in_file = shapes_of(urdf)
        loaded = in_file
        if case.bench.is_own(case.engine):  # which has loaded it, if all is there
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
        return ShippedCheck(
            geometry={kind: pair for kind, pair in counts.items() if pair[0] != pair[1]}
        )

    def judge(self, check: ShippedCheck, tolerances: object = None) -> Finding:
        """Return whether the engine loads it; its collision shapes are not judged."""
        return finding_of(None, check.failure, check.refusal)

    def absent(self, failure: ParityCode, reason: str) -> ShippedCheck:
        """Return the check of an engine that gave no answer."""
        return ShippedCheck(failure, reason)


def shapes_of(urdf: str) -> Counter[str]:
    """Return how many collision shapes of each kind a text has."""
    return Counter(shape.tag for shape in ET.fromstring(urdf).iterfind("link/collision/geometry/*"))

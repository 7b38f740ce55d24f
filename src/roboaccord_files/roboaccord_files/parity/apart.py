"""List what an engine reads differently, but what is not compared: friction, effort limits, mimic.

`accord parity` compares the equations of motion that an engine makes of a file with those of a
reference. Some properties of joints do not enter these equations, or not in every engine: damping,
dry friction, effort limits and mimic. They are listed apart from the comparison, and change no
verdict. For a file that had to be converted to URDF (SDF or MJCF in an engine that does not read
it), what the URDF cannot hold, such as rotor inertias and springs, is listed instead.

A quantity is added as an entry of APART and of `apart` in each engine's reader; its name becomes a
key of the JSON.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.description.urdf_file import strip
from roboaccord.engines.reading import Reading

from roboaccord_files.parity.bench import FileCase, reader
from roboaccord_files.parity.compare import SAME
from roboaccord_files.parity.result import Apart
from roboaccord_files.repair.joints import MIMIC

APART = {
    "damping": ("dynamics", "damping"), "friction": ("dynamics", "friction"),
    "effort": ("limit", "effort"), MIMIC: (MIMIC, ""),
}  # fmt: skip
"""The quantities that are listed, by name: the element of a URDF's joint, and its attribute.

For mimic, which has no number, the element counts as 1.
"""


def _lost_by_conversion(case: FileCase) -> Iterator[str]:
    """Yield what the URDF converted from a file lacks, a line each, for an engine.

    For rotor inertias: their largest share of the inertia that a joint moves at the first state.
    """
    whole = case.bench.reference(case.bench.whole, rounded=False)
    moving = whole.tree.moving
    rotors = np.array([joint.armature for joint in moving])
    if rotors.any() and not reader(case.engine).holds_rotors:
        mass, _ = whole.statics[0]
        shares = rotors / np.diag(mass)[-len(moving) :]
        largest = int(np.argmax(shares))
        share = f"up to {100.0 * shares[largest]:.4g} % of what {moving[largest].name} moves"
        yield f"rotor inertia of {np.count_nonzero(rotors)} joints, {share}"
    if springs := sum(joint.spring[0] > 0.0 for joint in moving):
        yield f"springs of {springs} joints"


def read_apart(case: FileCase, reading: Reading) -> Apart:
    """Return the quantities of APART that an engine reads differently from the file.

    Args:
        case: the file and the engine.
        reading: the engine's reading of the text without mimic and transmissions, which is what is
            compared. Here the engine reads the text again with them: Drake, for example, takes
            effort limits only from joints with a transmission.
    """
    bench, engine = case.bench, case.engine
    if bench.is_own(engine):
        return Apart()
    if bench.file.form:
        return Apart(left=tuple(_lost_by_conversion(case)))
    # The engine's reading of the whole text.
    text = strip(bench.planted.get(engine, bench.file.text), ("gazebo", "material"))
    try:
        reading = reading if text == case.text else bench.read(engine, case.settings, text)
    except AccordError as error:
        return Apart(refused=str(error))
    # For each quantity the values in the file and in the engine, where they differ.
    joints = ET.fromstring(bench.file.text).findall("joint")
    differ = dict[str, dict[str, tuple[float, float]]]()
    for key, (tag, attribute) in APART.items():
        in_engine = reading.apart.get(key, {})
        in_file = {
            joint.get("name", ""): float(element.get(attribute, "0")) if attribute else 1.0
            for joint in joints
            if (element := joint.find(tag)) is not None
        }
        for name in reading.joints:
            pair = in_file.get(name, 0.0), in_engine.get(name, 0.0)
            if not math.isclose(*pair, rel_tol=SAME):
                differ.setdefault(key, {})[name] = pair
    return Apart(differ)

"""Find what an engine reads differently, but is not compared: friction, effort limits, mimic.

`accord parity` compares the equations of motion that an engine makes of a file with those of a
reference. Some properties of joints do not enter these equations, or not in every engine: damping,
dry friction, effort limits and mimic. `read_uncompared` returns those that differ in one engine, as
an `Uncompared` (result.py); they are listed apart from the comparison and change no verdict. A file
of another format (SDF, MJCF) is converted to URDF for engines that do not read it; for these it
returns what the URDF cannot hold, such as rotor inertias and springs.

`Reading.apart` has an engine's values of these quantities, by quantity and joint. A quantity is
added there, in each engine's reader, and as an entry of QUANTITIES; its name becomes a key of the
JSON.
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
from roboaccord_files.parity.compare import TOLERANCE
from roboaccord_files.parity.result import Uncompared
from roboaccord_files.repair.joints import MIMIC

# The quantities that are listed, by name: the element of a URDF's joint, and its attribute. For
# mimic, which has no number, the element counts as 1.
QUANTITIES = {
    "damping": ("dynamics", "damping"),
    "friction": ("dynamics", "friction"),
    "effort": ("limit", "effort"),
    MIMIC: (MIMIC, ""),
}


def read_uncompared(case: FileCase, reading: Reading) -> Uncompared:
    """Return the quantities of QUANTITIES that an engine reads differently from the file.

    Args:
        case: the file and the engine.
        reading: the engine's reading of the text that is compared, which has neither mimic nor
            transmissions. Here the engine reads the text with them, because Drake, for example,
            takes effort limits from joints with a transmission only.
    """
    bench, engine = case.bench, case.engine
    if bench.is_own(engine):
        return Uncompared()
    if bench.file.form:
        return Uncompared(lost=tuple(_lost_by_conversion(case)))
    # The text with mimic and transmissions: that of the file, or what a test has planted.
    text = strip(bench.planted.get(engine, bench.file.text), ("gazebo", "material"))
    full_reading = reading
    try:
        if text != case.text:
            full_reading = bench.read(engine, case.settings, text)
    except AccordError as error:
        return Uncompared(refused=str(error))
    # Values in the file and in the engine that differ, by quantity and joint.
    joints = ET.fromstring(bench.file.text).findall("joint")
    differing = dict[str, dict[str, tuple[float, float]]]()
    for key, (tag, attribute) in QUANTITIES.items():
        in_engine = full_reading.apart.get(key, {})
        in_file = {
            joint.get("name", ""): float(element.get(attribute, "0")) if attribute else 1.0
            for joint in joints
            if (element := joint.find(tag)) is not None
        }
        for name in full_reading.joints:
            values = in_file.get(name, 0.0), in_engine.get(name, 0.0)
            if not math.isclose(*values, rel_tol=TOLERANCE):
                differing.setdefault(key, {})[name] = values
    return Uncompared(differing)


def _lost_by_conversion(case: FileCase) -> Iterator[str]:
    """Yield a line for each property of a file that an engine does not get from the converted URDF.

    Rotor inertias are compared with the inertia that their joint moves in the first state.
    """
    reference = case.bench.reference(case.bench.full_text, rounded=False)
    moving = reference.tree.moving
    rotors = np.array([joint.armature for joint in moving])
    if rotors.any() and not reader(case.engine).holds_rotors:
        mass_matrix, _ = reference.statics[0]
        # The rows of the joints come last in the mass matrix, after those of a free base.
        shares = rotors / np.diag(mass_matrix)[-len(moving) :]
        i = int(np.argmax(shares))
        share = f"up to {100.0 * shares[i]:.4g} % of what {moving[i].name} moves"
        yield f"rotor inertia of {np.count_nonzero(rotors)} joints, {share}"
    springs = sum(joint.spring[0] > 0.0 for joint in moving)  # `spring` begins with its stiffness
    if springs:
        yield f"springs of {springs} joints"

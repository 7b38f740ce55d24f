"""What is listed beside the comparison: friction, effort limits, mimic, lacks of a converted text.

A quantity may be added: an entry of APART, by element and attribute of the URDF, and of `apart` in
each engine's reader; its name becomes a key of the JSON, and stays. What is found here must change
no outcome.
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
    "damping": ("dynamics", "damping"),
    "friction": ("dynamics", "friction"),
    "effort": ("limit", "effort"),
    MIMIC: (MIMIC, ""),
}
"""What is listed beside the comparison: element and attribute of a joint."""


def _left(case: FileCase) -> Iterator[str]:
    """Yield what a converted text lacks for an engine, with the share of a joint's inertia."""
    whole = case.bench.reference(case.bench.whole, rounded=False)
    moving = whole.tree.moving
    rotors = np.array([joint.armature for joint in moving])
    if rotors.any() and not reader(case.engine).holds_rotors:
        mass, _ = whole.reading.statics(whole.question.states[0])
        shares = rotors / np.diag(mass)[-len(moving) :]
        at = int(np.argmax(shares))
        most = f"up to {100.0 * shares[at]:.4g} % of what {moving[at].name} moves"
        yield f"rotor inertia of {np.count_nonzero(rotors)} joints, {most}"
    if springs := sum(joint.spring[0] > 0.0 for joint in moving):
        yield f"springs of {springs} joints"


def read_apart(case: FileCase, reading: Reading) -> Apart:
    """Return what an engine has differently, of what is listed beside the comparison.

    The engine reads the text with mimic and transmissions, without which Drake limits no effort;
    `reading` is of the text without them.
    """
    bench, engine = case.bench, case.engine
    if bench.is_own(engine):
        return Apart()
    if bench.file.form:
        return Apart(left=tuple(_left(case)))
    text = strip(bench.planted.get(engine, bench.file.text), ("gazebo", "material"))
    try:
        reading = reading if text == case.urdf else bench.read(engine, case.settings, text)
    except AccordError as error:
        return Apart(refused=str(error))
    joints = ET.fromstring(bench.file.text).findall("joint")
    differ = dict[str, dict[str, tuple[float, float]]]()
    for key, (tag, attribute) in APART.items():
        have = reading.apart.get(key, {})
        wanted = {
            joint.get("name", ""): float(element.get(attribute, "0")) if attribute else 1.0
            for joint in joints
            if (element := joint.find(tag)) is not None
        }
        pairs = {name: (wanted.get(name, 0.0), have.get(name, 0.0)) for name in reading.joints}
        pairs = {n: pair for n, pair in pairs.items() if not math.isclose(*pair, rel_tol=SAME)}
        differ |= {key: pairs} if pairs else {}
    return Apart(differ)

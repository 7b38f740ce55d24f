"""What no comparison mixes in: friction, effort limits, armature, mimics.

A quantity may be added: an entry of APART, by element and attribute of the URDF, and of `apart` in
each engine's reader; its name becomes a key of the JSON, and stays. What is found here must change
no outcome.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

from roboaccord.contract.errors import AccordError
from roboaccord.description.urdf_file import strip
from roboaccord.engines.reading import Reading

from roboaccord_files.parity.bench import FileCase
from roboaccord_files.parity.compare import SAME
from roboaccord_files.parity.result import Apart
from roboaccord_files.repair.joints import MIMIC

APART = {
    "damping": ("dynamics", "damping"),
    "friction": ("dynamics", "friction"),
    "effort": ("limit", "effort"),
    "armature": ("armature", "value"),  # for which URDF has no word
    MIMIC: (MIMIC, ""),
}
"""What no comparison mixes in: element and attribute of a joint."""


def read_apart(case: FileCase, reading: Reading) -> Apart:
    """Return what is never mixed into the comparison, where an engine has it otherwise.

    Read with mimic, and with the transmissions, for Drake limits no other effort; `reading` is of
    the text without them.
    """
    bench, engine = case.bench, case.engine
    text = strip(bench.planted.get(engine, bench.file.text), ("gazebo", "material"))
    try:
        reading = reading if text == case.urdf else bench.read(engine, case.settings, text)
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

"""Rules for how names and numbers are written: reserved names, unknown references, blanks.

find.py calls `names`, `references` and `blanks`, which take the file (source.py) and yield
findings: rule, element, message and cure. Names that are missing or used twice, and text where a
number must be, are found by the core (description/broken.py), which refuses such files. A further
rule is a row of rules.yaml and a `yield` here.
"""

from __future__ import annotations

import math

from roboaccord.description.broken import VECTORS, Found
from roboaccord.description.source import NUMBERS, end, label, numbers

from roboaccord_files.rules.source import Source

VERSIONS = ("1.0", "1.1", "1.2")  # of URDF


def names(source: Source) -> Found:
    """Yield names that some programs refuse, and a version that URDF does not have."""
    version = source.top.get("version", "1.0")
    if version not in VERSIONS:
        message = f"URDF of version {version}"
        yield "urdf-version", source.top, message, f"write one of {', '.join(VERSIONS)}, or none"
    judged = set[tuple[str, str]]()  # tags and names, of which each is reported once
    for element in source.parts:
        name = element.get("name", "")
        is_repeated = (element.tag, name) in judged
        is_reserved = len(name) > 4 and name.startswith("__") and name.endswith("__")
        if is_reserved and not is_repeated:
            cure = "take the underscores away"
            yield "name-reserved", element, f"{label(element)}: SDF reserves such names", cure
        judged.add((element.tag, name))
        if not name.isascii() or any(c.isspace() for c in name):
            cure = "letters, digits, _ and -"
            yield "name-characters", element, f'{element.tag} is named "{name}"', cure


def references(source: Source) -> Found:
    """Yield tags that refer to a link or joint that is absent, and second roots of the tree."""
    blocks = source.top.findall("gazebo[@reference]")
    references = [(block, block.get("reference", ""), "gazebo") for block in blocks]
    for tag in ("transmission", "ros2_control"):
        joints = source.top.iterfind(f"{tag}/joint")
        references += [(joint, joint.get("name", ""), tag) for joint in joints]
    for element, name, tag in references:
        if name not in source.joints and not (tag == "gazebo" and name in source.links):
            message = f"<{tag}> names {name or 'nothing'}, which is not there"
            yield "reference-unknown", element, message, "name what is in this file"
    children = {end(joint, "child") for joint in source.top.findall("joint")}
    roots = [name for name in source.links if name not in children]
    if len(roots) > 1:
        message = f"{len(roots)} links are roots: {', '.join(roots[:4])}"
        yield "link-roots", source.links[roots[1]], message, "tie them together with a joint"


def blanks(source: Source) -> Found:
    """Yield attributes with one number and blanks around it, which some readers refuse.

    Vectors, whose numbers are separated by blanks, are passed over, and so are numbers that are not
    finite, except limits, which may be infinite.
    """
    for owner in source.parts:
        for element in owner.iter():
            for key in NUMBERS.get(element.tag, ()):
                text, values = element.get(key, ""), numbers(element, key)
                if key in VECTORS or len(values) != 1 or text == text.strip():
                    continue
                if math.isfinite(values[0]) or (element.tag == "limit" and math.isinf(values[0])):
                    where = f'{label(owner)}: {element.tag} {key} is "{text}"'
                    yield "number-blanks", element, where, f'write "{text.strip()}"'

"""Rules for what a URDF must have: attributes, elements, materials and meshes.

WANTED and WITHIN list the attributes and elements without which urdfdom, the usual parser, drops
an element or refuses the file; to add one needs no code. Other rules are a row of rules.yaml and a
`yield` here, with a planted fault in test/planted/faults.yaml.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from roboaccord.description.broken import Found
from roboaccord.description.resources import package_folders
from roboaccord.description.source import NUMBERS, end, label, numbers
from roboaccord.description.tree import MOVING

from roboaccord_files.rules.source import Source

WANTED: Mapping[str, tuple[str, ...]] = {
    **{tag: NUMBERS[tag] for tag in ("box", "sphere", "cylinder", "capsule", "mass", "inertia")},
    "mesh": ("filename",),
    "mimic": ("joint",),
    "safety_controller": ("k_velocity",),
}
"""Attributes without which urdfdom drops an element, or refuses the file."""
WITHIN = {"inertial": ("mass", "inertia"), "visual": ("geometry",), "collision": ("geometry",)}
SCHEMES, BACK = ("package", "model"), "\\"
SHAPES = ("box", "sphere", "cylinder", "capsule", "mesh")


def complete(source: Source) -> Found:
    """Yield elements that lack an attribute or a child."""
    for owner in source.parts:
        for element in owner.iter():
            if element.tag in SHAPES and source.parents[element].tag != "geometry":
                continue  # a hint to another program
            missing = [key for key in WANTED.get(element.tag, ()) if not element.get(key)]
            if element.tag == "dynamics" and not {"damping", "friction"} & set(element.attrib):
                missing = ["damping"]
            if missing:
                message = f"{label(owner)}: <{element.tag}> without {', '.join(missing)}"
                yield "attribute-missing", element, message, f"write {', '.join(missing)}"
            empty = [tag for tag in WITHIN.get(element.tag, ()) if element.find(tag) is None]
            shapes = [s for s in element if s.tag in SHAPES or ":" in s.tag]
            if element.tag == "geometry" and not shapes:
                empty = ["one of " + ", ".join(SHAPES)]
            if empty:
                message = f"{label(owner)}: <{element.tag}> without {', '.join(empty)}"
                yield "element-missing", element, message, f"write {', '.join(empty)}"
            if element.tag == "limit" and owner.get("type") in MOVING:
                missing = [key for key in ("effort", "velocity") if key not in element.attrib]
                if missing:
                    message = f"{label(owner)}: a limit without {' and '.join(missing)}"
                    yield "limit-incomplete", element, message, f"write {' and '.join(missing)}"


def drawn(source: Source) -> Found:
    """Yield materials that are absent or defined twice, and moving links without collision."""
    seen = set[str]()
    for material in source.top.findall("material"):
        name = material.get("name", "")
        if name in seen:
            message = f"material {name} is there twice"
            yield "duplicate-material", material, message, "keep one of them"
        seen.add(name)
    seen |= {e.get("name", "") for e in source.top.iter("material") if len(e)}
    for link in source.links.values():
        for material in link.iter("material"):
            if (name := material.get("name", "")) and name not in seen:
                message = f"{label(link)}: material {name} is defined nowhere"
                yield "material-unknown", material, message, "write its <color> in the robot"
    moved = {end(j, "child") for j in source.joints.values() if j.get("type") in MOVING}
    for name, link in source.links.items():
        if name in moved and link.find("visual") is not None and link.find("collision") is None:
            message = f"{label(link)} is drawn, and touches nothing"
            yield "no-collision", link, message, "write <collision>, with simple shapes"


def meshes(source: Source) -> Found:
    """Yield meshes that are not found, and meshes that their scale mirrors."""
    there, lost = dict[str, bool](), set[str]()
    for link in source.links.values():
        for mesh in link.iter("mesh"):
            name = mesh.get("filename", "")
            if "\\" in name:
                message = f"{label(link)}: {name} has backslashes"
                yield "mesh-backslash", mesh, message, f"write {name.replace(BACK, '/')}"
            if name and source.file.find(name) is None:
                scheme, _, inside = name.replace(BACK, "/").rpartition("://")
                package = inside.partition("/")[0] if scheme in SCHEMES else ""
                if package and package not in there:
                    folders = package_folders(package, source.file.path, source.file.packages)
                    there[package] = any(map(Path.is_dir, folders))
                if not package or there[package]:
                    message = f"{label(link)}: {name} is not found"
                    yield "mesh-missing", mesh, message, _nearest(source, name, package)
                elif package not in lost:
                    lost.add(package)
                    cure = f"--package {package}=DIR, or install it"
                    if scheme == "model":
                        cure = f"--package {package}=DIR, or GZ_SIM_RESOURCE_PATH"
                    message = f"{scheme} {package}, which meshes name, is not found"
                    yield "package-missing", mesh, message, cure
            if np.prod(numbers(mesh, "scale") or [1.0]) < 0.0:
                message = f"{label(link)}: scale {mesh.get('scale')}"
                yield "mesh-mirrored", mesh, message, "mirror the file itself"


def _nearest(source: Source, name: str, package: str) -> str:
    """Return a cure: a file whose name differs in capitals only, or the folder that is searched."""
    inside = Path(name.replace(BACK, "/").rpartition("://")[2].removeprefix(f"{package}/"))
    folders = [source.file.path.parent]
    if package:
        folders = [*package_folders(package, source.file.path, source.file.packages)]
    for folder in (folder / inside.parent for folder in folders):
        if folder.is_dir():
            names = {path.name.lower(): path.name for path in folder.iterdir()}
            if there := names.get(inside.name.lower()):
                return f"there is {there}: capital letters count"
    return f"write a path that is there, from {folders[0] if folders else package}"

"""Rules for what a URDF must have: attributes, elements, materials and meshes.

ATTRIBUTES and CHILDREN list the attributes and elements without which urdfdom, the usual parser,
drops an element or refuses the file; to add one needs no code. find.py calls `complete`, `drawn`
and `meshes`, which take the file (source.py) and yield findings: rule, element, message and cure. A
further rule is a row of rules.yaml and a `yield` here, with a planted fault in
test/planted/faults.yaml.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from roboaccord.contract import AccordError, read_xml
from roboaccord.description.broken import Found
from roboaccord.description.resources import package_folders
from roboaccord.description.source import NUMBERS, end, label, numbers
from roboaccord.description.tree import MOVING

from roboaccord_files.rules.source import Source

# Attributes without which urdfdom drops an element, or refuses the file.
ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    **{tag: NUMBERS[tag] for tag in ("box", "sphere", "cylinder", "capsule", "mass", "inertia")},
    "mesh": ("filename",),
    "mimic": ("joint",),
    "safety_controller": ("k_velocity",),
}
CHILDREN = {"inertial": ("mass", "inertia"), "visual": ("geometry",), "collision": ("geometry",)}
SCHEMES = ("package", "model")  # schemes of addresses that name a package or a model
BACKSLASH = "\\"
SHAPES = ("box", "sphere", "cylinder", "capsule", "mesh")


def complete(source: Source) -> Found:
    """Yield elements that lack an attribute or a child."""
    for owner in source.parts:
        for element in owner.iter():
            if element.tag in SHAPES and source.parents[element].tag != "geometry":
                continue  # it is no shape of the link, but a hint to another program
            missing = [key for key in ATTRIBUTES.get(element.tag, ()) if not element.get(key)]
            if element.tag == "dynamics" and not {"damping", "friction"} & set(element.attrib):
                missing = ["damping"]
            if missing:
                message = f"{label(owner)}: <{element.tag}> without {', '.join(missing)}"
                yield "attribute-missing", element, message, f"write {', '.join(missing)}"
            empty = [tag for tag in CHILDREN.get(element.tag, ()) if element.find(tag) is None]
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
    defined = set[str]()
    for material in source.top.findall("material"):
        name = material.get("name", "")
        if name in defined:
            message = f"material {name} is there twice"
            yield "duplicate-material", material, message, "keep one of them"
        defined.add(name)
    defined |= {e.get("name", "") for e in source.top.iter("material") if len(e)}
    for link in source.links.values():
        for material in link.iter("material"):
            if (name := material.get("name", "")) and name not in defined:
                message = f"{label(link)}: material {name} is defined nowhere"
                yield "material-unknown", material, message, "write its <color> in the robot"
    joints = source.joints.values()
    moving = {end(joint, "child") for joint in joints if joint.get("type") in MOVING}
    for name, link in source.links.items():
        if name in moving and link.find("visual") is not None and link.find("collision") is None:
            message = f"{label(link)} is drawn, and touches nothing"
            yield "no-collision", link, message, "write <collision>, with simple shapes"


def meshes(source: Source) -> Found:
    """Yield meshes that are not found, and meshes that their scale mirrors."""
    # Of packages that meshes name: whether their folder exists; and those that are reported.
    exists, reported = dict[str, bool](), set[str]()
    for link in source.links.values():
        for mesh in link.iter("mesh"):
            name = mesh.get("filename", "")
            if BACKSLASH in name:
                message = f"{label(link)}: {name} has backslashes"
                yield "mesh-backslash", mesh, message, f"write {name.replace(BACKSLASH, '/')}"
            path = source.file.find(name) if name else None
            if path and path.suffix.lower() == ".dae":
                try:
                    read_xml(path)
                except AccordError as error:
                    yield "mesh-missing", mesh, f"{label(link)}: {error}", "export the mesh again"
            if name and path is None:
                scheme, _, inside = name.replace(BACKSLASH, "/").rpartition("://")
                package = inside.partition("/")[0] if scheme in SCHEMES else ""
                if package and package not in exists:
                    folders = package_folders(package, source.file.path, source.file.packages)
                    exists[package] = any(map(Path.is_dir, folders))
                if not package or exists[package]:
                    message = f"{label(link)}: {name} is not found"
                    yield "mesh-missing", mesh, message, _cure_of_missing(source, name, package)
                elif package not in reported:
                    reported.add(package)
                    cure = f"--package {package}=DIR, or install it"
                    if scheme == "model":
                        cure = f"--package {package}=DIR, or GZ_SIM_RESOURCE_PATH"
                    message = f"{scheme} {package}, which meshes name, is not found"
                    yield "package-missing", mesh, message, cure
            if np.prod(numbers(mesh, "scale") or [1.0]) < 0.0:
                message = f"{label(link)}: scale {mesh.get('scale')}"
                yield "mesh-mirrored", mesh, message, "mirror the file itself"


def _cure_of_missing(source: Source, name: str, package: str) -> str:
    """Return a cure: a file whose name differs in capitals only, or the folder that is searched.

    Args:
        source: source of the URDF.
        name: name of the mesh, as it is written.
        package: that it names; "" for none.
    """
    inside = Path(name.replace(BACKSLASH, "/").rpartition("://")[2].removeprefix(f"{package}/"))
    folders = [source.file.path.parent]
    if package:
        folders = [*package_folders(package, source.file.path, source.file.packages)]
    for folder in (folder / inside.parent for folder in folders):
        if folder.is_dir():
            names = {path.name.lower(): path.name for path in folder.iterdir()}
            if similar := names.get(inside.name.lower()):
                return f"there is {similar}: capital letters count"
    return f"write a path that is there, from {folders[0] if folders else package}"

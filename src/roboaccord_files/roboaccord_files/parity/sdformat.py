"""Read a URDF or SDF with SDFormat, the parser of Gazebo.

SDFormat's tool converts the file to SDF, which is read back into a tree, with the reference's
dynamics. Nothing that SDFormat makes of the file is repaired here, its rounding of angles
(`rounds`) included, for the robot is judged as Gazebo would simulate it. sdformat_engine.py
registers this reader as an engine.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description.source import parse_lines
from roboaccord.description.tree import MOMENTS, Joint, Link, Tree, symmetric
from roboaccord.description.tree_text import UP, WORLD, Pose, make_tree
from roboaccord.engines.reading import Question, TreeReading
from roboaccord.gazebo.tool import print_sdf

from roboaccord_files.parity.frames import Frames, pose_in, unique

YES = ("true", "1")  # texts of a boolean that is true
APART = {
    "damping": "dynamics/damping", "friction": "dynamics/friction", "effort": "limit/effort",
}  # fmt: skip
"""Quantities that are listed beside the comparison, and their element in the axis of a joint."""


class SdfReading(TreeReading):
    """Read a URDF or SDF with SDFormat, whose tree then has the reference's dynamics.

    Args:
        text: of the URDF or SDF.
        question: base and joints whose motion is compared.
        settings: not used.
        packages: folders of models, by name; meshes are not read.
        file: path of the file with this text, which the tool reads; included models are searched in
            its folder.

    Raises:
        AccordError: if SDFormat refuses it.
    """

    form = "sdf"
    rounds = True
    keeps_root = True

    def __init__(
        self,
        text: str,
        question: Question,
        settings: str,
        packages: Mapping[str, Path],
        file: Path | None = None,
    ) -> None:
        model = _printed_model(text, packages, file)
        tree, elements = sdf_tree(model, question.root)
        found = {joint.name: elements[joint.name].find("axis") for joint in tree.moving}
        axes = {name: axis for name, axis in found.items() if axis is not None}
        apart = {quantity: {name: _number(axis, path) for name, axis in axes.items()}
                 for quantity, path in APART.items()}  # fmt: skip
        apart["mimic"] = {n: 1.0 for n, axis in axes.items() if axis.find("mimic") is not None}
        super().__init__(tree, question, apart)
        self.shapes = Counter(e.tag for e in model.iterfind(".//link/collision/geometry/*"))
        self.joints = tuple(sorted(self.joints, key=[*elements].index))

    @classmethod
    def beside(cls, text: str) -> Mapping[str, Sequence[str]]:
        """Return the links and joints on which something acts in Gazebo only, by its cause.

        Of a URDF that is what `<gazebo>` has become.
        """
        is_sdf = cls.is_own(text)
        model = (parse_lines(text)[0] if is_sdf else print_sdf(text)).find("model")
        if model is None:
            return {}
        joints = [e for e in model.findall("joint") if e.get("type") != "fixed" and not is_sdf]
        fixed = [] if is_sdf else ET.fromstring(text).findall("joint[@type='fixed']")
        fixed_in_urdf = {joint.get("name") for joint in fixed}
        elements = {
            "gazebo static": [model] if model.findtext("static") in YES else [],
            "gazebo gravity": [e for e in model.iter("link")
                               if e.findtext("gravity", "true").strip() not in YES],
            "gazebo spring": [e for e in joints if _number(e, "axis/dynamics/spring_stiffness")],
            "gazebo hinge": [e for e in joints if e.get("name") in fixed_in_urdf],
        }  # fmt: skip
        return {
            cause: [e.get("name", "") for e in some] for cause, some in elements.items() if some
        }


def _printed_model(text: str, packages: Mapping[str, Path], file: Path | None) -> ET.Element:
    """Return the model that SDFormat's tool prints for a text.

    Raises:
        AccordError: if it prints none, or one that it does not load.
    """
    with TemporaryDirectory() as models:  # the tool takes a folder's own name for the model's
        for name in packages:
            if name.strip("."):  # no `..`
                Path(models, name).symlink_to(packages[name])
        folders = ([models] if packages else []) + ([str(file.parent)] if file else [])
        model = print_sdf(text, ":".join(folders)).find("model")
    if model is None:
        raise AccordError("sdformat refuses it: it prints no model; accord check may say why")
    links = {link.get("name") for link in model.findall("link")}
    for joint in model.findall("joint"):  # which it prints, and then does not load
        if joint.get("name") in links:
            shared = f"joint and link share the name {joint.get('name')}"
            raise AccordError(f"sdformat refuses it: {shared}")
    return model


def _number(element: ET.Element, path: str) -> float:
    """Return the number at a path within an element, 0 if it is not there."""
    return float(element.findtext(path, "0"))


def sdf_tree(model: ET.Element, root: str = "") -> tuple[Tree, dict[str, ET.Element]]:
    """Return the tree of a model, and the elements of its joints by name.

    The tree has a first link and all that is joined to it. Names that several nested models have
    get the model's name before them.

    Args:
        model: as SDFormat prints it.
        root: link that is preferred as the first.

    Raises:
        AccordError: if the model has no link.
    """
    frames = Frames(model)
    # Names of links and joints by their paths, for joints between links of the model.
    names = unique(frames.paths("link"), lambda path: path.replace("::", "_"))
    if not names:
        raise AccordError("sdformat refuses it: it keeps no link")
    ends = {path: frames.ends(path) for path in frames.paths("joint")}
    ends = {path: (a, b) for path, (a, b) in ends.items() if a in {WORLD, *names} and b in names}
    names[WORLD] = WORLD
    joint_names = unique(ends, lambda path: f"{names[ends[path][1]]}_{path.rpartition('::')[2]}")
    joints = [_joint(frames, path, name, names, *ends[path]) for path, name in joint_names.items()]
    links = {name: _link(name, frames.elements.get(path)) for path, name in names.items()}
    # The links that joints connect with the first one, the nearest ones first.
    children = {joint.child for joint, _ in joints}
    first = root if root in links else next(name for name in links if name not in children)
    reached = [WORLD if any(joint.parent == WORLD for joint, _ in joints) else first]
    pairs = [(joint.parent, joint.child) for joint, _ in joints]
    for name in reached:  # grows as links are reached
        neighbours = [end for pair in pairs if name in pair for end in pair]
        reached += dict.fromkeys(end for end in neighbours if end not in reached)
    kept = [(joint, pose) for joint, pose in joints if joint.child in reached]
    elements = {name: frames.elements[path] for path, name in joint_names.items()}
    return make_tree([links[name] for name in reached], kept), elements


def _link(name: str, element: ET.Element | None) -> Link:
    """Return a link from its element; without an element it is the world."""
    if element is None:
        return Link(name, 0.0, np.zeros(3), np.zeros((3, 3)))
    inertial = element.find("inertial")
    if inertial is None:
        # SDFormat's defaults are a mass of 1 kg and a unit inertia.
        return Link(name, 1.0, np.zeros(3), np.eye(3))
    centre, turn = pose_in(inertial)
    moments = [
        float(inertial.findtext(f"inertia/{key}", "1" if key[1] == key[2] else "0"))
        for key in MOMENTS
    ]
    inertia = turn @ symmetric(moments) @ turn.T
    return Link(name, float(inertial.findtext("mass", "1")), centre, inertia)


def _joint(
    frames: Frames, path: str, name: str, names: Mapping[str, str], parent: str, child: str
) -> tuple[Joint, Pose]:
    """Return a joint between two links, and the pose of its frame in its child link.

    Args:
        frames: of the model.
        path, name: of the joint.
        names: of the links by their paths.
        parent, child: paths of the links.
    """
    pose, element = frames.pose(path), frames.elements[path]
    position, turn = frames.pose(parent).inverse.then(pose)
    kind, ends = element.get("type", "fixed"), (names[parent], names[child])
    joint = Joint(name, kind, *ends, position, turn, UP, -np.inf, np.inf)
    axis = element.find("axis")
    if axis is not None:
        joint = _with_axis(joint, axis, frames, path)
    return joint, frames.pose(child).inverse.then(pose)


def _with_axis(joint: Joint, element: ET.Element, frames: Frames, path: str) -> Joint:
    """Return a joint with the direction, limits, spring and mimic of its <axis>."""
    direction, stated = UP, element.find("xyz")
    if stated is not None:
        direction = _vector(stated)
        if frame := stated.get("expressed_in"):
            turn = frames.pose(frames.beside(path, frame)).turn
            direction = frames.pose(path).turn.T @ turn @ direction
    spring = (_number(element, f"dynamics/spring_{key}") for key in ("stiffness", "reference"))
    joint = replace(
        joint, axis=direction / np.linalg.norm(direction),  # SDFormat moves along the unit axis
        lower=float(element.findtext("limit/lower", "-inf")),
        upper=float(element.findtext("limit/upper", "inf")), spring=(next(spring), next(spring)),
    )  # fmt: skip
    leader = element.find("mimic")
    if leader is None:
        return joint
    multiplier, offset = leader.findtext("multiplier", "1"), leader.findtext("offset", "0")
    return replace(joint, mimic=(leader.get("joint", ""), float(multiplier), float(offset)))


def _vector(element: ET.Element) -> Array:
    return np.array([float(word) for word in (element.text or "").split()])

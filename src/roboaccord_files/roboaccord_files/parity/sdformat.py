"""SDFormat's reading of a URDF: the SDF that its tool prints, read back into a tree.

To read another element of SDF, extend `_link` or `_joint`. Fixed: what SDFormat makes of a file is
not repaired here, rounding (`rounds`) included, for a robot is judged by what Gazebo would
simulate. sdformat_engine.py registers this as an engine.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description.tree import MOMENTS, Joint, Link, Tree, symmetric
from roboaccord.engines.reading import Question, TreeReading
from roboaccord.gazebo.tool import print_sdf
from roboaccord.numerics.rotations import rpy_matrix

Pose = tuple[Array, Array]
YES = ("true", "1")
AT = (np.zeros(3), np.eye(3))


class SdfReading(TreeReading):
    """Read a URDF with SDFormat, whose tree then has the reference's dynamics.

    Args:
        urdf: its text.
        question: base and joints.
        settings: not used.
        packages: not used: nothing of a mesh is read.

    Raises:
        AccordError: if SDFormat refuses it.
    """

    rounds = True
    keeps_root = True

    def __init__(
        self,
        urdf: str,
        question: Question,
        settings: str,
        packages: Mapping[str, Path],
        file: Path | None = None,
    ) -> None:
        model = print_sdf(urdf).find("model")
        if model is None:
            raise AccordError("sdformat refuses it: it prints no model; accord check may say why")
        links = {e.get("name") for e in model.findall("link")}
        for joint in model.findall("joint"):  # which it prints, and then does not load
            if joint.get("name") in links:
                shared = f"joint and link share the name {joint.get('name')}"
                raise AccordError(f"sdformat refuses it: {shared}")
        tree = sdf_tree(model)
        found = {j.get("name", ""): j.find("axis") for j in model.findall("joint")}
        axes = {j.name: axis for j in tree.moving if (axis := found[j.name]) is not None}
        paths = {"damping": "dynamics/damping", "friction": "dynamics/friction"}
        paths |= {"effort": "limit/effort"}
        apart = {k: {n: _number(axis, p) for n, axis in axes.items()} for k, p in paths.items()}
        apart["mimic"] = {n: 1.0 for n, axis in axes.items() if axis.find("mimic") is not None}
        super().__init__(tree, question, apart)
        self.shapes = Counter(e.tag for e in model.iterfind("link/collision/geometry/*"))
        written = [e.get("name", "") for e in model.findall("joint")]
        self.joints = tuple(sorted(self.joints, key=written.index))

    @classmethod
    def beside(cls, urdf: str) -> Mapping[str, Sequence[str]]:
        """Return what `<gazebo>` has become: of the dynamics, what no other engine has."""
        model, file = print_sdf(urdf).find("model"), ET.fromstring(urdf)
        if model is None:
            return {}
        links = model.findall("link")
        joints = [e for e in model.findall("joint") if e.get("type") != "fixed"]
        fixed = [e.get("name") for e in file.findall("joint[@type='fixed']")]
        found = {
            "gazebo static": [model] if model.findtext("static") in YES else [],
            "gazebo gravity": [e for e in links if e.findtext("gravity", "true") not in YES],
            "gazebo spring": [e for e in joints if _number(e, "axis/dynamics/spring_stiffness")],
            "gazebo hinge": [e for e in joints if e.get("name") in fixed],
        }
        return {cause: [e.get("name", "") for e in each] for cause, each in found.items() if each}


def _number(element: ET.Element, path: str) -> float:
    return float(element.findtext(path, "0"))


def sdf_tree(model: ET.Element) -> Tree:
    """Return the tree of a model: its first link, and all that hangs on it."""
    poses = model_poses(model)
    links = {e.get("name", ""): _link(e) for e in model.findall("link")}
    joints = [e for e in model.findall("joint") if e.findtext("child") in links]
    children = {e.findtext("child", "") for e in joints if e.findtext("parent") in links}
    if not links:
        raise AccordError("sdformat refuses it: it keeps no link")
    root = next(name for name in links if name not in children)
    if any(e.findtext("parent") == "world" for e in joints):
        links = {"world": Link("world", 0.0, np.zeros(3), np.zeros((3, 3)), ()), **links}
        poses["world"], root = AT, "world"
    ordered, reached = list[Joint](), [root]
    for name in reached:
        for element in joints:
            if element.findtext("parent") == name:
                ordered.append(_joint(element, poses))
                reached.append(element.findtext("child", ""))
    return Tree(tuple(links[name] for name in reached), tuple(ordered))


def model_poses(model: ET.Element) -> dict[str, Pose]:
    """Return the pose of each link, joint and frame in the model's frame."""
    elements = {e.get("name", ""): e for e in model if e.tag in ("link", "joint", "frame")}
    found = {"": AT, "__model__": AT}

    def pose(name: str) -> Pose:
        if name not in found:
            if name not in elements:
                out = f"it leaves {name} out, and places a link by it"
                raise AccordError(f"sdformat refuses it: {out}")
            element = elements[name]
            own = element.find("pose")
            default = element.get("attached_to") or element.findtext("child") or ""
            to = own.get("relative_to", default) if own is not None else default
            found[name] = _compose(pose(to), _pose(own))
        return found[name]

    return {name: pose(name) for name in elements}


def _compose(a: Pose, b: Pose) -> Pose:
    return a[0] + a[1] @ b[0], a[1] @ b[1]


def _pose(element: ET.Element | None) -> Pose:
    numbers = [float(word) for word in (element.text or "").split()] if element is not None else []
    x, y, z, roll, pitch, yaw = numbers or [0.0] * 6
    return np.array([x, y, z]), rpy_matrix(roll, pitch, yaw)


def _link(element: ET.Element) -> Link:
    inertial = element.find("inertial")
    if inertial is None:
        # SDFormat's default is a mass of 1 kg and a unit inertia.
        return Link(element.get("name", ""), 1.0, np.zeros(3), np.eye(3), ())
    centre, turn = _pose(inertial.find("pose"))
    moments = [float(inertial.findtext(f"inertia/{key}", "0")) for key in MOMENTS]
    inertia = turn @ symmetric(moments) @ turn.T
    mass = float(inertial.findtext("mass", "1"))
    return Link(element.get("name", ""), mass, centre, inertia, ())


def _joint(element: ET.Element, poses: Mapping[str, Pose]) -> Joint:
    parent, child = element.findtext("parent", ""), element.findtext("child", "")
    (at, turn), (place, rotation) = poses[parent], poses[child]
    axis = np.array([0.0, 0.0, 1.0])
    ends, mimic = [-np.inf, np.inf], None
    given = element.find("axis")
    if given is not None:
        axis = np.array([float(word) for word in given.findtext("xyz", "0 0 1").split()])
        axis = rotation.T @ poses[element.get("name", "")][1] @ axis
        axis /= np.linalg.norm(axis)  # SDFormat prints the file's axis and moves along the unit one
        ends = [float(given.findtext(f"limit/{end}", f"{sign}inf")) for end, sign in
                (("lower", "-"), ("upper", ""))]  # fmt: skip
        if (leader := given.find("mimic")) is not None:
            factor, offset = leader.findtext("multiplier", "1"), leader.findtext("offset", "0")
            mimic = (leader.get("joint", ""), float(factor), float(offset))
    kind = element.get("type", "fixed")
    return Joint(
        element.get("name", ""), kind, parent, child,
        turn.T @ (place - at), turn.T @ rotation, axis, ends[0], ends[1], mimic=mimic,
    )  # fmt: skip

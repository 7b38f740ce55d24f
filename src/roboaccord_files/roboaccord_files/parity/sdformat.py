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

YES = ("true", "1")
APART = {
    "damping": "dynamics/damping", "friction": "dynamics/friction", "effort": "limit/effort",
}  # fmt: skip
"""What is listed beside the comparison: where it stands in the axis of a joint."""


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
        with TemporaryDirectory() as models:  # it takes the folder's own name for the model's
            for name in (each for each in packages if each.strip(".")):  # no `..`
                Path(models, name).symlink_to(packages[name])
            seen = ([models] if packages else []) + ([str(file.parent)] if file else [])
            model = print_sdf(text, ":".join(seen)).find("model")
        if model is None:
            raise AccordError("sdformat refuses it: it prints no model; accord check may say why")
        links = {e.get("name") for e in model.findall("link")}
        for joint in model.findall("joint"):  # which it prints, and then does not load
            if joint.get("name") in links:
                shared = f"joint and link share the name {joint.get('name')}"
                raise AccordError(f"sdformat refuses it: {shared}")
        tree, elements = sdf_tree(model, question.root)
        axes = {j.name: a for j in tree.moving if (a := elements[j.name].find("axis")) is not None}
        apart = {k: {n: _number(axis, p) for n, axis in axes.items()} for k, p in APART.items()}
        apart["mimic"] = {n: 1.0 for n, axis in axes.items() if axis.find("mimic") is not None}
        super().__init__(tree, question, apart)
        self.shapes = Counter(e.tag for e in model.iterfind(".//link/collision/geometry/*"))
        self.joints = tuple(sorted(self.joints, key=[*elements].index))

    @classmethod
    def beside(cls, text: str) -> Mapping[str, Sequence[str]]:
        """Return what acts only in Gazebo, by name of its link or joint.

        Of a URDF that is what `<gazebo>` has become.
        """
        is_sdf = cls.is_own(text)
        model = (parse_lines(text)[0] if is_sdf else print_sdf(text)).find("model")
        if model is None:
            return {}
        joints = [e for e in model.findall("joint") if e.get("type") != "fixed" and not is_sdf]
        fixed = [] if is_sdf else ET.fromstring(text).findall("joint[@type='fixed']")
        hinges = {e.get("name") for e in fixed}
        acting = {
            "gazebo static": [model] if model.findtext("static") in YES else [],
            "gazebo gravity": [
                e for e in model.iter("link") if e.findtext("gravity", "true").strip() not in YES
            ],
            "gazebo spring": [e for e in joints if _number(e, "axis/dynamics/spring_stiffness")],
            "gazebo hinge": [e for e in joints if e.get("name") in hinges],
        }
        return {cause: [e.get("name", "") for e in es] for cause, es in acting.items() if es}


def _number(element: ET.Element, path: str) -> float:
    return float(element.findtext(path, "0"))


def sdf_tree(model: ET.Element, root: str = "") -> tuple[Tree, dict[str, ET.Element]]:
    """Return the tree of a model, a link and all that is joined to it, and its joints by name.

    Names that several of its models have get the model's before them.

    Args:
        model: as SDFormat prints it.
        root: link that is preferred as the first.
    """
    frames = Frames(model)
    names = unique(frames.paths("link"), lambda path: path.replace("::", "_"))
    if not names:
        raise AccordError("sdformat refuses it: it keeps no link")
    ends = {path: frames.ends(path) for path in frames.paths("joint")}
    ends = {path: (a, b) for path, (a, b) in ends.items() if a in {WORLD, *names} and b in names}
    names[WORLD] = WORLD
    of_joints = unique(ends, lambda p: f"{names[ends[p][1]]}_{p.rpartition('::')[2]}")
    joints = [_joint(frames, path, name, names, *ends[path]) for path, name in of_joints.items()]
    links = {name: _link(name, frames.elements.get(path)) for path, name in names.items()}
    children = {joint.child for joint, _ in joints}
    first = root if root in links else next(name for name in links if name not in children)
    reached = [WORLD if any(joint.parent == WORLD for joint, _ in joints) else first]
    pairs = [(joint.parent, joint.child) for joint, _ in joints]
    for name in reached:
        near = [end for pair in pairs if name in pair for end in pair]
        reached += dict.fromkeys(end for end in near if end not in reached)
    kept = [pair for pair in joints if pair[0].child in reached]
    elements = {name: frames.elements[path] for path, name in of_joints.items()}
    return make_tree([links[name] for name in reached], kept), elements


def _link(name: str, element: ET.Element | None) -> Link:
    """Return a link; without an element it is the world."""
    if element is None:
        return Link(name, 0.0, np.zeros(3), np.zeros((3, 3)), ())
    inertial = element.find("inertial")
    if inertial is None:
        # SDFormat's defaults are a mass of 1 kg and a unit inertia.
        return Link(name, 1.0, np.zeros(3), np.eye(3), ())
    centre, turn = pose_in(inertial)
    moments = [
        float(inertial.findtext(f"inertia/{key}", "1" if key[1] == key[2] else "0"))
        for key in MOMENTS
    ]
    inertia = turn @ symmetric(moments) @ turn.T
    return Link(name, float(inertial.findtext("mass", "1")), centre, inertia, ())


def _joint(
    frames: Frames, path: str, name: str, names: Mapping[str, str], parent: str, child: str
) -> tuple[Joint, Pose]:
    """Return a joint between the links of two paths, and the pose of its frame in the second."""
    at, element = frames.pose(path), frames.elements[path]
    place, turn = frames.pose(parent).inverse.then(at)
    joint = Joint(name, element.get("type", "fixed"), names[parent], names[child], place, turn, UP,
                 -np.inf, np.inf)  # fmt: skip
    if (given := element.find("axis")) is not None:
        axis = UP if (words := given.find("xyz")) is None else _vector(words)
        if words is not None and (other := words.get("expressed_in")):
            axis = at.turn.T @ frames.pose(frames.beside(path, other)).turn @ axis
        lower, upper = (float(given.findtext(f"limit/{end}", f"{sign}inf")) for end, sign in
                        (("lower", "-"), ("upper", "")))  # fmt: skip
        spring = (_number(given, f"dynamics/spring_{each}") for each in ("stiffness", "reference"))
        # SDFormat prints the file's axis and moves along the unit one.
        joint = replace(joint, axis=axis / np.linalg.norm(axis), lower=lower, upper=upper,
                       spring=(next(spring), next(spring)))  # fmt: skip
        if (leader := given.find("mimic")) is not None:
            factor, offset = leader.findtext("multiplier", "1"), leader.findtext("offset", "0")
            joint = replace(joint, mimic=(leader.get("joint", ""), float(factor), float(offset)))
    return joint, frames.pose(child).inverse.then(at)


def _vector(element: ET.Element) -> Array:
    return np.array([float(word) for word in (element.text or "").split()])

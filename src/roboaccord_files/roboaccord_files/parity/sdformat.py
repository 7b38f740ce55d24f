"""Read a URDF or SDF with SDFormat, the parser of Gazebo.

`SdfReading` is the reader that a parity check asks what Gazebo would simulate. SDFormat's tool
`gz sdf` converts the file to SDF; `sdf_tree` reads that text into a tree of links and joints, whose
dynamics are computed as those of the reference. What the tool prints, but does not load, such as an
inertia that no body has, is refused, as by Gazebo. Mistakes that SDFormat makes are kept, its
rounding of angles (`rounds`) included, for the robot is judged as Gazebo would simulate it.

Elements are named by paths such as `left::tip`, a link in a nested model (frames.py).
sdformat_engine.py registers this reader as an engine.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from roboaccord.contract import AccordError
from roboaccord.description import UP, WORLD, Pose, make_tree, parse_lines
from roboaccord.description.tree import MOMENTS, Joint, Link, Tree, symmetric
from roboaccord.engines.reading import Question, TreeReading
from roboaccord.gazebo.tool import load_sdf, print_sdf

from roboaccord_files.parity.frames import Frames, pose_in, unique

TRUE_WORDS = ("true", "1")  # texts of a boolean of SDF that is true
# Path within <axis> of the quantities of joints that are listed without being compared.
PATHS = {"damping": "dynamics/damping", "friction": "dynamics/friction", "effort": "limit/effort"}


class SdfReading(TreeReading):
    """Read a URDF or SDF with SDFormat, whose tree then has the reference's dynamics.

    Args:
        text: text of the URDF or SDF.
        question: base and joints whose motion is compared.
        settings: not used, for SDFormat has none.
        packages: folders of models, by name; meshes are not read.
        file: path of the file with this text; the models that it includes are searched in its
            folder.

    Raises:
        AccordError: if SDFormat refuses it.
    """

    form = "sdf"  # format that it reads besides URDF
    rounds = True  # angles of its text are rounded
    keeps_root = True  # the root of a robot with a fixed base stays a link

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
        axis_of = {joint.name: elements[joint.name].find("axis") for joint in tree.moving}
        axes = {name: axis for name, axis in axis_of.items() if axis is not None}
        uncompared = {
            quantity: {name: _number(axis, path) for name, axis in axes.items()}
            for quantity, path in PATHS.items()
        }
        uncompared["mimic"] = {n: 1.0 for n, axis in axes.items() if axis.find("mimic") is not None}
        super().__init__(tree, question, uncompared)
        self.shapes = Counter(e.tag for e in model.iterfind(".//link/collision/geometry/*"))
        self.joints = tuple(sorted(self.joints, key=[*elements].index))

    @classmethod
    def beside(cls, text: str) -> Mapping[str, Sequence[str]]:
        """Return the links and joints on which something acts in Gazebo only, by its cause.

        In a URDF these causes are <gazebo> elements, which SDFormat has converted.
        """
        is_sdf = cls.is_own(text)
        model = (parse_lines(text)[0] if is_sdf else print_sdf(text)).find("model")
        if model is None:
            return {}
        # Of a URDF the joints that move in SDF, and the names of those that are fixed in the file.
        moving = [e for e in model.findall("joint") if e.get("type") != "fixed" and not is_sdf]
        fixed = [] if is_sdf else ET.fromstring(text).findall("joint[@type='fixed']")
        fixed_names = {joint.get("name") for joint in fixed}
        links = [*model.iter("link")]
        elements = {
            "gazebo static": [model] if _is_true(model, "static") else [],
            "gazebo gravity": [link for link in links if not _is_true(link, "gravity", "true")],
            "gazebo spring": [e for e in moving if _number(e, "axis/dynamics/spring_stiffness")],
            "gazebo hinge": [e for e in moving if e.get("name") in fixed_names],
        }
        names = {cause: [e.get("name", "") for e in elements[cause]] for cause in elements}
        return {cause: names[cause] for cause in names if names[cause]}


def _is_true(element: ET.Element, tag: str, default: str = "false") -> bool:
    """Return whether a boolean child of an element of SDF is true."""
    return element.findtext(tag, default).strip() in TRUE_WORDS


def _printed_model(text: str, packages: Mapping[str, Path], file: Path | None) -> ET.Element:
    """Return the model that SDFormat's tool prints for a text.

    Raises:
        AccordError: if it prints none, or one that it does not load.
    """
    with TemporaryDirectory() as models:  # the tool takes a folder's name for that of the model
        for name in packages:
            if name.strip("."):  # no `..`
                Path(models, name).symlink_to(packages[name])
        folders = ([models] if packages else []) + ([str(file.parent)] if file else [])
        model = print_sdf(text, ":".join(folders)).find("model")
        if model is None:
            raise AccordError("sdformat refuses it: it prints no model; accord check may say why")
        links = {link.get("name") for link in model.findall("link")}
        for joint in model.findall("joint"):
            if joint.get("name") in links:  # SDFormat prints such a model, but does not load it
                shared = f"joint and link share the name {joint.get('name')}"
                raise AccordError(f"sdformat refuses it: {shared}")
        if model.find(".//link") is None:
            raise AccordError("sdformat refuses it: it keeps no link")
        load_sdf(text, ":".join(folders))
    return model


def _number(element: ET.Element, path: str) -> float:
    """Return the number at a path within an element, 0 if it is not there."""
    return float(element.findtext(path, "0"))


def sdf_tree(model: ET.Element, root: str = "") -> tuple[Tree, dict[str, ET.Element]]:
    """Return the tree of a model, and the elements of its joints by name.

    The tree has a first link and all links that joints connect with it. A name that several nested
    models have gets the name of its model before it.

    Args:
        model: element <model> as SDFormat prints it, with at least one link.
        root: link that is preferred as the first.
    """
    frames = Frames(model)
    # Names of links and joints by their paths, for joints between links of the model.
    names = unique(frames.paths("link"), lambda path: path.replace("::", "_"))
    all_ends = {path: frames.ends(path) for path in frames.paths("joint")}
    in_model = {WORLD, *names}
    ends = {path: (a, b) for path, (a, b) in all_ends.items() if a in in_model and b in names}
    names[WORLD] = WORLD
    joint_names = unique(ends, lambda path: f"{names[ends[path][1]]}_{path.rpartition('::')[2]}")
    joints = [_joint(frames, path, name, names, *ends[path]) for path, name in joint_names.items()]
    links = {name: _link(name, frames.elements.get(path)) for path, name in names.items()}
    reached = _reachable([joint for joint, _ in joints], [*links], root)
    connecting = [(joint, pose) for joint, pose in joints if joint.child in reached]
    elements = {name: frames.elements[path] for path, name in joint_names.items()}
    return make_tree([links[name] for name in reached], connecting), elements


def _reachable(joints: Sequence[Joint], links: Sequence[str], root: str) -> list[str]:
    """Return the links that joints connect with the first one, the nearest first.

    The first link is the world if a joint hangs on it, else `root`, else a link without a parent.
    """
    children = {joint.child for joint in joints}
    first = root if root in links else next(name for name in links if name not in children)
    reached = [WORLD if any(joint.parent == WORLD for joint in joints) else first]
    pairs = [(joint.parent, joint.child) for joint in joints]
    for name in reached:  # grows as links are reached
        neighbours = [end for pair in pairs if name in pair for end in pair]
        reached += dict.fromkeys(end for end in neighbours if end not in reached)
    return reached


def _link(name: str, element: ET.Element | None) -> Link:
    """Return the link of an element; None stands for the world."""
    if element is None:
        return Link(name, 0.0, np.zeros(3), np.zeros((3, 3)))
    inertial = element.find("inertial")
    if inertial is None:
        # SDFormat's defaults are a mass of 1 kg and a unit inertia.
        return Link(name, 1.0, np.zeros(3), np.eye(3))
    centre, turn = pose_in(inertial)
    moments = [
        float(inertial.findtext(f"inertia/{k}", "1" if k[1] == k[2] else "0")) for k in MOMENTS
    ]
    inertia = turn @ symmetric(moments) @ turn.T
    return Link(name, float(inertial.findtext("mass", "1")), centre, inertia)


def _joint(
    frames: Frames, path: str, name: str, names: Mapping[str, str], parent: str, child: str
) -> tuple[Joint, Pose]:
    """Return a joint between two links, and the pose of its frame in its child link.

    Args:
        frames: frames of the model.
        path: path of the joint.
        name: name that the joint is to have.
        names: names of the links, by path.
        parent, child: paths of the links.
    """
    element, pose = frames.elements[path], frames.pose(path)
    position, rotation = frames.pose(parent).inverse.then(pose)
    kind, ends = element.get("type", "fixed"), (names[parent], names[child])
    joint = Joint(name, kind, *ends, position, rotation, axis=UP, lower=-np.inf, upper=np.inf)
    axis = element.find("axis")
    if axis is not None:
        joint = _with_axis(joint, axis, frames, path)
    return joint, frames.pose(child).inverse.then(pose)


def _with_axis(joint: Joint, element: ET.Element, frames: Frames, path: str) -> Joint:
    """Return a joint with the direction, limits, spring and mimic of its <axis>."""
    xyz = element.find("xyz")
    direction = UP if xyz is None else np.array((xyz.text or "").split(), float)
    frame = "" if xyz is None else xyz.get("expressed_in", "")
    if frame:
        rotation = frames.pose(frames.resolve(path, frame)).rotation
        direction = frames.pose(path).rotation.T @ rotation @ direction
    stiffness = _number(element, "dynamics/spring_stiffness")
    leader = element.find("mimic")
    mimic = None
    if leader is not None:
        multiplier, offset = leader.findtext("multiplier", "1"), leader.findtext("offset", "0")
        mimic = leader.get("joint", ""), float(multiplier), float(offset)
    return replace(
        joint,
        axis=direction / np.linalg.norm(direction),  # SDFormat moves along the unit axis
        lower=float(element.findtext("limit/lower", "-inf")),
        upper=float(element.findtext("limit/upper", "inf")),
        spring=(stiffness, _number(element, "dynamics/spring_reference")),
        mimic=mimic,
    )

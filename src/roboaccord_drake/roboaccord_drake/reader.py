"""Read a URDF or SDF with Drake's own parser, to show what Drake makes of the file.

`accord parity` compares this reading with that of a reference. A URDF is given to Drake as it is.
Of an SDF, the links and joints that Drake makes of it are turned into a tree like that of a URDF,
in which a link's frame lies on the joint that moves it. Drake's coordinates of planar joints differ
from URDF's; `charts` translate them.

Nothing of the text is repaired here, and a refusal is printed in Drake's words. Quantities that are
listed but not compared, such as friction, are in the attribute `apart`, as in every reader.
"""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, MultibodyPlant
from pydrake.multibody.tree import BodyIndex
from pydrake.systems.framework import DiagramBuilder
from roboaccord.contract import AccordError
from roboaccord.description import KINDS, WORLD, Tree, find_root, make_tree, write_tree
from roboaccord.engines import GRAVITY, Charts, Question, Reading, TreeReading, plane_chart, planes

from roboaccord_drake.convert import links_and_joints
from roboaccord_drake.load import load_sdf
from roboaccord_drake.model import DrakeMechanism, bodies_of, joint_indices, joints_of, motors_of


class DrakeReading(Reading):
    """Drake's reading of a URDF or SDF (Reading).

    Args:
        text: of the URDF or SDF.
        question: base and joints whose motion is compared.
        settings: not used: no setting of Drake's parser changes what is compared.
        packages: folders of ROS packages and models, by name.
        file: path of the file with this text; None if it is not in a file.

    Raises:
        AccordError: if Drake refuses the text.
    """

    form = "sdf"
    holds_rotors = True

    def __init__(
        self,
        text: str,
        question: Question,
        settings: str,
        packages: Mapping[str, Path],
        file: Path | None = None,
    ) -> None:
        self.question = question
        logging.getLogger("drake").setLevel(logging.WARNING)  # warnings are part of the reading
        # The plant, finalized, with its joints and their damping; of an SDF also our tree of it.
        try:
            plant, scene, tree = self._load(text, file, packages)
            text = write_tree(tree, "robot") if tree else text
            joints = joints_of(plant)
            damping = _finalize(plant, joints, text, question)
        except (RuntimeError, SystemExit) as error:  # SystemExit by a failed assertion
            raise AccordError(f"Drake refuses it: {str(error).splitlines()[0]}") from None
        # Joints in Drake's order, and the equations of those that are compared.
        indices = joint_indices(plant)
        self.joints = tuple(sorted(indices, key=lambda name: indices[name][1]))
        compared = question.of(self.joints)
        base, root = KINDS[question.base], question.root
        self.mechanism = mechanism = DrakeMechanism(plant, base, compared, root)
        planar = {n: joint for n, joint in joints.items() if joint.type_name() == "planar"}
        if planar:
            self.charts = _plane_charts(compared, planar, text)
        # Masses, links and axes of joints; of an SDF those of its tree, whose frames lie on joints.
        context = mechanism.context
        self.mass = float(plant.CalcTotalMass(context))
        self.links = self.properties_of(name for name in bodies_of(plant) if name != WORLD)
        self.hinges = {n: mechanism.hinge(joints[n], root) for n in damping}
        if tree:
            reading = TreeReading(tree, question)
            self.links, self.hinges = reading.links, reading.hinges
        self.apart = self._listed_quantities(plant, joints, damping)
        self.shapes = Counter(_shape_kinds(plant, scene)) if scene else Counter()
        plant.get_actuation_input_port().FixValue(context, np.zeros(plant.num_actuators()))

    def _load(
        self, text: str, file: Path | None, packages: Mapping[str, Path]
    ) -> tuple[MultibodyPlant, Any, Tree | None]:
        """Return Drake's plant with the scene graph of its shapes, and for an SDF its tree.

        The scene graph is None for an SDF and for a text without shapes.
        """
        if self.is_own(text):
            plant, _ = load_sdf(text, file, packages)
            return plant, None, make_tree(*links_and_joints(plant))
        plant, scene = _load_urdf(text, file, packages)
        return plant, scene, None

    def _listed_quantities(
        self, plant: MultibodyPlant, joints: Mapping[str, Any], damping: Mapping[str, float]
    ) -> dict[str, Mapping[str, float]]:
        """Return what is listed but not compared: by quantity, then by joint, in SI units."""
        names = {joint.index(): name for name, joint in joints.items()}
        motors = {names[motor.joint().index()]: motor for motor in motors_of(plant)}
        return {
            "damping": damping,
            "friction": dict.fromkeys(self.joints, 0.0),
            "effort": {n: motor.effort_limit() for n, motor in motors.items()},
            "armature": {n: motor.default_reflected_inertia() for n, motor in motors.items()},
            "mimic": {},
        }


def _finalize(
    plant: MultibodyPlant, joints: Mapping[str, Any], text: str, question: Question
) -> dict[str, float]:
    """Weld the base if it is fixed, set gravity, finalize the plant, and return the damping.

    Damping (by name of the joint) is removed from the plant, since it is listed, and not compared.
    """
    root_link = find_root(ET.fromstring(text), "URDF")
    if (question.base == "fixed" or question.root != root_link) and root_link != WORLD:
        plant.WeldFrames(plant.world_frame(), bodies_of(plant)[root_link].body_frame())
    moving = {n: joint for n, joint in joints.items() if joint.num_velocities() == 1}
    damping = {name: float(joint.default_damping()) for name, joint in moving.items()}
    for joint in moving.values():
        joint.set_default_damping(0.0)
    for joint in joints.values():
        if joint.type_name() == "planar":
            joint.set_default_damping_vector(np.zeros(3))
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -GRAVITY])
    plant.Finalize()
    return damping


def _plane_charts(compared: Sequence[str], planar: Mapping[str, Any], text: str) -> Charts:
    """Return the conversion of planar joints' coordinates from URDF's to Drake's.

    Args:
        compared: names of all joints, in the order of states.
        planar: Drake's planar joints by name.
        text: the URDF.
    """
    axes = planes(text)
    charts = {}
    for name, joint in planar.items():
        pose = joint.frame_on_parent().GetFixedPoseInBodyFrame()
        charts[name] = plane_chart(pose.rotation().matrix(), axes[name])
    return Charts(compared, charts)


def _load_urdf(
    text: str, file: Path | None, packages: Mapping[str, Path]
) -> tuple[MultibodyPlant, Any]:
    """Return the plant of a URDF, not finalized, and its scene graph; None if it has no shapes."""
    plant, scene = MultibodyPlant(0.0), None
    if "<geometry" in text:  # Drake reads shapes only into a scene graph
        plant, scene = AddMultibodyPlantSceneGraph(DiagramBuilder(), 0.0)
    parser = Parser(plant)
    for name, folder in packages.items():
        parser.package_map().Add(name, folder)
    if file and file.suffix == ".urdf":
        parser.AddModels(file)
    else:  # in a text Drake takes absolute paths only as file:// URIs
        parser.AddModelsFromString(text.replace('filename="/', 'filename="file:///'), "urdf")
    return plant, scene


def _shape_kinds(plant: MultibodyPlant, scene: Any) -> Iterator[str]:
    """Yield the kind of each collision shape, such as box, as URDF names it."""
    inspector = scene.model_inspector()
    for i in range(plant.num_bodies()):
        for shape in plant.GetCollisionGeometriesForBody(plant.get_body(BodyIndex(i))):
            yield type(inspector.GetShape(shape)).__name__.lower()

"""Drake's reading of a URDF or SDF, by its own parser, into a plant in continuous time.

A URDF is parsed as it is; of an SDF the links and joints that Drake makes of it are written as a
tree, whose links begin at their joints. Coordinates of joints of several degrees are translated by
`charts`, from Drake's to those of a URDF.

Nothing of the text may be repaired here, since `accord parity` compares what Drake itself makes of
it; the words of a refusal are Drake's. Quantities beside the equations of motion may be added, as
keys of `apart`, as in every reader.
"""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, MultibodyPlant
from pydrake.multibody.tree import BodyIndex
from pydrake.systems.framework import DiagramBuilder
from roboaccord.contract import AccordError
from roboaccord.description import KINDS, Tree, find_root, make_tree, write_tree
from roboaccord.engines import (
    GRAVITY,
    WORLD,
    Chart,
    Charts,
    Hinge,
    Question,
    Reading,
    TreeReading,
    plane_chart,
    planes,
)

from roboaccord_drake.convert import parts_of
from roboaccord_drake.load import load
from roboaccord_drake.model import DrakeMechanism, axis_of, bodies_of, degrees, joints_of


class DrakeReading(Reading):
    """Read a URDF or SDF with Drake; no setting of its parser changes what is compared.

    Args:
        text: of a file, or of none.
        question: base and joints.
        settings: not used.
        packages: folders of ROS packages and models by name.
        file: with this text.

    Raises:
        AccordError: if Drake refuses it.
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
        logging.getLogger("drake").setLevel(logging.WARNING)  # its own words
        try:
            plant, scene, tree = self._load(text, file, packages)
            text = write_tree(tree, "robot") if tree else text
            joints = joints_of(plant)
            damping = _finalize(plant, joints, text, question)
        except (RuntimeError, SystemExit) as error:  # the latter of an assertion
            raise AccordError(f"Drake refuses it: {str(error).splitlines()[0]}") from None
        bodies, numbers = bodies_of(plant), degrees(plant)
        self.joints = tuple(sorted(numbers, key=lambda name: numbers[name][1]))
        asked = question.of(self.joints)
        self.mechanism = DrakeMechanism(plant, KINDS[question.base], asked, question.root)
        if planar := {n: joint for n, joint in joints.items() if joint.type_name() == "planar"}:
            self.charts = Charts(asked, _plane_charts(planar, text))
        context = self.mechanism.context
        self.mass = float(plant.CalcTotalMass(context))
        base = bodies[question.root].body_frame()
        self.links = self.linked(name for name in bodies if name != WORLD)
        self.hinges = {n: _hinge(plant, context, joints[n], base) for n in damping}
        if tree:  # its links begin at their joints, some of them the other way round
            read = TreeReading(tree, question)
            self.links, self.hinges = read.links, read.hinges
        self.apart = self._beside(plant, joints, damping)
        self.shapes = Counter(_kinds(plant, scene)) if scene else Counter()
        plant.get_actuation_input_port().FixValue(context, np.zeros(plant.num_actuators()))

    def _load(
        self, text: str, file: Path | None, packages: Mapping[str, Path]
    ) -> tuple[MultibodyPlant, Any, Tree | None]:
        """Return Drake's model with its shapes, or of an SDF with its tree."""
        if self.is_own(text):
            plant, _ = load(text, file, packages)
            return plant, None, make_tree(*parts_of(plant))
        return *_of_urdf(text, file, packages), None

    def _beside(
        self, plant: MultibodyPlant, joints: Mapping[str, Any], damping: Mapping[str, float]
    ) -> dict[str, Mapping[str, float]]:
        """Return the quantities of joints that act beside the equations of motion, by name."""
        names = {joint.index(): name for name, joint in joints.items()}
        motors = [plant.get_joint_actuator(i) for i in plant.GetJointActuatorIndices()]
        drives = {names[motor.joint().index()]: motor for motor in motors}
        return {
            "damping": damping,
            "friction": dict.fromkeys(self.joints, 0.0),
            "effort": {name: motor.effort_limit() for name, motor in drives.items()},
            "armature": {n: motor.default_reflected_inertia() for n, motor in drives.items()},
            "mimic": {},
        }


def _finalize(
    plant: MultibodyPlant, joints: Mapping[str, Any], text: str, question: Question
) -> dict[str, float]:
    """Set the base and gravity, end the description, and return the damping of joints by name.

    Drake's own damping is removed, for it is compared apart from the equations of motion.
    """
    first = find_root(ET.fromstring(text), "URDF")
    if (question.base == "fixed" or question.root != first) and first != WORLD:
        plant.WeldFrames(plant.world_frame(), bodies_of(plant)[first].body_frame())
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


def _plane_charts(planar: Mapping[str, Any], text: str) -> dict[str, Chart]:
    """Return the coordinates of planar joints, by name, from Drake's to those of a URDF."""
    axes = planes(text)
    return {
        name: plane_chart(
            joint.frame_on_parent().GetFixedPoseInBodyFrame().rotation().matrix(), axes[name]
        )
        for name, joint in planar.items()
    }


def _of_urdf(
    text: str, file: Path | None, packages: Mapping[str, Path]
) -> tuple[MultibodyPlant, Any]:
    """Return the plant of a URDF, not finalized, and its scene; None where nothing has a shape."""
    plant, scene = MultibodyPlant(0.0), None
    if "<geometry" in text:  # without a scene graph no geometry is read
        plant, scene = AddMultibodyPlantSceneGraph(DiagramBuilder(), 0.0)
    parser = Parser(plant)
    for name, folder in packages.items():
        parser.package_map().Add(name, folder)
    if file and file.suffix == ".urdf":
        parser.AddModels(file)
    else:  # of which it takes no other absolute path
        parser.AddModelsFromString(text.replace('filename="/', 'filename="file:///'), "urdf")
    return plant, scene


def _hinge(plant: MultibodyPlant, context: Any, joint: Any, home: Any) -> Hinge:
    pose = plant.CalcRelativeTransform(context, home, joint.frame_on_child())
    ends = joint.position_lower_limit(), joint.position_upper_limit()
    return Hinge(pose.translation(), pose.rotation().matrix() @ axis_of(joint), *ends)


def _kinds(plant: MultibodyPlant, scene: Any) -> Iterator[str]:
    """Yield the kind of each collision shape, as URDF names it."""
    inspector = scene.model_inspector()
    for body in (plant.get_body(BodyIndex(i)) for i in range(plant.num_bodies())):
        for shape in plant.GetCollisionGeometriesForBody(body):
            yield type(inspector.GetShape(shape)).__name__.lower()

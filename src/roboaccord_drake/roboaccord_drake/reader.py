"""Drake's reading of a URDF, by its own parser, into a plant in continuous time.

What must stay: nothing of the text is repaired here, since `accord parity` compares what Drake
itself makes of it, and the words of a refusal are Drake's. Quantities that are listed apart may be
added, as keys of `apart`, as in every reader; coordinates of joints of several degrees are
translated by `charts` (maps from Drake's to URDF's).
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
from roboaccord.description import KINDS, find_root
from roboaccord.engines import GRAVITY, Charts, Hinge, Question, Reading, plane_chart, planes

from roboaccord_drake.model import DrakeMechanism, axis_of, degrees


class DrakeReading(Reading):
    """Read a URDF with Drake; no setting of its parser changes what is compared.

    Args:
        urdf: its text.
        question: base and joints.
        settings: not used.
        packages: folders of ROS packages by name.

    Raises:
        AccordError: if Drake refuses it.
    """

    holds_rotors = True

    def __init__(
        self,
        urdf: str,
        question: Question,
        settings: str,
        packages: Mapping[str, Path],
        file: Path | None = None,
    ) -> None:
        self.question = question
        builder = DiagramBuilder()
        if "<geometry" in urdf:  # without a scene graph no geometry is read
            plant, scene = AddMultibodyPlantSceneGraph(builder, 0.0)
        else:
            plant, scene = MultibodyPlant(0.0), None
        logging.getLogger("drake").setLevel(logging.WARNING)  # its own words
        parser = Parser(plant)
        for name, folder in packages.items():
            parser.package_map().Add(name, folder)
        try:
            (model,) = parser.AddModelsFromString(urdf, "urdf")
            root, first = question.root, find_root(ET.fromstring(urdf), "URDF")
            if (question.base == "fixed" or root != first) and first != "world":
                plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(first))
            joints = [plant.get_joint(i) for i in plant.GetJointIndices()]
            moving = [joint for joint in joints if joint.num_velocities() == 1]
            many = [joint for joint in joints if joint.type_name() == "planar"]
            damping = {joint.name(): float(joint.default_damping()) for joint in moving}
            for joint in moving:
                joint.set_default_damping(0.0)
            for joint in many:
                joint.set_default_damping_vector(np.zeros(3))
            plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -GRAVITY])
            plant.Finalize()
        except (RuntimeError, SystemExit) as error:  # the latter of an assertion
            raise AccordError(f"Drake refuses it: {str(error).splitlines()[0]}") from None
        known = degrees(plant)
        self.joints = tuple(sorted(known, key=lambda name: known[name][1]))
        asked, kind = question.of(self.joints), KINDS[question.base]
        self.mechanism = DrakeMechanism(plant, kind, asked, root)
        ours = planes(urdf) if many else {}
        frames = {j.name(): j.frame_on_parent().GetFixedPoseInBodyFrame() for j in many}
        if many:
            turns = {name: pose.rotation().matrix() for name, pose in frames.items()}
            charts = {name: plane_chart(turn, ours[name]) for name, turn in turns.items()}
            self.charts = Charts(asked, charts)
        context = self.mechanism.context
        self.mass = float(plant.CalcTotalMass(context))
        self.links = self.linked(plant.get_body(i).name() for i in plant.GetBodyIndices(model))
        home = plant.GetFrameByName(root) if root != "world" else plant.world_frame()
        self.hinges = {joint.name(): _hinge(plant, context, joint, home) for joint in moving}
        actuators = [plant.get_joint_actuator(i) for i in plant.GetJointActuatorIndices()]
        self.apart = {
            "damping": damping,
            "friction": dict.fromkeys(self.joints, 0.0),
            "effort": {a.joint().name(): a.effort_limit() for a in actuators},
            "armature": {a.joint().name(): a.default_reflected_inertia() for a in actuators},
            "mimic": {},
        }
        self.shapes = Counter(_kinds(plant, scene)) if scene else Counter()
        plant.get_actuation_input_port().FixValue(context, np.zeros(plant.num_actuators()))


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

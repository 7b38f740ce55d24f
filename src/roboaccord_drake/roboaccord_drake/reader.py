"""Drake's reading of a URDF or SDF, by its own parser, into a plant in continuous time.

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
from roboaccord.description import KINDS, find_root, make_tree, write_tree
from roboaccord.engines import (
    GRAVITY,
    WORLD,
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
        tree, root = None, question.root
        try:
            if self.is_own(text):
                (plant, _), scene = load(text, file, packages), None
                tree = make_tree(*parts_of(plant))
                text = write_tree(tree, "robot")
            else:
                plant, scene = _of_urdf(text, file, packages)
            first = find_root(ET.fromstring(text), "URDF")
            bodies, joints = bodies_of(plant), joints_of(plant)
            if (question.base == "fixed" or root != first) and first != WORLD:
                plant.WeldFrames(plant.world_frame(), bodies[first].body_frame())
            moving = {n: joint for n, joint in joints.items() if joint.num_velocities() == 1}
            many = {n: joint for n, joint in joints.items() if joint.type_name() == "planar"}
            damping = {name: float(joint.default_damping()) for name, joint in moving.items()}
            for joint in moving.values():
                joint.set_default_damping(0.0)
            for joint in many.values():
                joint.set_default_damping_vector(np.zeros(3))
            plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -GRAVITY])
            plant.Finalize()
        except (RuntimeError, SystemExit) as error:  # the latter of an assertion
            raise AccordError(f"Drake refuses it: {str(error).splitlines()[0]}") from None
        known = degrees(plant)
        self.joints = tuple(sorted(known, key=lambda name: known[name][1]))
        asked, kind = question.of(self.joints), KINDS[question.base]
        self.mechanism = DrakeMechanism(plant, kind, asked, root)
        ours = planes(text) if many else {}
        frames = {n: j.frame_on_parent().GetFixedPoseInBodyFrame() for n, j in many.items()}
        if many:
            turns = {name: pose.rotation().matrix() for name, pose in frames.items()}
            charts = {name: plane_chart(turn, ours[name]) for name, turn in turns.items()}
            self.charts = Charts(asked, charts)
        context = self.mechanism.context
        self.mass = float(plant.CalcTotalMass(context))
        home = bodies[root].body_frame()
        self.links = self.linked(name for name in bodies if name != WORLD)
        self.hinges = {n: _hinge(plant, context, joint, home) for n, joint in moving.items()}
        if tree:  # whose links begin at their joints, some of them the other way round
            own = TreeReading(tree, question)
            self.links, self.hinges = own.links, own.hinges
        names = {joint.index(): name for name, joint in joints.items()}
        motors = [plant.get_joint_actuator(i) for i in plant.GetJointActuatorIndices()]
        drives = {names[motor.joint().index()]: motor for motor in motors}
        self.apart = {
            "damping": damping,
            "friction": dict.fromkeys(self.joints, 0.0),
            "effort": {name: motor.effort_limit() for name, motor in drives.items()},
            "armature": {n: motor.default_reflected_inertia() for n, motor in drives.items()},
            "mimic": {},
        }
        self.shapes = Counter(_kinds(plant, scene)) if scene else Counter()
        plant.get_actuation_input_port().FixValue(context, np.zeros(plant.num_actuators()))


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

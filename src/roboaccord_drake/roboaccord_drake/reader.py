"""Drake's reading of a URDF, by its own parser, into a plant in continuous time."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, MultibodyPlant
from pydrake.multibody.tree import BodyIndex, RigidBody
from pydrake.systems.framework import DiagramBuilder
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array, RobotState
from roboaccord.description.urdf_file import find_root
from roboaccord.engines.properties import LinkProperties
from roboaccord.engines.reading import GRAVITY, Hinge, Question, Reading, steiner
from roboaccord.numerics.rotations import quaternion_matrix


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

    def __init__(
        self, urdf: str, question: Question, settings: str, packages: Mapping[str, Path]
    ) -> None:
        builder = DiagramBuilder()
        if "<geometry" in urdf:  # without a scene graph no geometry is read
            plant, scene = AddMultibodyPlantSceneGraph(builder, 0.0)
        else:
            plant, scene = MultibodyPlant(0.0), None
        parser = Parser(plant)
        for name, folder in packages.items():
            parser.package_map().Add(name, folder)
        try:
            (model,) = parser.AddModelsFromString(urdf, "urdf")
            root = find_root(ET.fromstring(urdf), "URDF")
            if question.base == "fixed" and root != "world":
                plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(root))
            joints = [plant.get_joint(i) for i in plant.GetJointIndices()]
            moving = [joint for joint in joints if joint.num_velocities() == 1]
            damping = {joint.name(): float(joint.default_damping()) for joint in moving}
            for joint in moving:
                joint.set_default_damping(0.0)
            plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -GRAVITY])
            plant.Finalize()
        except RuntimeError as error:
            raise AccordError(f"Drake refuses it: {str(error).splitlines()[0]}") from None
        self._plant, self._context = plant, plant.CreateDefaultContext()
        self._root = None if question.base == "fixed" else plant.GetBodyByName(root)
        self.joints = tuple(joint.name() for joint in moving)
        self.mass = float(plant.CalcTotalMass(self._context))
        bodies = [plant.get_body(i) for i in plant.GetBodyIndices(model)]
        self.links = {body.name(): self._link(body) for body in bodies}
        home = plant.GetFrameByName(root) if root != "world" else plant.world_frame()
        self.hinges = {joint.name(): self._hinge(joint, home) for joint in moving}
        actuators = [plant.get_joint_actuator(i) for i in plant.GetJointActuatorIndices()]
        self.apart = {
            "damping": damping,
            "friction": dict.fromkeys(self.joints, 0.0),
            "effort": {a.joint().name(): a.effort_limit() for a in actuators},
            "armature": {a.joint().name(): a.default_reflected_inertia() for a in actuators},
            "mimic": {},
        }
        self.shapes = Counter(_kinds(plant, scene)) if scene else Counter()
        self._acceleration = plant.get_generalized_acceleration_output_port()
        plant.get_actuation_input_port().FixValue(self._context, np.zeros(plant.num_actuators()))

    def _link(self, body: RigidBody) -> LinkProperties:
        inertia = body.default_spatial_inertia()
        mass, centre = inertia.get_mass(), np.array(inertia.get_com())
        about = inertia.CalcRotationalInertia().CopyToFullMatrix3()
        return LinkProperties(mass, centre, about - mass * steiner(centre))

    def _hinge(self, joint: Any, home: object) -> Hinge:
        frame = joint.frame_on_child()
        pose = self._plant.CalcRelativeTransform(self._context, home, frame)
        turns = joint.type_name() == "revolute"
        axis = joint.revolute_axis() if turns else joint.translation_axis()
        ends = joint.position_lower_limit(), joint.position_upper_limit()
        return Hinge(pose.translation(), pose.rotation().matrix() @ axis, *ends)

    def _place(self, state: RobotState, joints: tuple[str, ...]) -> list[int]:
        """Put the plant in a state; return the rows of its rates in the order of all readings."""
        plant, context, root = self._plant, self._context, self._root
        moving = [plant.GetJointByName(name) for name in joints]
        rows = [joint.velocity_start() for joint in moving]
        positions = plant.GetPositions(context)
        rates, forces = np.zeros((2, plant.num_velocities()))
        positions[[joint.position_start() for joint in moving]] = state.q
        rates[rows], forces[rows] = state.qd, state.effort
        if root is not None:
            at, start = root.floating_positions_start(), root.floating_velocities_start_in_v()
            rotation = quaternion_matrix(state.orientation)
            positions[at : at + 7] = [*np.roll(state.orientation, 1), *state.position]
            rates[start : start + 3] = rotation @ state.twist[3:]
            rates[start + 3 : start + 6] = rotation @ state.twist[:3]
            rows = [*range(start + 3, start + 6), *range(start, start + 3), *rows]
        plant.SetPositions(context, positions)
        plant.SetVelocities(context, rates)
        plant.get_applied_generalized_force_input_port().FixValue(context, forces)
        return rows

    def acceleration(self, state: RobotState, joints: tuple[str, ...]) -> Array:
        rows = self._place(state, joints)
        try:
            return np.asarray(self._acceleration.Eval(self._context)[rows])
        except RuntimeError as error:  # in continuous time it takes no constraints: mimic
            raise AccordError(f"Drake refuses it: {str(error).splitlines()[0]}") from None

    def statics(self, state: RobotState, joints: tuple[str, ...]) -> tuple[Array, Array]:
        rows, plant = self._place(state, joints), self._plant
        mass = plant.CalcMassMatrix(self._context)[np.ix_(rows, rows)]
        return mass, -plant.CalcGravityGeneralizedForces(self._context)[rows]


def _kinds(plant: MultibodyPlant, scene: Any) -> Iterator[str]:
    """Yield the kind of each collision shape, as URDF names it."""
    inspector = scene.model_inspector()
    for body in (plant.get_body(BodyIndex(i)) for i in range(plant.num_bodies())):
        for shape in plant.GetCollisionGeometriesForBody(body):
            yield type(inspector.GetShape(shape)).__name__.lower()

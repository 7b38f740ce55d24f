"""Drake's plant of a description, and where the coordinates of `base_link` are in it.

UNREAD, what Drake must not read because the model sets it, may be extended; properties may be added
to `DrakeMechanism`. The order of coordinates is fixed by Drake; `DrakeMechanism` and simulator.py
both take it from `degrees` and `base_slices`. test_drake.py compares motions with MuJoCo's.
"""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import BodyIndex
from roboaccord.contract import Acceleration, AccordError, Array, RobotState
from roboaccord.description import DEGREES, FixedBase, Tree
from roboaccord.engines import (
    BASE_LINK,
    WORLD,
    EngineModel,
    JointProperties,
    LinkProperties,
    Mechanism,
)
from roboaccord.numerics import quaternion_matrix, turn_twist

UNREAD = ("visual", "collision", "dynamics", "transmission")  # set by the model, or not needed
CONTINUOUS = 0.0  # time step of a plant whose equations are integrated outside

# It warns of what it replaces, such as an inertia, which we refuse.
logging.getLogger("drake").setLevel(logging.ERROR)


def make_plant(model: EngineModel, tree: Tree, time_step: float) -> Any:
    """Return Drake's plant of a model, with a rotor at each joint that is commanded.

    Args:
        model: description and base.
        tree: of the description.
        time_step: of the discrete equations [s], or CONTINUOUS.

    Raises:
        AccordError: if Drake cannot read the description.
    """
    plant = MultibodyPlant(time_step)
    try:
        text = _reduced(model.urdf, mimic=time_step != CONTINUOUS)
        Parser(plant).AddModelsFromString(text, "urdf")
        for i, name in enumerate(model.joints):
            joint = plant.GetJointByName(name)
            actuator = plant.AddJointActuator(name, joint)
            actuator.set_default_rotor_inertia(model.rotors[i])
            if model.damping is not None:
                joint.set_default_damping_vector([model.damping[i]])
        for joint in tree.moving:
            if joint.kind == "continuous":  # Drake would keep limits that it happens to have
                plant.GetMutableJointByName(joint.name).set_position_limits([-np.inf], [np.inf])
        plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -model.gravity])
        plant.Finalize()
    except (RuntimeError, ValueError, SystemExit) as error:
        reason = " ".join(str(error).split())
        raise AccordError(f"Drake refuses the description: {reason}") from None
    return plant


def _reduced(urdf: str, *, mimic: bool) -> str:
    """Return a URDF without shapes, transmissions, damping, friction, and mimic joints perhaps."""
    root = ET.fromstring(urdf)
    for parent in [root, *root.findall("link"), *root.findall("joint")]:
        for child in list(parent):
            if child.tag in UNREAD or (child.tag == "mimic" and not mimic):
                parent.remove(child)
    return ET.tostring(root, encoding="unicode")


def link_of(body: Any, context: Any) -> LinkProperties:
    """Return the properties of a body, in the axes of its link."""
    inertia = body.CalcSpatialInertiaInBodyFrame(context)
    centre = np.array(inertia.get_com())
    about_centre = inertia.Shift(centre).CalcRotationalInertia().CopyToFullMatrix3()
    return LinkProperties(inertia.get_mass(), centre, np.array(about_centre))


class DrakeMechanism(Mechanism):
    """A plant in continuous time and its context.

    A planar base has x, y and yaw; a free one quaternion w x y z and position, angular and linear
    velocity in the world.

    Args:
        plant: Drake's.
        base: its kind.
        joints: names, in the order of states.
        body: that moves as the base.
    """

    def __init__(
        self, plant: Any, base: FixedBase, joints: Sequence[str], body: str = BASE_LINK
    ) -> None:
        self.plant, self.context, self._base = plant, plant.CreateDefaultContext(), base
        self._bodies = bodies_of(plant)
        known = degrees(plant)
        self.q = np.array([known[name][0] for name in joints], dtype=int)
        self.v = np.array([known[name][1] for name in joints], dtype=int)
        self.base_q, self.base_v = base_slices(plant, base, body)
        turns_first = np.roll(base.axes, 3) if base.tilts else base.axes
        self.axes = np.array(turns_first, dtype=int)

    def vector(self, state: RobotState) -> Array:
        """Return Drake's positions and velocities in a state."""
        q, v = np.zeros(self.plant.num_positions()), np.zeros(self.plant.num_velocities())
        q[self.q], v[self.v] = state.q, state.qd
        twist = turn_twist(quaternion_matrix(state.orientation), state.twist)
        v[self.base_v] = twist[self.axes]
        q[self.base_q] = np.roll(self._base.pose(state), -3)  # a free base's quaternion first
        return np.concatenate([q, v])

    def place(self, state: RobotState) -> None:
        self.plant.SetPositionsAndVelocities(self.context, self.vector(state))

    def accelerate(self, rotation: Array, effort: Array) -> Acceleration:
        plant, context = self.plant, self.context
        forces = np.zeros(plant.num_velocities())
        forces[self.v] = effort
        plant.get_applied_generalized_force_input_port().FixValue(context, forces)
        try:
            rates = plant.EvalTimeDerivatives(context).CopyToVector()[-len(forces) :]
        except RuntimeError as error:  # in continuous time it takes no constraints: mimic
            raise AccordError(f"Drake refuses it: {str(error).splitlines()[0]}") from None
        base = np.zeros(6)
        base[self.axes] = rates[self.base_v]
        return Acceleration(base, rates[self.v])

    def statics(self, rotation: Array) -> tuple[Array, Array, Array]:
        mass, bias = dynamics_of(self.plant, self.context)  # at rest there is nothing else
        base = np.arange(len(mass))[self.base_v]
        rows = [*base[np.argsort(self.axes)], *self.v]
        order = np.zeros((len(mass), len(rows)))
        order[rows, np.arange(len(rows))] = 1.0
        return order, mass, bias

    def gravity(self) -> Array:
        return np.array(self.plant.gravity_field().gravity_vector())

    def link(self, name: str) -> LinkProperties:
        return link_of(self._bodies[name], self.context)

    def joint(self, name: str) -> JointProperties:
        joint = self.plant.GetJointByName(name)
        pose = joint.frame_on_parent().GetFixedPoseInBodyFrame()
        limits = joint.position_lower_limits(), joint.position_upper_limits()
        armature = 0.0
        if self.plant.HasJointActuatorNamed(name):
            actuator = self.plant.GetJointActuatorByName(name)
            armature = float(actuator.rotor_inertia(self.context))
        return JointProperties(
            origin=np.array(pose.translation()),
            axis=np.array(pose.rotation().matrix() @ axis_of(joint)),
            limits=np.concatenate(limits),
            damping=float(joint.default_damping_vector()[0]),
            friction=0.0,
            armature=armature,
        )


def bodies_of(plant: Any) -> dict[str, Any]:
    """Return bodies by name, the world first; with its model's where another body has it, too."""
    bodies = [plant.get_body(BodyIndex(i)) for i in range(1, plant.num_bodies())]
    scoped = [str(body.scoped_name()).partition("::")[2].replace("::", "_") for body in bodies]
    return {WORLD: plant.world_body()} | _by_name(bodies, scoped)


def joints_of(plant: Any) -> dict[str, Any]:
    """Return joints by name, with that of their child where another joint has it, too."""
    joints = [plant.get_joint(index) for index in plant.GetJointIndices()]
    names = {body.index(): name for name, body in bodies_of(plant).items()}
    return _by_name(joints, [f"{names[j.child_body().index()]}_{j.name()}" for j in joints])


def _by_name(elements: Sequence[Any], whole: Sequence[str]) -> dict[str, Any]:
    """Return elements by name; by their whole name where several have one."""
    counts = Counter(element.name() for element in elements)
    return {element.name() if counts[element.name()] == 1 else name: element
            for element, name in zip(elements, whole, strict=True)}  # fmt: skip


def degrees(plant: Any) -> dict[str, tuple[int, int]]:
    """Return where positions and velocities of joints are; three of a planar one (`DEGREES`)."""
    places = dict[str, tuple[int, int]]()
    for name, joint in joints_of(plant).items():
        start = joint.position_start(), joint.velocity_start()
        if joint.type_name() == "planar":
            names = [f"{name}_{degree}" for degree in DEGREES["planar"]]
            places |= {name: (start[0] + i, start[1] + i) for i, name in enumerate(names)}
        elif joint.num_velocities() == 1:
            places[name] = start
    return places


def dynamics_of(plant: Any, context: Any) -> tuple[Array, Array]:
    """Return mass matrix M and the forces C v - g that go with M v' in a context."""
    gravity = plant.CalcGravityGeneralizedForces(context)
    return plant.CalcMassMatrix(context), plant.CalcBiasTerm(context) - gravity


def axis_of(joint: Any) -> Array:
    """Return the axis of a joint that turns or slides (3,)."""
    turns = joint.type_name() == "revolute"
    return np.asarray(joint.revolute_axis() if turns else joint.translation_axis())


def base_slices(plant: Any, base: FixedBase, body: str) -> tuple[slice, slice]:
    """Return the slices of positions and velocities of the body that moves as the base."""
    if not base.moves:
        return slice(0), slice(0)
    if not base.tied:
        moving = bodies_of(plant)[body]
        q, v = moving.floating_positions_start(), moving.floating_velocities_start_in_v()
    else:
        joints = [plant.get_joint(index) for index in plant.GetJointIndices()]
        planar = next(j for j in joints if j.child_body().name() == body)
        q, v = planar.position_start(), planar.velocity_start()
    return slice(q, q + base.size), slice(v, v + len(base.axes))

"""Make Drake's plant (its multibody model) of a robot, and read states and properties from it.

`make_plant` gives Drake the URDF of a model, with rotors and damping that the model sets.
`DrakeMechanism` evaluates the plant's equations of motion: accelerations, mass matrix, gravity
forces. Drake numbers positions and velocities in its own order, with the base among the joints;
`joint_indices` and `base_slices` return where each joint and the base are.
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
from pydrake.multibody.tree import BodyIndex, PdControllerGains
from roboaccord.contract import Acceleration, AccordError, Array, RobotState
from roboaccord.description import DEGREES, WORLD, FixedBase, Tree
from roboaccord.engines import EngineModel, Hinge, JointProperties, LinkProperties, Mechanism
from roboaccord.numerics import quaternion_matrix, turn_twist

# Drake's objects, by the names of its classes. Their type is Any, because the stubs of pydrake lack
# methods of derived classes, such as those of a revolute joint.
Plant = Any  # MultibodyPlant
Context = Any  # Context: state and parameters of a plant
Body = Any  # RigidBody
DrakeJoint = Any  # Joint
Motor = Any  # JointActuator
# Elements that are removed from the URDF: the model sets these properties, or needs no shapes.
REMOVED_TAGS = ("visual", "collision", "dynamics", "transmission")
NO_SERVO = 1e-12  # N m/rad; stiffness of a servo that is not set yet: Drake refuses 0
CONTINUOUS = 0.0  # s; time step that makes a plant continuous: its equations are integrated outside

# Drake warns of inertias that it replaces; simulator.py refuses such robots with its own message.
logging.getLogger("drake").setLevel(logging.ERROR)


def make_plant(model: EngineModel, tree: Tree, time_step: float) -> Plant:
    """Return Drake's plant of a model, with a rotor at each joint that is commanded.

    Args:
        model: URDF, base, rotors and damping of the robot.
        tree: links and joints of the same URDF.
        time_step: of a discrete plant [s], or CONTINUOUS.

    Raises:
        AccordError: if Drake cannot read the description.
    """
    plant = MultibodyPlant(time_step)
    try:
        text = _without_removed_tags(model.urdf, mimic=time_step != CONTINUOUS)
        Parser(plant).AddModelsFromString(text, "urdf")
        for i, name in enumerate(model.joints):
            joint = plant.GetJointByName(name)
            motor = plant.AddJointActuator(name, joint)
            motor.set_default_rotor_inertia(model.rotors[i])
            if model.servos and time_step != CONTINUOUS:
                motor.set_controller_gains(PdControllerGains(p=NO_SERVO, d=0.0))
            if model.damping is not None:
                joint.set_default_damping_vector([model.damping[i]])
        for joint in tree.moving:
            if joint.kind == "continuous":  # Drake keeps limits that a URDF may have there
                plant.GetMutableJointByName(joint.name).set_position_limits([-np.inf], [np.inf])
        plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -model.gravity])
        plant.Finalize()
    except (RuntimeError, ValueError, SystemExit) as error:
        reason = " ".join(str(error).split())
        raise AccordError(f"Drake refuses the description: {reason}") from None
    return plant


def _without_removed_tags(urdf: str, *, mimic: bool) -> str:
    """Return a URDF without REMOVED_TAGS, and without <mimic> unless `mimic` is true."""
    root = ET.fromstring(urdf)
    for parent in [root, *root.findall("link"), *root.findall("joint")]:
        for child in list(parent):
            if child.tag in REMOVED_TAGS or (child.tag == "mimic" and not mimic):
                parent.remove(child)
    return ET.tostring(root, encoding="unicode")


class DrakeMechanism(Mechanism):
    """The equations of motion of a continuous plant, evaluated in a context of its own.

    In Drake's vectors a planar base has positions x, y and yaw. A free base has a quaternion
    w, x, y, z and then its position; its velocities are angular, then linear, in the world.

    Args:
        plant: Drake's plant, finalized.
        base: kind of the robot's base.
        joints: names of the joints in the order of states.
        body: name of the body that is the base.

    Attributes:
        q, v: indices of the joints in Drake's positions and velocities (n,).
        base_q, base_v: slices of the base in them.
        axes: which components of a twist (6,) the base's velocities are, in their order.
    """

    def __init__(self, plant: Plant, base: FixedBase, joints: Sequence[str], body: str) -> None:
        self.plant, self._base = plant, base
        self.context = plant.CreateDefaultContext()
        self._bodies = bodies_of(plant)
        indices = joint_indices(plant)
        self.q = np.array([indices[name][0] for name in joints], dtype=int)
        self.v = np.array([indices[name][1] for name in joints], dtype=int)
        self.base_q, self.base_v = base_slices(plant, base, body)
        # Drake has the angular velocity of a free base first.
        angular_first = np.roll(base.axes, 3) if base.tilts else base.axes
        self.axes = np.array(angular_first, dtype=int)

    def vector(self, state: RobotState) -> Array:
        """Return Drake's positions and velocities, one after the other, in a state."""
        q, v = np.zeros(self.plant.num_positions()), np.zeros(self.plant.num_velocities())
        q[self.q], v[self.v] = state.q, state.qd
        twist = turn_twist(quaternion_matrix(state.orientation), state.twist)
        v[self.base_v] = twist[self.axes]
        # Drake has the quaternion before the position; x, y and yaw of a planar base stay.
        q[self.base_q] = np.roll(self._base.pose(state), -3)
        return np.concatenate([q, v])

    def place(self, state: RobotState) -> None:
        """Put the plant in a state."""
        self.plant.SetPositionsAndVelocities(self.context, self.vector(state))

    def accelerate(self, rotation: Array, effort: Array) -> Acceleration:
        """Return the accelerations of base and joints under efforts (n,) [N m]."""
        plant, context = self.plant, self.context
        forces = np.zeros(plant.num_velocities())
        forces[self.v] = effort
        plant.get_applied_generalized_force_input_port().FixValue(context, forces)
        try:
            rates = plant.EvalTimeDerivatives(context).CopyToVector()[-len(forces) :]
        except RuntimeError as error:  # a continuous plant refuses constraints, such as mimic
            raise AccordError(f"Drake refuses it: {str(error).splitlines()[0]}") from None
        base = np.zeros(6)
        base[self.axes] = rates[self.base_v]
        return Acceleration(base, rates[self.v])

    def statics(self, rotation: Array) -> tuple[Array, Array, Array]:
        """Return S (v, m), mass matrix (v, v) and gravity forces (v,), as of `Mechanism`.

        A column of S has a single 1, in the row of one of Drake's v velocities: first those of the
        base in the order of `mass_matrix`, then those of the joints.
        """
        mass, bias = dynamics_of(self.plant, self.context)  # at rest the bias is gravity alone
        base = np.arange(len(mass))[self.base_v]
        columns = [*base[np.argsort(self.axes)], *self.v]
        return np.eye(len(mass))[:, columns], mass, bias

    def gravity(self) -> Array:
        """Return the acceleration of gravity (3,) [m/s^2]."""
        return np.array(self.plant.gravity_field().gravity_vector())

    def link(self, name: str) -> LinkProperties:
        """Return mass, centre of mass and inertia of a link, as Drake has them."""
        inertia = self._bodies[name].CalcSpatialInertiaInBodyFrame(self.context)
        centre = np.array(inertia.get_com())
        about_centre = inertia.Shift(centre).CalcRotationalInertia().CopyToFullMatrix3()
        return LinkProperties(inertia.get_mass(), centre, np.array(about_centre))

    def joint(self, name: str) -> JointProperties:
        """Return origin, axis, limits, damping and armature of a joint, as Drake has them."""
        joint = self.plant.GetJointByName(name)
        pose = joint.frame_on_parent().GetFixedPoseInBodyFrame()
        limits = joint.position_lower_limits(), joint.position_upper_limits()
        armature = 0.0
        if self.plant.HasJointActuatorNamed(name):
            armature = float(self.plant.GetJointActuatorByName(name).rotor_inertia(self.context))
        return JointProperties(
            origin=np.array(pose.translation()),
            axis=np.array(pose.rotation().matrix() @ joint_axis(joint)),
            limits=np.concatenate(limits),
            damping=float(joint.default_damping_vector()[0]),
            friction=0.0,
            armature=armature,
        )

    def hinge(self, joint: DrakeJoint, root: str) -> Hinge:
        """Return anchor, axis and limits of a joint that turns or slides, in a body's frame."""
        frame = self._bodies[root].body_frame()
        pose = self.plant.CalcRelativeTransform(self.context, frame, joint.frame_on_child())
        limits = joint.position_lower_limit(), joint.position_upper_limit()
        return Hinge(pose.translation(), pose.rotation().matrix() @ joint_axis(joint), *limits)


def bodies_of(plant: Plant) -> dict[str, Body]:
    """Return the bodies of a plant by name, the world first.

    Where two bodies have the same name, that of each one's model is put before it.
    """
    bodies = [plant.get_body(BodyIndex(i)) for i in range(1, plant.num_bodies())]
    scoped = [str(body.scoped_name()).partition("::")[2].replace("::", "_") for body in bodies]
    return {WORLD: plant.world_body()} | _by_name(bodies, scoped)


def joints_of(plant: Plant) -> dict[str, DrakeJoint]:
    """Return the joints of a plant by name; where two have the same, with the child body's name."""
    joints = [plant.get_joint(index) for index in plant.GetJointIndices()]
    names = {body.index(): name for name, body in bodies_of(plant).items()}
    return _by_name(joints, [f"{names[j.child_body().index()]}_{j.name()}" for j in joints])


def motors_of(plant: Plant) -> list[Motor]:
    """Return the actuators of a plant's joints, in Drake's order."""
    return [plant.get_joint_actuator(index) for index in plant.GetJointActuatorIndices()]


def _by_name(elements: Sequence[Any], full_names: Sequence[str]) -> dict[str, Any]:
    """Return elements by name, or by full name where several have the same name."""
    counts = Counter(element.name() for element in elements)
    return {
        element.name() if counts[element.name()] == 1 else full_name: element
        for element, full_name in zip(elements, full_names, strict=True)
    }


def joint_indices(plant: Plant) -> dict[str, tuple[int, int]]:
    """Return the index of each joint's position and velocity in Drake's vectors, by name.

    A planar joint has three degrees of freedom, with names NAME_x and so on, as in `DEGREES`.
    """
    indices = dict[str, tuple[int, int]]()
    for name, joint in joints_of(plant).items():
        q, v = joint.position_start(), joint.velocity_start()
        if joint.type_name() == "planar":
            for i, degree in enumerate(DEGREES["planar"]):
                indices[f"{name}_{degree}"] = q + i, v + i
        elif joint.num_velocities() == 1:
            indices[name] = q, v
    return indices


def dynamics_of(plant: Plant, context: Context) -> tuple[Array, Array]:
    """Return mass matrix M (v, v) and bias C v - g (v,) in a context: M v' + C v - g = tau.

    v is the number of Drake's velocities, g are the generalised forces of gravity, and tau those
    of everything else.
    """
    gravity = plant.CalcGravityGeneralizedForces(context)
    return plant.CalcMassMatrix(context), plant.CalcBiasTerm(context) - gravity


def joint_axis(joint: DrakeJoint) -> Array:
    """Return the axis of a joint that turns or slides (3,)."""
    turns = joint.type_name() == "revolute"
    return np.array(joint.revolute_axis() if turns else joint.translation_axis())


def base_slices(plant: Plant, base: FixedBase, body: str) -> tuple[slice, slice]:
    """Return where the base's positions and velocities are in Drake's vectors.

    Args:
        plant: Drake's plant, finalized.
        base: kind of the robot's base: fixed, planar or free.
        body: name of the body that moves as the base.
    """
    if not base.moves:
        return slice(0), slice(0)
    if not base.tied:
        moving = bodies_of(plant)[body]
        q, v = moving.floating_positions_start(), moving.floating_velocities_start_in_v()
    else:
        planar = next(j for j in joints_of(plant).values() if j.child_body().name() == body)
        q, v = planar.position_start(), planar.velocity_start()
    return slice(q, q + base.size), slice(v, v + len(base.axes))

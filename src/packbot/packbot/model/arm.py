"""The arm's rigid-body dynamics and its forward kinematics, by pinocchio [Carpentier et al. 2019].

`Arm` computes accelerations, efforts, mass matrix and energy; `Kinematics` computes poses and
Jacobians of finger tips, camera and link 3. The arm is read from urdf/packbot.urdf.xacro; its
joints must be JOINTS.

test_packbot_dynamics compares the dynamics with equations in numpy [Featherstone 2008],
test_packbot_kinematics the poses with DH tables. Another frame, such as a tool, is another
`_add_frame` in Kinematics.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from roboaccord.contract import Array
from roboaccord.scenario import Setup

from packbot.model.parameters import JOINTS, LENS, PackbotParameters


class Arm:
    """Pinocchio's model of the arm on a fixed chassis.

    Args:
        urdf: text of the URDF, with a fixed base.
        armature: reflected inertia of the joints (7,) [kg m^2].
        gravity: acceleration along -z [m/s^2].
    """

    def __init__(self, urdf: str, armature: Array, gravity: float) -> None:
        self.model = pin.buildModelFromXML(urdf)
        if tuple(self.model.names)[1:] != JOINTS:
            raise ValueError(f"joints are {tuple(self.model.names)[1:]}, not {JOINTS}")
        self.model.armature = armature
        self.model.gravity.linear = np.array([0.0, 0.0, -gravity])
        self.data = self.model.createData()

    @classmethod
    def of(cls, setup: Setup) -> Arm:
        """Return the arm of a setup."""
        p: PackbotParameters = setup.parameters
        return cls(setup.urdf(base="fixed"), p.of_joints("reflected_inertia"), p.gravity)

    def carry(self, mass: float, reach: float) -> None:
        """Add a point mass [kg] to the hand, at `reach` [m] from the wrist."""
        hand = self.model.getJointId("wrist")
        origin = np.array([reach, 0.0, 0.0])
        self.model.inertias[hand] += pin.Inertia(mass, origin, np.zeros((3, 3)))
        self.data = self.model.createData()

    @property
    def parameters(self) -> Array:
        """Inertial parameters of all links (70,), in the order of the columns of `regressor`."""
        bodies = self.model.inertias.tolist()[1:]
        return np.concatenate([body.toDynamicParameters() for body in bodies])

    def change(self, parameters: Array) -> None:
        """Set the inertial parameters (70,); they need not be physical."""
        for j, of_link in enumerate(parameters.reshape(-1, 10), start=1):
            self.model.inertias[j] = pin.Inertia.FromDynamicParameters(of_link)

    def acceleration(self, q: Array, qd: Array, effort: Array) -> Array:
        """Return the joint accelerations (7,) [rad/s^2] by the articulated-body algorithm."""
        return np.asarray(pin.aba(self.model, self.data, q, qd, effort))

    def efforts(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the efforts (7,) [N m] of a motion, by the recursive Newton-Euler algorithm."""
        return np.asarray(pin.rnea(self.model, self.data, q, qd, qdd))

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the derivative of `efforts` by the inertial parameters (7, 70) [Atkeson 1986].

        There are ten for each link: mass, first moments [kg m] and the inertia about the joint
        [kg m^2], in pinocchio's order.
        """
        return np.asarray(pin.computeJointTorqueRegressor(self.model, self.data, q, qd, qdd))

    def bias(self, q: Array, qd: Array) -> Array:
        """Return the efforts (7,) [N m] against gravity, Coriolis and centrifugal forces."""
        return np.asarray(pin.nonLinearEffects(self.model, self.data, q, qd))

    def mass_matrix(self, q: Array) -> Array:
        """Return the mass matrix (7, 7) [kg m^2], reflected inertia included."""
        return np.asarray(pin.crba(self.model, self.data, q))

    def energy(self, q: Array, qd: Array) -> float:
        """Return kinetic plus potential energy [J]; the latter is 0 at the height of the ground."""
        # computeKineticEnergy of pinocchio 4.1.0 leaves out some of the reflected inertia.
        kinetic = 0.5 * float(qd @ self.mass_matrix(q) @ qd)
        return kinetic + float(pin.computePotentialEnergy(self.model, self.data, q))

    def masses(self) -> dict[str, float]:
        """Return the mass of each link that moves [kg]."""
        links = {f.parentJoint: f.name for f in self.model.frames if f.name.endswith("_link")}
        return {link: float(self.model.inertias[j].mass) for j, link in sorted(links.items()) if j}


class Placement(NamedTuple):
    """Pose of a frame in the world: origin (3,) [m] and rotation (3, 3).

    The x axis is along the hand, the line of sight, or link 3.
    """

    position: Array
    rotation: Array


class Kinematics:
    """Forward kinematics of a setup: of the finger tips (`tip`), the `camera` and `link3`.

    Args:
        setup: robot and scenario.
        watch: if not 0, the point at this distance [m] before the lens is the `tip` instead.
    """

    def __init__(self, setup: Setup, watch: float = 0.0) -> None:
        self.arm = Arm.of(setup)
        model = self.arm.model
        tip = np.array([watch or setup.parameters.gripper_length, 0.0, 0.0])
        hand = ("pan_link", LENS + tip) if watch else ("gripper_link", tip)
        self._frames: dict[str, int] = {"link3": model.getFrameId("link3_link")}
        self._frames["tip"] = _add_frame(model, "tip", *hand)
        self._frames["camera"] = _add_frame(model, "camera", "pan_link", LENS)
        self._data = model.createData()

    def placement(self, frame: str, q: Array) -> Placement:
        """Return the pose of a frame, by name, at joint angles (7,) [rad]."""
        pin.forwardKinematics(self.arm.model, self._data, q)
        placement = pin.updateFramePlacement(self.arm.model, self._data, self._frames[frame])
        return Placement(placement.translation.copy(), placement.rotation.copy())

    def tip(self, q: Array) -> Array:
        """Return the finger tips in the world (3,) [m] at joint angles (7,) [rad]."""
        return self.placement("tip", q).position

    def jacobian(self, frame: str, q: Array) -> Array:
        """Return the Jacobian (6, 7) of a frame: velocity of its origin over angular velocity.

        Both are in the axes of the world, per joint rate [m, 1].
        """
        model, index = self.arm.model, self._frames[frame]
        axes = pin.LOCAL_WORLD_ALIGNED
        return np.asarray(pin.computeFrameJacobian(model, self._data, q, index, axes))


def _add_frame(model: pin.Model, name: str, link: str, position: Array) -> int:
    """Add a frame to a link of a model, and return its index."""
    parent = model.getFrameId(link)
    body = model.frames[parent]
    origin = body.placement * pin.SE3(np.eye(3), position)
    frame = pin.Frame(name, body.parentJoint, parent, origin, pin.FrameType.OP_FRAME)
    return int(model.addFrame(frame))

"""The arm's rigid-body dynamics by pinocchio, and compiled kinematics of its chain.

The equations are fixed: test_packbot_dynamics and test_packbot_kinematics compare them with
algorithms of another hand. The arm is whatever urdf/packbot.urdf.xacro describes, as long as it has
JOINTS. A frame to follow, such as a tool, may be added: an `_add` in Kinematics with a name; a new
inertia of a drive is a parameter.

pinocchio [Carpentier et al. 2019] is compiled; test/rigid_bodies.py has the same algorithms
[Featherstone 2008] in numpy, by which it is checked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from roboaccord.contract import Array, Index
from roboaccord.numerics import kernel
from roboaccord.scenario import Setup

from packbot.model.parameters import JOINTS, LENS, PackbotParameters


class Arm:
    """Pinocchio's model of the arm on a fixed chassis.

    Args:
        urdf: description, its base fixed.
        armature: reflected inertia of the joints (7,) [kg m^2].
        gravity: along -z [m/s^2].
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
        """The links' inertial parameters (70,), as `regressor` takes them."""
        bodies = self.model.inertias.tolist()[1:]
        return np.concatenate([body.toDynamicParameters() for body in bodies])

    def change(self, parameters: Array) -> None:
        """Take other inertial parameters (70,), which need not be those of rigid bodies."""
        for j, each in enumerate(parameters.reshape(-1, 10), start=1):
            self.model.inertias[j] = pin.Inertia.FromDynamicParameters(each)

    def acceleration(self, q: Array, qd: Array, effort: Array) -> Array:
        """Return the joint accelerations (7,) [rad/s^2] by the articulated-body algorithm."""
        return np.asarray(pin.aba(self.model, self.data, q, qd, effort))

    def efforts(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the efforts (7,) [N m] of a motion, by recursive Newton-Euler."""
        return np.asarray(pin.rnea(self.model, self.data, q, qd, qdd))

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return `efforts` by the links' inertial parameters (7, 70), ten each [Atkeson 1986].

        Mass, its moments [kg m] and the inertia about the joint [kg m^2] as pinocchio orders them.
        """
        return np.asarray(pin.computeJointTorqueRegressor(self.model, self.data, q, qd, qdd))

    def bias(self, q: Array, qd: Array) -> Array:
        """Return the efforts (7,) [N m] against gravity, Coriolis and centrifugal forces."""
        return np.asarray(pin.nonLinearEffects(self.model, self.data, q, qd))

    def mass_matrix(self, q: Array) -> Array:
        """Return the mass matrix (7, 7) [kg m^2], reflected inertia included."""
        return np.asarray(pin.crba(self.model, self.data, q))

    def energy(self, q: Array, qd: Array) -> float:
        """Return kinetic and potential energy [J]; the latter is 0 at the height of the ground."""
        # pinocchio 4.1.0 forgets some of the reflected inertia in computeKineticEnergy.
        kinetic = 0.5 * float(qd @ self.mass_matrix(q) @ qd)
        return kinetic + float(pin.computePotentialEnergy(self.model, self.data, q))

    def masses(self) -> dict[str, float]:
        """Return the mass of each link that moves [kg]."""
        links = {f.parentJoint: f.name for f in self.model.frames if f.name.endswith("_link")}
        return {links[j]: float(self.model.inertias[j].mass) for j in range(1, self.model.njoints)}


@dataclass(frozen=True)
class Placement:
    """A frame in the world: origin (3,) [m], rotation (3, 3) with x along hand or sight."""

    position: Array
    rotation: Array


class Kinematics:
    """Do the forward kinematics of a setup: of finger tips (`tip`), `camera` and `link3`.

    Args:
        setup: robot and scenario.
        watch: distance [m] before the lens of the point that is the `tip` instead; 0 for none.
    """

    def __init__(self, setup: Setup, watch: float = 0.0) -> None:
        self.arm = Arm.of(setup)
        model = self.arm.model
        tip = np.array([watch or setup.parameters.gripper_length, 0.0, 0.0])
        hand = ("pan_link", LENS + tip) if watch else ("gripper_link", tip)
        self._frames: dict[str, int] = {
            "tip": _add(model, "tip", *hand),
            "camera": _add(model, "camera", "pan_link", LENS),
            "link3": model.getFrameId("link3_link"),
        }
        self._data = model.createData()

    def placement(self, frame: str, q: Array) -> Placement:
        """Return where a frame is at joint angles (7,) [rad]."""
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
        own = self.arm.model, self._data, q, self._frames[frame]
        return np.asarray(pin.computeFrameJacobian(*own, pin.LOCAL_WORLD_ALIGNED))


def _add(model: pin.Model, name: str, link: str, position: Array) -> int:
    """Add a frame to a link of a model, and return its index."""
    parent = model.getFrameId(link)
    body = model.frames[parent]
    origin = body.placement * pin.SE3(np.eye(3), position)
    frame = pin.Frame(name, body.parentJoint, parent, origin, pin.FrameType.OP_FRAME)
    return int(model.addFrame(frame))


Chain = tuple[Index, Array, Array, Array, Array]
MOVED = 4  # place of `moved` in a chain


def chain_of(model: pin.Model) -> Chain:
    """Return the n revolute joints of pinocchio's model, as kernels take them.

    Body 0 is the world, body j is moved by joint j - 1.

    Returns:
        the body on which each hangs (n + 1,); the origin of each in its parent (n + 1, 3) [m]; its
        rotation to that, its joint at 0 (n + 1, 3, 3); the joint's axis in the body (n + 1, 3); and
        1 where a joint moves a body (n + 1, n).
    """
    n, places = model.nv, model.jointPlacements
    moved, axes = np.zeros((n + 1, n)), np.zeros((n + 1, 3))
    for j in range(1, n + 1):
        moved[j, [k - 1 for k in model.supports[j] if k > 0]] = 1.0
        data = model.joints[j].createData()
        model.joints[j].calc(data, np.zeros(n))
        axes[j] = np.asarray(data.S).reshape(6)[3:]
    origins = np.array([place.translation for place in places])
    turns = np.array([place.rotation for place in places])
    return np.array(list(model.parents), dtype=np.int64), origins, turns, axes, moved


@kernel
def place_bodies(chain, q, turn, origin, axis):
    """Fill in rotations (n + 1, 3, 3), origins and joint axes (n + 1, 3) in the world."""
    parents, places, turns, axes, _ = chain
    for i in range(3):
        for k in range(3):
            turn[0, i, k] = 1.0 if i == k else 0.0
        origin[0, i] = 0.0
    joint = np.empty((3, 3))
    for body in range(1, len(parents)):
        up = parents[body]
        x, y, z = axes[body]
        c, s = np.cos(q[body - 1]), np.sin(q[body - 1])
        joint[0, 0], joint[1, 1] = c + x * x * (1 - c), c + y * y * (1 - c)
        joint[0, 1], joint[1, 0] = x * y * (1 - c) - z * s, y * x * (1 - c) + z * s
        joint[0, 2], joint[2, 0] = x * z * (1 - c) + y * s, z * x * (1 - c) - y * s
        joint[1, 2], joint[2, 1] = y * z * (1 - c) - x * s, z * y * (1 - c) + x * s
        joint[2, 2] = c + z * z * (1 - c)
        for i in range(3):
            origin[body, i] = origin[up, i]
            for k in range(3):
                origin[body, i] += turn[up, i, k] * places[body, k]
                turn[body, i, k] = 0.0
                for a in range(3):
                    for b in range(3):
                        turn[body, i, k] += turn[up, i, a] * turns[body, a, b] * joint[b, k]
        for i in range(3):
            axis[body, i] = 0.0
            for k in range(3):
                axis[body, i] += turn[body, i, k] * axes[body, k]


@kernel
def to_world(turn, origin, x, out):
    """Transform a point x (3,) from a body's frame to the world, into `out`."""
    for i in range(3):
        out[i] = origin[i] + turn[i, 0] * x[0] + turn[i, 1] * x[1] + turn[i, 2] * x[2]


@kernel
def to_body(turn, origin, x, out):
    """Transform a point x (3,) from the world to a body's frame, into `out`."""
    for i in range(3):
        out[i] = 0.0
        for k in range(3):
            out[i] += turn[k, i] * (x[k] - origin[k])


@kernel
def add_row(chain, origin, axis, body, x, direction, sign, row):
    """Add to `row` (n,) the Jacobian of a body's point x along a direction, times `sign`."""
    moved = chain[4]
    for j in range(len(row)):
        if moved[body, j] > 0.0:
            a = axis[j + 1]
            rx, ry, rz = x[0] - origin[j + 1, 0], x[1] - origin[j + 1, 1], x[2] - origin[j + 1, 2]
            row[j] += sign * (
                direction[0] * (a[1] * rz - a[2] * ry)
                + direction[1] * (a[2] * rx - a[0] * rz)
                + direction[2] * (a[0] * ry - a[1] * rx)
            )

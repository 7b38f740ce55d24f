"""DART's model of a robot: `DartMechanism` with its equations and properties, in SI units.

`DartMechanism` implements `Mechanism` of engines/mechanism.py for the simulator and the reader; a
new property is first added there.

DART may use other units, because its collision detectors need large numbers (see contact.py): its
units of length and of time are then both smaller than SI's, by one factor `scale`. The values of
speeds, masses, moments and energies are the same in both. Those of lengths are multiplied by
`scale`, and those of inertias by its square; those of forces, linear accelerations and angular
rates are divided by it. Every number that passes through this module is converted
(test_hulls_in_engines: the motion is the same in other units).
"""

from __future__ import annotations

from collections.abc import Sequence

import dartpy
import numpy as np

from roboaccord.contract import Acceleration, Array, RobotState
from roboaccord.description.base_kinds import Base
from roboaccord.description.degrees import DEGREES
from roboaccord.engines.dart.base import BASES
from roboaccord.engines.mechanism import Mechanism
from roboaccord.engines.model import JointProperties, LinkProperties

# By DART's kind of joint: whether each coordinate is a length; those of other kinds are angles.
SLIDING = {
    "PrismaticJoint": (True,),
    "PlanarJoint": (True, True, False),
    "FreeJoint": (False, False, False, True, True, True),
    "TranslationalJoint": (True, True, True),
}
# Names of the degrees of freedom of joints that have several, by DART's kind of joint.
MULTIPLE_DEGREES = {"PlanarJoint": DEGREES["planar"], "FreeJoint": DEGREES["floating"]}
NO_COORDINATES = np.zeros(0)
WORLD_AXES = np.eye(3)  # DART's axes, if they are those of the world


def lengths(skeleton: dartpy.dynamics.Skeleton, scale: float) -> Array:
    """Return the factors from our coordinates to DART's (m,): `scale` for slides, 1 for turns."""
    factors = np.ones(skeleton.getNumDofs())
    for joint in skeleton.getJoints():
        for i, slides in enumerate(SLIDING.get(joint.getType(), ())):
            if slides:
                factors[joint.getIndexInSkeleton(i)] = scale
    return factors


def degrees(skeleton: dartpy.dynamics.Skeleton) -> dict[str, int]:
    """Return the index of each degree of freedom by its name.

    That is the joint's name, or `JOINT_TX` and so on for a joint with several (`DEGREES`).
    """
    indices = dict[str, int]()
    for joint in skeleton.getJoints():
        name, count = joint.getName(), joint.getNumDofs()
        names = [name]
        if count > 1:
            names = [f"{name}_{degree}" for degree in MULTIPLE_DEGREES.get(joint.getType(), ())]
        indices |= {key: joint.getIndexInSkeleton(i) for i, key in enumerate(names) if count}
    return indices


class DartMechanism(Mechanism):
    """DART's skeleton of a robot.

    Args:
        skeleton: DART's form of the robot.
        body: the body that moves as the base.
        base: how it moves.
        joints: names, in the order of states.
        turn: from the world's axes to DART's (3, 3).
        scale: factor on DART's lengths and times.

    Attributes:
        root: the joint of the base.
        dofs: indices of the joints among the skeleton's coordinates (n,).
        lengths, speeds: factors from our coordinates and rates to DART's (m,).
        rotors: dampers that stand for reflected inertias, see `add_rotors` (m,) [kg m^2/s].
    """

    def __init__(
        self,
        skeleton: dartpy.dynamics.Skeleton,
        body: dartpy.dynamics.BodyNode,
        base: Base,
        joints: Sequence[str],
        turn: Array = WORLD_AXES,
        scale: float = 1.0,
    ) -> None:
        self._skeleton, self._body, self._turn, self._scale = skeleton, body, turn, scale
        self.root = BASES[base](body, turn, scale)
        indices = degrees(skeleton)
        self.dofs = np.array([indices[name] for name in joints], dtype=int)
        self.lengths = lengths(skeleton, scale)
        self.speeds = self.lengths / scale
        self.rotors = np.zeros(len(self.lengths))

    def place(self, state: RobotState) -> None:
        """Set the state, without forces."""
        skeleton, root = self._skeleton, self.root
        positions, velocities = np.zeros((2, skeleton.getNumDofs()))
        positions[self.dofs] = state.q
        velocities[self.dofs] = state.qd
        positions[root.rows] = root.positions(state)
        skeleton.setPositions(positions * self.lengths)
        velocities[root.rows] = root.velocities(state)
        skeleton.setVelocities(velocities * self.speeds)
        skeleton.clearInternalForces()
        skeleton.clearExternalForces()

    def row(self) -> Array:
        """Return the motion of a free body, which has no joints (13,)."""
        return np.concatenate(self.root.read(NO_COORDINATES, NO_COORDINATES))

    def accelerate(self, rotation: Array, effort: Array) -> Acceleration:
        """Return the accelerations under joint efforts (n,) in the current state."""
        skeleton, body, back, scale = self._skeleton, self._body, self._turn.T, self._scale
        forces = np.zeros(len(self.lengths))
        forces[self.dofs] = effort
        skeleton.setForces(forces / self.lengths + self.rotors * skeleton.getVelocities())
        skeleton.computeForwardDynamics()
        rates = skeleton.getAccelerations() * (scale**2 / self.lengths)
        linear = back @ body.getLinearAcceleration() * scale
        angular = back @ body.getAngularAcceleration() * scale**2
        return Acceleration(np.concatenate([linear, angular]), rates[self.dofs])

    def statics(self, rotation: Array) -> tuple[Array, Array, Array]:
        """Return S, mass matrix and gravity forces, in DART's order and our units."""
        skeleton, root = self._skeleton, self.root
        rows = [*root.rows, *self.dofs]
        to_engine = np.zeros((len(self.lengths), len(rows)))
        to_engine[rows, np.arange(len(rows))] = 1.0
        to_engine[root.rows, : len(root.rows)] = root.rates()
        mass = skeleton.getMassMatrix() * np.outer(self.speeds, self.speeds)
        mass += np.diag(self.rotors * skeleton.getTimeStep())
        return to_engine, mass, skeleton.getGravityForces() * self.lengths

    def gravity(self) -> Array:
        """Return gravity in the world (3,) [m/s^2]."""
        return np.asarray(self._turn.T @ self._skeleton.getGravity() * self._scale)

    def link(self, name: str) -> LinkProperties | None:
        """Return the properties of a link; None for a name that DART does not have."""
        node = self._skeleton.getBodyNode(name)
        if node is None:
            return None
        inertia = np.array(node.getInertia().getMoment()) / self._scale**2
        return LinkProperties(node.getMass(), node.getLocalCOM() / self._scale, inertia)

    def joint(self, name: str) -> JointProperties:
        """Return the properties of a joint with one coordinate, without our own dampers."""
        joint = self._skeleton.getJoint(name)
        pose, length = joint.getTransformFromParentBodyNode(), self._length(joint)
        rotor = float(self.rotors[joint.getIndexInSkeleton(0)])
        back = self._turn.T if joint.getParentBodyNode() is None else np.eye(3)
        bounds = np.array([joint.getPositionLowerLimit(0), joint.getPositionUpperLimit(0)])
        return JointProperties(
            origin=back @ pose.translation() / self._scale,
            axis=back @ pose.rotation() @ joint.getAxis(),
            limits=bounds / length,
            damping=(joint.getDampingCoefficient(0) - rotor) / (self._scale / length**2),
            friction=joint.getCoulombFriction(0) * length,
            armature=rotor * self._skeleton.getTimeStep(),
        )

    def add_damping(self, name: str, value: float) -> None:
        """Set the viscous damping that DART applies to a joint [N m s/rad or N s/m]."""
        joint = self._skeleton.getJoint(name)
        joint.setDampingCoefficient(0, value * float(self._scale / self._length(joint) ** 2))

    def hold(self, joint: int, stiffness: float, damping: float, target: float) -> None:
        """Set a joint's spring, its slack position and its damper, beside that of the rotor."""
        number = int(self.dofs[joint])
        degree, length = self._skeleton.getDof(number), float(self.lengths[number])
        degree.setSpringStiffness(stiffness / length**2)
        degree.setRestPosition(target * length)
        degree.setDampingCoefficient(damping * self._scale / length**2 + self.rotors[number])

    def add_rotors(self, armature: Array) -> None:
        """Add reflected inertias J (n,) [kg m^2] to joints on which no contact and no stop acts.

        DART has none, but its dampers d are implicit: (M + h d) a = f - d v in a step h. With
        d = J / h, and the effort d v added to f at every step, that is (M + J) a = f.
        """
        self.rotors[self.dofs] = armature / self._skeleton.getTimeStep()
        for dof in self.dofs:
            degree = self._skeleton.getDof(int(dof))
            degree.setDampingCoefficient(degree.getDampingCoefficient() + self.rotors[dof])

    def _length(self, joint: dartpy.dynamics.Joint) -> float:
        """Return the factor from our coordinate of a joint to DART's."""
        return float(self.lengths[joint.getIndexInSkeleton(0)])

"""DART through dartpy: semi-implicit Euler, first order in the step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dartpy
import numpy as np

from roboaccord.contact import Contact
from roboaccord.description import Tree
from roboaccord.engines.ball import Ball, split_ball
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.dart_base import BASES
from roboaccord.engines.dart_fixtures import stand_still
from roboaccord.engines.model import BASE_LINK, EngineModel
from roboaccord.engines.options import read_options
from roboaccord.errors import AccordError
from roboaccord.interfaces import Acceleration
from roboaccord.rotations import turn_between
from roboaccord.state import Array, RobotState

STOP_RETURN = 0.1  # rad/s: at which a joint comes back from beyond its stop, in DART 10
UP = (0.0, 0.0, 1.0)


class DartSimulator(EngineSimulator):
    """Simulate any model with DART (Simulator).

    The model's `options: {dart: {z_axis: [x, y, z]}}` gives the direction in the world along which
    DART's z axis lies; up where it says nothing. DART's friction is a box along its own axes.
    """

    name = "dart"
    version = str(dartpy.__version__)
    order = 1

    def __init__(self, model: EngineModel) -> None:
        super().__init__(model)
        z_axis = read_options(model.options, "dart", {"z_axis": UP})["z_axis"]
        self._turn = turn_between(np.array(z_axis, dtype=float), np.array(UP))
        self._skeleton = _load(model, self.tree)
        self._world = dartpy.simulation.World()
        self._world.setTimeStep(self.physics_step)
        self._world.addSkeleton(self._skeleton)
        _stay_awake(self._world)
        self._skeleton.disableSelfCollisionCheck()
        self._world.setGravity(self._turn @ np.array([0.0, 0.0, -model.gravity]))
        self._body = self._skeleton.getBodyNode(BASE_LINK)
        for joint in self._skeleton.getJoints():
            # DART enforces velocity limits and MuJoCo does not: alike means without.
            for i in range(joint.getNumDofs()):
                joint.setVelocityLowerLimit(i, -np.inf)
                joint.setVelocityUpperLimit(i, np.inf)
                joint.setLimitEnforcement(True)
                # Friction of joints is the model's, by the same law in every engine.
                joint.setDampingCoefficient(i, 0.0)
                joint.setCoulombFriction(i, 0.0)
            moves = self.base in ("free", "ball") and joint.getChildBodyNode() is self._body
            if joint.getParentBodyNode() is None and not moves:
                _turn_joint(joint, self._turn)
        # DART throws a joint that is beyond its stop back in one step, at up to 10 rad/s, whatever
        # the error reduction parameter: that is a kick, and stops here are inelastic.
        dartpy.constraint.JointConstraint.setMaxErrorReductionVelocity(STOP_RETURN)
        self._dofs = [self._skeleton.getJoint(n).getIndexInSkeleton(0) for n in self.joints]
        self._root = BASES[self.base](self._body, self._turn)
        self._total = np.zeros(self._skeleton.getNumDofs())
        held = {
            self._skeleton.getJoint(n).getIndexInSkeleton(0): e for n, e in model.preload.items()
        }
        self._held, self._preload = list(held), np.array(list(held.values()))
        if model.contact:
            _collide(self._world, self._skeleton, model.contact, self._turn)

    def _place(self, state: RobotState) -> None:
        skeleton, root = self._skeleton, self._root
        positions, velocities = np.zeros((2, skeleton.getNumDofs()))
        positions[self._dofs] = state.q
        velocities[self._dofs] = state.qd
        positions[root.rows] = root.positions(state)
        skeleton.setPositions(positions)
        velocities[root.rows] = root.velocities(state)
        skeleton.setVelocities(velocities)
        skeleton.clearInternalForces()
        skeleton.clearExternalForces()
        self._world.setTime(state.time)

    def _read(self) -> RobotState:
        q, v = self._skeleton.getPositions(), self._skeleton.getVelocities()
        position, orientation, twist = self._root.read(q, v)
        return RobotState(
            time=self._time,
            q=q[self._dofs],
            qd=v[self._dofs],
            effort=self._effort,
            position=position,
            orientation=orientation,
            twist=twist,
        )

    def _substeps(self, effort: Array, count: int) -> None:
        total = self._total
        total[self._root.rows] = 0.0
        total[self._held] = self._preload
        for _ in range(count):
            if self._law:
                self._apply_law()
                total[self._dofs] += effort
            else:
                total[self._dofs] = effort
            if self._wrench is not None:
                self._push(self._wrench)
            if self._friction:
                rates = self._skeleton.getVelocities()[self._dofs]
                total[self._dofs] += self._friction.efforts(rates)
            self._skeleton.setForces(total)  # lasts one step
            self._world.step()

    def _push(self, wrench: Array) -> None:
        """Put a wrench on the base (6,) into the generalised forces, beside the force law's."""
        rows = self._root.rows
        forces = self._root.forces(wrench)
        self._total[rows] = self._total[rows] + forces if self._law else forces

    def _apply_law(self) -> None:
        """Fill the generalised forces with the force law's."""
        q, v = self._skeleton.getPositions(), self._skeleton.getVelocities()
        rotation, position, twist = self._root.motion(q, v)
        wrench, efforts = self._law_efforts(q[self._dofs], v[self._dofs], position, rotation, twist)
        self._total[self._dofs] = efforts
        self._total[self._root.rows] = self._root.forces(wrench)

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations without contact, friction or stops."""
        kept = self.state()
        self._place(state)
        self._total[:] = 0.0
        self._total[self._dofs] = effort
        self._skeleton.setForces(self._total)
        self._skeleton.computeForwardDynamics()
        joints = self._skeleton.getAccelerations()[self._dofs]
        body, back = self._body, self._turn.T
        base = np.concatenate(
            [back @ body.getLinearAcceleration(), back @ body.getAngularAcceleration()]
        )
        self._place(kept)
        return Acceleration(base, joints)

    def _statics(self, rotation: Array) -> tuple[Array, Array, Array]:
        """Return matrix S, mass matrix and gravity forces, as the base class says."""
        rows = [*self._root.rows, *self._dofs]
        order = np.zeros((len(self._total), len(rows)))
        order[rows, np.arange(len(rows))] = 1.0
        count = len(self._root.rows)
        order[self._root.rows, :count] = self._root.rates()
        skeleton = self._skeleton
        return order, skeleton.getMassMatrix(), skeleton.getGravityForces()

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link as DART has it [kg]."""
        nodes = [self._skeleton.getBodyNode(link.name) for link in self.tree.links]
        return {node.getName(): node.getMass() for node in nodes if node}


def _load(model: EngineModel, tree: Tree) -> Any:
    """Return the skeleton of a model; a ball that floats in it hangs on nothing."""
    loader = dartpy.utils.DartLoader()
    urdf, ball = split_ball(model.urdf, tree) if tree.frame else (model.urdf, None)
    if ball:
        options = dartpy.utils.DartLoaderOptions()
        options.mDefaultRootJointType = dartpy.utils.DartLoaderRootJointType.FIXED
        loader.setOptions(options)
    skeleton = loader.parseSkeletonString(urdf, "")
    if skeleton is None:
        raise AccordError("DART cannot read the description")
    if ball:
        _add_ball(skeleton, ball, model.base)
    return skeleton


def _add_ball(skeleton: Any, ball: Ball, base: str) -> None:
    """Add `base_link` to a skeleton, as a tree of its own."""
    if base == "ball":
        joint, body = skeleton.createBallJointAndBodyNodePair()
    else:
        joint, body = skeleton.createFreeJointAndBodyNodePair()
    joint.setName("bearing")
    body.setName(BASE_LINK)
    body.setInertia(dartpy.dynamics.Inertia(ball.mass, np.zeros(3), ball.inertia))
    node = body.createShapeNode(dartpy.dynamics.SphereShape(ball.radius))
    node.createCollisionAspect()
    node.createDynamicsAspect()


def _turn_joint(joint: Any, turn: Array) -> None:
    """Turn a joint that hangs on the world into DART's axes."""
    pose = joint.getTransformFromParentBodyNode()
    turned = dartpy.math.Isometry3()
    turned.set_rotation(turn @ pose.rotation())
    turned.set_translation(turn @ pose.translation())
    joint.setTransformFromParentBodyNode(turned)


def _collide(world: Any, skeleton: Any, contact: Contact, turn: Array) -> None:
    """Let the pairs of a contact collide, and nothing else."""
    for fixture in contact.fixtures:
        world.addSkeleton(stand_still(fixture, turn))
    bodies = [world.getSkeleton(i).getBodyNode(j) for i in range(world.getNumSkeletons())
              for j in range(world.getSkeleton(i).getNumBodyNodes())]  # fmt: skip
    allowed = {frozenset(pair) for pair in contact.pairs}
    solver = world.getConstraintSolver()
    # The solver's own filter: dartpy gives its options as a copy, which takes no other.
    never = solver.getCollisionOption().collisionFilter
    for i, one in enumerate(bodies):
        for other in bodies[:i]:
            if frozenset((one.getName(), other.getName())) not in allowed:
                never.addBodyNodePairToBlackList(one, other)
    for body in bodies:
        for node in body.getShapeNodes():
            if node.getDynamicsAspect() and body.getName() in contact.friction:
                node.getDynamicsAspect().setFrictionCoeff(contact.friction[body.getName()])
    skeleton.enableSelfCollisionCheck()
    solver.setCollisionDetector(dartpy.collision.OdeCollisionDetector())


def _stay_awake(world: dartpy.simulation.World) -> None:
    """Switch off the deactivation of bodies at rest, whose contact forces then read 0."""
    options = getattr(dartpy.simulation, "DeactivationOptions", None)
    if options is not None:
        chosen = options()
        chosen.mEnabled = False
        world.setDeactivationOptions(chosen)

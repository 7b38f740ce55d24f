"""PhysX's articulation of a robot, built link by link from our tree, with its state.

`Articulation` owns one PhysX system with one articulation. SAPIEN's loader of URDF is not used: it
merges links and sets damping of its own. PhysX measures positions and rates of joints as we do, but
the linear velocity of the root is that of its centre of mass, and the axis of a joint is the x axis
of a frame in both links.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from roboaccord.contract import AccordError, Array, RobotState
from roboaccord.description import Joint, Link
from roboaccord.engines import WORLD, EngineModel, EngineSimulator
from roboaccord.numerics import matrix_quaternion, quaternion_matrix

with warnings.catch_warnings():  # of a missing library for pictures
    warnings.simplefilter("ignore")
    import sapien
    from sapien import physx

SINGLE = np.float32
KINDS = {
    "revolute": "revolute_unwrapped",
    "continuous": "revolute_unwrapped",
    "prismatic": "prismatic",
    "fixed": "fixed",
}  # of joints, in PhysX
NO_LIMIT = 1e6  # rad/s and m/s: largest speed of links, which PhysX limits by default
LEAST = 1e-12  # kg and kg m^2: of a link without mass or inertia, which PhysX refuses


def pose_of(position: Array, rotation: Array) -> Any:
    """Return SAPIEN's pose, whose quaternion is w x y z."""
    return sapien.Pose(position.tolist(), np.roll(matrix_quaternion(rotation), 1).tolist())


def frame_along(axis: Array) -> Array:
    """Return a rotation whose first column is an axis (3, 3)."""
    first = axis / np.linalg.norm(axis)
    other = np.eye(3)[np.argmin(np.abs(first))]
    second = np.cross(first, other)
    second /= np.linalg.norm(second)
    return np.stack([first, second, np.cross(first, second)], axis=1)


class Articulation:
    """A PhysX system with the articulation of one robot.

    Args:
        simulator: of the robot; tree, base and joints are read.
        model: the same robot's gravity, rotors and damping.
        stops: whether joints have their stops.
        iterations: of PhysX's solver, for positions and velocities.
        tgs: whether it is the temporal Gauss-Seidel solver.

    Attributes:
        system: PhysX's.
        body: PhysX's articulation.
        links: PhysX's links by name.
        columns: index of each joint of the simulator in PhysX's arrays (n,).

    Raises:
        AccordError: for a joint that PhysX's articulations lack.
    """

    def __init__(
        self,
        simulator: EngineSimulator,
        model: EngineModel,
        *,
        stops: bool = True,
        iterations: tuple[int, int] = (10, 1),
        tgs: bool = True,
    ) -> None:
        config = physx.PhysxSceneConfig()
        config.gravity, config.enable_tgs = [0.0, 0.0, -model.gravity], tgs
        physx.set_scene_config(config)
        self.system = physx.PhysxCpuSystem()
        self._scene = sapien.Scene([self.system])
        self.links: dict[str, Any] = {}
        joints = {joint.child: joint for joint in simulator.tree.joints}
        rotors = dict(zip(simulator.joints, simulator.armature.tolist(), strict=True))
        damping = {} if model.damping is None else dict(zip(simulator.joints, model.damping))
        for link in simulator.tree.links:
            if link.name == WORLD and not simulator.base.tied:
                continue
            joint = joints.get(link.name)
            parent = self.links.get(joint.parent) if joint else None
            part = physx.PhysxArticulationLinkComponent(parent)
            self.links[link.name] = part
            _weigh(part, link)
            if joint and parent:
                name = joint.name
                _connect(part.joint, joint, rotors.get(name, 0.0), damping.get(name, 0.0), stops)
            else:
                part.joint.type = "fixed" if simulator.base.tied else "undefined"
            entity = sapien.Entity()
            entity.add_component(part)
            self._scene.add_entity(entity)
        self.body = part.articulation
        self.body.set_solver_position_iterations(iterations[0])
        self.body.set_solver_velocity_iterations(iterations[1])
        self.body.set_sleep_threshold(0.0)
        names = [joint.name for joint in self.body.active_joints]
        self.columns = np.array([names.index(name) for name in simulator.joints], int)
        self.preload = np.zeros(len(names), SINGLE)
        for name, effort in model.preload.items():
            self.preload[names.index(name)] = effort

    @property
    def root(self) -> Any:
        """PhysX's root link."""
        return self.body.root

    def place(self, state: RobotState, *, free: bool) -> None:
        """Set positions and rates; those of the base where it moves freely."""
        q, qd = np.zeros((2, self.body.dof), SINGLE)
        q[self.columns], qd[self.columns] = state.q, state.qd
        if free:
            turn = quaternion_matrix(state.orientation)
            linear, angular = turn @ state.twist[:3], turn @ state.twist[3:]
            centre = turn @ np.asarray(self.root.cmass_local_pose.p, float)
            self.body.set_root_pose(pose_of(state.position, turn))
            self.body.set_root_linear_velocity(linear + np.cross(angular, centre))
            self.body.set_root_angular_velocity(angular)
        self.body.set_qpos(q)
        self.body.set_qvel(qd)

    def base(self) -> tuple[Array, Array, Array]:
        """Return position, orientation x y z w, and twist in the world of the free base."""
        pose = self.body.get_root_pose()
        orientation = np.roll(np.asarray(pose.q, float), -1)
        orientation = orientation / np.linalg.norm(orientation)
        angular = np.asarray(self.body.get_root_angular_velocity(), float)
        centre = quaternion_matrix(orientation) @ np.asarray(self.root.cmass_local_pose.p, float)
        of_centre = np.asarray(self.body.get_root_linear_velocity(), float)
        linear = of_centre - np.cross(angular, centre)
        return np.asarray(pose.p, float), orientation, np.concatenate([linear, angular])

    def push(self, effort: Array, wrench: Array | None = None) -> None:
        """Set efforts (n,) and the wrench (6,) on the base about its origin, for the next step."""
        forces = self.preload.copy()
        forces[self.columns] += effort.astype(SINGLE)
        self.body.set_qf(forces)
        if wrench is not None and wrench.any():
            turn = quaternion_matrix(self.base()[1])
            centre = turn @ np.asarray(self.root.cmass_local_pose.p, float)
            torque = wrench[3:] - np.cross(centre, wrench[:3])
            self.root.add_force_torque(wrench[:3].astype(SINGLE), torque.astype(SINGLE))

    def step(self, step: float) -> None:
        """Take one physics step [s]."""
        self.system.timestep = step
        self.system.step()


def _weigh(part: Any, link: Link) -> None:
    """Set mass, centre of mass and inertia of a link, and switch off PhysX's own damping."""
    moments, axes = np.linalg.eigh(link.inertia)
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    part.name = link.name
    part.mass, part.inertia = max(link.mass, LEAST), np.maximum(moments, LEAST * LEAST)
    part.cmass_local_pose = pose_of(link.centre, axes)
    part.linear_damping = part.angular_damping = 0.0
    part.max_linear_velocity = part.max_angular_velocity = NO_LIMIT


def _connect(joint: Any, described: Joint, rotor: float, damping: float, stops: bool) -> None:
    """Set kind, frames and limits of a joint, and switch off its friction."""
    if described.kind not in KINDS:
        raise AccordError(f"sapien: joint {described.name} is {described.kind}: not in PhysX")
    if described.mimic:
        raise AccordError(f"sapien: joint {described.name} follows another, by a spring in PhysX")
    frame = np.eye(3) if described.kind == "fixed" else frame_along(described.axis)
    joint.name, joint.type = described.name, KINDS[described.kind]
    joint.pose_in_parent = pose_of(described.position, described.rotation @ frame)
    joint.pose_in_child = pose_of(np.zeros(3), frame)
    if described.kind == "fixed":
        return
    joint.limit = [*described.ends] if stops else [-np.inf, np.inf]
    joint.friction, joint.armature = 0.0, [rotor]
    joint.set_drive_property(0.0, damping)

"""Kinematics of a tree of links: motions from the base outward, forces from the tips inward.

`TreeKinematics` computes the motion of all links from that of base and joints (`move`), and the
wrench on the base and the efforts on joints that forces on the links cause (`efforts`), by the
kernels `outward`, `centres` and `inward` (Featherstone, Rigid Body Dynamics Algorithms, 2008,
chapters 4 and 5). A force law on the links uses it in every physics step: arrays are overwritten by
the next call, so a caller that stores them copies them. test_kinematics compares velocities and
forces by their power.

In the kernels, upper-case letters are arrays with an entry for each of k links, in the world:

    R      rotation of the link's frame (k, 3, 3)
    O      origin of its frame (k, 3) [m]
    V, W   linear velocity of the origin, and angular velocity (k, 3) [m/s], [rad/s]
    A      unit vector along the axis of the joint that leads to the link (k, 3)
    P, C   position and velocity of its centre of mass (k, 3) [m], [m/s]
    F, N   force, and torque about the origin, that the link passes on (k, 3) [N], [N m]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from roboaccord.contract import Array, LinkMotion, RobotState
from roboaccord.numerics import cross, kernel, quaternion_matrix, turn_twist

if TYPE_CHECKING:
    from roboaccord.description.tree import Tree

FIXED, REVOLUTE, PRISMATIC = 0, 1, 2  # kinds of joint in the kernels


class TreeKinematics:
    """Compute motions of links from those of joints, and efforts on joints from forces on links.

    Args:
        tree: links and joints.
        joints: names, in the order of q and qd; other joints stay at 0.

    Attributes:
        names: of the k links.
        parent, kind, column, joint_origin, joint_rotation, axis: of the joint to each link, as of
            `outward`.
        centre: centres of mass in the links' frames (k, 3) [m].
        rotation, origin, velocity, angular, axes: R, O, V, W and A as `move` has filled them.
    """

    def __init__(self, tree: Tree, joints: tuple[str, ...]) -> None:
        k = len(tree.links)
        self.names = tuple(link.name for link in tree.links)
        link_numbers = {name: i for i, name in enumerate(self.names)}
        joint_numbers = {name: i for i, name in enumerate(joints)}
        self.joints = joints
        self.parent = np.full(k, -1, dtype=np.int64)
        self.kind = np.zeros(k, dtype=np.int64)
        self.column = np.full(k, -1, dtype=np.int64)
        self.joint_origin, self.axis = np.zeros((k, 3)), np.zeros((k, 3))
        self.joint_rotation = np.tile(np.eye(3), (k, 1, 1))
        for joint in tree.joints:
            i = link_numbers[joint.child]
            self.parent[i] = link_numbers[joint.parent]
            self.joint_origin[i], self.joint_rotation[i] = joint.position, joint.rotation
            self.axis[i] = joint.axis
            if joint.name in joint_numbers:
                self.kind[i] = PRISMATIC if joint.kind == "prismatic" else REVOLUTE
                self.column[i] = joint_numbers[joint.name]
        self.centre = np.array([link.centre for link in tree.links])
        self.rotation = np.tile(np.eye(3), (k, 1, 1))
        self.origin, self.velocity, self.angular, self.axes = np.zeros((4, k, 3))
        self._position, self._linear = np.zeros((2, k, 3))  # P and C of `move`
        self._base, self._effort = np.zeros(6), np.zeros(len(joints))  # results of `efforts`
        self._q, self._qd = np.zeros((2, len(joints)))

    def move(self, q: Array, qd: Array, origin: Array, rotation: Array, twist: Array) -> LinkMotion:
        """Return the motion of all links; its arrays are overwritten by the next call.

        Args:
            q, qd: joint positions and velocities (n,).
            origin: that of the base in the world (3,) [m].
            rotation: of the base in the world (3, 3).
            twist: linear and angular velocity of the base, in the world (6,).
        """
        # Copies: for read-only arrays, a different type, the kernel would be compiled once more.
        self._q[:], self._qd[:] = q, qd
        self.rotation[0] = rotation
        self.origin[0], self.velocity[0], self.angular[0] = origin, twist[:3], twist[3:]
        outward(
            self.parent, self.kind, self.column, self.joint_origin, self.joint_rotation, self.axis,
            self._q, self._qd, self.rotation, self.origin, self.velocity, self.angular, self.axes,
        )  # fmt: skip
        centres(
            self.rotation, self.origin, self.velocity, self.angular, self.centre,
            self._position, self._linear,
        )  # fmt: skip
        return LinkMotion(self.rotation, self._position, self._linear, self.angular)

    def efforts(self, forces: Array, torques: Array) -> tuple[Array, Array]:
        """Return the wrench on the base in the world (6,) and the efforts (n,) of forces on links.

        Both are overwritten by the next call.

        Args:
            forces: at the centres of mass of all links, where `move` put them (k, 3) [N].
            torques: (k, 3) [N m].
        """
        inward(
            self.parent, self.kind, self.column, self.origin, self._position, self.axes,
            forces, torques, self._base, self._effort,
        )  # fmt: skip
        return self._base, self._effort


def motion_of(tree: Tree, kinematics: TreeKinematics, state: RobotState) -> LinkMotion:
    """Return the motion of all links in a state; its arrays are overwritten by the next call.

    The ball of a bearing turns at the origin, where its bearing stands; its position in a state is
    odometry.
    """
    rotation = quaternion_matrix(state.orientation)
    twist = turn_twist(rotation, state.twist)
    position = state.position
    if tree.bearing:
        position, twist[:3] = np.zeros(3), 0.0
    return kinematics.move(state.q, state.qd, position, rotation, twist)


def motion_of_bodies(bodies: Array) -> LinkMotion:
    """Return the motion of free bodies from their rows (b, 13)."""
    position, orientation, *twist = np.split(bodies, [3, 7, 10], axis=1)
    rotation = quaternion_matrix(orientation)
    linear, angular = ((rotation @ each[:, :, None])[:, :, 0] for each in twist)
    return LinkMotion(rotation, position, linear, angular)


def with_bodies(motion: LinkMotion, bodies: Array, *moving: Array) -> LinkMotion:
    """Return the motion of links, followed by that of free bodies.

    Args:
        motion: of the links.
        bodies: rows of the bodies (b, 13).
        moving: other rows, the mean of whose velocities they have; by default they have their own.
    """
    if not len(bodies):
        return motion
    placed, moved = motion_of_bodies(bodies), [*map(motion_of_bodies, moving or (bodies,))]
    linear = np.mean([each.linear for each in moved], axis=0)
    angular = np.mean([each.angular for each in moved], axis=0)
    rotations, positions = (motion.rotation, placed.rotation), (motion.position, placed.position)
    pairs = rotations, positions, (motion.linear, linear), (motion.angular, angular)
    return LinkMotion(*map(np.concatenate, pairs))


@kernel
def outward(parent, kind, column, joint_origin, joint_rotation, axis, q, qd, R, O, V, W, A):
    """Fill rotations R, origins O, velocities V, W and joint axes A of all links with a parent.

    Args:
        parent: number of each link's parent, or -1 (k,).
        kind: of the joint that leads to it: FIXED, REVOLUTE or PRISMATIC (k,).
        column: index of that joint in q (k,).
        joint_origin: position of the joint in the parent's frame (k, 3) [m].
        joint_rotation: of its frame in the parent's (k, 3, 3).
        axis: unit vector in the joint's own frame, as in a URDF (k, 3).
        q, qd: positions and rates of the joints (n,) [rad or m], [rad/s or m/s].
        R, O, V, W: filled; entries of links without a parent, such as the first, are given.
        A: filled.
    """
    hinge_turn, joint_frame = np.empty((3, 3)), np.empty((3, 3))
    lever, product = np.empty(3), np.empty(3)
    for i in range(1, parent.shape[0]):
        p = parent[i]
        if p < 0:
            continue
        # Frame of the joint, and the lever from the parent's origin.
        _multiply(R[p], joint_rotation[i], joint_frame)
        _apply(joint_frame, axis[i], A[i])
        _apply(R[p], joint_origin[i], lever)
        position, rate = 0.0, 0.0
        if kind[i] != FIXED:
            position, rate = q[column[i]], qd[column[i]]
        if kind[i] == PRISMATIC:
            for d in range(3):
                lever[d] += A[i, d] * position
        # The link moves with its parent: v = v_p + w_p x lever.
        cross(W[p], lever, product)
        for d in range(3):
            O[i, d] = O[p, d] + lever[d]
            V[i, d] = V[p, d] + product[d]
            W[i, d] = W[p, d]
        # A hinge turns the link (Rodrigues' formula) and adds to its angular velocity; a slide adds
        # to its linear velocity.
        if kind[i] == REVOLUTE:
            c, s = np.cos(position), np.sin(position)
            x, y, z = axis[i, 0], axis[i, 1], axis[i, 2]
            hinge_turn[0, 0] = c + x * x * (1 - c)
            hinge_turn[0, 1] = x * y * (1 - c) - z * s
            hinge_turn[0, 2] = x * z * (1 - c) + y * s
            hinge_turn[1, 0] = y * x * (1 - c) + z * s
            hinge_turn[1, 1] = c + y * y * (1 - c)
            hinge_turn[1, 2] = y * z * (1 - c) - x * s
            hinge_turn[2, 0] = z * x * (1 - c) - y * s
            hinge_turn[2, 1] = z * y * (1 - c) + x * s
            hinge_turn[2, 2] = c + z * z * (1 - c)
            _multiply(joint_frame, hinge_turn, R[i])
            for d in range(3):
                W[i, d] += A[i, d] * rate
        else:
            R[i] = joint_frame
            for d in range(3):
                V[i, d] += A[i, d] * rate  # 0 of a fixed joint


@kernel
def centres(R, O, V, W, centre, P, C):
    """Fill positions P and velocities C of the centres of mass from the links' frames.

    `centre` are the centres of mass in the frames of the links (k, 3) [m].
    """
    lever, product = np.empty(3), np.empty(3)
    for i in range(centre.shape[0]):
        _apply(R[i], centre[i], lever)
        cross(W[i], lever, product)
        for d in range(3):
            P[i, d] = O[i, d] + lever[d]
            C[i, d] = V[i, d] + product[d]


@kernel
def inward(parent, kind, column, O, P, A, force, torque, base, effort):
    """Fill the base's wrench (6,) about its origin and the joints' efforts (n,), in the world.

    Args:
        parent, kind, column, O, P, A: as of `outward` and `centres`.
        force, torque: on each link at its centre of mass P (k, 3) [N], [N m].
        base: force, then torque, filled (6,) [N, N m].
        effort: filled (n,) [N m or N].
    """
    k = parent.shape[0]
    F = force.copy()
    N = np.empty((k, 3))
    lever, product = np.empty(3), np.empty(3)
    effort[:] = 0.0
    # Torques about the links' origins.
    for i in range(k):
        for d in range(3):
            lever[d] = P[i, d] - O[i, d]
        cross(lever, force[i], product)
        for d in range(3):
            N[i, d] = torque[i, d] + product[d]
    # Each joint bears its component; the whole is passed on to the parent.
    for i in range(k - 1, 0, -1):
        p = parent[i]
        if p < 0:
            continue
        if kind[i] == REVOLUTE:
            effort[column[i]] = A[i, 0] * N[i, 0] + A[i, 1] * N[i, 1] + A[i, 2] * N[i, 2]
        elif kind[i] == PRISMATIC:
            effort[column[i]] = A[i, 0] * F[i, 0] + A[i, 1] * F[i, 1] + A[i, 2] * F[i, 2]
        for d in range(3):
            lever[d] = O[i, d] - O[p, d]
        cross(lever, F[i], product)
        for d in range(3):
            F[p, d] += F[i, d]
            N[p, d] += N[i, d] + product[d]
    base[:3] = F[0]
    base[3:] = N[0]


@kernel
def _apply(R, v, out):
    """Fill `out` (3,) with R v."""
    for i in range(3):
        out[i] = R[i, 0] * v[0] + R[i, 1] * v[1] + R[i, 2] * v[2]


@kernel
def _multiply(A, B, out):
    """Fill `out` (3, 3) with A B."""
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j]

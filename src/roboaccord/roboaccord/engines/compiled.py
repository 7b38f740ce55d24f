"""Forces of a physics step in one compiled kernel: friction of sliding links and of joints.

An engine evaluates these forces in every stage of every physics step; in Python that would cost
more than the engine's own step. `compile_forces`, called by engines/base.py, returns them as
`CompiledForces`, whose kernel `apply_forces` computes all of them in one call. MuJoCo calls it from
C, where it gets no arguments but MuJoCo's own pointers. The kernel therefore finds its data in a
table of int64 numbers (numerics/native.py): counts, flags, and addresses of arrays.
`CompiledForces` makes the arrays and fills the table; the constants below name its entries.

The kernel is the fast form of `EngineSimulator._law_efforts` and `JointFriction.efforts` and must
give the same bits. Change a term in both, or let `compile_forces` return None for it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numba import carray, config

from roboaccord.contract import Array, Index
from roboaccord.contract.interfaces import ForceLaw
from roboaccord.contract.sliding_friction import EllipseFriction, sliding_wrenches
from roboaccord.description.base_kinds import FixedBase
from roboaccord.description.kinematics import TreeKinematics, centres, inward, outward
from roboaccord.numerics.jit import kernel
from roboaccord.numerics.native import address, c_function, floats_at, ints_at, set_table, table_now
from roboaccord.simulators.friction import JointFriction

# Entries of the table. Shapes are those of k links, n joints, m sliding links (sliders), and p
# contact points of each of them. First come counts: k, n, m, p, and the length of OTHER_GROUND.
LINK_COUNT, JOINT_COUNT, SLIDER_COUNT, POINT_COUNT, OTHER_GROUND_SIZE = range(5)
# Flags: friction on the pyramid (else the ellipse); planar base; and JOINT_FRICTION, 0 for none, 1
# for friction of the joints, 2 for friction and springs.
PYRAMID, PLANAR, JOINT_FRICTION = range(5, 8)
# Lengths of the engine's arrays of positions and velocities.
ENGINE_Q_COUNT, ENGINE_V_COUNT = range(8, 10)
# Addresses of indices (int64). Among the engine's coordinates and rates: of the joints (n,), and of
# a planar base (3,).
Q_ROWS, V_ROWS, BASE_Q_ROWS, BASE_V_ROWS = range(10, 14)
# Of each link: its parent, the kind of its joint, and the number of the joint (k,); and the sliding
# links among all links (m,).
PARENT, KIND, COLUMN, SLIDING = range(14, 18)
# Addresses of numbers (float64). Of the joints (n,): held efforts [N m], coordinates [rad], rates
# [rad/s], efforts of the friction law [N m].
HELD_EFFORT, JOINT_Q, JOINT_QD, LAW_EFFORT = range(18, 22)
# Constants of the links: position (k, 3) [m], rotation (k, 3, 3) and axis (k, 3) of the joint in
# the parent; centre of mass (k, 3) [m].
JOINT_ORIGIN, JOINT_ROTATION, JOINT_AXIS, MASS_CENTRE = range(22, 26)
# Work space, in the world: rotations of the links (k, 3, 3); origins, linear and angular
# velocities, and axes of their joints (k, 3).
ROTATION, ORIGIN, LINEAR, ANGULAR, WORLD_AXES = range(26, 31)
# Work space, in the world: positions and velocities of the centres of mass, forces and torques
# on the links (k, 3); wrench on the base (6,).
POSITION, VELOCITY, FORCE, TORQUE, WRENCH = range(31, 36)
# Friction law, as of `EllipseFriction`: contact points (p, 2) [m], coefficients (2,), the other
# ground (0 or 3), squared radii of gyration (2,) [m^2]. LAW_NUMBERS (3,) are its load [N] and slip
# speed [m/s], and the squared fading speed of the joints' friction [rad^2/s^2].
CONTACT_POINTS, FRICTION_MU, OTHER_GROUND, GYRATION, LAW_NUMBERS = range(36, 41)
# Friction of the joints (n,): viscous [N m s/rad], dry [N m]; stiffness and slack of springs.
VISCOUS, DRY, STIFFNESS, SLACK = range(41, 45)
# Addresses of the arrays of an engine that calls the kernel back from C.
POSITIONS, VELOCITIES, FORCES = range(45, 48)
ENTRIES = 48  # length of the table: one more than the last index, that of FORCES


class CompiledForces:
    """Generalised forces of held efforts, a friction law and friction of joints, as a kernel.

    Args:
        kinematics: poses and velocities of the links.
        law: friction law of the links, or None.
        friction: friction law of the joints, or None.
        joint_q_rows, joint_v_rows: indices of the joints' coordinates and of their rates among the
            engine's (n,).
        base_q_rows, base_v_rows: those of the base; used if it is planar: x, y and yaw (3,).

    Attributes:
        table: counts, flags and addresses (ENTRIES,).
        held: efforts on the joints that are held during the step (n,).
    """

    def __init__(
        self,
        kinematics: TreeKinematics,
        law: EllipseFriction | None,
        friction: JointFriction | None,
        joint_q_rows: Array | Index,
        joint_v_rows: Array | Index,
        base_q_rows: Array | Index,
        base_v_rows: Array | Index,
    ) -> None:
        k, n = len(kinematics.names), len(joint_q_rows)
        self.table = np.zeros(ENTRIES, np.int64)
        self.table[[LINK_COUNT, JOINT_COUNT]] = k, n
        self.table[PLANAR] = len(base_v_rows) == len(base_q_rows) == 3
        self.held = np.zeros(n)
        self._arrays: list[Array] = []  # stored, because the table has only their addresses
        self._callback: object = None  # C function, made by `attach`
        self._table_address = 0  # address of the table for the C function
        # The engine's indices, and the constants of the tree.
        self._enter({Q_ROWS: joint_q_rows, V_ROWS: joint_v_rows})
        self._enter({BASE_Q_ROWS: base_q_rows, BASE_V_ROWS: base_v_rows})
        self._enter({PARENT: kinematics.parent, KIND: kinematics.kind, COLUMN: kinematics.column})
        self._enter({JOINT_ORIGIN: kinematics.joint_origin, JOINT_AXIS: kinematics.axis})
        self._enter({JOINT_ROTATION: kinematics.joint_rotation, MASS_CENTRE: kinematics.centre})
        # Work space of the kernel.
        self._enter({entry: np.zeros(n) for entry in (JOINT_Q, JOINT_QD, LAW_EFFORT)})
        vectors_of_links = (ORIGIN, LINEAR, ANGULAR, WORLD_AXES, POSITION, VELOCITY, FORCE, TORQUE)
        self._enter({entry: np.zeros((k, 3)) for entry in vectors_of_links})
        self._enter({ROTATION: np.tile(np.eye(3), (k, 1, 1)), WRENCH: np.zeros(6)})
        # Constants of the friction law, and of the friction and springs of joints.
        law_numbers = np.zeros(3)  # load, slip speed, squared fading speed
        self._enter({LAW_NUMBERS: law_numbers, HELD_EFFORT: self.held})
        if law:
            sliding = np.array([kinematics.names.index(name) for name in law.links])
            self.table[[SLIDER_COUNT, POINT_COUNT]] = len(sliding), len(law.points)
            self.table[[OTHER_GROUND_SIZE, PYRAMID]] = law.beyond.size, law.pyramid
            law_numbers[:2] = law.load, law.slip_speed
            self._enter({SLIDING: sliding, CONTACT_POINTS: law.points, FRICTION_MU: law.mu})
            self._enter({OTHER_GROUND: law.beyond, GYRATION: law.gyration})
        if friction:
            self.table[JOINT_FRICTION] = 2 if friction.spring else 1
            law_numbers[2] = friction.speed**2
            # A number for all joints becomes an array (n,), as `held` is.
            _, viscous, dry = np.broadcast_arrays(self.held, friction.viscous, friction.constant)
            self._enter({VISCOUS: viscous, DRY: dry})
            if friction.spring:
                self._enter({STIFFNESS: friction.spring[0], SLACK: friction.spring[1]})

    def _enter(self, arrays: Mapping[int, Array | Index]) -> None:
        """Store arrays by entry, as the kernel expects them, and their addresses in the table."""
        for entry, array in arrays.items():
            number_type = np.int64 if entry < HELD_EFFORT else float
            self._arrays.append(np.ascontiguousarray(array, number_type))
            self.table[entry] = address(self._arrays[-1])

    def attach(self, positions: Array, velocities: Array, forces: Array) -> None:
        """Record the engine's arrays on which the C function works; they must be contiguous."""
        self.table[[ENGINE_Q_COUNT, ENGINE_V_COUNT]] = positions.size, velocities.size
        self._enter({POSITIONS: positions, VELOCITIES: velocities, FORCES: forces})
        self._callback = c_function(_call_back, 2).ctypes
        self._table_address = address(self.table)

    def apply(self, positions: Array, velocities: Array, forces: Array) -> None:
        """Fill `forces` on joints and a planar base, at the engine's coordinates and rates."""
        apply_forces(self.table, positions, velocities, forces)

    def callback(self) -> object:
        """Return the C function that fills the attached forces; valid until the next call."""
        set_table(self._table_address)
        return self._callback


def compile_forces(
    kinematics: TreeKinematics,
    law: ForceLaw | None,
    friction: JointFriction | None,
    base: FixedBase,
    *indices: Array | Index,
) -> CompiledForces | None:
    """Return the compiled forces on a robot, or None where the kernel does not know one of them.

    Stiction, whose exponential numpy rounds differently, and friction under a tilted base are
    left to Python, as are friction laws of a user and a law without slip speed, which sticks.

    Args:
        kinematics, law, friction: as of `CompiledForces`.
        indices: its arguments from `joint_q_rows` to `base_v_rows`.
        base: how the base moves.
    """
    if config.DISABLE_JIT or (friction and friction.stiction is not None):
        return None
    if law is not None:
        if not isinstance(law, EllipseFriction):
            return None
        is_overridden = type(law).wrenches is not EllipseFriction.wrenches
        if is_overridden or law.slip_speed == 0.0 or base.tilts:
            return None
    return CompiledForces(kinematics, law, friction, *indices)


@kernel
def indices_at(table, entry, count):
    """Return the array of indices (count,) whose address an entry of the table has."""
    return carray(ints_at(table[entry]), count)


@kernel
def numbers_at(table, entry, shape):
    """Return the array of numbers of a shape whose address an entry of the table has."""
    return carray(floats_at(table[entry]), shape)


@kernel
def fill_sliding_friction(table, x, y, yaw, vx, vy, yaw_rate):
    """Fill the efforts of the friction law (LAW_EFFORT), and its wrench on the base (WRENCH).

    Args:
        table: counts and addresses; the joints' coordinates JOINT_Q and rates JOINT_QD are filled.
        x, y, yaw: pose of a base in the plane [m], [rad].
        vx, vy, yaw_rate: velocity of its origin in the world [m/s], rate of its yaw [rad/s].
    """
    # Constants of the k links; coordinates and rates of the n joints.
    k, n = table[LINK_COUNT], table[JOINT_COUNT]
    parent, kind = indices_at(table, PARENT, k), indices_at(table, KIND, k)
    column = indices_at(table, COLUMN, k)
    joint_origin = numbers_at(table, JOINT_ORIGIN, (k, 3))
    joint_rotation = numbers_at(table, JOINT_ROTATION, (k, 3, 3))
    axis = numbers_at(table, JOINT_AXIS, (k, 3))
    mass_centre = numbers_at(table, MASS_CENTRE, (k, 3))
    q, qd = numbers_at(table, JOINT_Q, n), numbers_at(table, JOINT_QD, n)
    # Motion of the links, and forces on them.
    rotations = numbers_at(table, ROTATION, (k, 3, 3))
    origins = numbers_at(table, ORIGIN, (k, 3))
    linears = numbers_at(table, LINEAR, (k, 3))
    angulars = numbers_at(table, ANGULAR, (k, 3))
    axes = numbers_at(table, WORLD_AXES, (k, 3))
    positions = numbers_at(table, POSITION, (k, 3))
    velocities = numbers_at(table, VELOCITY, (k, 3))
    forces = numbers_at(table, FORCE, (k, 3))
    torques = numbers_at(table, TORQUE, (k, 3))
    wrench = numbers_at(table, WRENCH, 6)
    law_effort = numbers_at(table, LAW_EFFORT, n)
    # Pose and velocity of the base, which is link 0.
    c, s = np.cos(yaw), np.sin(yaw)
    rotations[0, 0, 0], rotations[0, 0, 1] = c, -s
    rotations[0, 1, 0], rotations[0, 1, 1] = s, c
    origins[0, 0], origins[0, 1] = x, y
    linears[0, 0], linears[0, 1], angulars[0, 2] = vx, vy, yaw_rate
    # Poses and velocities of all links, from the base outward, then those of their centres.
    joint_frames = joint_origin, joint_rotation, axis
    outward(parent, kind, column, *joint_frames, q, qd, rotations, origins, linears, angulars, axes)
    centres(rotations, origins, linears, angulars, mass_centre, positions, velocities)
    _fill_link_forces(table, rotations, positions, velocities, angulars, forces, torques)
    # Efforts of the joints and wrench on the base, from the tips inward.
    inward(parent, kind, column, origins, positions, axes, forces, torques, wrench, law_effort)


@kernel
def _fill_link_forces(table, rotations, positions, velocities, angulars, forces, torques):
    """Fill the friction on the sliding links; forces on other links stay 0.

    Args:
        table: counts and addresses.
        rotations: of the links to the world (k, 3, 3).
        positions, velocities, angulars: of their centres of mass, and angular velocities (k, 3).
        forces, torques: filled for the sliding links (k, 3) [N], [N m].
    """
    m = table[SLIDER_COUNT]
    sliding = indices_at(table, SLIDING, m)
    force, torque = np.zeros((m, 3)), np.zeros((m, 3))
    # Without a copy where the sliding links are all links in order.
    motions = rotations, positions, velocities, angulars
    for i in range(table[LINK_COUNT]):
        if i >= m or sliding[i] != i:
            motions = rotations[sliding], positions[sliding], velocities[sliding], angulars[sliding]
            break
    points = numbers_at(table, CONTACT_POINTS, (table[POINT_COUNT], 2))
    mu = numbers_at(table, FRICTION_MU, 2)
    other_ground = numbers_at(table, OTHER_GROUND, table[OTHER_GROUND_SIZE])
    load, slip_speed, _ = numbers_at(table, LAW_NUMBERS, 3)
    law = points, mu, other_ground, load, slip_speed, numbers_at(table, GYRATION, 2)
    sliding_wrenches(table[PYRAMID] > 0, motions, law, force, torque)
    for i in range(m):
        forces[sliding[i]] = force[i]
        torques[sliding[i]] = torque[i]


@kernel
def apply_forces(table, positions, velocities, forces):
    """Fill the forces on the joints, and on a planar base where a friction law acts.

    Args:
        table: counts and addresses.
        positions, velocities: all coordinates and rates of the engine.
        forces: generalised forces on all rates; those of other rates stay.
    """
    n = table[JOINT_COUNT]
    at_q, at_v = indices_at(table, Q_ROWS, n), indices_at(table, V_ROWS, n)
    q, qd = numbers_at(table, JOINT_Q, n), numbers_at(table, JOINT_QD, n)
    held, law_effort = numbers_at(table, HELD_EFFORT, n), numbers_at(table, LAW_EFFORT, n)
    # Coordinates and rates of the joints, out of the engine's.
    for j in range(n):
        q[j] = positions[at_q[j]]
        qd[j] = velocities[at_v[j]]
    # Friction law of the sliding links.
    if table[SLIDER_COUNT] > 0:
        if table[PLANAR] > 0:
            rows, rates = indices_at(table, BASE_Q_ROWS, 3), indices_at(table, BASE_V_ROWS, 3)
            x, y, yaw = positions[rows[0]], positions[rows[1]], positions[rows[2]]
            vx, vy, yaw_rate = velocities[rates[0]], velocities[rates[1]], velocities[rates[2]]
            fill_sliding_friction(table, x, y, yaw, vx, vy, yaw_rate)
            wrench = numbers_at(table, WRENCH, 6)
            forces[rates[0]], forces[rates[1]], forces[rates[2]] = wrench[0], wrench[1], wrench[5]
        else:
            fill_sliding_friction(table, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for j in range(n):
        forces[at_v[j]] = held[j] + law_effort[j]
    # Friction of the joints: -qd (viscous + dry / sqrt(qd^2 + speed^2)).
    if table[JOINT_FRICTION] > 0:
        viscous, dry = numbers_at(table, VISCOUS, n), numbers_at(table, DRY, n)
        squared_speed = numbers_at(table, LAW_NUMBERS, 3)[2]
        for j in range(n):
            drag = viscous[j] + dry[j] / np.sqrt(qd[j] * qd[j] + squared_speed)
            forces[at_v[j]] += -qd[j] * drag
    # Springs of the joints: -stiffness (q - slack).
    if table[JOINT_FRICTION] > 1:
        stiffness, slack = numbers_at(table, STIFFNESS, n), numbers_at(table, SLACK, n)
        for j in range(n):
            forces[at_v[j]] -= stiffness[j] * (q[j] - slack[j])


def _call_back(_model: int, _data: int) -> None:
    """Fill the forces of the engine whose table is current; its two pointers are not needed."""
    table = carray(table_now(), ENTRIES)
    positions = numbers_at(table, POSITIONS, table[ENGINE_Q_COUNT])
    velocities = numbers_at(table, VELOCITIES, table[ENGINE_V_COUNT])
    forces = numbers_at(table, FORCES, table[ENGINE_V_COUNT])
    apply_forces(table, positions, velocities, forces)

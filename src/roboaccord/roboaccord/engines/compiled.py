"""Forces of a physics step in one compiled kernel: friction of sliding links and of joints.

An engine evaluates these forces in every stage of every physics step; in Python that would cost
more than the engine's own step. `apply_forces` computes them in one call, and can be called from C
as well. C passes a callback only the address of a number, so the kernel finds all its arrays
through a table of int64 numbers: counts, flags, and addresses of arrays. `CompiledForces` makes the
arrays and fills the table; the constants below name its entries.

The kernel is the fast form of `EngineSimulator._law_efforts` and `JointFriction.efforts` and must
give the same bits. Change a term in both, or let `compile_forces` return None for it. Entries of
the table are numbered without gaps; ENTRIES is their number.
"""

from __future__ import annotations

import numpy as np
from numba import carray, config

from roboaccord.contract.contact import Index
from roboaccord.contract.interfaces import ForceLaw
from roboaccord.contract.sliding_friction import EllipseFriction, sliding_wrenches
from roboaccord.contract.state import Array
from roboaccord.description.base_kinds import FixedBase
from roboaccord.description.kinematics import TreeKinematics, centres, inward, outward
from roboaccord.numerics.jit import kernel
from roboaccord.numerics.native import (
    address,
    c_function,
    doubles_at,
    ints_at,
    set_table,
    table_now,
)
from roboaccord.simulators.friction import JointFriction

# Entries that are counts: links k, joints n, sliding links m, contact points of each of them,
# numbers of the second ground (0 or 3); flags: pyramid of friction, planar base, and BRAKED, 1 for
# friction of joints and 2 with springs; lengths of the engine's arrays of positions and velocities.
SIZES = (LINKS, JOINTS, SLIDERS, POINTS, BEYOND, PYRAMID, PLANAR, BRAKED, ALL_Q, ALL_V) = range(10)
# Entries that are addresses of indices (int64): of the joints (n,) and of a planar base (3,) among
# the engine's coordinates and rates; parent, kind and joint of each link (k,); sliding links (m,).
(AT_Q, AT_V, ROWS_Q, ROWS_V, PARENT, KIND, COLUMN, SLIDING) = range(10, 18)
# Entries that are addresses of numbers (float64), in this order:
# joints (n,): held efforts [N m], coordinates [rad], rates [rad/s], efforts of the friction law;
# links, constant: place (k, 3) [m], rotation (k, 3, 3) and axis (k, 3) in the parent, centre of
# mass (k, 3);
# links, work space: rotation (k, 3, 3); origin, linear and angular velocity, axis in the world,
# position and velocity of the centre, force and torque (k, 3); wrench on the base (6,);
# friction law: contact points (p, 2) [m], coefficients (2,), the second ground, radii of gyration
# (2,), and NUMBERS: load [N], slip speed [m/s], squared speed of the joints' friction;
# friction of joints (n,): viscous [N m s/rad], dry [N m], stiffness and zero position of springs.
(
    HELD, Q, QD, LAW_EFFORT, PLACE, TURN, AXIS, CENTRE, ROTATION, ORIGIN, LINEAR, ANGULAR, AXES,
    POSITION, VELOCITY, FORCE, TORQUE, WRENCH, PLACES, MU, GROUND, GYRATION, NUMBERS, VISCOUS, DRY,
    STIFFNESS, SLACK,
) = range(18, 45)  # fmt: skip
# Entries that are addresses of the arrays of an engine which calls the kernel back from C.
(POSITIONS, VELOCITIES, FORCES) = range(45, 48)
ENTRIES = 48


class CompiledForces:
    """Generalised forces of held efforts, a friction law and friction of joints, as a kernel.

    Args:
        kinematics: of the links.
        law: of friction of links, or None.
        friction: of the joints, or None.
        at_q, at_v: indices of the joints' coordinates and rates among the engine's (n,).
        rows_q, rows_v: indices of the base's; (3,) for a planar base: x, y and yaw.

    Attributes:
        table: of counts, flags and addresses (ENTRIES,).
        held: efforts on the joints that are held during the step (n,).
    """

    def __init__(
        self,
        kinematics: TreeKinematics,
        law: EllipseFriction | None,
        friction: JointFriction | None,
        at_q: Array | Index,
        at_v: Array | Index,
        rows_q: Array | Index,
        rows_v: Array | Index,
    ) -> None:
        k, n = len(kinematics.names), len(at_q)
        self.table = np.zeros(ENTRIES, np.int64)
        self.table[[LINKS, JOINTS, PLANAR]] = k, n, len(rows_v) == len(rows_q) == 3
        self.held = np.zeros(n)
        self._arrays: list[Array] = []  # kept here, as the table has only their addresses
        self._callback: object = None  # C function, and address of the table for it: `attach`
        self._table_address = 0
        # The engine's indices, and the constants of the tree.
        ints: dict[int, Array | Index] = {AT_Q: at_q, AT_V: at_v, ROWS_Q: rows_q, ROWS_V: rows_v}
        ints |= {PARENT: kinematics.parent, KIND: kinematics.kind, COLUMN: kinematics.column}
        numbers: dict[int, Array] = {HELD: self.held, AXIS: kinematics.axis}
        numbers |= {PLACE: kinematics.joint_origin, TURN: kinematics.joint_rotation}
        numbers |= {CENTRE: kinematics.centre}
        # Work space of the kernel.
        numbers |= {entry: np.zeros(n) for entry in (Q, QD, LAW_EFFORT)}
        scratch = (ORIGIN, LINEAR, ANGULAR, AXES, POSITION, VELOCITY, FORCE, TORQUE)
        numbers |= {entry: np.zeros((k, 3)) for entry in scratch} | {WRENCH: np.zeros(6)}
        numbers |= {ROTATION: np.tile(np.eye(3), (k, 1, 1))}
        # Constants of the friction law, and of the friction and springs of joints.
        load = slip_speed = joint_speed = 0.0
        if law:
            sliding = np.array([kinematics.names.index(name) for name in law.links])
            self.table[[SLIDERS, POINTS]] = len(sliding), len(law.points)
            self.table[[BEYOND, PYRAMID]] = law.beyond.size, law.pyramid
            load, slip_speed = law.load, law.slip_speed
            ints |= {SLIDING: sliding}
            numbers |= {PLACES: law.points, MU: law.mu, GROUND: law.beyond, GYRATION: law.gyration}
        if friction:
            self.table[BRAKED] = 2 if friction.spring else 1
            joint_speed = friction.speed
            _, viscous, dry = np.broadcast_arrays(self.held, friction.viscous, friction.constant)
            numbers |= {VISCOUS: viscous, DRY: dry}
            if friction.spring:
                numbers |= {STIFFNESS: friction.spring[0], SLACK: friction.spring[1]}
        numbers |= {NUMBERS: np.array([load, slip_speed, joint_speed**2])}
        # The arrays enter the table, in the layout and type that the kernel expects.
        for entry, array in ints.items():
            self._enter(entry, np.ascontiguousarray(array, np.int64))
        for entry, array in numbers.items():
            self._enter(entry, np.ascontiguousarray(array, float))

    def _enter(self, entry: int, array: Array) -> None:
        """Keep an array, and write its address into an entry of the table."""
        self._arrays.append(array)
        self.table[entry] = address(array)

    def attach(self, positions: Array, velocities: Array, forces: Array) -> None:
        """Record the engine's arrays on which its callback works."""
        self.table[[ALL_Q, ALL_V]] = positions.size, velocities.size
        for entry, array in zip((POSITIONS, VELOCITIES, FORCES), (positions, velocities, forces)):
            self._enter(entry, array)
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
        indices: its at_q, at_v, rows_q, rows_v.
        base: how the base moves.
    """
    if config.DISABLE_JIT or (friction and friction.stiction is not None):
        return None
    if law is None:
        return CompiledForces(kinematics, None, friction, *indices)
    if not isinstance(law, EllipseFriction) or type(law).wrenches is not EllipseFriction.wrenches:
        return None
    if law.slip_speed == 0.0 or base.tilts:
        return None
    return CompiledForces(kinematics, law, friction, *indices)


@kernel
def fill_sliding_friction(table, x, y, yaw, vx, vy, yaw_rate):
    """Fill the efforts of the friction law (LAW_EFFORT), and its wrench on the base (WRENCH).

    Args:
        table: of counts and addresses; joint coordinates Q and rates QD are filled.
        x, y, yaw: of a base in the plane [m], [rad].
        vx, vy, yaw_rate: velocity of its origin in the world [m/s], rate of its yaw [rad/s].
    """
    # Views of the arrays of k links, n joints and m sliding links.
    k, n, m, count = table[LINKS], table[JOINTS], table[SLIDERS], table[POINTS]
    parent, kind = carray(ints_at(table[PARENT]), k), carray(ints_at(table[KIND]), k)
    column, sliding = carray(ints_at(table[COLUMN]), k), carray(ints_at(table[SLIDING]), m)
    rotations = carray(doubles_at(table[ROTATION]), (k, 3, 3))
    origins = carray(doubles_at(table[ORIGIN]), (k, 3))
    linears = carray(doubles_at(table[LINEAR]), (k, 3))
    angulars = carray(doubles_at(table[ANGULAR]), (k, 3))
    axes = carray(doubles_at(table[AXES]), (k, 3))
    positions = carray(doubles_at(table[POSITION]), (k, 3))
    velocities = carray(doubles_at(table[VELOCITY]), (k, 3))
    forces = carray(doubles_at(table[FORCE]), (k, 3))
    torques = carray(doubles_at(table[TORQUE]), (k, 3))
    numbers = carray(doubles_at(table[NUMBERS]), 3)
    # Pose and velocity of the base, which is link 0.
    c, s = np.cos(yaw), np.sin(yaw)
    rotations[0, 0, 0], rotations[0, 0, 1], rotations[0, 1, 0], rotations[0, 1, 1] = c, -s, s, c
    origins[0, 0], origins[0, 1] = x, y
    linears[0, 0], linears[0, 1], angulars[0, 2] = vx, vy, yaw_rate
    # Poses and velocities of all links, from the base outward, then those of their centres.
    outward(
        parent, kind, column, carray(doubles_at(table[PLACE]), (k, 3)),
        carray(doubles_at(table[TURN]), (k, 3, 3)), carray(doubles_at(table[AXIS]), (k, 3)),
        carray(doubles_at(table[Q]), n), carray(doubles_at(table[QD]), n), rotations, origins,
        linears, angulars, axes,
    )  # fmt: skip
    centres(
        rotations, origins, linears, angulars, carray(doubles_at(table[CENTRE]), (k, 3)), positions,
        velocities,
    )  # fmt: skip
    # Friction on the sliding links: without a copy where they are the first m links in order.
    force, torque = np.zeros((m, 3)), np.zeros((m, 3))
    rotation, centre, linear, angular = rotations, positions, velocities, angulars
    for i in range(k):
        if i >= m or sliding[i] != i:
            rotation, centre, linear, angular = (
                rotations[sliding], positions[sliding], velocities[sliding], angulars[sliding],
            )  # fmt: skip
            break
    sliding_wrenches(
        table[PYRAMID] > 0, rotation, centre, linear, angular,
        carray(doubles_at(table[PLACES]), (count, 2)), carray(doubles_at(table[MU]), 2),
        carray(doubles_at(table[GROUND]), table[BEYOND]), numbers[0], numbers[1],
        carray(doubles_at(table[GYRATION]), 2), force, torque,
    )  # fmt: skip
    for i in range(m):
        forces[sliding[i]] = force[i]
        torques[sliding[i]] = torque[i]
    # Efforts of the joints and wrench on the base, from the tips inward.
    inward(
        parent, kind, column, origins, positions, axes, forces, torques,
        carray(doubles_at(table[WRENCH]), 6), carray(doubles_at(table[LAW_EFFORT]), n),
    )  # fmt: skip


@kernel
def apply_forces(table, positions, velocities, forces):
    """Fill the forces on the joints, and on a planar base where a friction law acts.

    Args:
        table: of counts and addresses.
        positions, velocities: all coordinates and rates of the engine.
        forces: generalised forces on all rates; those of other rates stay.
    """
    n = table[JOINTS]
    at_q, at_v = carray(ints_at(table[AT_Q]), n), carray(ints_at(table[AT_V]), n)
    q, qd = carray(doubles_at(table[Q]), n), carray(doubles_at(table[QD]), n)
    held, law_effort = carray(doubles_at(table[HELD]), n), carray(doubles_at(table[LAW_EFFORT]), n)
    # Coordinates and rates of the joints, out of the engine's.
    for j in range(n):
        q[j] = positions[at_q[j]]
        qd[j] = velocities[at_v[j]]
    # Friction law of the sliding links.
    if table[SLIDERS] > 0:
        if table[PLANAR] > 0:
            rows, rates = carray(ints_at(table[ROWS_Q]), 3), carray(ints_at(table[ROWS_V]), 3)
            fill_sliding_friction(
                table, positions[rows[0]], positions[rows[1]], positions[rows[2]],
                velocities[rates[0]], velocities[rates[1]], velocities[rates[2]],
            )  # fmt: skip
            wrench = carray(doubles_at(table[WRENCH]), 6)
            forces[rates[0]], forces[rates[1]], forces[rates[2]] = wrench[0], wrench[1], wrench[5]
        else:
            fill_sliding_friction(table, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for j in range(n):
        forces[at_v[j]] = held[j] + law_effort[j]
    # Friction of the joints: -qd (viscous + dry / sqrt(qd^2 + speed^2)).
    if table[BRAKED] > 0:
        viscous, dry = carray(doubles_at(table[VISCOUS]), n), carray(doubles_at(table[DRY]), n)
        squared_speed = carray(doubles_at(table[NUMBERS]), 3)[2]
        for j in range(n):
            drag = viscous[j] + dry[j] / np.sqrt(qd[j] * qd[j] + squared_speed)
            forces[at_v[j]] += -qd[j] * drag
    # Springs of the joints: -stiffness (q - slack).
    if table[BRAKED] > 1:
        stiff, slack = carray(doubles_at(table[STIFFNESS]), n), carray(doubles_at(table[SLACK]), n)
        for j in range(n):
            forces[at_v[j]] -= stiff[j] * (q[j] - slack[j])


def _call_back(_model: int, _data: int) -> None:
    """Fill the forces of the engine whose table is current; its two pointers are not needed."""
    table = carray(table_now(), ENTRIES)
    apply_forces(
        table,
        carray(doubles_at(table[POSITIONS]), table[ALL_Q]),
        carray(doubles_at(table[VELOCITIES]), table[ALL_V]),
        carray(doubles_at(table[FORCES]), table[ALL_V]),
    )

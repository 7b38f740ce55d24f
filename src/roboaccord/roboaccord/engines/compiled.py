"""Forces of a physics step as one kernel: friction of sliding links and friction of joints.

It is the fast form of `EngineSimulator._law_efforts` and `JointFriction.efforts` and must give the
same bits. Change a term in both, or exclude it in `compile_forces`, which returns None for what the
kernel does not know. Entries of the table may be added, numbered without gaps: in the group of
SIZES, indices or numbers, with ENTRIES raised.

An engine evaluates these forces in every stage of every step. In Python that costs more than the
engine's own step. Here it is one call, and everything constant is in a table of addresses
(native.py).
"""

from __future__ import annotations

import numpy as np
from numba import carray, config

from roboaccord.contract.contact import EllipseFriction, Index, sliding_wrenches
from roboaccord.contract.interfaces import ForceLaw
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

# Entries of a table: counts, and flags.
SIZES = (LINKS, JOINTS, SLIDERS, POINTS, BEYOND, PYRAMID, PLANAR, BRAKED, ALL_Q, ALL_V) = range(10)
# Entries of a table: addresses of indices.
(AT_Q, AT_V, ROWS_Q, ROWS_V, PARENT, KIND, COLUMN, SLIDING) = range(10, 18)
# Entries of a table: addresses of numbers.
(
    HELD, Q, QD, OWN, PLACE, TURN, AXIS, CENTRE, ROTATION, ORIGIN, LINEAR, ANGULAR, AXES, POSITION,
    VELOCITY, FORCE, TORQUE, WRENCH, PLACES, MU, GROUND, GYRATION, NUMBERS, VISCOUS, DRY,
    STIFFNESS, SLACK,
) = range(18, 45)  # fmt: skip
# Entries of a table: addresses of the arrays of an engine that calls back.
(POSITIONS, VELOCITIES, FORCES) = range(45, 48)
ENTRIES = 48


class CompiledForces:
    """Generalised forces of held efforts, a friction law and friction of joints.

    Args:
        kinematics: of the links.
        law: of friction of links, or None.
        friction: of the joints, or None.
        at_q, at_v: indices of the joints' coordinates and rates among the engine's (n,).
        rows_q, rows_v: those of the base, used where it is planar: x, y and yaw.
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
        self._arrays: list[Array] = []  # the table has only their addresses
        # Efforts on the joints (n,).
        self.held = np.zeros(n)
        ints: dict[int, Array | Index] = {AT_Q: at_q, AT_V: at_v, ROWS_Q: rows_q, ROWS_V: rows_v}
        ints |= {PARENT: kinematics.parent, KIND: kinematics.kind, COLUMN: kinematics.column}
        numbers: dict[int, Array] = {entry: np.zeros(n) for entry in (Q, QD, OWN)}
        numbers |= {HELD: self.held}
        numbers |= {PLACE: kinematics.place, TURN: kinematics.turn, AXIS: kinematics.axis}
        numbers |= {CENTRE: kinematics.centre, ROTATION: np.tile(np.eye(3), (k, 1, 1))}
        scratch = (ORIGIN, LINEAR, ANGULAR, AXES, POSITION, VELOCITY, FORCE, TORQUE)
        numbers |= {entry: np.zeros((k, 3)) for entry in scratch} | {WRENCH: np.zeros(6)}
        self.table[[LINKS, JOINTS, PLANAR]] = k, n, len(rows_v) == len(rows_q) == 3
        scalars = np.zeros(3)
        if law:
            sliding = np.array([kinematics.names.index(name) for name in law.links])
            self.table[[SLIDERS, POINTS]] = len(sliding), len(law.points)
            self.table[[BEYOND, PYRAMID]] = law.beyond.size, law.pyramid
            scalars[:2] = law.load, law.slip_speed
            ints |= {SLIDING: sliding}
            numbers |= {PLACES: law.points, MU: law.mu, GROUND: law.beyond, GYRATION: law.gyration}
        if friction:
            self.table[BRAKED] = 1
            scalars[2] = friction.speed**2
            _, viscous, dry = np.broadcast_arrays(self.held, friction.viscous, friction.constant)
            numbers |= {VISCOUS: viscous, DRY: dry}
            if friction.spring:
                self.table[BRAKED] = 2
                numbers |= {STIFFNESS: friction.spring[0], SLACK: friction.spring[1]}
        numbers |= {NUMBERS: scalars}
        for entry, array in ints.items():
            self._enter(entry, np.ascontiguousarray(array, np.int64))
        for entry, array in numbers.items():
            self._enter(entry, np.ascontiguousarray(array, float))

    def _enter(self, entry: int, array: Array) -> None:
        self._arrays.append(array)
        self.table[entry] = address(array)

    def attach(self, positions: Array, velocities: Array, forces: Array) -> None:
        """Record the engine's arrays on which its callback works."""
        self.table[[ALL_Q, ALL_V]] = positions.size, velocities.size
        for entry, array in zip((POSITIONS, VELOCITIES, FORCES), (positions, velocities, forces)):
            self._enter(entry, array)
        self._callback, self._address = c_function(_call_back, 2).ctypes, address(self.table)

    def apply(self, positions: Array, velocities: Array, forces: Array) -> None:
        """Fill the forces on the joints and on a planar base, at coordinates and rates."""
        apply_forces(self.table, positions, velocities, forces)

    def callback(self) -> object:
        """Return the C function that applies them to the attached arrays, until the next call."""
        set_table(self._address)
        return self._callback


def compile_forces(
    kinematics: TreeKinematics,
    law: ForceLaw | None,
    friction: JointFriction | None,
    base: FixedBase,
    *indices: Array | Index,
) -> CompiledForces | None:
    """Return the kernel of the forces on a robot; None where it does not know one of them.

    It has no exponential of stiction and no tilted base: numpy, which computes these, rounds
    differently. A friction law that sticks refuses by itself.

    Args:
        kinematics, law, friction, indices: as of `CompiledForces`.
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
def slide(table, x, y, yaw, vx, vy, rate):
    """Fill the efforts OWN and the base's WRENCH of the friction law, for a base in the plane."""
    k, n, m, count = table[LINKS], table[JOINTS], table[SLIDERS], table[POINTS]
    parent, kind = carray(ints_at(table[PARENT]), k), carray(ints_at(table[KIND]), k)
    column, at = carray(ints_at(table[COLUMN]), k), carray(ints_at(table[SLIDING]), m)
    R, O = carray(doubles_at(table[ROTATION]), (k, 3, 3)), carray(doubles_at(table[ORIGIN]), (k, 3))
    V, W = carray(doubles_at(table[LINEAR]), (k, 3)), carray(doubles_at(table[ANGULAR]), (k, 3))
    A = carray(doubles_at(table[AXES]), (k, 3))
    P, C = carray(doubles_at(table[POSITION]), (k, 3)), carray(doubles_at(table[VELOCITY]), (k, 3))
    F, T = carray(doubles_at(table[FORCE]), (k, 3)), carray(doubles_at(table[TORQUE]), (k, 3))
    numbers = carray(doubles_at(table[NUMBERS]), 3)
    c, s = np.cos(yaw), np.sin(yaw)
    R[0, 0, 0], R[0, 0, 1], R[0, 1, 0], R[0, 1, 1] = c, -s, s, c
    O[0, 0], O[0, 1] = x, y
    V[0, 0], V[0, 1], W[0, 2] = vx, vy, rate
    outward(
        parent, kind, column, carray(doubles_at(table[PLACE]), (k, 3)),
        carray(doubles_at(table[TURN]), (k, 3, 3)), carray(doubles_at(table[AXIS]), (k, 3)),
        carray(doubles_at(table[Q]), n), carray(doubles_at(table[QD]), n), R, O, V, W, A,
    )  # fmt: skip
    centres(R, O, V, W, carray(doubles_at(table[CENTRE]), (k, 3)), P, C)
    force, torque = np.zeros((m, 3)), np.zeros((m, 3))
    rotation, centre, linear, angular = R, P, C, W
    for i in range(k):
        if i >= m or at[i] != i:  # not all links in the order of the tree
            rotation, centre, linear, angular = R[at], P[at], C[at], W[at]
            break
    sliding_wrenches(
        table[PYRAMID] > 0, rotation, centre, linear, angular,
        carray(doubles_at(table[PLACES]), (count, 2)), carray(doubles_at(table[MU]), 2),
        carray(doubles_at(table[GROUND]), table[BEYOND]), numbers[0], numbers[1],
        carray(doubles_at(table[GYRATION]), 2), force, torque,
    )  # fmt: skip
    for i in range(m):
        F[at[i]] = force[i]
        T[at[i]] = torque[i]
    inward(
        parent, kind, column, O, P, A, F, T, carray(doubles_at(table[WRENCH]), 6),
        carray(doubles_at(table[OWN]), n),
    )  # fmt: skip


@kernel
def apply_forces(table, positions, velocities, forces):
    """Fill the forces on the joints, and on a planar base where a law acts; others stay."""
    n = table[JOINTS]
    at_q, at_v = carray(ints_at(table[AT_Q]), n), carray(ints_at(table[AT_V]), n)
    q, qd = carray(doubles_at(table[Q]), n), carray(doubles_at(table[QD]), n)
    held, law_effort = carray(doubles_at(table[HELD]), n), carray(doubles_at(table[OWN]), n)
    for j in range(n):
        q[j] = positions[at_q[j]]
        qd[j] = velocities[at_v[j]]
    if table[SLIDERS] > 0:
        if table[PLANAR] > 0:
            a, b = carray(ints_at(table[ROWS_Q]), 3), carray(ints_at(table[ROWS_V]), 3)
            slide(
                table, positions[a[0]], positions[a[1]], positions[a[2]], velocities[b[0]],
                velocities[b[1]], velocities[b[2]],
            )  # fmt: skip
            wrench = carray(doubles_at(table[WRENCH]), 6)
            forces[b[0]], forces[b[1]], forces[b[2]] = wrench[0], wrench[1], wrench[5]
        else:
            slide(table, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for j in range(n):
        forces[at_v[j]] = held[j] + law_effort[j]
    if table[BRAKED] > 0:
        viscous, dry = carray(doubles_at(table[VISCOUS]), n), carray(doubles_at(table[DRY]), n)
        speed = carray(doubles_at(table[NUMBERS]), 3)[2]
        for j in range(n):
            drag = viscous[j] + dry[j] / np.sqrt(qd[j] * qd[j] + speed)
            forces[at_v[j]] += -qd[j] * drag
    if table[BRAKED] > 1:
        stiff, slack = carray(doubles_at(table[STIFFNESS]), n), carray(doubles_at(table[SLACK]), n)
        for j in range(n):
            forces[at_v[j]] -= stiff[j] * (q[j] - slack[j])


def _call_back(_model: int, _data: int) -> None:
    """Apply the forces of the current table to the arrays of an engine."""
    table = carray(table_now(), ENTRIES)
    apply_forces(
        table,
        carray(doubles_at(table[POSITIONS]), table[ALL_Q]),
        carray(doubles_at(table[VELOCITIES]), table[ALL_V]),
        carray(doubles_at(table[FORCES]), table[ALL_V]),
    )

"""Forward dynamics of a tree of links from its description alone: our own equations of motion.

`TreeDynamics` answers, for a state and efforts, with accelerations and steps, and with mass matrix
and gravity forces. It merges links that are fixed to each other into bodies (merge.py), writes
these as rows of numbers (bodies.py), and calls the kernels of articulated.py: the articulated-body
algorithm and composite rigid bodies (Featherstone, Rigid Body Dynamics Algorithms, 2008).

Reference simulators and checks of engines use it. Engines are judged by it, so it must stay exact
up to round-off (test_dynamics: closed forms, Pinocchio): any approximation would be reported as an
engine's error. The order of a state is that of articulated.py, that of the mass matrix the one of
engines/base.py. SINGULAR_RATIO and RANDOM_STATES only decide which descriptions are refused because
an inertia is missing, and may be tuned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from roboaccord.contract import Acceleration, AccordError, Array, Index, RobotState
from roboaccord.description import articulated, bodies
from roboaccord.description.base_kinds import KINDS, Base
from roboaccord.description.merge import merge
from roboaccord.description.tree import Tree, rotors_of
from roboaccord.numerics.jit import COMPILES, for_kernels
from roboaccord.numerics.rotations import matrix_quaternion, quaternion_matrix, turn_twist

# Number of random states in which a singular inertia is searched; one suffices almost surely.
RANDOM_STATES = 3
# An inertia about a joint counts as 0 below this multiple of that of all links that it carries: far
# above round-off, 1e-16, and far below the 1e-5 of a small last link.
SINGULAR_RATIO = 1e-13


class TreeDynamics:
    """Compute accelerations, mass matrix and gravity forces of a tree, exact up to round-off.

    Links that are fixed to each other are one body; joints that are not named stay at 0. Massless
    links may move if the links that they carry have an inertia about the joint's axis.

    Args:
        tree: links and joints.
        joints: names, in the order of q, qd and efforts; n of them.
        base: how the first link moves.
        gravity: downward [m/s^2].
        viscous, dry: damping [N m s/rad] and dry friction [N m] of the joints (n,), or None.
        speed: rate below which dry friction fades to 0 [rad/s].
        spring: stiffness [N m/rad] and slack positions of the joints (n,), or None.
        sure: whether all accelerations are determined for certain, so that the check of the
            inertias, which takes time, is left out.

    Attributes:
        joints: names.
        links: names of the links that have mass and move, by a joint or with the base.

    Raises:
        AccordError: for a joint or a base without inertia, whose acceleration is not determined.
    """

    def __init__(
        self,
        tree: Tree,
        joints: tuple[str, ...],
        base: Base,
        gravity: float,
        viscous: Array | None = None,
        dry: Array | None = None,
        speed: float = 1.0,
        spring: tuple[Array, Array] | None = None,
        sure: bool = False,
    ) -> None:
        n = len(joints)
        self.joints = joints
        self._base = KINDS[base]
        # Bodies as rows of the arrays `tree` and `body` of bodies.py, the base first.
        merged = merge(tree, joints)
        moving = merged if self._base.moves else merged[1:]
        self.links = [name for body in moving for name, mass in body.links.items() if mass]
        joint_columns = {name: i for i, name in enumerate(joints)}
        self._tree = np.array([(b.parent, b.kind, joint_columns.get(b.joint, -1)) for b in merged])
        self._body = np.array([body.row() for body in merged])
        self._body[0, bodies.GRAVITY] = gravity
        self._body[:, bodies.FADING_SPEED] = speed
        # Row of the body that each joint moves (n,), and rotors and other properties of the joints.
        self._joint_rows = np.zeros(n, np.int64)
        self._joint_rows[self._tree[1:, bodies.JOINT_COLUMN]] = np.arange(1, n + 1)
        self._rotors = rotors_of(tree, joints)
        self._body[self._joint_rows, bodies.ARMATURE] = self._rotors
        stiffness, slack = spring or (None, None)
        columns = bodies.VISCOUS, bodies.DRY_FRICTION, bodies.STIFFNESS, bodies.SLACK_POSITION
        for column, values in zip(columns, (viscous, dry, stiffness, slack), strict=True):
            if values is not None:
                self._body[self._joint_rows, column] = values
        # Arguments of the kernels of articulated.py, whose twists and wrenches are angular first.
        self._free_axes = np.array(sorted((axis + 3) % 6 for axis in self._base.axes), np.int64)
        self._work = np.zeros((n + 1, bodies.WORK_COLUMNS))
        self._slope = np.zeros(13 + 2 * n)  # derivative of a state
        # Equations of the base, matrix and right-hand side, and the wrench on the base.
        self._matrix, self._rhs, self._wrench = np.zeros((6, 6)), np.zeros(6), np.zeros(6)
        if not sure:
            self._refuse_singular(tree, base)

    def lock(self, joint: int, inertia: float) -> None:
        """Set the inertia that is added at a joint [kg m^2]: a huge one locks it, 0 releases it."""
        self._body[self._joint_rows[joint], bodies.ARMATURE] = self._rotors[joint] + inertia

    def hold(self, joint: int, stiffness: float, viscous: float, slack: float) -> None:
        """Set the spring of a joint, its slack position, and the damping [N m s/rad]."""
        columns = [bodies.STIFFNESS, bodies.VISCOUS, bodies.SLACK_POSITION]
        self._body[self._joint_rows[joint], columns] = stiffness, viscous, slack

    @property
    def arrays(self) -> tuple[Index, Array, Index, Array]:
        """Tree, bodies, free components of the base and work space, the kernels' arguments."""
        return self._tree, self._body, self._free_axes, self._work

    @property
    def gravity(self) -> float:
        """Gravity, downward [m/s^2]."""
        return float(self._body[0, bodies.GRAVITY])

    @contextmanager
    def without_gravity(self) -> Iterator[None]:
        """Switch gravity off inside a `with` block."""
        gravity = self._body[0, bodies.GRAVITY]
        self._body[0, bodies.GRAVITY] = 0.0
        try:
            yield
        finally:
            self._body[0, bodies.GRAVITY] = gravity

    def perturb(self, rng: np.random.Generator, size: float) -> None:
        """Multiply all numbers of the bodies by random factors of 1 +- `size`."""
        self._body *= 1.0 + size * rng.uniform(-1.0, 1.0, self._body.shape)

    def state(self, q: Array, qd: Array, position: Array, quaternion: Array, twist: Array) -> Array:
        """Return the state (13 + 2 n,) that `advance` takes.

        Args:
            q, qd: of the joints (n,).
            position: of the base in the world (3,) [m].
            quaternion: orientation of the base in the world, x y z w (4,).
            twist: linear and angular velocity of the base in the world (6,).
        """
        return np.concatenate([position, quaternion, q, twist, qd])

    def advance(
        self, y: Array, effort: Array, step: float, count: int, wrench: Array | None = None
    ) -> None:
        """Take steps of the classical Runge-Kutta method of order 4, in place, under held efforts.

        Args:
            y: state (13 + 2 n,).
            effort: of the joints (n,).
            step: [s].
            count: number of steps.
            wrench: force and torque on the base about its origin, in the world (6,), or None.
        """
        self._set_wrench(wrench)
        tree, body, free, work = self.arrays
        articulated.advance(tree, body, free, work, y, effort, self._wrench, step, count)

    def acceleration(
        self,
        q: Array,
        qd: Array,
        effort: Array,
        position: Array,
        rotation: Array,
        twist: Array,
        wrench: Array | None = None,
    ) -> Acceleration:
        """Return the accelerations of base and joints.

        Args:
            q, qd, effort: of the joints (n,).
            position: of the base in the world (3,) [m].
            rotation: of the base in the world (3, 3).
            twist: linear and angular velocity of the base in the world (6,).
            wrench: force and torque on the base about its origin, in the world (6,), or None.
        """
        self._set_wrench(wrench)
        y = self.state(q, qd, position, matrix_quaternion(rotation), twist)
        self._slopes(y, np.asarray(effort, float), self._slope)
        return self._acceleration_in(self._slope)

    def acceleration_at(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations of base and joints in a state, under efforts (n,)."""
        rotation = quaternion_matrix(state.orientation)
        twist = turn_twist(rotation, state.twist)
        return self.acceleration(state.q, state.qd, effort, state.position, rotation, twist)

    def accelerations(self, states: Sequence[tuple[Array, ...]]) -> list[Acceleration]:
        """Return the results of `acceleration` for many tuples of its arguments.

        Where kernels are not compiled but interpreted, they work on arrays of numbers as on single
        numbers, so that one call computes all states.
        """
        if COMPILES:
            return [self.acceleration(*state) for state in states]
        columns = [
            self.state(q, qd, position, matrix_quaternion(rotation), twist)
            for q, qd, _, position, rotation, twist in states
        ]
        y, effort = np.stack(columns, axis=1), np.stack([state[2] for state in states], axis=1)
        slope = np.zeros_like(y)
        self._set_wrench(None)
        self._slopes(y, effort, slope)
        return [self._acceleration_in(column) for column in slope.T]

    def _acceleration_in(self, slope: Array) -> Acceleration:
        """Return the accelerations in the derivative of a state."""
        n = len(self.joints)
        _, base, joints = np.split(slope, [7 + n, 13 + n])
        return Acceleration(base.copy() if self._base.moves else np.zeros(6), joints.copy())

    def statics(self, q: Array, rotation: Array) -> tuple[Array, Array]:
        """Return mass matrix (m, m) and gravity forces (m,) [N, N m].

        Gravity forces hold the tree still. The order is that of `EngineSimulator.mass_matrix`.

        Args:
            q: positions of the joints (n,).
            rotation: of the base in the world (3, 3).
        """
        rows, mass, gravity = self._statics(self._at_rest(q, rotation))
        return np.asarray(mass[np.ix_(rows, rows)]), np.asarray(gravity[rows])

    def all_statics(self, states: Sequence[tuple[Array, Array]]) -> list[tuple[Array, Array]]:
        """Return the results of `statics` for many tuples of its arguments, as `accelerations`."""
        if COMPILES:
            return [self.statics(*state) for state in states]
        y = np.stack([self._at_rest(*state) for state in states], axis=1)
        rows, mass, gravity = self._statics(y)
        return [*zip(mass[np.ix_(rows, rows)].T, gravity[rows].T, strict=True)]

    def mass_matrix(self, q: Array, rotation: Array) -> Array:
        """Return the mass matrix (m, m); arguments as of `statics`."""
        return self.statics(q, rotation)[0]

    def _slopes(self, y: Array, effort: Array, slope: Array) -> None:
        """Fill `slope` with the derivative of a state y (13 + 2 n,), or of many (13 + 2 n, k).

        Many states, efforts (n, k) and slopes are for interpreted kernels only: `samples` is
        (k,) then, and () for one state.
        """
        tree, body = self._tree, self._body
        work, matrix, rhs = self._work, self._matrix, self._rhs
        if samples := y.shape[1:]:
            tree, body = for_kernels(tree), for_kernels(body)
            work, matrix, rhs = (np.zeros((*a.shape, *samples)) for a in (work, matrix, rhs))
        free, wrench = self._free_axes, self._wrench
        articulated.slopes(tree, body, free, work, y, effort, wrench, matrix, rhs, slope)

    def _set_wrench(self, wrench: Array | None) -> None:
        """Set the wrench of the next calls; the kernels have its torque first."""
        self._wrench[:] = 0.0 if wrench is None else np.roll(wrench, 3)

    def _at_rest(self, q: Array, rotation: Array) -> Array:
        """Return the state (13 + 2 n,) of a tree at rest at the origin."""
        zero_rates, orientation = np.zeros(len(q)), matrix_quaternion(rotation)
        return self.state(q, zero_rates, np.zeros(3), orientation, np.zeros(6))

    def _statics(self, y: Array) -> tuple[list[int], Array, Array]:
        """Return the rows that can move, mass matrix (6 + n, 6 + n) and gravity forces (6 + n,).

        Args:
            y: state at rest (13 + 2 n,), or many of them as of `_slopes`; results end alike.
        """
        size, samples = 6 + len(self.joints), y.shape[1:]
        mass, gravity = np.zeros((size, size, *samples)), np.zeros((size, *samples))
        constant = map(for_kernels, (self._tree, self._body))
        changing = np.zeros((*self._work.shape, *samples)), y, mass, gravity
        arrays = changing if samples else map(for_kernels, changing)
        articulated.composite(*constant, *arrays)
        return [*self._base.axes, *range(6, size)], mass, gravity

    def _refuse_singular(self, tree: Tree, kind: Base) -> None:
        """Refuse a joint or base without an inertia; errors as of the class.

        In random states, the inertia that a joint feels (the inverse of its acceleration by a unit
        effort) is compared with that of all links that it carries.
        """
        rng, n = np.random.default_rng(0), len(self.joints)
        child = {joint.name: joint.child for joint in tree.joints}
        at_rest = np.zeros(n), np.zeros(n), np.zeros(3), np.eye(3), np.zeros(6)
        for _ in range(RANDOM_STATES):
            q = rng.uniform(-np.pi, np.pi, n)
            carried = np.diag(self._statics(self._at_rest(q, np.eye(3)))[1])[6:]
            with np.errstate(all="ignore"):
                acceleration = self.acceleration(q, *at_rest)
                inertia = 1.0 / self._work[self._joint_rows, bodies.COMPLIANCE]
            for joint in sorted(range(n), key=lambda joint: -int(self._joint_rows[joint])):
                if not SINGULAR_RATIO * carried[joint] < inertia[joint] < np.inf:
                    name = self.joints[joint]
                    lack = f"no positive inertia about its joint {name}, nor has what hangs on it"
                    result = "its acceleration is not determined: give it an <inertial>"
                    raise AccordError(f"link {child[name]} has {lack}, and {result}")
            if not np.isfinite(acceleration.base).all():
                base = f"link {tree.links[0].name}, the base,"
                lack = "has no mass or no inertia, nor has what is fixed to it"
                raise AccordError(f"{base} {lack}: it cannot be {kind}")

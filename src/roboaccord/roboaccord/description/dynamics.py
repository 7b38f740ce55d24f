"""Forward dynamics of a tree of links from its description alone, by the kernels of articulated.py.

Engines are judged by it, so it must stay exact (test_dynamics: closed forms, Pinocchio): any
approximation would be reported as their error. SINGULAR and SAMPLES only decide what is refused for
lack of an inertia, and may be tuned. To change a number of a tree, a cross-check makes another
object from another tree. The order of a state is that of articulated.py, of the mass matrix that of
engines/base.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from roboaccord.contract.contact import Index
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array
from roboaccord.description import articulated, bodies
from roboaccord.description.base_kinds import KINDS, Base
from roboaccord.description.merge import merge
from roboaccord.description.tree import Tree, rotors_of
from roboaccord.numerics.jit import COMPILES, for_kernels
from roboaccord.numerics.rotations import matrix_quaternion

SAMPLES = 3  # random states in which a singular inertia is looked for: one suffices almost surely
SINGULAR = 1e-13  # relative to the inertia of all links that the joint carries: round-off


class TreeDynamics:
    """Compute accelerations, mass matrix and gravity forces of a tree, exactly but for round-off.

    Links that are fixed to each other are one body; joints that are not named stay at 0. Massless
    links may move if the links that they carry have an inertia about their axis.

    Args:
        tree: links and joints.
        joints: names, in the order of q, qd and efforts; n of them.
        base: how the first link moves.
        gravity: downward [m/s^2].
        viscous, dry: damping [N m s/rad] and dry friction [N m] of the joints (n,); none where
            None.
        speed: rate below which dry friction fades to 0 [rad/s].
        spring: stiffness [N m/rad] and slack positions of the joints (n,), or None.
        sure: whether accelerations are known to be determined; to check takes time.

    Attributes:
        links: names of those that have mass and move, by a joint or with the base.

    Raises:
        AccordError: for a joint, or a base, whose acceleration is not determined, for lack of an
            inertia.
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
        self.joints, self._base = joints, KINDS[base]
        merged = merge(tree, joints)
        moving = merged[0 if self._base.moves else 1 :]
        self.links = [name for body in moving for name, mass in body.links.items() if mass]
        columns = {name: i for i, name in enumerate(joints)}
        self._tree = np.array([(b.parent, b.kind, columns.get(b.joint, -1)) for b in merged])
        self._body = np.array([body.row() for body in merged])
        self._body[0, bodies.GRAVITY] = gravity
        self._body[:, bodies.SPEED] = speed
        self._rows = np.zeros(n, np.int64)  # number of the body that each joint moves
        self._rows[self._tree[1:, bodies.COLUMN]] = np.arange(1, n + 1)
        self._rotors = rotors_of(tree, joints)
        self._body[self._rows, bodies.ARMATURE] = self._rotors
        springs = zip((bodies.STIFFNESS, bodies.SLACK), spring or ())
        for column, values in ((bodies.VISCOUS, viscous), (bodies.DRY, dry), *springs):
            if values is not None:
                self._body[self._rows, column] = values
        angular_first = sorted((axis + 3) % 6 for axis in self._base.axes)
        self._free = np.array(angular_first, np.int64)
        self._work = np.zeros((n + 1, bodies.FILLED))
        self._state, self._slope = np.zeros((2, 13 + 2 * n))
        self._matrix, self._right, self._wrench = np.zeros((6, 6)), np.zeros(6), np.zeros(6)
        if not sure:
            self._refuse_singular(tree, base)

    def lock(self, joint: int, inertia: float) -> None:
        """Add an inertia to a joint [kg m^2]: a huge one locks it, 0 releases it."""
        self._body[self._rows[joint], bodies.ARMATURE] = self._rotors[joint] + inertia

    @property
    def arrays(self) -> tuple[Index, Array, Index, Array]:
        """Tree, bodies, free axes of the base and scratch, as arguments of the kernels."""
        return self._tree, self._body, self._free, self._work

    @property
    def gravity(self) -> float:
        """Gravity, downward [m/s^2]."""
        return float(self._body[0, bodies.GRAVITY])

    @contextmanager
    def falling(self, excess: float) -> Iterator[None]:
        """Multiply gravity by 1 + `excess` inside a `with` block."""
        gravity = self._body[0, bodies.GRAVITY]
        self._body[0, bodies.GRAVITY] *= 1.0 + excess
        try:
            yield
        finally:
            self._body[0, bodies.GRAVITY] = gravity

    def shake(self, rng: np.random.Generator, size: float) -> None:
        """Multiply all numbers of the bodies by random factors of 1 +- `size`."""
        self._body *= 1.0 + size * rng.uniform(-1.0, 1.0, self._body.shape)

    def state(
        self, q: Array, qd: Array, position: Array, orientation: Array, twist: Array
    ) -> Array:
        """Return the state (13 + 2 n,) that `advance` takes.

        Args:
            q, qd: of the joints (n,).
            position: of the base in the world (3,) [m].
            orientation: of the base in the world, x y z w (4,).
            twist: linear and angular velocity of the base in the world (6,).
        """
        return np.concatenate([position, orientation, q, twist, qd])

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
        self._hold(wrench)
        articulated.advance(
            self._tree, self._body, self._free, self._work, y, effort, self._wrench, step, count
        )

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
        self._hold(wrench)
        y = self.state(q, qd, position, matrix_quaternion(rotation), twist)
        self._slopes(y, np.asarray(effort, float), self._slope)
        return self._parts(self._slope)

    def accelerations(self, states: Sequence[tuple[Array, ...]]) -> list[Acceleration]:
        """Return the results of `acceleration` for many tuples of its arguments.

        An interpreted kernel works on rows of numbers as on single numbers: all states are one
        pass.
        """
        if COMPILES:
            return [self.acceleration(*state) for state in states]
        many = len(states)
        whole = (
            self.state(q, qd, position, matrix_quaternion(rotation), twist)
            for q, qd, _, position, rotation, twist in states
        )
        y, effort = np.stack([*whole], axis=1), np.stack([state[2] for state in states], axis=1)
        work, slope = np.zeros((*self._work.shape, many)), np.zeros_like(y)
        articulated.slopes(
            for_kernels(self._tree), for_kernels(self._body), self._free, work, y, effort,
            np.zeros(6), np.zeros((6, 6, many)), np.zeros((6, many)), slope,
        )  # fmt: skip
        return [self._parts(column) for column in slope.T]

    def _parts(self, slope: Array) -> Acceleration:
        n = len(self.joints)
        _, base, joints = np.split(slope, [7 + n, 13 + n])
        return Acceleration(base.copy() if self._base.moves else np.zeros(6), joints.copy())

    def statics(self, q: Array, rotation: Array) -> tuple[Array, Array]:
        """Return mass matrix (m, m) and gravity forces (m,), as the two methods below."""
        rows, mass, gravity = self._statics(q, rotation)
        return np.asarray(mass[np.ix_(rows, rows)]), np.asarray(gravity[rows])

    def mass_matrix(self, q: Array, position: Array, rotation: Array) -> Array:
        """Return the mass matrix (m, m), in the order of `EngineSimulator.mass_matrix`."""
        return self.statics(q, rotation)[0]

    def gravity_forces(self, q: Array, position: Array, rotation: Array) -> Array:
        """Return the forces and efforts that hold the tree at rest (m,) [N, N m]."""
        return self.statics(q, rotation)[1]

    def _slopes(self, y: Array, effort: Array, slope: Array) -> None:
        """Fill the rates of a state y (13 + 2 n,)."""
        articulated.slopes(
            self._tree, self._body, self._free, self._work, y, effort,
            self._wrench, self._matrix, self._right, slope,
        )  # fmt: skip

    def _hold(self, wrench: Array | None) -> None:
        self._wrench[:] = 0.0 if wrench is None else np.roll(wrench, 3)

    def _statics(self, q: Array, rotation: Array) -> tuple[list[int], Array, Array]:
        size = 6 + len(self.joints)
        mass, gravity = np.zeros((size, size)), np.zeros(size)
        rest = np.zeros(len(q))
        y = self.state(q, rest, np.zeros(3), matrix_quaternion(rotation), np.zeros(6))
        self._work[:, bodies.ANGULAR : bodies.BIAS] = 0.0
        articulated.composite(
            *map(for_kernels, (self._tree, self._body, self._work, y, mass, gravity))
        )
        return [*self._base.axes, *range(6, size)], mass, gravity

    def _refuse_singular(self, tree: Tree, kind: Base) -> None:
        """Refuse a joint or base without an inertia; errors as of the class."""
        rng, n = np.random.default_rng(0), len(self.joints)
        child = {joint.name: joint.child for joint in tree.joints}
        still = np.zeros(n), np.zeros(n), np.zeros(3), np.eye(3), np.zeros(6)
        for _ in range(SAMPLES):
            q = rng.uniform(-np.pi, np.pi, n)
            carried = np.diag(self._statics(q, np.eye(3))[1])[6:]
            with np.errstate(all="ignore"):
                answer = self.acceleration(q, *still)
                inertia = 1.0 / self._work[self._rows, bodies.SHARE]
            for at in sorted(range(n), key=lambda at: -int(self._rows[at])):
                if not SINGULAR * carried[at] < inertia[at] < np.inf:
                    name = self.joints[at]
                    raise AccordError(
                        f"link {child[name]} has no positive inertia about its joint {name}, nor "
                        "has what hangs on it, and its acceleration is not determined: give it an "
                        "<inertial>"
                    )
            if not np.isfinite(answer.base).all():
                raise AccordError(
                    f"link {tree.links[0].name}, the base, has no mass or no inertia, nor has what "
                    f"is fixed to it: it cannot be {kind}"
                )

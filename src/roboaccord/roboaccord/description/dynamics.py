"""Forward dynamics of a tree of links from its description alone, by the kernels of articulated.py.

Engines are judged by it, so it must stay exact (test_dynamics: closed forms, Pinocchio): an
approximation would be reported as their error. SINGULAR and SAMPLES only decide what is refused for
lack of an inertia, and may be tuned. What a cross-check varies is another tree, of which another
object is made. The order of `state` is that of articulated.py, of the mass matrix that of
engines/base.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

import numpy as np

from roboaccord.contract.contact import Index
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array
from roboaccord.description import articulated as ab
from roboaccord.description.base_kinds import KINDS, Base
from roboaccord.description.kinematics import PRISMATIC, REVOLUTE
from roboaccord.description.tree import Joint, Tree, rotors_of
from roboaccord.numerics.jit import COMPILES, for_kernels
from roboaccord.numerics.rotations import matrix_quaternion, turn_between

SAMPLES = 3  # random states in which a singular inertia is looked for
SINGULAR = 1e-13  # of the inertia of all that hangs on the joint: round-off
UP = np.array([0.0, 0.0, 1.0])
TRIANGLE = np.triu_indices(3)


class TreeDynamics:
    """Compute accelerations, mass matrix and gravity forces of a tree, exactly but for round-off.

    Links that are fixed to each other are one body, joints that are not named stay at 0. Massless
    links may move, if what hangs on them has an inertia about their axis.

    Args:
        tree: links and joints.
        joints: names of the columns of q, qd and efforts; n of them.
        base: how the first link moves.
        gravity: downwards [m/s^2].
        viscous, dry: damping [N m s/rad] and dry friction [N m] of the joints (n,); none where
            None.
        speed: below which dry friction falls to 0 [rad/s].
        spring: stiffness [N m/rad] and slack positions of the joints (n,), or None.
        sure: whether it is known that accelerations are determined, which takes time to see.

    Attributes:
        links: names of those that weigh anything and move, by a joint or with the base.

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
        parts = _merge(tree, joints)
        moving = parts[0 if self._base.moves else 1 :]
        self.links = [name for part in moving for name, mass in part.links.items() if mass]
        columns = {name: i for i, name in enumerate(joints)}
        self._tree = np.array([(p.parent, p.kind, columns.get(p.joint, -1)) for p in parts])
        self._body = np.array([part.row() for part in parts])
        self._body[0, ab.GRAVITY] = gravity
        self._body[:, ab.SPEED] = speed
        self._rows = np.zeros(n, np.int64)  # bodies, by column
        self._rows[self._tree[1:, ab.COLUMN]] = np.arange(1, n + 1)
        self._rotors = rotors_of(tree, joints)
        self._body[self._rows, ab.ARMATURE] = self._rotors
        springs = zip((ab.STIFFNESS, ab.SLACK), spring or ())
        for column, values in ((ab.VISCOUS, viscous), (ab.DRY, dry), *springs):
            if values is not None:
                self._body[self._rows, column] = values
        angular_first = sorted((axis + 3) % 6 for axis in self._base.axes)
        self._free = np.array(angular_first, np.int64)
        self._work = np.zeros((n + 1, ab.FILLED))
        self._state, self._slope = np.zeros((2, 13 + 2 * n))
        self._matrix, self._right, self._wrench = np.zeros((6, 6)), np.zeros(6), np.zeros(6)
        if not sure:
            self._refuse_singular(tree, base)

    def lock(self, joint: int, inertia: float) -> None:
        """Add an inertia to a joint [kg m^2]: one so large that it holds it; 0 lets go of it."""
        self._body[self._rows[joint], ab.ARMATURE] = self._rotors[joint] + inertia

    @property
    def arrays(self) -> tuple[Index, Array, Index, Array]:
        """Tree, bodies, free axes of the base and scratch, as the kernels of `articulated` do."""
        return self._tree, self._body, self._free, self._work

    @property
    def gravity(self) -> float:
        """Downwards [m/s^2]."""
        return float(self._body[0, ab.GRAVITY])

    @contextmanager
    def falling(self, part: float) -> Iterator[None]:
        """Let gravity be stronger by a part of it for a while."""
        kept = self._body[0, ab.GRAVITY]
        self._body[0, ab.GRAVITY] *= 1.0 + part
        try:
            yield
        finally:
            self._body[0, ab.GRAVITY] = kept

    def shake(self, rng: np.random.Generator, size: float) -> None:
        """Change all numbers of the bodies by random parts of a size, to see what that makes."""
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
        ab.advance(
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
        """Return what `acceleration` does of its arguments, for many states.

        An interpreted kernel takes rows of numbers as it takes numbers: all states are one pass.
        """
        if COMPILES:
            return [self.acceleration(*each) for each in states]
        many = len(states)
        whole = (
            self.state(q, qd, position, matrix_quaternion(rotation), twist)
            for q, qd, _, position, rotation, twist in states
        )
        y, effort = np.stack([*whole], axis=1), np.stack([each[2] for each in states], axis=1)
        work, slope = np.zeros((*self._work.shape, many)), np.zeros_like(y)
        ab.slopes(
            for_kernels(self._tree), for_kernels(self._body), self._free, work, y, effort,
            np.zeros(6), np.zeros((6, 6, many)), np.zeros((6, many)), slope,
        )  # fmt: skip
        return [self._parts(column) for column in slope.T]

    def _parts(self, slope: Array) -> Acceleration:
        n = len(self.joints)
        _, base, joints = np.split(slope, [7 + n, 13 + n])
        return Acceleration(base.copy() if self._base.moves else np.zeros(6), joints.copy())

    def statics(self, q: Array, rotation: Array) -> tuple[Array, Array]:
        """Return mass matrix and gravity forces, as below."""
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
        ab.slopes(
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
        self._work[:, ab.ANGULAR : ab.BIAS] = 0.0
        ab.composite(*map(for_kernels, (self._tree, self._body, self._work, y, mass, gravity)))
        return [*self._base.axes, *range(6, size)], mass, gravity

    def _refuse_singular(self, tree: Tree, kind: Base) -> None:
        rng, n = np.random.default_rng(0), len(self.joints)
        child = {joint.name: joint.child for joint in tree.joints}
        still = np.zeros(n), np.zeros(n), np.zeros(3), np.eye(3), np.zeros(6)
        for _ in range(SAMPLES):
            q = rng.uniform(-np.pi, np.pi, n)
            whole = np.diag(self._statics(q, np.eye(3))[1])[6:]
            with np.errstate(all="ignore"):
                found = self.acceleration(q, *still)
                own = 1.0 / self._work[self._rows, ab.SHARE]
            for at in sorted(range(n), key=lambda at: -int(self._rows[at])):
                if not SINGULAR * whole[at] < own[at] < np.inf:
                    name = self.joints[at]
                    raise AccordError(
                        f"link {child[name]} has no positive inertia about its joint {name}, nor "
                        "has what hangs on it, and its acceleration is not determined: give it an "
                        "<inertial>"
                    )
            if not np.isfinite(found.base).all():
                raise AccordError(
                    f"link {tree.links[0].name}, the base, has no mass or no inertia, nor has what "
                    f"is fixed to it: it cannot be {kind}"
                )


class _Body:
    """Gather the links of a body; its frame is that of its first link, its joint along z."""

    def __init__(
        self, name: str, joint: Joint | None, parent: int, place: Array, turn: Array
    ) -> None:
        self.name, self.joint, self.parent = name, joint.name if joint else "", parent
        self.kind = PRISMATIC if joint and joint.kind == "prismatic" else REVOLUTE
        self.place, self.turn = place, turn
        self.links = dict[str, float]()  # masses
        self.mass, self._moment, self.inertia = 0.0, np.zeros(3), np.zeros((3, 3))

    def add(self, mass: float, centre: Array, inertia: Array) -> None:
        """Add a link of a centre of mass in the body's frame, and of an inertia about it."""
        self.mass += mass
        self._moment = self._moment + mass * centre
        self.inertia = self.inertia + inertia + mass * _away(centre)

    def row(self) -> Array:
        """Return what the kernels know of it (KNOWN,)."""
        centre = self._moment / self.mass if self.mass else np.zeros(3)
        inertia = self.inertia[TRIANGLE]
        known = [*self.place, *self.turn.ravel(), self.mass, *centre, *inertia]
        return np.array([*known, *np.zeros(ab.KNOWN - len(known))])


def _merge(tree: Tree, joints: Sequence[str]) -> list[_Body]:
    """Return the bodies of a tree, each after its parent, the base first."""
    links = {link.name: link for link in tree.links}
    first = tree.links[0].name
    bodies = [_Body(first, None, -1, np.zeros(3), np.eye(3))]
    frames = {first: (0, np.zeros(3), np.eye(3))}
    for joint in [None, *tree.joints]:
        if joint is not None:
            if joint.parent not in frames:
                continue
            body, place, turn = frames[joint.parent]
            place, turn = place + turn @ joint.position, turn @ joint.rotation
            if joint.name in joints:
                align = _along(np.asarray(joint.axis, float).tobytes())
                bodies.append(_Body(joint.child, joint, body, place, turn @ align))
                body, place, turn = len(bodies) - 1, np.zeros(3), align.T
            frames[joint.child] = body, place, turn
        name = joint.child if joint else first
        body, place, turn = frames[name]
        link = links[name]
        centre = place + turn @ link.centre
        bodies[body].links[name] = link.mass
        bodies[body].add(link.mass, centre, turn @ link.inertia @ turn.T)
    return bodies


def _away(centre: Array) -> Array:
    """Return the inertia (3, 3) of a mass of 1 at a place (3,) about the origin."""
    return np.asarray((centre @ centre) * np.eye(3) - np.outer(centre, centre))


@lru_cache(maxsize=256)  # models that differ in one number are made by the hundred
def _along(axis: bytes) -> Array:
    """Return a rotation (3, 3) that takes z to the unit axis of these bytes; it is read only."""
    unit, over = np.frombuffer(axis), np.diag([1.0, -1.0, -1.0])
    found = turn_between(UP, unit) if unit[2] >= 0.0 else turn_between(-UP, unit) @ over
    found.flags.writeable = False
    return found

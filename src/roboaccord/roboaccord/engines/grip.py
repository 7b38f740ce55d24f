"""Friction that sticks on level ground, in the time steps of DART's contact solver [Moreau 1988].

Nothing here may be tuned: it repeats what DART does in Gazebo, so that runs there can be compared
to round-off. ERP here and CFM in contract/contact.py are fixed by DART, the equations below by its
solver (test_gazebo_twin, and test_sticking of the snake). Only engines/twin.py uses it.

Each link touches the ground with a sphere; `base_link` slides on carriages along x, y and z, and
turns about z. Nothing tilts, so vertical and horizontal velocities do not act on each other. In a
step of h [s] all c contact points get the same upward impulse p. With the mass m of all that rises,
the diagonal entry 1 / m of the solver's matrix is larger by the fraction CFM, and the fraction ERP
of the depth d is taken back:

    v' = v - h g + c p / m,     v' + CFM p / m = ERP d / h

The impulse p bounds the impulses f of friction along and across the links, |f_i| <= mu_i p. With
the slip velocities s = J u of the points, at velocities u, and A = J M^-1 J', whose diagonal is
larger by the fraction CFM, too:

    s' = s + A f,     f_i = -mu_i p sign(s'_i) where s'_i != 0

M and J are those at the start of the step. A carriage moves with `base_link` along some axes of the
world, where its mass adds to M; the carriage of z adds its mass to m.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from roboaccord.contract.contact import CFM, EllipseFriction
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import LinkMotion
from roboaccord.contract.state import Array
from roboaccord.description.base_kinds import KINDS
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.kinematics import REVOLUTE, TreeKinematics
from roboaccord.engines.spec import Footing
from roboaccord.engines.twin_coordinates import Coordinates
from roboaccord.numerics.pivoting import solve_in_box

ERP = 0.01  # fraction of the depth that DART takes back in a step, its own default
LEVEL = KINDS["planar"]


class Grip:
    """Take steps of friction that sticks.

    Args:
        footing: what the links touch the ground with.
        law: of friction; its load is not used.
        kinematics: of the tree; a step moves its links.
        bodies: equations of motion, without the carriages.
        rounding: returns roundings to add to a positive definite matrix, or zeros.

    Raises:
        AccordError: for another law.
    """

    def __init__(
        self,
        footing: Footing,
        law: EllipseFriction,
        kinematics: TreeKinematics,
        bodies: TreeDynamics,
        rounding: Callable[[Array], Array],
    ) -> None:
        if not law.pyramid or law.slip_speed or law.gyration.any() or len(law.points) > 1:
            raise AccordError("friction sticks here as a pyramid at one point of each link")
        self.law, self._footing = law, footing
        self.shares = np.ones(len(law.links))  # factors on the friction of each link
        self._kinematics, self._bodies, self._rounding = kinematics, bodies, rounding
        self._links = np.array([kinematics.names.index(name) for name in law.links])
        self._moves = np.array([self._path(link) for link in self._links])
        # The link that each joint moves, and whether the joint turns it.
        joints = range(len(kinematics.joints))
        self._children = np.array([int(np.argmax(kinematics.column == j)) for j in joints], int)
        self._turns = kinematics.kind[self._children] == REVOLUTE

    def _path(self, link: int) -> list[bool]:
        """Return which joints move a link (n,)."""
        kinematics, moves = self._kinematics, np.zeros(len(self._kinematics.joints), bool)
        while link >= 0:
            if kinematics.column[link] >= 0:
                moves[kinematics.column[link]] = True
            link = int(kinematics.parent[link])
        return moves.tolist()

    @property
    def carried(self) -> Array:
        """Mass that goes with the base along x and y (2,) [kg]."""
        return np.array(self._footing.carriages[:2])

    def rows(self, motion: LinkMotion) -> Array:
        """Return J (2 c, 3 + n) for the base's x, y and yaw and the joints; all along x first."""
        at, kinematics = motion.position[self._links], self._kinematics
        heading = motion.rotation[self._links, :2, 0]
        along = heading / np.linalg.norm(heading, axis=1)[:, None]
        across = along[:, ::-1] * np.array([-1.0, 1.0])
        # Components (n, 1) of axes, and (n, c) of points relative to origins.
        x, y, z = kinematics.axes[self._children, :, None].swapaxes(0, 1)
        dx, dy, dz = (at.T - kinematics.origin[self._children, :, None]).swapaxes(0, 1)
        turned = np.array([y * dz - z * dy, z * dx - x * dz])
        by = np.where(self._turns[:, None], turned, np.array([x, y])) * self._moves.T
        lever = at - kinematics.origin[0]
        about = np.array([-lever[:, 1], lever[:, 0]])
        return np.vstack([
            np.column_stack([a, (a.T * about).sum(axis=0), np.einsum("cd,dnc->cn", a, by)])
            for a in (along, across)
        ])  # fmt: skip

    def advance(
        self, x: Coordinates, v: Array, slope: Array, h: float, drag: Array | None
    ) -> Array:
        """Return the rates (6 + n,) after a step.

        Args:
            x, v: coordinates and rates at the start of the step; the base's in the world.
            slope: how the rates would change without the ground (6 + n,).
            h: step [s].
            drag: viscous damping (n,) where the mass matrix of the bodies contains h times it, or
                None.
        """
        v, turn, moving = v.copy(), x.turn, [*LEVEL.axes, *range(6, len(v))]
        mass = self._bodies.mass_matrix(x.q, x.position, turn)
        v[2], impulses = self.rise(x.position[2], v[2], mass[0, 0], self._bodies.gravity, h)
        added = self._rounding(mass)
        added[[0, 1], [0, 1]] += self.carried
        mass = mass + added
        free = slope[moving] - np.linalg.solve(mass, added @ slope[moving])
        motion = self._kinematics.move(x.q, v[6:], x.position, turn, v[:6])
        v[moving] += h * free
        if drag is not None:  # impulses meet the bodies without it
            joints = np.arange(len(LEVEL.axes), len(moving))
            mass[joints, joints] -= h * drag
        v[moving] += self.hold(motion, mass, v[moving], impulses)
        return v

    def rise(
        self, height: float, speed: float, mass: float, gravity: float, h: float
    ) -> tuple[float, Array]:
        """Return the vertical speed [m/s] after a step, and the impulses of the points (c,) [N s].

        The solver's matrix is nearly singular, so that roundings distribute the weight unequally.

        Args:
            height, speed: of the base [m], [m/s].
            mass: of the robot [kg].
            gravity: [m/s^2].
            h: [s].
        """
        whole, count = mass + self._footing.carriages[2], len(self._links)
        back = ERP * max(self._footing.radius - height, 0.0) / h
        impulse = max((back - speed + h * gravity) * whole / (count + CFM), 0.0)
        matrix = (np.ones((count, count)) + CFM * np.eye(count)) / whole
        impulses = np.full(count, impulse)
        impulses -= np.linalg.solve(matrix, self._rounding(matrix) @ impulses)
        return speed - h * gravity + count * impulse / whole, impulses

    def hold(self, motion: LinkMotion, mass: Array, v: Array, impulses: Array) -> Array:
        """Return how friction changes velocities v (3 + n,).

        Args:
            motion: of the links at the start of the step.
            mass: matrix (3 + n, 3 + n), the carriages among it.
            v: at the end of the step without friction.
            impulses: upward, of the points (c,) [N s].
        """
        law, rows = self.law, self.rows(motion)
        mu = np.tile(law.mu[:, None], len(self._links))
        if law.beyond.size:
            there = motion.position[self._links, 0] > law.beyond[0]
            mu = np.where(there, law.beyond[1:, None], mu)
        high = (mu * self.shares * impulses).ravel()
        response = np.linalg.solve(mass, rows.T)
        matrix = rows @ response
        matrix += self._rounding(matrix)
        matrix[np.diag_indices_from(matrix)] *= 1.0 + CFM
        friction = np.empty_like(high)
        solve_in_box(matrix, rows @ v, -high, high, friction)
        return np.asarray(response @ friction)

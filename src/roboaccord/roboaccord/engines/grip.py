"""Friction that sticks on level ground, in the time steps of DART's contact solver [Moreau 1988].

Nothing here may be tuned: it is a copy of what DART does in Gazebo, so that a run there is compared
to round-off. ERP here and CFM in contract/contact.py are fixed by DART, the equations below by its
solver (test_gazebo_twin, and test_sticking of the snake). engines/twin.py alone uses it.

Each link touches the ground with a sphere; `base_link` slides on carriages along x, y and z, and
turns about z. Nothing tilts, so that vertical and horizontal velocities do not act on each other.
In a step of h [s] all c contact points get the same impulse p upwards: with the mass m of all that
rises, a point's own entry 1 / m of the solver's matrix is larger by its part CFM, and a depth d is
taken back by its part ERP,

    v' = v - h g + c p / m,     v' + CFM p / m = ERP d / h

It bounds the impulses f of friction along and across the links, |f_i| <= mu_i p. With the slips
s = J u of the points, at velocities u, and A = J M^-1 J' whose diagonal is larger by its part CFM,
too,

    s' = s + A f,     f_i = -mu_i p sign(s'_i) where s'_i != 0

M and J are those at the start of the step. A carriage moves with `base_link` along some axes of the
world, where its mass adds to M; so does that of z to m.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from roboaccord.contract.contact import CFM, EllipseFriction
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import LinkMotion
from roboaccord.contract.state import Array
from roboaccord.description.kinematics import REVOLUTE, TreeKinematics
from roboaccord.engines.spec import Footing
from roboaccord.numerics.complementarity import solve_in_box

ERP = 0.01  # of the depth, that DART takes back in a step


class Grip:
    """Take steps of friction that sticks.

    Args:
        footing: with what the links touch the ground.
        law: of friction; its load does not count.
        kinematics: of the tree, whose links are moved when a step is taken.
        rounding: returns errors of the entries of a positive definite matrix, or zeros.

    Raises:
        AccordError: for another law.
    """

    def __init__(
        self,
        footing: Footing,
        law: EllipseFriction,
        kinematics: TreeKinematics,
        rounding: Callable[[Array], Array],
    ) -> None:
        if not law.pyramid or law.slip_speed or law.gyration.any() or len(law.points) > 1:
            raise AccordError("friction sticks here as a pyramid at one point of each link")
        self.law, self._footing = law, footing
        self.shares = np.ones(len(law.links))  # of the friction, by link
        self._kinematics, self._rounding = kinematics, rounding
        self._links = np.array([kinematics.names.index(name) for name in law.links])
        self._moves = np.array([self._path(link) for link in self._links])
        joints = range(len(kinematics.joints))  # the link that each moves, and whether it turns it
        self._children = np.array([int(np.argmax(kinematics.column == j)) for j in joints], int)
        self._turns = kinematics.kind[self._children] == REVOLUTE

    def _path(self, link: int) -> list[bool]:
        """Return which joints move a link (n,)."""
        known, found = self._kinematics, np.zeros(len(self._kinematics.joints), bool)
        while link >= 0:
            if known.column[link] >= 0:
                found[known.column[link]] = True
            link = int(known.parent[link])
        return found.tolist()

    @property
    def carried(self) -> Array:
        """Mass that goes with the base along x and y (2,) [kg]."""
        return np.array(self._footing.carriages[:2])

    def rows(self, motion: LinkMotion) -> Array:
        """Return J (2 c, 3 + n) for the base's x, y and yaw and the joints; all along x first."""
        at, known = motion.position[self._links], self._kinematics
        heading = motion.rotation[self._links, :2, 0]
        along = heading / np.linalg.norm(heading, axis=1)[:, None]
        across = along[:, ::-1] * np.array([-1.0, 1.0])
        x, y, z = known.axes[self._children, :, None].swapaxes(0, 1)  # (n, 1); with places (n, c)
        dx, dy, dz = (at.T - known.origin[self._children, :, None]).swapaxes(0, 1)
        turned = np.array([y * dz - z * dy, z * dx - x * dz])
        by = np.where(self._turns[:, None], turned, np.array([x, y])) * self._moves.T
        lever = at - known.origin[0]
        about = np.array([-lever[:, 1], lever[:, 0]])
        return np.vstack([
            np.column_stack([a, (a.T * about).sum(axis=0), np.einsum("cd,dnc->cn", a, by)])
            for a in (along, across)
        ])  # fmt: skip

    def rise(
        self, height: float, speed: float, mass: float, gravity: float, h: float
    ) -> tuple[float, Array]:
        """Return the vertical speed [m/s] after a step, and the impulses of the points (c,) [N s].

        The solver's matrix is nearly singular, so that roundings share the weight out unequally.

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
            impulses: upwards, of the points (c,) [N s].
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
        found = np.empty_like(high)
        solve_in_box(matrix, rows @ v, -high, high, found)
        return np.asarray(response @ found)

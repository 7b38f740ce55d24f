"""Friction that sticks on level ground, computed as in DART's contact solver [Moreau 1988].

It is part of a twin (twin.py: our equations of motion under an engine's integration method), for
runs in Gazebo, whose contacts DART solves. To agree with these to round-off, `Grip` repeats DART's
equations and constants, so nothing here may be tuned (test_gazebo_twin, and test_sticking of the
snake).

Each of the c sliding links touches the ground with a sphere. The base slides on carriages (massive
links of the model in Gazebo) along x, y and z and turns about z; nothing tilts, so vertical and
horizontal velocities do not act on each other.

Vertical: in a step of h [s] all contact points get the same upward impulse p. The fraction ERP of
the depth d is taken back, and the diagonal entry 1 / m of the solver's matrix, with the mass m of
all that rises, is larger by the fraction CFM:

    v' = v - h g + c p / m,     v' + CFM p / m = ERP d / h

Horizontal: p bounds the impulses f of friction along and across each link, |f_i| <= mu_i p. With
the slip velocities s = J u of the points at velocities u, and A = J M^-1 J', whose diagonal is
larger by the fraction CFM, too:

    s' = s + A f,     f_i = -mu_i p sign(s'_i) where s'_i != 0

M and J are those at the start of the step. The masses of the carriages that move along x and y add
to M, the mass of that of z to m.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from roboaccord.contract import CFM, AccordError, Array, EllipseFriction, LinkMotion
from roboaccord.description.base_kinds import KINDS
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.kinematics import REVOLUTE, TreeKinematics
from roboaccord.engines.spec import Footing
from roboaccord.engines.twin_coordinates import Coordinates
from roboaccord.numerics.pivoting import solve_in_box

# Error reduction parameter: fraction of the depth by which a step corrects a penetration; DART's
# default.
ERP = 0.01
LEVEL_BASE = KINDS["planar"]  # the base of a robot that does not tilt


class Grip:
    """Take steps of the velocities under friction that sticks.

    Args:
        footing: the spheres that touch the ground, and the masses of the carriages.
        law: the friction law, whose load is not used.
        kinematics: poses and velocities of the links, which a step changes.
        bodies: equations of motion, without the carriages.
        rounding: returns what to add to a positive definite matrix as round-off, or zeros.

    Attributes:
        law: the friction law.
        factors: multiply the friction of each link (c,).

    Raises:
        AccordError: for a law that is not a pyramid at one point of each link, or that slips.
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
        self.factors = np.ones(len(law.links))
        self._kinematics, self._bodies, self._rounding = kinematics, bodies, rounding
        # Indices of the sliding links (c,), and which joints move each of them (c, n).
        self._links = np.array([kinematics.names.index(name) for name in law.links])
        self._is_moved = np.array([self._joints_moving(link) for link in self._links])
        # The link that each joint moves, and whether the joint turns it (n,).
        joints = range(len(kinematics.joints))
        self._children = np.array([int(np.argmax(kinematics.column == j)) for j in joints], int)
        self._is_hinge = kinematics.kind[self._children] == REVOLUTE

    def _joints_moving(self, link: int) -> list[bool]:
        """Return which joints move a link (n,): those between it and the base."""
        kinematics = self._kinematics
        is_moving = np.zeros(len(kinematics.joints), bool)
        while link >= 0:
            if kinematics.column[link] >= 0:
                is_moving[kinematics.column[link]] = True
            link = int(kinematics.parent[link])
        return is_moving.tolist()

    def slip_jacobian(self, motion: LinkMotion) -> Array:
        """Return J (2 c, 3 + n), from rates of the base's x, y, yaw and the joints to slip.

        The first c rows are slip along the links, the others slip across them.
        """
        points, kinematics = motion.position[self._links], self._kinematics
        # Unit vectors (c, 2) in the plane, along and across the links.
        heading = motion.rotation[self._links, :2, 0]
        along = heading / np.linalg.norm(heading, axis=1)[:, None]
        across = along[:, ::-1] * np.array([-1.0, 1.0])
        # Components (n, 1) of the joints' axes, and (n, c) of points relative to joints' origins.
        x, y, z = kinematics.axes[self._children, :, None].swapaxes(0, 1)
        dx, dy, dz = (points.T - kinematics.origin[self._children, :, None]).swapaxes(0, 1)
        # Velocity (2, n, c) of each point by a unit rate of each joint: axis x lever, or the axis.
        by_hinge = np.array([y * dz - z * dy, z * dx - x * dz])
        by_joint = np.where(self._is_hinge[:, None], by_hinge, np.array([x, y])) * self._is_moved.T
        # Velocity (2, c) of each point by a unit rate of yaw.
        lever = points - kinematics.origin[0]
        by_yaw = np.array([-lever[:, 1], lever[:, 0]])
        rows = []
        for direction in (along, across):
            slip_by_yaw = (direction.T * by_yaw).sum(axis=0)
            slip_by_joint = np.einsum("cd,dnc->cn", direction, by_joint)
            rows.append(np.column_stack([direction, slip_by_yaw, slip_by_joint]))
        return np.vstack(rows)

    def step(self, x: Coordinates, v: Array, slope: Array, h: float, drag: Array | None) -> Array:
        """Return the rates (6 + n,) after a step of h.

        Args:
            x, v: coordinates and rates at the start of the step; the base's in the world.
            slope: derivative of the rates without the ground (6 + n,).
            h: step [s].
            drag: viscous damping (n,), if h times it is part of the bodies' mass matrix; or None.
        """
        v, rotation = v.copy(), x.rotation
        moving = [*LEVEL_BASE.axes, *range(6, len(v))]  # indices of x, y, yaw and the joints
        mass = self._bodies.mass_matrix(x.q, rotation)
        height, speed, gravity = x.position[2], v[2], self._bodies.gravity
        v[2], impulses = self.step_vertical(height, speed, mass[0, 0], gravity, h)
        # Carriages and roundings add dM to the mass matrix. With the sum M, the accelerations a
        # without friction become a - M^-1 dM a.
        added = self._rounding(mass)
        added[[0, 1], [0, 1]] += self._footing.carriages[:2]
        mass = mass + added
        unhindered = slope[moving] - np.linalg.solve(mass, added @ slope[moving])
        motion = self._kinematics.move(x.q, v[6:], x.position, rotation, v[:6])
        v[moving] += h * unhindered
        if drag is not None:  # damping does not act on impulses
            joints = np.arange(len(LEVEL_BASE.axes), len(moving))
            mass[joints, joints] -= h * drag
        v[moving] += self.velocity_change(motion, mass, v[moving], impulses)
        return v

    def step_vertical(
        self, height: float, speed: float, mass: float, gravity: float, h: float
    ) -> tuple[float, Array]:
        """Return the vertical speed [m/s] after a step, and the impulses of the points (c,) [N s].

        The solver's matrix is nearly singular, so that round-off distributes the weight unequally.

        Args:
            height, speed: those of the base [m], [m/s].
            mass: that of the robot [kg].
            gravity: [m/s^2].
            h: step [s].
        """
        rising_mass, count = mass + self._footing.carriages[2], len(self._links)
        recovery_speed = ERP * max(self._footing.radius - height, 0.0) / h
        impulse = max((recovery_speed - speed + h * gravity) * rising_mass / (count + CFM), 0.0)
        matrix = (np.ones((count, count)) + CFM * np.eye(count)) / rising_mass
        impulses = np.full(count, impulse)
        impulses -= np.linalg.solve(matrix, self._rounding(matrix) @ impulses)
        return speed - h * gravity + count * impulse / rising_mass, impulses

    def velocity_change(self, motion: LinkMotion, mass: Array, v: Array, impulses: Array) -> Array:
        """Return the change of velocities v (3 + n,) by friction.

        Args:
            motion: poses and velocities of the links at the start of the step.
            mass: matrix (3 + n, 3 + n), carriages included.
            v: at the end of the step without friction.
            impulses: upward, of the points (c,) [N s].
        """
        # Bounds mu p of the impulses; beyond a line the ground has other coefficients: `law.beyond`
        # is empty, or has the x of that line [m] and both coefficients there.
        law, jacobian = self.law, self.slip_jacobian(motion)
        mu = np.tile(law.mu[:, None], len(self._links))
        if law.beyond.size:
            is_beyond = motion.position[self._links, 0] > law.beyond[0]
            mu = np.where(is_beyond, law.beyond[1:, None], mu)
        bounds = (mu * self.factors * impulses).ravel()
        # A = J M^-1 J', and the impulses within the bounds that end the slip or oppose it.
        response = np.linalg.solve(mass, jacobian.T)
        matrix = jacobian @ response
        matrix += self._rounding(matrix)
        matrix[np.diag_indices_from(matrix)] *= 1.0 + CFM
        friction = np.empty_like(bounds)
        solve_in_box(matrix, jacobian @ v, -bounds, bounds, friction)
        return np.asarray(response @ friction)

"""Inertia of the two links at a frozen joint, merged to one link.

`MergedLinks.exact` moves one body to the frame of the other and adds the two. The source report
(3.2) interpolates the inertia over the angle of the joint instead; `MergedLinks.interpolated` does
this, piecewise linearly between any number of angles, for comparison.

test_packbot_faults compares the sum of bodies with pinocchio's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from roboaccord import description
from roboaccord.contract import Array, check_known
from roboaccord.numerics import axis_angle_matrix


@dataclass(frozen=True)
class Inertia:
    """A rigid body's mass [kg], centre (3,) [m], and inertia there (3, 3) [kg m^2]."""

    mass: float
    centre: Array
    inertia: Array

    def moved(self, rotation: Array, position: Array) -> Inertia:
        """Return the same body in another frame.

        Args:
            rotation: rotation of the present frame in the other one (3, 3).
            position: origin of the present frame in the other one (3,) [m].
        """
        turned = rotation @ self.inertia @ rotation.T
        return Inertia(self.mass, position + rotation @ self.centre, turned)

    def __add__(self, other: Inertia) -> Inertia:
        """Return both bodies as one, in the same frame."""
        mass = self.mass + other.mass
        centre = (self.mass * self.centre + other.mass * other.centre) / mass
        return Inertia(mass, centre, self._about(centre) + other._about(centre))

    def _about(self, point: Array) -> Array:
        """Return the inertia about a point (3,) [m] (3, 3), by the parallel axis theorem."""
        r = self.centre - point
        return np.asarray(self.inertia + self.mass * (r @ r * np.eye(3) - np.outer(r, r)))


class MergedLinks:
    """The two links at a frozen joint as one link, in the frame of the first of them.

    Args:
        tree: links and joints of the arm.
        joint: name of the frozen joint.

    Attributes:
        names: names of the two links.
        limits: lower and upper limit of the joint's angle [rad].

    Raises:
        AccordError: for an unknown joint.
    """

    def __init__(self, tree: description.Tree, joint: str) -> None:
        joints = {moving.name: moving for moving in tree.moving}
        check_known("unknown joint ", joint, joints)
        self._joint = joints[joint]
        links = {link.name: Inertia(link.mass, link.centre, link.inertia) for link in tree.links}
        self.names = self._joint.parent, self._joint.child
        self._first, self._second = (links[name] for name in self.names)
        self.limits = self._joint.lower, self._joint.upper

    def exact(self, angle: float) -> Inertia:
        """Return mass, centre and inertia at an angle [rad] of the joint."""
        turn = self._joint.rotation @ axis_angle_matrix(self._joint.axis, np.array(angle))
        return self._first + self._second.moved(turn, self._joint.position)

    def interpolated(self, angle: float, knots: int) -> Inertia:
        """Return the same by linear interpolation between `knots` angles, even over the limits."""
        angles = np.linspace(*self.limits, knots)
        k = int(np.clip(np.searchsorted(angles, angle) - 1, 0, knots - 2))
        low, high = self.exact(float(angles[k])), self.exact(float(angles[k + 1]))
        fraction = (angle - angles[k]) / (angles[k + 1] - angles[k])
        centre = (1.0 - fraction) * low.centre + fraction * high.centre
        inertia = (1.0 - fraction) * low.inertia + fraction * high.inertia
        return Inertia(low.mass, centre, inertia)

    def errors(self, angles: Array, knots: int) -> tuple[Array, Array]:
        """Return the errors of the interpolation at angles (k,) [rad].

        Returns:
            distance of the centres (k,) [m], and the largest difference of an entry of the inertia
            over its largest entry (k,).
        """
        pairs = [(self.exact(a), self.interpolated(a, knots)) for a in angles.tolist()]
        centres = [float(np.linalg.norm(exact.centre - near.centre)) for exact, near in pairs]
        tensors = [
            float(np.abs(exact.inertia - near.inertia).max() / np.abs(exact.inertia).max())
            for exact, near in pairs
        ]
        return np.array(centres), np.array(tensors)

"""Line of sight from the camera to a target, and the hulls that occlude it.

As the source report proposes (section 5), a long, thin polytope from the camera to the target is
tested for collision with the hulls of the arm and of obstacles. Here it is a frustum between a
square at the lens and a square at the target.

LENS_WIDTH is an estimate, as no drawing of the camera is public; it, TARGET_GAP and DISC may be
changed. test_packbot_sight compares with lines that are clipped by the faces of hulls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import coal
import numpy as np
import pinocchio as pin
from roboaccord.contract import AccordError, Array, Quantity
from roboaccord.scenario import Setup

from packbot.contact.clearance import TOLERANCE, Clearance, convex
from packbot.contact.solids import Hull
from packbot.model.parameters import LENS

CAMERA = "pan_link"  # link that carries the lens
LENS_WIDTH = 0.01  # m; width of the square at the lens, an estimate for a head 0.10 x 0.06 m wide
# Triangles of a frustum, two for each square and each side: its corners 0 to 3 are at the lens,
# 4 to 7 at the target.
ENDS = [(0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7)]
SIDES = [(0, 1, 5), (0, 5, 4), (1, 2, 6), (1, 6, 5), (2, 3, 7), (2, 7, 6), (3, 0, 4), (3, 4, 7)]
FRUSTUM = np.array([*ENDS, *SIDES])
CORNERS = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])  # corners of a square
# 19 points of a unit disc, each for an equal part of its area: the centre, and two rings at the
# radii sqrt(4 / 19) and sqrt(13 / 19) that halve the areas of 6 and of 12 parts.
DISC = [
    (radius * math.cos(2.0 * math.pi * i / count), radius * math.sin(2.0 * math.pi * i / count))
    for radius, count in ((0.0, 1), (0.46, 6), (0.83, 12))
    for i in range(count)
]
# m; the frustum ends that much before the target, which may lie on an obstacle: above the rounding
# of positions, and thinner than any hull
TARGET_GAP = 1e-3


@dataclass(frozen=True)
class View:
    """Visibility of a target.

    Args:
        visible: whether it is ahead of the lens and nothing blocks the view.
        blocked_by: names of the hulls that block it, that nearest to the lens first.
        off_axis: angle between the camera's axis and the line to the target [rad].
        distance: from the lens to the target [m].
    """

    visible: Annotated[bool, Quantity("")]
    blocked_by: Annotated[tuple[str, ...], Quantity("", "the nearest first")]
    off_axis: Annotated[float, Quantity("rad", "of the camera", form=".1f", shown="deg")]
    distance: Annotated[float, Quantity("m", "from the lens", form=".3f")]


class Sight:
    """Visibility of targets from the camera's lens.

    Args:
        clearance: provides the hulls and their poses.
        angle: opening angle of the camera's cone of view [rad]; by default a half space.
        width: width of the target [m].
    """

    def __init__(self, clearance: Clearance, angle: float = math.pi, width: float = 0.0) -> None:
        self.clearance, self.angle, self.width = clearance, angle, width
        self._camera = clearance.links.index(CAMERA)
        self._identity, self._result = coal.Transform3s(), coal.CollisionResult()
        self._request = coal.CollisionRequest()
        # With coal's default of 1e-6, a tip 10 um wide that is 1 mm deep in a wall can be missed.
        self._request.gjk_tolerance = TOLERANCE
        # Hulls of other links, and the first hull of each of these links.
        self._others = [(i, link) for i, link in enumerate(clearance.links) if link != CAMERA]
        self._first_hull = {link: clearance.links.index(link) for _, link in self._others}

    @classmethod
    def of(cls, setup: Setup, angle: float = math.pi, width: float = 0.0) -> Sight:
        """Return the sight of a setup's arm in its terrain."""
        return cls(Clearance.of(setup), angle, width)

    def look(self, q: Array, target: Array) -> View:
        """Return the visibility of a target (3,) [m] at the angles q (7,) [rad].

        Raises:
            AccordError: if the target is at the lens.
        """
        poses = self.clearance.hull_poses(q)
        camera = poses[self._camera]
        lens = camera.act(LENS)
        distance = math.dist(target, lens)
        if not distance > TARGET_GAP:
            raise AccordError("the target is at the lens")
        along = (target - lens) / distance
        off_axis = math.acos(min(1.0, max(-1.0, float(along @ camera.rotation[:, 0]))))
        line = convex(frustum(lens, along, distance, self.width))
        transforms = {link: _transform(poses[i]) for link, i in self._first_hull.items()}
        blocking = [i for i, link in self._others if self._meets(line, i, transforms[link])]
        blocking.sort(key=lambda i: self._distance_from(lens, i, poses[i]))
        names = tuple(self.clearance.names[i] for i in blocking)
        visible = not names and 2.0 * off_axis <= self.angle
        return View(visible, names, off_axis, distance)

    def eye(self, q: Array) -> tuple[Array, Array]:
        """Return the lens (3,) [m] and the camera's axis (3,) at the angles q (7,) [rad]."""
        camera = self.clearance.hull_poses(q)[self._camera]
        return camera.act(LENS), camera.rotation[:, 0].copy()

    def fraction(self, q: Array, target: Array, width: float) -> float:
        """Return the visible fraction of a disc at a target (3,) that faces the lens.

        Args:
            q: angles (7,) [rad].
            target: centre of the disc [m].
            width: diameter of the disc [m]; 19 points of it are tested.
        """
        lens, _ = self.eye(q)
        # Two unit vectors perpendicular to the line of sight.
        u, v = np.linalg.svd((target - lens)[None])[2][1:]
        spots = [target + 0.5 * width * (a * u + b * v) for a, b in DISC]
        point = Sight(self.clearance, self.angle)
        return sum(point.look(q, spot).visible for spot in spots) / len(spots)

    def _meets(self, line: coal.Convex, hull: int, pose: coal.Transform3s) -> bool:
        """Return whether the frustum `line` meets a hull (index) at a pose."""
        body = self.clearance.bodies[hull]
        self._result.clear()
        return bool(coal.collide(line, self._identity, body, pose, self._request, self._result))

    def _distance_from(self, lens: Array, hull: int, pose: pin.SE3) -> float:
        """Return the distance of a hull from the lens (3,) [m], its link at a pose."""
        result = coal.DistanceResult()
        eye, at_lens = coal.Sphere(0.5 * LENS_WIDTH), coal.Transform3s(np.eye(3), lens)
        body, request = self.clearance.bodies[hull], coal.DistanceRequest()
        return float(coal.distance(eye, at_lens, body, _transform(pose), request, result))


def frustum(lens: Array, along: Array, distance: float, width: float) -> Hull:
    """Return the frustum between the lens, of LENS_WIDTH, and the target.

    Args:
        lens: position of the lens (3,) [m].
        along: unit vector from the lens to the target (3,).
        distance: distance of lens and target [m].
        width: width of the target [m].
    """
    # Two unit vectors perpendicular to the line: a coordinate axis less its part along the line,
    # and the cross product of both.
    axis = np.abs(along).argmin()
    across = -along[axis] * along
    across[axis] += 1.0
    across /= np.sqrt(across @ across)
    square = np.sqrt(0.5) * (CORNERS @ [across, np.cross(along, across)])
    reach = distance - TARGET_GAP
    end_width = width + (LENS_WIDTH - width) * TARGET_GAP / distance
    at_lens, at_end = LENS_WIDTH * square + lens, end_width * square + (lens + reach * along)
    return Hull(np.concatenate([at_lens, at_end]), FRUSTUM)


def _transform(pose: pin.SE3) -> coal.Transform3s:
    """Return a pose of pinocchio as a transform of coal."""
    return coal.Transform3s(pose.rotation, pose.translation)

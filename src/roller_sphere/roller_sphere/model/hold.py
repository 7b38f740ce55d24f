"""Grip of a carrier's rollers on a ball: the ball's offset, the slides, and when it is lost.

The carrier is the robot that dribbles the ball; the ball is held while both rollers touch it.

In the carrier's frame, whose x axis points forward, the nominal place of the ball is `ball_ahead`
in front of the carrier's middle. Each roller moves on a slide, the line from the ball's centre
through the contact P_i. With the ball at an offset d from its place, roller i slides out until it
touches: its centre is at (R - s_i) p_i, with p_i the slide's direction and R the sum of both radii,
and

    |(R - s_i) p_i - d| = R     so     R - s_i = p_i d + sqrt((p_i d)^2 - d^2 + R^2).

The ball is lost if there is no such s_i, or none within the slide's stroke of +-2 roller radii.
test_roller_dribble guards this.
"""

from typing import NamedTuple

import numpy as np
from roboaccord.contract import Array, Trajectory

from roller_sphere.model.parameters import RollerSphereParameters

ROLLERS, CARRIER, YAW = slice(0, 2), slice(2, 4), 4  # of the joints; CARRIER has its x and y
STROKE = 2.0  # roller radii; stroke of a slide in either direction, equal to the URDF's limits


class Geometry(NamedTuple):
    """Geometry of ball and rollers as the kernels take it, in the carrier's frame.

    Attributes:
        radius, roller_radius: of the ball and of each roller [m].
        ball_ahead: from the carrier's middle forward to the nominal place of the ball [m].
        stroke: of a slide in either direction [m].
        slides: unit vectors along the slides, from the nominal place outwards (2, 3).
        axes: unit vectors along the axes of the rollers (2, 3).
    """

    radius: float
    roller_radius: float
    ball_ahead: float
    stroke: float
    slides: Array
    axes: Array


def geometry_of(parameters: RollerSphereParameters) -> Geometry:
    """Return the geometry of a robot."""
    p, rig = parameters, parameters.rig
    slides, axes = np.ascontiguousarray(rig.normals), np.ascontiguousarray(-rig.axes)
    return Geometry(p.radius, p.roller_radius, p.ball_ahead, STROKE * p.roller_radius, slides, axes)


def in_carrier_frame(yaw: Array | float, vectors: Array) -> Array:
    """Return vectors (..., 2) of the world in the frame of a carrier turned by yaw (...) [rad]."""
    c, s = np.cos(yaw), np.sin(yaw)
    x, y = vectors[..., 0], vectors[..., 1]
    return np.stack([c * x + s * y, c * y - s * x], axis=-1)


def ball_offsets(parameters: RollerSphereParameters, q: Array, position: Array) -> Array:
    """Return the offset of the ball from its nominal place, in the carrier's frame (..., 3) [m].

    Args:
        parameters: of the robot.
        q: joint positions (..., 5): the rollers', carrier_x, carrier_y and carrier_yaw.
        position: of the ball (..., 3) [m].
    """
    p = parameters
    # The carrier's joints are measured from the start, where its middle is `ball_ahead` behind x =
    # 0.
    middle = q[..., CARRIER] - np.array([p.ball_ahead, 0.0])
    # Along the carrier's x and y, then upwards.
    flat = in_carrier_frame(q[..., YAW], position[..., :2] - middle) - np.array([p.ball_ahead, 0.0])
    return np.concatenate([flat, position[..., 2:] - p.radius], axis=-1)


def slide_displacements(parameters: RollerSphereParameters, offset: Array) -> Array:
    """Return the displacements s_i of the rollers (..., 2) [m]; NaN where one cannot touch."""
    p = parameters
    reach = p.radius + p.roller_radius
    along = offset @ p.rig.normals.T  # p_i d
    square = along**2 - (offset**2).sum(axis=-1)[..., None] + reach**2
    with np.errstate(invalid="ignore"):  # of roots of negative numbers: no s_i
        return np.asarray(reach - along - np.sqrt(square))


def is_held(parameters: RollerSphereParameters, offset: Array) -> Array:
    """Return whether both rollers reach the ball within their strokes (...)."""
    displacements = slide_displacements(parameters, offset)
    return np.asarray((np.abs(displacements) <= STROKE * parameters.roller_radius).all(axis=-1))


def held_time(parameters: RollerSphereParameters, trajectory: Trajectory) -> float:
    """Return the time until which the ball was held [s]."""
    offset = ball_offsets(parameters, trajectory.q, trajectory.position)
    lost = np.logical_not(is_held(parameters, offset))
    return float(trajectory.time[int(np.argmax(lost))] if lost.any() else trajectory.time[-1])


def held_time_and_offset(
    parameters: RollerSphereParameters, trajectory: Trajectory
) -> tuple[float, float]:
    """Return until when the ball was held [s], and its largest offset until then [m]."""
    end = held_time(parameters, trajectory)
    held = trajectory.window(0.0, end)
    offset = ball_offsets(parameters, held.q, held.position)[:, :2]
    return end, float(np.linalg.norm(offset, axis=1).max())

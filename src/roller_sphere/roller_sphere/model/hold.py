"""How the rollers of a carrier hold a ball: the ball's offset, the slides, and when it is lost.

In the carrier's frame, whose x axis points forward, the nominal place of the ball is `ball_ahead`
in front of the carrier's middle. Each roller moves on a slide, the line from the ball's centre
through the contact P_i. With the ball at an offset d from its place, roller i slides out until it
touches: its centre is at (R - s_i) p_i, with p_i the slide's direction and R the sum of both radii,
and

    |(R - s_i) p_i - d| = R     so     R - s_i = p_i d + sqrt((p_i d)^2 - d^2 + R^2).

The ball is lost if there is no such s_i, or none within the slide's stroke of +-2 roller radii.
test_roller_dribble guards this.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import Array, Trajectory

from roller_sphere.model.parameters import RollerSphereParameters

STROKE = 2.0  # roller radii; stroke of a slide in either direction, equal to the URDF's limits


def geometry(parameters: RollerSphereParameters) -> tuple[tuple[float, ...], Array]:
    """Return the geometry of a rig as compiled functions take it.

    Returns:
        lengths radius, roller_radius, ball_ahead and stroke [m], and an array (2, 2, 3) with the
        directions of the slides and of the rollers' axes in the carrier's frame.
    """
    p = parameters
    lengths = (p.radius, p.roller_radius, p.ball_ahead, STROKE * p.roller_radius)
    return lengths, np.stack([p.rig.normals, -p.rig.axes])


def turned_back(yaw: Array | float, vectors: Array) -> Array:
    """Return vectors (..., 2) of the world in the frame of a carrier turned by yaw (...) [rad]."""
    c, s = np.cos(yaw), np.sin(yaw)
    x, y = vectors[..., 0], vectors[..., 1]
    return np.stack([c * x + s * y, c * y - s * x], axis=-1)


def offsets(parameters: RollerSphereParameters, q: Array, position: Array) -> Array:
    """Return the offset of the ball from its nominal place, in the carrier's frame (..., 3) [m].

    Args:
        parameters: of the robot.
        q: joint positions (..., 5): the rollers', carrier_x, carrier_y and carrier_yaw.
        position: of the ball (..., 3) [m].
    """
    p = parameters
    middle = q[..., 2:4] - np.array([p.ball_ahead, 0.0])
    flat = turned_back(q[..., 4], position[..., :2] - middle) - np.array([p.ball_ahead, 0.0])
    return np.concatenate([flat, position[..., 2:] - p.radius], axis=-1)


def slides(parameters: RollerSphereParameters, offset: Array) -> Array:
    """Return the displacements s_i of the rollers (..., 2) [m]; NaN where one cannot touch."""
    p = parameters
    reach = p.radius + p.roller_radius
    along = offset @ p.rig.normals.T
    square = along**2 - (offset**2).sum(axis=-1)[..., None] + reach**2
    with np.errstate(invalid="ignore"):
        return np.asarray(reach - along - np.sqrt(square))


def holds(parameters: RollerSphereParameters, offset: Array) -> Array:
    """Return whether both rollers reach the ball within their strokes (...)."""
    strokes = slides(parameters, offset)
    return np.asarray((np.abs(strokes) <= STROKE * parameters.roller_radius).all(axis=-1))


def held_time(parameters: RollerSphereParameters, trajectory: Trajectory) -> float:
    """Return the time until which the ball was held [s]."""
    lost = np.logical_not(holds(parameters, offsets(parameters, trajectory.q, trajectory.position)))
    return float(trajectory.time[int(np.argmax(lost))] if lost.any() else trajectory.time[-1])


def hold_of(parameters: RollerSphereParameters, trajectory: Trajectory) -> tuple[float, float]:
    """Return until when the ball was held [s], and its largest offset until then [m]."""
    end = held_time(parameters, trajectory)
    held = trajectory.window(0.0, end)
    offset = offsets(parameters, held.q, held.position)[:, :2]
    return end, float(np.linalg.norm(offset, axis=1).max())

"""Figures of a motion of the ball between its rollers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.scenario.setup import Setup

from roller_sphere.dribbling.place import held_time, offsets
from roller_sphere.model.parameters import RollerSphereParameters


def ball_spin(trajectory: Trajectory) -> Array:
    """Return the angular velocity of the ball in the world (k, 3) [rad/s]."""
    rotations = quaternion_matrix(trajectory.orientation)
    return np.asarray(np.einsum("kij,kj->ki", rotations, trajectory.twist[:, 3:]))


def slips(parameters: RollerSphereParameters, trajectory: Trajectory) -> Array:
    """Return the slips zeta_i = w x P_i - nu_i e_i in a bearing (k, 2, 3) [m/s], (25)."""
    rig = parameters.rig
    nu = parameters.roller_radius * trajectory.qd[:, :2]
    surface = np.cross(ball_spin(trajectory)[:, None], rig.contacts)
    return np.asarray(surface - nu[..., None] * rig.directions)


def metrics(setup: Setup, trajectory: Trajectory) -> Mapping[str, float]:
    """Return the path length of the ball, its distance from the start [m], and the slip.

    The slip is the largest of either roller [m/s], in a bearing. On the ground: until when the ball
    was held between the rollers [s], and how far it came off its place while it was [m].
    """
    steps = np.diff(trajectory.position[:, :2], axis=0)
    figures = {
        "path_length": float(np.linalg.norm(steps, axis=1).sum()),
        "closure": float(np.linalg.norm(trajectory.position[-1] - trajectory.position[0])),
    }
    if setup.scenario.base == "ball":
        sizes = np.linalg.norm(slips(setup.parameters, trajectory), axis=2)
        figures["largest_slip"] = float(sizes.max())
    if setup.scenario.base == "free":
        held = held_time(setup.parameters, trajectory)
        while_held = trajectory.window(0.0, held)
        away = offsets(setup.parameters, while_held.q, while_held.position)[:, :2]
        figures["held"] = held
        figures["largest_offset"] = float(np.linalg.norm(away, axis=1).max())
    return figures

"""A motion evenly spaced in time, and how fast its robot is."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.numerics.rotations import quaternion_matrix, quaternion_product, turn_quaternion
from roboaccord.view.scene import Scene

MOMENT = 1e-6  # s: of the difference that makes a speed of velocities


def resample(trajectory: Trajectory, step: float) -> Trajectory:
    """Return a motion at every `step` [s] from its start, linear between samples."""
    start, stop = trajectory.time[0], trajectory.time[-1]
    time = start + step * np.arange(math.floor((stop - start) / step + 1e-6) + 1)

    def at(values: Array) -> Array:
        columns = [np.interp(time, trajectory.time, column) for column in values.T]
        return np.column_stack(columns) if columns else np.empty((len(time), 0))

    turns = trajectory.orientation.copy()
    flips = np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    turns[1:] *= np.cumprod(flips)[:, None]  # q and -q are one rotation, but do not average
    turns = at(turns)
    return Trajectory(
        joints=trajectory.joints,
        time=time,
        q=at(trajectory.q),
        qd=at(trajectory.qd),
        effort=at(trajectory.effort),
        position=at(trajectory.position),
        orientation=turns / np.linalg.norm(turns, axis=1, keepdims=True),
        twist=at(trajectory.twist),
        events=trajectory.events,
    )


def speeds(scene: Scene, motion: Trajectory) -> Array:
    """Return the speed of the centre of mass (t,) [m/s], of the velocities alone: at rest, 0."""
    frames = quaternion_matrix(motion.orientation)
    velocity = (frames @ motion.twist[:, :3, None])[..., 0]

    def centres(time: float) -> Array:
        turns = np.array([turn_quaternion(time * spin) for spin in motion.twist[:, 3:]])
        return scene.tree.centres(
            *scene.motion(
                replace(
                    motion,
                    q=motion.q + time * motion.qd,
                    position=motion.position + time * velocity,
                    orientation=quaternion_product(motion.orientation.T, turns.T).T,
                )
            )
        )

    way = centres(MOMENT) - centres(-MOMENT)
    return np.asarray(np.linalg.norm(way, axis=1) / (2.0 * MOMENT))

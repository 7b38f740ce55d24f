"""Kinetic energy of a motion, from the description alone, and the work that was put in."""

from __future__ import annotations

from typing import Any

import numpy as np

from roboaccord.description import Tree
from roboaccord.kinematics import TreeKinematics
from roboaccord.rotations import quaternion_matrix
from roboaccord.trajectory import Trajectory

SAMPLES = 1000  # enough for a plot


def energy_of(tree: Tree, trajectory: Trajectory) -> dict[str, Any]:
    """Return time [s], kinetic energy [J] and net work of the efforts [J], thinned out."""
    stride = max(1, len(trajectory) // SAMPLES)
    kinetic = [kinetic_energy(tree, trajectory, i) for i in range(0, len(trajectory), stride)]
    steps = (trajectory.effort[1:] * np.diff(trajectory.q, axis=0)).sum(axis=1)
    work = np.concatenate([[0.0], np.cumsum(steps)])
    return {
        "time": trajectory.time[::stride],
        "kinetic": np.array(kinetic),
        "net_work": work[::stride],
    }


def kinetic_energy(tree: Tree, trajectory: Trajectory, index: int) -> float:
    """Return the kinetic energy of one sample [J]."""
    state = trajectory.state(index)
    rotation = quaternion_matrix(state.orientation)
    linear = np.zeros(3) if tree.bearing else rotation @ state.twist[:3]  # a bearing stands still
    twist = np.concatenate([linear, rotation @ state.twist[3:]])
    kinematics = TreeKinematics(tree, trajectory.joints)
    motion = kinematics.move(state.q, state.qd, state.position, rotation, twist)
    energy = 0.0
    for i, link in enumerate(tree.links):
        spin = motion.rotation[i].T @ motion.angular[i]
        energy += 0.5 * link.mass * float(motion.linear[i] @ motion.linear[i])
        energy += 0.5 * float(spin @ link.inertia @ spin)
    return energy

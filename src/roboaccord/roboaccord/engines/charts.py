"""Charts: conversion from our coordinates of joints with several degrees of freedom to an engine's.

Here a planar or floating joint is a chain of slides and hinges (description/degrees.py); an engine
may describe its motion by other numbers. If its coordinates x are functions of ours, q, then

    x' = T q',    x'' = T q'' + c,    f = T' f_x

for rates, accelerations and efforts, with T = dx/dq and c = (dT/dt) q'; in the last, T' is T
transposed. A `Chart` is a function that returns x, T and c; another kind of joint needs a chart of
its own (test_degrees, test_free_motion).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from roboaccord.contract.state import Array, RobotState
from roboaccord.description.degrees import DEGREES, plane
from roboaccord.description.xml_numbers import numbers
from roboaccord.numerics import rotations

# From q and q' (k,) to x (k,), T (k, k) and c (k,).
Chart = Callable[[Array, Array], tuple[Array, Array, Array]]
AXES = np.eye(3)


def plane_chart(engines: Array, ours: Array) -> Chart:
    """Return the chart of a planar joint.

    Args:
        engines, ours: the engine's axes of the plane and ours, as columns (3, 3), the normal last.
    """
    turn = engines.T @ ours
    return lambda q, qd: (turn @ q, turn, np.zeros(3))


def planes(urdf: str) -> dict[str, Array]:
    """Return our axes (3, 3) of each planar joint of a URDF, in its parent's frame."""
    axes = dict[str, Array]()
    for joint in ET.fromstring(urdf).findall("joint[@type='planar']"):
        turn = rotations.rpy_matrix(*numbers(joint.find("origin"), "rpy").tolist())
        normal = numbers(joint.find("axis"), "xyz", "1 0 0")
        axes[joint.get("name", "")] = turn @ plane(normal)
    return axes


def free_motion(q: Array, qd: Array) -> tuple[Array, Array, Array, Array]:
    """Return pose and motion at the end of the chain that stands for a floating joint.

    Args:
        q, qd: three slides, then angles about x, y and z, and their rates (6,).

    Returns:
        position (3,) and rotation (3, 3); Jacobian (6, 6) of the twist, angular first, along the
        turned axes; and the twist's rate at q'' = 0 (6,).
    """
    first, second = (rotations.axis_angle_matrix(AXES[i], np.array(q[3 + i])) for i in range(2))
    third = rotations.axis_angle_matrix(AXES[2], np.array(q[5]))
    rotation = first @ second @ third
    spins = np.column_stack([AXES[0], first @ AXES[1], first @ second @ AXES[2]])
    # The axis of each hinge turns at the angular velocity of the hinges before it.
    before = np.cumsum(spins * qd[3:], axis=1) - spins * qd[3:]
    drift = np.cross(before.T, (spins * qd[3:]).T).sum(axis=0)
    jacobian = np.zeros((6, 6))
    jacobian[:3, 3:], jacobian[3:, :3] = rotation.T @ spins, rotation.T
    twist = jacobian @ qd
    linear = -np.cross(twist[:3], twist[3:])  # constant in the world, so it turns in these axes
    return q[:3], rotation, jacobian, np.concatenate([rotation.T @ drift, linear])


class Charts:
    """Convert states of our chains of joints to an engine's coordinates.

    Args:
        joints: names, in the order of states.
        charts: by the name of each joint with several degrees of freedom.
    """

    def __init__(self, joints: Sequence[str], charts: Mapping[str, Chart]) -> None:
        columns = {name: i for i, name in enumerate(joints)}
        self._rows_and_charts = [
            (np.array([columns[f"{name}_{degree}"] for degree in degrees]), chart)
            for name, chart in charts.items()
            if (degrees := _degrees_of(name, columns))
        ]
        self._identity = np.eye(len(columns))

    def to_engine(self, state: RobotState) -> tuple[RobotState, Array, Array]:
        """Return a state in the engine's coordinates, with T (n, n) and c (n,)."""
        q, turn, drift = np.array(state.q), self._identity.copy(), np.zeros(len(state.q))
        for rows, chart in self._rows_and_charts:
            q[rows], turn[np.ix_(rows, rows)], drift[rows] = chart(state.q[rows], state.qd[rows])
        effort = np.asarray(np.linalg.solve(turn.T, state.effort), float)
        return replace(state, q=q, qd=turn @ state.qd, effort=effort), turn, drift


def _degrees_of(name: str, joints: Collection[str]) -> tuple[str, ...]:
    """Return the suffixes of a joint's degrees of freedom (`TX`, ...), () for a simple joint."""
    kinds = sorted(DEGREES.values(), key=len, reverse=True)
    return next((k for k in kinds if all(f"{name}_{degree}" in joints for degree in k)), ())

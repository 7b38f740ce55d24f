"""An engine's own coordinates of joints with several degrees of freedom, by those of our chains.

An engine's coordinates x are functions of ours q (`description.degrees`), so that with rates
x' = T q' accelerations are x'' = T q'' + c, and efforts f = T' f_x.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from roboaccord.contract.state import Array, RobotState
from roboaccord.description.degrees import DEGREES, plane
from roboaccord.numerics.rotations import axis_angle_matrix, rpy_matrix

Chart = Callable[[Array, Array], tuple[Array, Array, Array]]
"""From q and q' (k,) to x (k,), T (k, k) and c (k,)."""
AXES = np.eye(3)


def plane_chart(own: Array, ours: Array) -> Chart:
    """Return the chart of a planar joint; its own axes (3, 3) and ours in columns, normal last."""
    turn = own.T @ ours
    return lambda q, qd: (turn @ q, turn, np.zeros(3))


def planes(urdf: str) -> dict[str, Array]:
    """Return our axes (3, 3) of each planar joint of a URDF, in its parent's frame."""
    found = {}
    for joint in ET.fromstring(urdf).findall("joint[@type='planar']"):
        origin, axis = joint.find("origin"), joint.find("axis")
        said = origin.get("rpy", "0 0 0") if origin is not None else "0 0 0"
        words = (axis.get("xyz", "1 0 0") if axis is not None else "1 0 0").split()
        turn = rpy_matrix(*map(float, said.split()))
        found[joint.get("name", "")] = turn @ plane(np.array([float(word) for word in words]))
    return found


def free_motion(q: Array, qd: Array) -> tuple[Array, Array, Array, Array]:
    """Return where the chain of a floating joint leads, and how fast.

    Args:
        q, qd: three slides, then angles about x, y and z (6,).

    Returns:
        position (3,) and rotation (3, 3); Jacobian (6, 6) of the twist, angular first, along the
        turned axes; and what of its rate is due to velocities alone (6,).
    """
    first, second = (axis_angle_matrix(AXES[i], np.array(q[3 + i])) for i in range(2))
    third = axis_angle_matrix(AXES[2], np.array(q[5]))
    rotation = first @ second @ third
    spins = np.column_stack([AXES[0], first @ AXES[1], first @ second @ AXES[2]])
    # Each axis is turned by the hinges before it.
    before = np.cumsum(spins * qd[3:], axis=1) - spins * qd[3:]
    drift = np.cross(before.T, (spins * qd[3:]).T).sum(axis=0)
    jacobian = np.zeros((6, 6))
    jacobian[:3, 3:], jacobian[3:, :3] = rotation.T @ spins, rotation.T
    twist = jacobian @ qd
    linear = -np.cross(twist[:3], twist[3:])
    return q[:3], rotation, jacobian, np.concatenate([rotation.T @ drift, linear])


class Charts:
    """Take states of our chains to an engine's coordinates, and what it answers back.

    Args:
        joints: names of the columns of states.
        charts: by the name of the joint that has several degrees of freedom.
    """

    def __init__(self, joints: Sequence[str], charts: Mapping[str, Chart]) -> None:
        column = {name: i for i, name in enumerate(joints)}
        self._parts = [
            (np.array([column[f"{name}_{degree}"] for degree in degrees]), chart)
            for name, chart in charts.items()
            if (degrees := _degrees_of(name, column))
        ]
        self._whole = np.eye(len(column))

    def own(self, state: RobotState) -> tuple[RobotState, Array, Array]:
        """Return a state in the engine's coordinates, T (n, n) and c (n,)."""
        q, turn, drift = np.array(state.q), self._whole.copy(), np.zeros(len(state.q))
        for rows, chart in self._parts:
            q[rows], turn[np.ix_(rows, rows)], drift[rows] = chart(state.q[rows], state.qd[rows])
        effort = np.asarray(np.linalg.solve(turn.T, state.effort), float)
        return replace(state, q=q, qd=turn @ state.qd, effort=effort), turn, drift


def _degrees_of(name: str, joints: Collection[str]) -> tuple[str, ...]:
    """Return the degrees of freedom that a joint has among ours; none where it is not asked for."""
    kinds = sorted(DEGREES.values(), key=len, reverse=True)
    return next((k for k in kinds if all(f"{name}_{each}" in joints for each in k)), ())

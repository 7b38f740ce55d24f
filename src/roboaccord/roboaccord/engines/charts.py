"""Conversion of our coordinates of planar and floating joints to an engine's coordinates.

In our trees a joint with several degrees of freedom is a chain of slides and hinges
(description/degrees.py). An engine may describe its motion by other coordinates x, which are
functions of ours, q. Rates, accelerations and efforts f are then related by

    dx/dt = T dq/dt,    d2x/dt2 = T d2q/dt2 + c,    f = T^T f_x

with T = dx/dq and c = (dT/dt) dq/dt. A `Chart` is the function of one joint that returns x, T and
c. An engine's reader of robot files makes a chart for each such joint, and converts its answers by
`Charts` (reading.py). Another kind of joint needs a chart of its own (test_degrees,
test_free_motion).
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

# Function from q and dq/dt (k,) to x (k,), T (k, k) and c (k,).
Chart = Callable[[Array, Array], tuple[Array, Array, Array]]
AXES = np.eye(3)  # x, y and z of a frame, as rows


def plane_chart(engines: Array, ours: Array) -> Chart:
    """Return the chart of a planar joint.

    Args:
        engines, ours: the engine's axes of the plane and ours, as columns (3, 3), the normal last.
    """
    T = engines.T @ ours  # from components along our axes to those along the engine's
    return lambda q, qd: (T @ q, T, np.zeros(3))


def planes(urdf: str) -> dict[str, Array]:
    """Return our axes (3, 3) of each planar joint of a URDF, in its parent's frame."""
    axes = dict[str, Array]()
    for joint in ET.fromstring(urdf).findall("joint[@type='planar']"):
        rotation = rotations.rpy_matrix(*numbers(joint.find("origin"), "rpy").tolist())
        normal = numbers(joint.find("axis"), "xyz", "1 0 0")
        axes[joint.get("name", "")] = rotation @ plane(normal)
    return axes


def free_motion(q: Array, qd: Array) -> tuple[Array, Array, Array, Array]:
    """Return pose and motion at the end of the chain that stands for a floating joint.

    Args:
        q, qd: three slides, then angles about x, y and z, and their rates (6,).

    Returns:
        position (3,) and rotation (3, 3); Jacobian (6, 6) of the twist, angular first, in the axes
        of the end; and the derivative of the twist by time where rates are constant (6,).
    """
    about_x = rotations.axis_angle_matrix(AXES[0], np.array(q[3]))
    about_y = rotations.axis_angle_matrix(AXES[1], np.array(q[4]))
    about_z = rotations.axis_angle_matrix(AXES[2], np.array(q[5]))
    rotation = about_x @ about_y @ about_z
    # Axes of the hinges in the world, as columns. Each of them turns at the angular velocity of the
    # hinges before it.
    hinge_axes = np.column_stack([AXES[0], about_x @ AXES[1], about_x @ about_y @ AXES[2]])
    spins = hinge_axes * qd[3:]
    velocity_before = np.cumsum(spins, axis=1) - spins
    angular_drift = np.cross(velocity_before.T, spins.T).sum(axis=0)
    jacobian = np.zeros((6, 6))
    jacobian[:3, 3:] = rotation.T @ hinge_axes
    jacobian[3:, :3] = rotation.T
    twist = jacobian @ qd
    # The linear velocity is constant in the world, so its components in the turning axes change.
    linear_drift = -np.cross(twist[:3], twist[3:])
    return q[:3], rotation, jacobian, np.concatenate([rotation.T @ angular_drift, linear_drift])


class Charts:
    """Convert states of our chains of joints to an engine's coordinates.

    Args:
        joints: names, in the order of states.
        charts: by the name of each joint with several degrees of freedom.
    """

    def __init__(self, joints: Sequence[str], charts: Mapping[str, Chart]) -> None:
        indices = {name: i for i, name in enumerate(joints)}
        self._rows_and_charts = list[tuple[list[int], Chart]]()
        for name, chart in charts.items():
            rows = [indices[f"{name}_{degree}"] for degree in _degrees_of(name, indices)]
            if rows:
                self._rows_and_charts.append((rows, chart))
        self._identity = np.eye(len(indices))

    def to_engine(self, state: RobotState) -> tuple[RobotState, Array, Array]:
        """Return a state in the engine's coordinates, with T (n, n) and c (n,)."""
        x, T, c = np.array(state.q), self._identity.copy(), np.zeros(len(state.q))
        for rows, chart in self._rows_and_charts:
            x[rows], T[np.ix_(rows, rows)], c[rows] = chart(state.q[rows], state.qd[rows])
        effort = np.asarray(np.linalg.solve(T.T, state.effort), float)
        return replace(state, q=x, qd=T @ state.qd, effort=effort), T, c


def _degrees_of(name: str, joints: Collection[str]) -> tuple[str, ...]:
    """Return the suffixes of a joint's degrees of freedom (`TX`, ...); () for a simple joint."""
    for degrees in sorted(DEGREES.values(), key=len, reverse=True):
        if all(f"{name}_{degree}" in joints for degree in degrees):
            return degrees
    return ()

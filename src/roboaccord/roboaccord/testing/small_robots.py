"""Three small descriptions on which engines are tested, with their states and equations of motion.

The URDF files are in descriptions/. They, JOINTS, EFFORTS, DRIVE, FINE and DURATION must fit each
other: change one, and check the order that engines.py measures. SEED and STATES may be changed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Literal

import numpy as np

from roboaccord.contract.state import STATE_ARRAYS, Array, RobotState
from roboaccord.description.base_kinds import KINDS
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.tree import Tree
from roboaccord.engines.model import EngineModel
from roboaccord.numerics.rotations import (
    matrix_quaternion,
    quaternion_matrix,
    rpy_matrix,
    turn_twist,
)

GRAVITY = 9.81  # m/s^2
STATES = 20  # random states
SEED = 3  # any number
FINE = 2.5e-4  # s: step of the reference, of order 4: its error is far below the engines'
DURATION = 0.4  # s: of the motion by which orders and schemes are compared
END = 1.0  # m: the stop of the cart, as described
DESCRIPTIONS = {
    name: files(__package__).joinpath("descriptions", f"{name.replace(' ', '_')}.urdf").read_text()
    for name in ("pendulums", "floating arm", "cart")
}
"""URDF by name: two skew pendulums, a floating arm, and a cart with stops and a pendulum on it."""
JOINTS = ("shoulder", "elbow")
EFFORTS = np.full(2, 50.0)  # N m, N: limits, beyond what any test commands
REST = np.zeros(2)
DRIVE = np.array([2.0, -1.0])  # N m, N: held while the order is measured


def assert_same(
    state: RobotState, expected: RobotState, atol: float = 0.0, rtol: float = 0.0
) -> None:
    """Assert that the arrays of two states are equal, bit for bit or within a tolerance."""
    for name in STATE_ARRAYS:
        have, want = getattr(state, name), getattr(expected, name)
        np.testing.assert_allclose(have, want, rtol=rtol, atol=atol, err_msg=name)


def base_of(robot: str) -> Literal["fixed", "free"]:
    """Return how the base of a description moves."""
    return "fixed" if "world" in DESCRIPTIONS[robot] else "free"


def model_of(robot: str) -> EngineModel:
    """Return the model of a description."""
    return EngineModel(
        urdf=DESCRIPTIONS[robot], base=base_of(robot), joints=JOINTS, effort_limits=EFFORTS,
        physics_step=1e-3, gravity=GRAVITY,
    )  # fmt: skip


@cache
def dynamics(robot: str) -> TreeDynamics:
    """Return the equations of motion of a description."""
    return TreeDynamics(Tree.parse(DESCRIPTIONS[robot]), JOINTS, base_of(robot), GRAVITY)


def accelerate(robot: str, state: RobotState, effort: Array) -> Array:
    """Return the accelerations of base and joints (8,)."""
    pose = state.position, quaternion_matrix(state.orientation)
    twist = turn_twist(pose[1], state.twist)
    accelerations = dynamics(robot).acceleration(state.q, state.qd, effort, *pose, twist)
    return np.append(accelerations.base, accelerations.joints)


@cache
def start(robot: str) -> RobotState:
    """Return the state from which the motion starts, with the base at rest."""
    q, qd = np.array([0.1, 0.3]), np.array([0.2, -0.4])
    if base_of(robot) == "fixed":
        return RobotState(0.0, q, qd, REST)
    turned = matrix_quaternion(rpy_matrix(0.3, -0.5, 0.8))
    return RobotState(0.0, q, qd, REST, np.array([1.0, -2.0, 0.5]), turned)


@cache
def truth(robot: str) -> Array:
    """Return the joints' positions at the end of the motion (2,), by Runge-Kutta of order 4."""
    state, tree = start(robot), dynamics(robot)
    y = tree.state(state.q, state.qd, state.position, state.orientation, state.twist)
    tree.advance(y, DRIVE, FINE, round(DURATION / FINE), None)
    return np.array(y[7:9])


def drawn(robot: str) -> list[tuple[RobotState, Array]]:
    """Return random states and efforts, with the joints within their limits."""
    rng, states = np.random.default_rng(SEED), list[tuple[RobotState, Array]]()
    for _ in range(STATES):
        state = RobotState(0.0, rng.uniform(-END, END, 2), rng.normal(size=2), REST)
        position, orientation, twist = KINDS[base_of(robot)].draw(state, rng)
        state = replace(state, position=position, orientation=orientation, twist=twist)
        states.append((state, rng.normal(size=2)))
    return states

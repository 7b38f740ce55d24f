"""Three small descriptions on which engines are tested, with their states and equations of motion.

They are two pendulums with skew axes, a floating arm, and a cart with stops that carries a pendulum
(descriptions/*.urdf). `start`, CONSTANT_EFFORTS and DURATION define the motion by which orders and
schemes are compared, and `truth` its end, by Runge-Kutta of order 4. These values fit each other:
after a change, check the order that engines.py measures.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

import numpy as np

from roboaccord.contract.state import STATE_ARRAYS, Array, Command, RobotState
from roboaccord.description import KINDS, Tree
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.engines.model import EngineModel
from roboaccord.numerics import matrix_quaternion, rpy_matrix
from roboaccord.simulators.base import Simulator

GRAVITY = 9.81  # m/s^2: standard gravity, to three digits
# Number of random states of a description: an error in 15 % of all is missed once in 20 (rule of
# three).
STATE_COUNT = 20
SEED = 3  # arbitrary
# s: step of Runge-Kutta of order 4, whose error is 2e-14, far below that of engines.
FINE_STEP = 2.5e-4
# s: length of the motion: joints turn by up to 1.9 rad, and the cart does not reach its stop.
DURATION = 0.4
CART_STOP = 1.0  # m: position of the cart's stop in its description
# URDF by name of the description.
DESCRIPTIONS = {
    name: files(__package__).joinpath("descriptions", f"{name.replace(' ', '_')}.urdf").read_text()
    for name in ("pendulums", "floating arm", "cart")
}
JOINTS = ("shoulder", "elbow")
# N m, N: effort limits, larger than the efforts of any test (STOP_EFFORT of engines.py is 40).
EFFORT_LIMITS = np.full(2, 50.0)
ZERO_EFFORTS = np.zeros(2)  # N m, N: no efforts
CONSTANT_EFFORTS = np.array([2.0, -1.0])  # N m, N: constant efforts of the motion


def assert_same(
    state: RobotState, expected: RobotState, atol: float = 0.0, rtol: float = 0.0
) -> None:
    """Assert that the arrays of two states are equal, by default bit for bit."""
    for name in STATE_ARRAYS:
        pair = getattr(state, name), getattr(expected, name)
        np.testing.assert_allclose(*pair, rtol=rtol, atol=atol, err_msg=name)


def base_of(robot: str) -> Literal["fixed", "free"]:
    """Return the kind of base of a description."""
    return "fixed" if "world" in DESCRIPTIONS[robot] else "free"


def model_of(robot: str) -> EngineModel:
    """Return the model of a description, at a physics step of 1 ms."""
    return EngineModel(
        urdf=DESCRIPTIONS[robot],
        base=base_of(robot),
        joints=JOINTS,
        effort_limits=EFFORT_LIMITS,
        physics_step=1e-3,
        gravity=GRAVITY,
    )


@cache
def dynamics(robot: str) -> TreeDynamics:
    """Return the equations of motion of a description."""
    return TreeDynamics(Tree.parse(DESCRIPTIONS[robot]), JOINTS, base_of(robot), GRAVITY)


@cache
def start(robot: str) -> RobotState:
    """Return the initial state of the motion, with the base at rest."""
    q, qd = np.array([0.1, 0.3]), np.array([0.2, -0.4])
    if base_of(robot) == "fixed":
        return RobotState(0.0, q, qd, ZERO_EFFORTS)
    orientation = matrix_quaternion(rpy_matrix(0.3, -0.5, 0.8))
    return RobotState(0.0, q, qd, ZERO_EFFORTS, np.array([1.0, -2.0, 0.5]), orientation)


def end(
    robot: str, simulator: Simulator, effort: Array = CONSTANT_EFFORTS, duration: float = DURATION
) -> RobotState:
    """Return the state at the end of the motion from `start`."""
    simulator.reset(start(robot))
    return simulator.step(Command(effort), duration)


@cache
def truth(robot: str) -> Array:
    """Return the joint positions (2,) at the end of the motion, by Runge-Kutta of order 4."""
    state, tree = start(robot), dynamics(robot)
    y = tree.state(state.q, state.qd, state.position, state.orientation, state.twist)
    tree.advance(y, CONSTANT_EFFORTS, FINE_STEP, round(DURATION / FINE_STEP), None)
    return np.array(y[7:9])  # behind position and quaternion of the base


def random_states(robot: str) -> list[tuple[RobotState, Array]]:
    """Return STATE_COUNT random states with efforts; joint positions are within their limits."""
    rng, states = np.random.default_rng(SEED), list[tuple[RobotState, Array]]()
    for _ in range(STATE_COUNT):
        q, qd = rng.uniform(-CART_STOP, CART_STOP, 2), rng.normal(size=2)
        # KINDS of the description package has the kinds of bases by name.
        base_motion = KINDS[base_of(robot)].draw(RobotState(0.0, q, qd, ZERO_EFFORTS), rng)
        state = RobotState(0.0, q, qd, ZERO_EFFORTS, *base_motion)
        states.append((state, rng.normal(size=2)))
    return states

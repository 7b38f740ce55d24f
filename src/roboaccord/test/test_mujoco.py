"""MuJoCo's contacts: what they rebound with, against the damped spring that cannot pull."""

from __future__ import annotations

import math

import numpy as np
import pytest
from roboaccord.contract.contact import Contact, Fixture
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Command, RobotState
from roboaccord.engines import simulate_model
from roboaccord.engines.model import EngineModel
from roboaccord.engines.twin import twin_of

pytest.importorskip("mujoco")


pytestmark = pytest.mark.thorough

RADIUS = 0.1  # m
BALL = f"""<robot name="ball"><link name="base_link"><inertial><mass value="1.5"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="{RADIUS}"/></geometry></collision></link></robot>"""
TIME = 0.05  # s, of 500 steps: nothing is left of the steps


def bounced(damping_ratio: float) -> float:
    """Return the share of its speed with which a ball leaves the ground, without gravity."""
    ground = Fixture(name="ground", size=np.array([9.0, 9.0, 1.0]), position=np.array([0, 0, -0.5]))
    smooth = {"base_link": 0.0, "ground": 0.0}
    contact = Contact(pairs=(("base_link", "ground"),), friction=smooth, fixtures=(ground,))
    model = EngineModel(
        urdf=BALL, base="free", joints=(), effort_limits=np.zeros(0), physics_step=1e-4,
        gravity=0.0, contact=contact,
        options={"mujoco": {"contact_time": TIME, "contact_damping": damping_ratio}},
    )  # fmt: skip
    simulator = simulate_model(model, "mujoco")
    falling = np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    state = RobotState(
        0.0, np.zeros(0), np.zeros(0), np.zeros(0), np.array([0.0, 0.0, RADIUS]), twist=falling
    )
    simulator.reset(state)
    return float(simulator.step(Command(np.zeros(0)), 20.0 * TIME).twist[2])


def rebound(damping_ratio: float) -> float:
    """Return the restitution of a contact of a damping ratio of 1 or more.

    Where r'' + 2 zeta w r' + w^2 r = 0, r(0) = 0, cannot pull it ends at r'' = 0. With x > 1 the
    ratio of both roots, r' is then x^((1 + x) / (1 - x)) of its first value, and e^-2 for x = 1.
    """
    if damping_ratio == 1.0:
        return math.exp(-2.0)
    x = (damping_ratio + math.sqrt(damping_ratio**2 - 1.0)) ** 2
    return float(x ** ((1.0 + x) / (1.0 - x)))


@pytest.mark.parametrize("damping_ratio", [1.0, 1.5, 3.0])
def test_a_ball_parts_with_what_the_spring_and_damper_say(damping_ratio: float) -> None:
    """Impedances of 0.99 to 0.999 and the step make 1 %."""
    assert bounced(damping_ratio) == pytest.approx(rebound(damping_ratio), rel=0.03)


def test_what_is_not_damped_enough_is_refused() -> None:
    with pytest.raises(AccordError, match=r"contact_damping is 0\.5, and must be 1 at least"):
        bounced(0.5)


@pytest.mark.parametrize("integrator", ["euler", "implicitfast", "implicit", "discrete", "rk4"])
def test_a_lone_body_that_tumbles_steps_as_its_scheme_says(integrator: str) -> None:
    """All but Euler and RK4 have its gyroscopic forces at the end of the step (since 3.11)."""
    body = BALL.replace('iyy="0.01"', 'iyy="0.02"').replace('izz="0.01"', 'izz="0.025"')
    nothing = np.zeros(0)
    model = EngineModel(
        urdf=body, base="free", joints=(), effort_limits=nothing, physics_step=1e-3,
        gravity=9.81, options={"mujoco": {"integrator": integrator}},
    )  # fmt: skip
    tumbling = np.array([0.3, -0.2, 1.0, 3.0, -5.0, 4.0])
    state = RobotState(0.0, nothing, nothing, nothing, np.ones(3), twist=tumbling)
    ends = []
    for engine in ("mujoco", twin_of("mujoco")):
        simulator = simulate_model(model, engine)
        simulator.reset(state)
        ends.append(simulator.step(Command(nothing), 0.2))
    np.testing.assert_allclose(ends[1].twist, ends[0].twist, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(ends[1].orientation, ends[0].orientation, rtol=0.0, atol=1e-11)

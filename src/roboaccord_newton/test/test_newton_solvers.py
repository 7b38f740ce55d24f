"""Newton's solvers: XPBD against closed forms and references, and what the adapter adds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from roboaccord.contract import AccordError, Command, RobotState
from roboaccord.engines import EngineModel, EngineSimulator, simulate_model
from roboaccord.testing import small_robots as robots

XPBD = {"newton": {"solver": "xpbd", "iterations": 32}}
MASS, RADIUS, INERTIA = 2.0, 0.3, 0.05  # of a bar; from its hinge to its centre
TIP = """<link name="tip"/><joint name="glue" type="fixed"><parent link="bar"/><child link="tip"/>
  <origin xyz="0 0 -0.6"/></joint>"""
BAR = f"""<robot name="bar"><link name="world"/><link name="base_link"/>
  <joint name="tie" type="fixed"><parent link="world"/><child link="base_link"/></joint>
  <link name="bar"><inertial><origin xyz="0 0 -{RADIUS}"/><mass value="{MASS}"/>
    <inertia ixx="{INERTIA}" iyy="{INERTIA}" izz="{INERTIA}" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="hinge" type="continuous"><parent link="base_link"/><child link="bar"/>
    <axis xyz="AXIS"/></joint>TIP</robot>"""


def simulate(model: EngineModel) -> EngineSimulator:
    """Return Newton's simulator, or skip with the reason why there is none."""
    try:
        return simulate_model(model, "newton")
    except AccordError as error:
        if "pip install" in str(error):
            pytest.skip(str(error))
        raise


@pytest.mark.parametrize("axis", ["1 0 0", "0 -1 0", "0.6 0.8 0"])
@pytest.mark.parametrize("tip", ["", TIP])
def test_xpbd_turns_a_bar_by_its_effort_over_its_inertia(axis: str, tip: str) -> None:
    """The rate is f t / (I + m r^2), whatever the axis, and with a link without mass at the end."""
    model = EngineModel(
        urdf=BAR.replace("AXIS", axis).replace("TIP", tip), base="fixed", joints=("hinge",),
        effort_limits=np.ones(1), physics_step=1e-3, gravity=0.0, options=XPBD,
    )  # fmt: skip
    simulator = simulate(model)
    simulator.reset(RobotState(0.0, *np.zeros((3, 1))))
    end = simulator.step(Command(np.array([0.5])), 0.02)
    # A rounding of a position, 0.6 m from the hinge, over a step: 6e-8 m / 1 ms / 0.6 m.
    expected = 0.5 * 0.02 / (INERTIA + MASS * RADIUS**2)
    assert end.qd[0] == pytest.approx(expected, abs=4 * 1e-4)


@pytest.mark.parametrize("robot", robots.DESCRIPTIONS)
def test_xpbd_is_of_first_order(robot: str) -> None:
    """Against a reference of order 4, with efforts, about skew axes."""
    errors = []
    for step in (2e-3, 1e-3):
        simulator = simulate(replace(robots.model_of(robot), physics_step=step, options=XPBD))
        simulator.reset(robots.start(robot))
        end = simulator.step(Command(robots.CONSTANT_EFFORTS), robots.DURATION)
        errors.append(float(np.abs(end.q - robots.truth(robot)).max()))
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)


def test_xpbd_refuses_rotors_and_locks() -> None:
    """Both are inertias of joints, of which it has none."""
    model = replace(robots.model_of("cart"), options=XPBD)
    simulator = simulate(model)
    with pytest.raises(AccordError, match="cannot hold a joint"):
        simulator.lock(0, True)
    with pytest.raises(AccordError, match="XPBD has no rotor of shoulder"):
        simulate(replace(model, armature=np.array([0.1, 0.0])))


def test_the_origin_of_a_joint_on_a_link_without_mass_is_that_of_the_file() -> None:
    mounted = robots.DESCRIPTIONS["pendulums"].replace(
        '<child link="base_link" />',
        '<child link="base_link" /><origin xyz="0 0.3 1" rpy="0 0 1"/>',
    )
    model = replace(robots.model_of("pendulums"), urdf=mounted, options=XPBD)
    simulator = simulate(model)
    for joint in simulator.tree.moving:
        found = simulator.properties().joints[joint.name]
        np.testing.assert_allclose(found.origin, joint.position, atol=1e-6)
        np.testing.assert_allclose(found.axis, joint.rotation @ joint.axis, atol=1e-6)


def test_the_damping_that_is_added_to_efforts_is_reported() -> None:
    model = replace(robots.model_of("cart"), damping=np.array([0.5, 0.2]))
    joints = simulate(model).properties().joints
    assert [joints[name].damping for name in robots.JOINTS] == [0.5, 0.2]


def test_stops_with_dampers_overshoot_as_euler_does() -> None:
    """A step beyond takes v' = v - h (k x + d v) / I, then x' = x + h v'."""
    step, stop, inertia = 1e-3, 0.5, INERTIA + MASS * RADIUS**2
    urdf = BAR.replace("continuous", "revolute").replace("AXIS", "1 0 0").replace("TIP", "")
    limit = f'<limit lower="-{stop}" upper="{stop}" effort="9" velocity="99"/></joint></robot>'
    model = EngineModel(
        urdf=urdf.replace("</joint></robot>", limit), base="fixed", joints=("hinge",),
        effort_limits=np.ones(1), physics_step=step, gravity=0.0,
    )  # fmt: skip
    q, rate = 0.499, 1.7
    simulator = simulate(model)
    simulator.reset(RobotState(0.0, np.array([q]), np.array([rate]), np.zeros(1)))
    end = simulator.step(Command(np.zeros(1)), 0.02)
    for _ in range(20):
        force = -(1e5 * (q - stop) + 300.0 * rate) if q > stop else 0.0
        rate += step * force / inertia
        q += step * rate
    # Stiffness times the rounding of a position, over the steps beyond the stop.
    assert end.qd[0] == pytest.approx(rate, abs=4 * step * 1e5 * 6e-8 / inertia)
    assert rate < -0.3  # it rebounds, for h d / I > 1

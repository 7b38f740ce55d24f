"""Engines on models of their own: free bases in space, hinges to the world, friction of joints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import LinkMotion
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.description.tree import Tree
from roboaccord.engines import names_for_models, simulate_model, spec
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import EngineModel
from roboaccord.numerics.rotations import matrix_quaternion, rpy_matrix
from roboaccord.simulators.friction import JointFriction
from running import or_skip

pytestmark = pytest.mark.thorough

# In double precision, as the bounds below are; others have bounds in their conformance suites.
ENGINES = [name for name in names_for_models() if spec(name).precision == "float64"]
OTHERS = [name for name in ENGINES if name != "mujoco"]
INERTIA = '<inertia ixx="{0}" iyy="{1}" izz="{2}" ixy="0" ixz="0" iyz="0"/>'


def link(name: str, mass: float, centre: str, *inertia: float) -> str:
    """Return a link of a URDF."""
    return (
        f'<link name="{name}"><inertial><origin xyz="{centre}" rpy="0.1 0.2 0.3"/>'
        f'<mass value="{mass}"/>{INERTIA.format(*inertia)}</inertial></link>'
    )


CHAIN = f"""<robot name="chain">
  {link("base_link", 2.0, "0.1 -0.2 0.05", 0.03, 0.05, 0.06)}
  {link("arm_link", 0.7, "0.2 0 0.1", 0.02, 0.01, 0.015)}
  {link("tip_link", 0.4, "0 0.1 0.1", 0.004, 0.005, 0.006)}
  <joint name="turn" type="continuous">
    <parent link="base_link"/><child link="arm_link"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><axis xyz="0 0.6 0.8"/>
    <dynamics damping="0.5" friction="0.3"/>
  </joint>
  <joint name="twist" type="continuous">
    <parent link="arm_link"/><child link="tip_link"/>
    <origin xyz="0.5 0 0" rpy="0.1 0 0"/><axis xyz="1 0 0"/>
  </joint>
</robot>"""
PENDULUM = f"""<robot name="pendulum">
  <link name="world"/>
  {link("base_link", 2.0, "0 0 -0.3", 0.05, 0.05, 0.01)}
  <joint name="hinge" type="continuous">
    <parent link="world"/><child link="base_link"/><axis xyz="1 0 0"/>
    <dynamics damping="0.5" friction="0.3"/>
  </joint>
</robot>"""


STOPPED = PENDULUM.replace('type="continuous"', 'type="revolute"').replace(
    "</joint>", '<limit lower="-0.4" upper="0.3" effort="100" velocity="100"/></joint>'
)


def free(**changes: Any) -> EngineModel:
    """Return the chain, free in space."""
    model = EngineModel(
        urdf=CHAIN, base="free", joints=("turn", "twist"), effort_limits=np.ones(2),
        physics_step=1e-6, gravity=3.7,
    )  # fmt: skip
    return replace(model, **changes)


def pendulum(**changes: Any) -> EngineModel:
    """Return a body on a hinge to the world, without weight."""
    model = EngineModel(
        urdf=PENDULUM, base="fixed", joints=("hinge",), effort_limits=np.ones(1),
        physics_step=1e-3, gravity=0.0, root="world",
    )  # fmt: skip
    return replace(model, **changes)


def engine(model: EngineModel, name: str) -> EngineSimulator:
    """Return the simulator of a model, or skip with the reason."""
    with or_skip():
        return simulate_model(model, name)


def random_state(rng: np.random.Generator) -> RobotState:
    """Return a state of the chain, its base tilted and tumbling."""
    orientation = matrix_quaternion(rpy_matrix(*rng.uniform(-1.4, 1.4, 3)))
    return RobotState(
        0.0, rng.uniform(-3, 3, 2), rng.normal(size=2), np.zeros(2),
        rng.normal(size=3), orientation, rng.normal(size=6),
    )  # fmt: skip


class Drag:
    """Brake the tip's centre in proportion to its velocity, and twist it."""

    links = ("tip_link",)

    def wrenches(self, motion: LinkMotion) -> tuple[Array, Array]:
        return -5.0 * motion.linear, np.array([[0.1, -0.2, 0.3]])


@pytest.mark.parametrize("other", OTHERS)
def test_a_force_law_acts_alike_on_a_tilted_base_in_two_engines(other: str) -> None:
    """Compare the law's change of the rates in a microsecond; they agree to its square."""
    rng = np.random.default_rng(7)
    for _ in range(5):
        state, changes = random_state(rng), []
        for name in (other, "mujoco"):
            ends = []
            for law in (None, Drag()):
                simulator = engine(free(force_law=law), name)
                simulator.reset(state)
                end = simulator.step(Command(np.zeros(2)), 1e-6)
                ends.append(np.concatenate([end.twist, end.qd]))
            changes.append((ends[1] - ends[0]) / 1e-6)
        assert np.abs(changes[1]).max() > 1.0
        np.testing.assert_allclose(changes[0], changes[1], atol=1e-3)


def coast(name: str, friction: JointFriction | None, step: float = 1e-3) -> float:
    """Return the rate of the pendulum after 0.5 s, from 2 rad/s and without weight."""
    simulator = engine(pendulum(friction=friction, physics_step=step), name)
    simulator.reset(RobotState(0.0, np.zeros(1), np.array([2.0]), np.zeros(1)))
    return float(simulator.step(Command(np.zeros(1)), 0.5).qd[0])


def about_the_hinge() -> float:
    """Return the pendulum's moment of inertia about its hinge [kg m^2]."""
    body = Tree.parse(PENDULUM).links[0]
    return float(body.inertia[0, 0] + body.mass * 0.3**2)


@pytest.mark.parametrize("name", ENGINES)
def test_friction_that_only_the_description_has_is_left_out(name: str) -> None:
    assert coast(name, None) == pytest.approx(2.0, abs=1e-12)


def test_dry_friction_follows_its_smoothed_law() -> None:
    """I w' = -c w / s, s^2 = w^2 + e^2, integrates to s - e artanh(e / s) = const - c t / I."""
    c, e = 0.5, 0.3

    def integral(w: float) -> float:
        s = np.hypot(w, e)
        return float(s - e * np.arctanh(e / s))

    friction = JointFriction(np.zeros(1), np.array([c]), e)
    expected = integral(2.0) - c * 0.5 / about_the_hinge()
    assert integral(coast("mujoco", friction)) == pytest.approx(expected, abs=1e-10)
    errors = [abs(integral(coast("dart", friction, step)) - expected) for step in (1e-3, 5e-4)]
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.02)


def test_stiction_falls_to_dry_friction_as_a_joint_gets_under_way() -> None:
    """Stribeck's law at four rates by hand; without stiction it is the old law, bit for bit."""
    e, c, s = 1e-6, 0.5, 0.8
    friction = JointFriction(np.zeros(1), np.array([c]), e, np.array([s]), stribeck_speed=0.02)
    for rate, dry in [(1e-3, s), (0.02, c + 0.3 / np.e), (0.04, c + 0.3 / np.e**4), (0.5, c)]:
        assert friction.efforts(np.array([rate]))[0] == pytest.approx(-dry, rel=3e-3)
    rates = np.random.default_rng(8).normal(size=3)
    old = JointFriction(np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.5, 0.6]), 0.01)
    expected = -rates * (old.viscous + old.constant / np.sqrt(rates * rates + 0.01**2))
    assert np.array_equal(old.efforts(rates), expected)
    equal = replace(old, stiction=old.constant)
    assert np.array_equal(equal.efforts(rates), expected)
    with pytest.raises(AccordError, match="stiction"):
        replace(old, stiction=old.constant - 0.1)


@pytest.mark.parametrize("name", ENGINES)
def test_stiction_breaks_away_above_its_torque(name: str) -> None:
    """Below it the joint creeps, by less than the smoothing speed; above it, it goes."""
    friction = JointFriction(np.zeros(1), np.array([0.5]), 1e-3, np.array([0.8]))
    simulator = engine(pendulum(friction=friction, physics_step=1e-4), name)
    rates = []
    for effort in (0.7, 0.9):
        simulator.reset(RobotState(0.0, np.zeros(1), np.zeros(1), np.zeros(1)))
        rates.append(simulator.step(Command(np.array([effort])), 0.5).qd[0])
    w = rates[0]
    assert 0 < w < 2e-3
    braked = (0.5 + 0.3 * np.exp(-((w / 0.01) ** 2))) * w / np.hypot(w, 1e-3)
    assert braked == pytest.approx(0.7, rel=1e-9)
    assert rates[1] == pytest.approx((0.9 - 0.5) * 0.5 / about_the_hinge(), rel=0.03)


@pytest.mark.parametrize(("effort", "stop"), [(100.0, 0.3), (-100.0, -0.4)])
@pytest.mark.parametrize("step", [1e-3, 5e-4])
def test_mujocos_stops_are_as_stiff_as_mujoco_allows(
    effort: float, stop: float, step: float
) -> None:
    """A joint pushed at a stop rests beyond it, as far as MuJoCo's documentation has it.

    By "Computation: constraint model" a'' = (1 - d) a + d (-b v - k r), where a is what there
    would be without the stop, r how far the joint is beyond it and k = d / (d T D)^2. At rest
    r = (1 - d) T^2 D^2 a: with the largest impedance d that MuJoCo has, the shortest time
    constant T that it takes, two steps, and critical damping, D = 1.
    """
    mujoco = pytest.importorskip("mujoco")
    model = pendulum(urdf=STOPPED, effort_limits=np.full(1, 100.0), physics_step=step)
    simulator = engine(model, "mujoco")
    simulator.reset(RobotState(0.0, np.array([0.9 * stop]), np.zeros(1), np.zeros(1)))
    q = simulator.step(Command(np.array([effort])), 0.5).q[0]
    beyond = (1.0 - mujoco.mjMAXIMP) * (2.0 * step) ** 2 * effort / about_the_hinge()
    assert q - stop == pytest.approx(beyond, rel=1e-6)


def test_a_hinge_to_the_world_is_a_joint_of_a_tree_that_starts_there() -> None:
    assert [joint.name for joint in Tree.parse(PENDULUM, root="world").moving] == ["hinge"]
    assert Tree.parse(PENDULUM).moving == ()
    with pytest.raises(AccordError, match="it has no world"):
        Tree.parse(CHAIN, root="world")
    with pytest.raises(AccordError, match="joint hinge is missing"):
        engine(pendulum(root="base_link"), "mujoco")

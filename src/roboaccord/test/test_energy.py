"""The energy book: its items against closed forms, and meters that change no motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from roboaccord.contract.contact import Contact, Fixture
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.tree import Tree
from roboaccord.engines import names_for_models, simulate_model, spec
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import EngineModel
from roboaccord.numerics.rotations import (
    quaternion_matrix,
    quaternion_product,
    rpy_quaternion,
    turn_quaternion,
)
from roboaccord.run.energy_book import Stored, net_work
from roboaccord.simulators.friction import JointFriction
from running import or_skip

pytestmark = pytest.mark.thorough

CONTACT = ["dart", "mujoco"]  # engines that take it
ENGINES = names_for_models()
# Of energies of some joules after 400 steps: 4e6 roundings in double precision, 8 in single.
ROUND_OFF = {"float64": 1e-9, "float32": 1e-6}
# s: physics step at which the error of the trapezoidal rule is above round-off.
STEP = {"float64": 1e-3, "float32": 1e-2}
MASS, RADIUS, INERTIA = 2.0, 0.3, 0.05  # of the bar; from the hinge to its centre
ABOUT_HINGE = INERTIA + MASS * RADIUS**2
STOP = 0.5  # rad
BAR = f"""<robot name="bar"><link name="world"/>
  <link name="base_link"><inertial><origin xyz="0 0 -{RADIUS}"/><mass value="{MASS}"/>
    <inertia ixx="{INERTIA}" iyy="0.04" izz="0.02" ixy="0.002" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="KIND"><parent link="world"/><child link="base_link"/>
    <axis xyz="1 0 0"/><limit lower="-{STOP}" upper="{STOP}" effort="9" velocity="99"/></joint>
</robot>"""
SIDE = 0.2  # m
BOX = f"""<robot name="box"><link name="base_link">
  <inertial><mass value="1.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
  </inertial><collision><geometry><box size="{SIDE} {SIDE} {SIDE}"/></geometry></collision>
</link></robot>"""


def engine(model: EngineModel, name: str) -> EngineSimulator:
    """Return the simulator of a model, or skip with the reason."""
    with or_skip():
        return simulate_model(model, name)


def bar(
    name: str, *, friction: JointFriction | None = None, stops: bool = False, step: float = 1e-3,
    gravity: float = 0.0,
) -> EngineSimulator:  # fmt: skip
    """Return a bar on a hinge to the world."""
    model = EngineModel(
        urdf=BAR.replace("KIND", "revolute" if stops else "continuous"), base="fixed",
        joints=("hinge",), effort_limits=np.ones(1), physics_step=step, gravity=gravity,
        root="world", friction=friction,
    )  # fmt: skip
    return engine(model, name)


def stop_error(name: str) -> float:
    """Return the relative error of the losses in stops.

    Soft stops minimise a cost by iteration, which ends where the cost stays the same: in forces,
    of which it is the square, that is the root of the rounding. MuJoCo's C goes on to round-off.
    """
    engine = spec(name)
    if engine.precision == "float32" and "soft_stops" not in engine.lacks:
        return float(np.sqrt(2.0 * engine.rounding))
    return ROUND_OFF[engine.precision]


def rebound(name: str, step: float) -> float:
    """Return the part of the energy that a stop gives back at most.

    MuJoCo's are a little springy: exp(-4). Springs k with dampers d, which an engine has as
    settings, change a rate v by -h (k x + d v) / I, at a depth of x = h v at most.
    """
    settings = spec(name).settings()
    stiffness, damping = (getattr(settings, f"stop_{x}", 0.0) for x in ("stiffness", "damping"))
    over = step * (stiffness * step + damping) / ABOUT_HINGE - 1.0
    return float(max(0.05, over**2 if stiffness else 0.0))


def turning(rate: float, angle: float = 0.0) -> RobotState:
    return RobotState(0.0, np.array([angle]), np.array([rate]), np.zeros(1))


def run_of(states: Sequence[RobotState], wrench: Array | None = None) -> Trajectory:
    joints = tuple(f"joint_{i}" for i in range(len(states[0].q)))
    return replace(Trajectory.from_states(joints, states), wrench=wrench)


def test_kinetic_energy_of_a_body_that_spins_and_flies() -> None:
    """Half m v.v of its centre, v + w x c, and half w.I w, with its inertia turned as it is."""
    inertia = '<inertia ixx="0.03" iyy="0.05" izz="0.06" ixy="0.01" ixz="-0.004" iyz="0.007"/>'
    tree = Tree.parse(
        '<robot name="body"><link name="base_link"><inertial><origin xyz="0.1 -0.2 0.05" '
        f'rpy="0.4 0.5 0.6"/><mass value="2"/>{inertia}</inertial></link></robot>'
    )
    matrix = np.array([[0.03, 0.01, -0.004], [0.01, 0.05, 0.007], [-0.004, 0.007, 0.06]])
    turn = quaternion_matrix(rpy_quaternion(0.4, 0.5, 0.6))
    rng = np.random.default_rng(1)
    for _ in range(5):
        v, w = rng.normal(size=(2, 3))
        orientation = turn_quaternion(rng.normal(size=3))
        state = RobotState(
            0.0, np.zeros(0), np.zeros(0), np.zeros(0), rng.normal(size=3), orientation,
            np.concatenate([v, w]),
        )  # fmt: skip
        centre = v + np.cross(w, [0.1, -0.2, 0.05])
        rolling = 0.5 * w @ turn @ matrix @ turn.T @ w
        found, _ = Stored(tree, (), 9.81).of(state)
        assert found == pytest.approx(0.5 * 2.0 * centre @ centre + rolling, rel=1e-12)
        assert rolling > 1e-3


def test_rotors_add_to_the_kinetic_energy() -> None:
    tree = Tree.parse(BAR.replace("KIND", "continuous"), root="world")
    plain, _ = Stored(tree, ("hinge",), 9.81).of(turning(3.0))
    assert plain == pytest.approx(0.5 * ABOUT_HINGE * 9.0)
    more, _ = Stored(tree, ("hinge",), 9.81, np.array([0.2])).of(turning(3.0))
    assert more == pytest.approx(plain + 0.1 * 9.0)


def test_potential_energy_is_the_weight_times_the_height_of_the_centre() -> None:
    tree = Tree.parse(BAR.replace("KIND", "continuous"), root="world")
    stored = Stored(tree, ("hinge",), 3.7)
    rise = stored.of(turning(0.0, np.pi / 3))[1] - stored.of(turning(0.0))[1]
    assert rise == pytest.approx(MASS * 3.7 * RADIUS * (1.0 - 0.5))


def test_an_effort_works_over_the_interval_that_ends_at_its_sample() -> None:
    """Efforts of 3 and -5 N m over 0.1 and 0.4 rad; what was held before the start did nothing."""
    efforts, angles = (100.0, 3.0, -5.0), (0.0, 0.1, 0.5)
    states = [
        replace(turning(0.0, q), time=0.1 * i, effort=np.array([effort]))
        for i, (q, effort) in enumerate(zip(angles, efforts, strict=True))
    ]
    np.testing.assert_allclose(net_work(run_of(states)), [0.0, 0.3, 0.3 - 2.0], atol=1e-12)


def test_a_wrench_works_by_way_and_by_turn() -> None:
    """2 N along y over 0.3 m, and 0.5 N m about the axis about which the base turns by 0.4 rad."""
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    first = rpy_quaternion(0.3, 0.2, -0.5)
    states = []
    for shift, angle in ((0.0, 0.0), (0.3, 0.4)):
        turned = quaternion_product(turn_quaternion(angle * axis), first)
        states.append(RobotState(
            0.0, np.zeros(0), np.zeros(0), np.zeros(0), np.array([1.0, shift, 0.0]),
            turned, np.zeros(6),
        ))  # fmt: skip
    wrench = np.array([np.full(6, 9.0), [0.0, 2.0, 0.0, *(0.5 * axis)]])
    assert net_work(run_of(states, wrench))[1] == pytest.approx(0.6 + 0.2)


@pytest.mark.parametrize("name", ENGINES)
def test_a_stop_takes_what_the_bar_had(name: str) -> None:
    """Nothing else acts and the inertia is constant: the account is exact, whatever is left."""
    simulator = bar(name, stops=True)
    simulator.meter()
    simulator.reset(turning(2.0))
    after = simulator.step(Command(np.zeros(1)), 0.4)
    had, has = (0.5 * ABOUT_HINGE * rate**2 for rate in (2.0, float(after.qd[0])))
    taken = simulator.take_losses()
    assert has < rebound(name, simulator.physics_step) * had
    assert taken["stops"] == pytest.approx(had - has, rel=stop_error(name))
    assert taken["impacts"] == taken["friction"] == taken["damping"] == 0.0
    assert simulator.take_losses()["stops"] == 0.0


@pytest.mark.parametrize("name", ENGINES)
def test_a_joint_that_rests_on_its_stop_loses_nothing(name: str) -> None:
    """But the effort's work at a rate so small that a step rounds it away from the position."""
    simulator = bar(name, stops=True)
    simulator.meter()
    simulator.reset(turning(0.0, STOP))
    simulator.step(Command(np.array([0.8])), 0.3)  # it settles
    simulator.take_losses()
    simulator.step(Command(np.array([0.8])), 0.3)
    unseen = 0.5 * spec(name).rounding * STOP / simulator.physics_step  # rad/s
    assert abs(simulator.take_losses()["stops"]) < 0.8 * unseen * 0.3 + ROUND_OFF["float64"]


@pytest.mark.parametrize("name", ENGINES)
def test_viscous_friction_takes_what_the_closed_form_says(name: str) -> None:
    """I w' = -b w: half I w0^2 (1 - exp(-2 b t / I)).

    The power decays by 2 b / I, so the trapezoidal rule errs by (b h / I)^2 / 3 of the whole, and
    Runge-Kutta by far less; Euler's error is of first order. Roundings of the rate in each step add
    up as the root of their number.
    """
    b, w0, t = 0.4, 2.0, 0.5
    first, rounding = STEP[spec(name).precision], spec(name).rounding
    friction = JointFriction(np.array([b]), np.zeros(1), 1.0)
    expected = 0.5 * ABOUT_HINGE * w0**2 * (1.0 - np.exp(-2.0 * b * t / ABOUT_HINGE))
    errors = []
    for step in (first, first / 2.0):
        simulator = bar(name, friction=friction, step=step)
        simulator.meter()
        simulator.reset(turning(w0))
        simulator.step(Command(np.zeros(1)), t)
        errors.append(abs(simulator.take_losses()["damping"] / expected - 1.0))
    if simulator.order > 1:
        rule = (b * first / ABOUT_HINGE) ** 2 / 3.0
        rounded = rounding * np.sqrt(t / first)
        assert errors == pytest.approx([rule, rule / 4.0], rel=0.01, abs=rounded)
    else:
        assert errors[0] < b * first / ABOUT_HINGE
        assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.02)


@pytest.mark.parametrize("name", ENGINES)
def test_a_swing_with_dry_friction_closes_by_order(name: str) -> None:
    """Potential to kinetic energy and friction; the rest falls with the step, h^2 by the rule."""
    friction = JointFriction(np.array([0.05]), np.array([0.3]), 0.5)
    rests = []
    first = STEP[spec(name).precision]
    for step in (2.0 * first, first):
        simulator = bar(name, friction=friction, step=step, gravity=9.81)
        simulator.meter()
        start = simulator.reset(turning(0.0, 1.2))
        end = simulator.step(Command(np.zeros(1)), 0.9)
        stored = [
            0.5 * ABOUT_HINGE * float(s.qd[0]) ** 2 - MASS * 9.81 * RADIUS * float(np.cos(s.q[0]))
            for s in (start, end)
        ]
        taken = simulator.take_losses()["damping"]
        assert taken > 0.3
        rests.append(abs(stored[0] - stored[1] - taken))
    order = min(simulator.order, 2)
    assert rests[0] / rests[1] == pytest.approx(2.0**order, rel=0.2)


def sliding_box(name: str, step: float) -> tuple[EngineSimulator, RobotState]:
    """Return a box on the ground, and a state in which it slides along x at 2 m/s."""
    ground = Fixture(name="ground", size=np.array([9.0, 9.0, 1.0]), position=np.array([0, 0, -0.5]))
    contact = Contact(
        pairs=(("base_link", "ground"),), friction={"base_link": 0.5, "ground": 0.5},
        fixtures=(ground,),
    )  # fmt: skip
    model = EngineModel(
        urdf=BOX, base="free", joints=(), effort_limits=np.zeros(0), physics_step=step,
        gravity=9.81, contact=contact,
    )  # fmt: skip
    state = RobotState(
        0.0, np.zeros(0), np.zeros(0), np.zeros(0), np.array([0.0, 0.0, 0.5 * SIDE]),
        twist=np.array([2.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    )  # fmt: skip
    return engine(model, name), state


@pytest.mark.parametrize("name", CONTACT)
def test_friction_of_contacts_takes_what_a_sliding_box_has(name: str) -> None:
    """3 J, and it stops: mu g h of 2 m/s, 0.25 %, is what a first-order step can err.

    DART's box presses with what it would fall in a step, at most. MuJoCo's hops on its corners as
    it slides, and loses a part as it comes down.
    """
    simulator, state = sliding_box(name, 1e-3)
    simulator.meter()
    start = simulator.reset(state)
    end = simulator.step(Command(np.zeros(0)), 0.6)  # v / mu g = 0.41 s
    assert np.abs(end.twist).max() < 1e-2
    sunk = 1.5 * 9.81 * float(start.position[2] - end.position[2])
    taken = simulator.take_losses()
    assert taken["friction"] + taken["impacts"] == pytest.approx(3.0 + sunk, rel=5e-3)
    assert abs(taken["impacts"]) < (0.5 * 1.5 * (9.81 * 1e-3) ** 2 if name == "dart" else 0.1 * 3.0)
    assert taken["stops"] == taken["damping"] == 0.0


@pytest.mark.parametrize("name", CONTACT)
def test_an_impact_takes_what_a_dropped_box_has_and_friction_nothing(name: str) -> None:
    """Half m v^2 at 1 m/s, and the weight's work m g v h of the step in which it lands, at most."""
    simulator, state = sliding_box(name, 1e-3)
    simulator.meter()
    start = simulator.reset(replace(state, twist=np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0])))
    end = simulator.step(Command(np.zeros(0)), 0.5)
    assert np.abs(end.twist).max() < 1e-2
    sunk = 1.5 * 9.81 * float(start.position[2] - end.position[2])
    taken = simulator.take_losses()
    assert taken["impacts"] == pytest.approx(0.75 + sunk, abs=1.5 * 9.81 * 1e-3)
    assert abs(taken["friction"]) < 1e-6


@pytest.mark.parametrize("name", CONTACT)
def test_a_meter_changes_no_bit_of_the_motion(name: str) -> None:
    """With stops and efforts, and with contacts."""
    ends = []
    for metered in (False, True):
        simulator = bar(name, stops=True, gravity=9.81)
        box, state = sliding_box(name, 1e-3)
        if metered:
            simulator.meter()
            box.meter()
        simulator.reset(turning(1.0))
        box.reset(state)
        swung = simulator.step(Command(np.array([0.5])), 0.7)
        slid = box.step(Command(np.zeros(0)), 0.3)
        ends.append(
            np.concatenate([swung.q, swung.qd, slid.position, slid.orientation, slid.twist])
        )
    assert np.array_equal(ends[0], ends[1])

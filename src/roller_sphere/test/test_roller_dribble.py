"""A carrier that takes the ball along: its geometry, reference, and what engines do."""

from __future__ import annotations

import numpy as np
import pytest
from roboaccord.contract.state import Command, Target
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.run.loop import make_simulator
from robot_commands import commands_of
from roller_sphere.controllers.dribble import CARRIER_BANDWIDTH, carried_mass
from roller_sphere.dribbling.dynamics import configure
from roller_sphere.dribbling.reference import fixed_masses
from roller_sphere.model import hold
from running import run_in, setup_of
from slow_cases import late

pytestmark = pytest.mark.thorough

MIDDLE = "initial.spread_q=0"  # the ball exactly in its place
STRAIGHT = ("controller.turn_rate=0", "controller.speed=0.5", MIDDLE)
DART = "roller_sphere dribble --engine dart"
_, complaint = commands_of("run")
VISCOUS = "friction={law: viscous, coefficient: 100}"


def dribbling(*changes):
    """Return the setup of the scenario with changes."""
    return setup_of("roller_sphere", "dribble", *changes)


def test_rollers_touch_where_they_slide_to():
    """Distance of centres is the sum of radii, for random offsets; far away there is none."""
    p = dribbling().parameters
    rng = np.random.default_rng(0)
    offset = np.column_stack([rng.uniform(-0.03, 0.03, (50, 2)), np.zeros(50)])
    reach = p.radius + p.roller_radius
    centres = (reach - hold.slide_displacements(p, offset))[..., None] * p.rig.normals
    assert np.linalg.norm(centres - offset[:, None], axis=2) == pytest.approx(reach, abs=1e-15)
    assert hold.is_held(p, offset).all()
    assert not hold.is_held(p, np.array([[0.1, 0.0, 0.0], [0.0, 0.14, 0.0]])).any()


def test_offsets_turn_with_the_carrier():
    """A ball that stays in its place has none, wherever the carrier is and points."""
    p = dribbling().parameters
    q = np.array([3.0, -2.0, 1.3, 0.4, 2.1])
    at = q[2:4] - [p.ball_ahead, 0.0] + p.ball_ahead * np.array([np.cos(2.1), np.sin(2.1)])
    left = np.array([-np.sin(2.1), np.cos(2.1)])
    position = np.array([*(at + 0.01 * left), p.radius])
    assert hold.ball_offsets(p, q, position) == pytest.approx([0.0, 0.01, 0.0], abs=1e-15)


@pytest.mark.parametrize(
    "law", [*late(VISCOUS), "friction={law: coulomb, mu: 0.5, slip_speed: 0.3}"]
)
def test_reference_is_of_the_second_order(law):
    """The error of places, angles and turning against a fine step falls by four."""
    setup = dribbling("controller.straight=0.1", law)

    def end(parts):
        found = run_in(setup, duration=0.4, step=1e-3 / parts)
        return [found.position[-1], found.q[-1, :2], found.q[-1, 2:], found.orientation[-1]]

    ends = {n: end(n) for n in (1, 2, 16)}
    for one, two, fine in zip(ends[1], ends[2], ends[16]):
        coarse, half = np.linalg.norm(one - fine), np.linalg.norm(two - fine)
        assert np.log2(coarse / half) == pytest.approx(2.0, abs=0.2)


def test_ball_and_carrier_keep_their_energy():
    """Work put in is kinetic energy and potential of the presses, but for friction: without any.

    With friction next to none the ball is pushed forward by the presses alone: its energy with
    the carrier's is what the presses give, F times their slides, and the rollers' weight.
    """
    setup = dribbling("friction={law: viscous, coefficient: 0}", "controller={name: none}", MIDDLE)
    p = setup.parameters
    found = run_in(setup, duration=0.08, step=1e-3 / 8)
    state = found.state(len(found) - 1)
    spin = quaternion_matrix(state.orientation) @ state.twist[3:]
    y = np.concatenate([spin, state.qd])
    place = np.array([*state.position[:2], state.q[2] - p.ball_ahead, *state.q[3:5]])
    configuration, _ = configure(hold.geometry_of(p), place, y, True)
    mass = p.roller_mass + p.holder_mass
    kinetic = 0.5 * y @ fixed_masses(p) @ y + 0.5 * mass * ((configuration.J @ y) ** 2).sum()
    kinetic += p.roller_inertia * sum(y[3 + i] * y[7] * -p.rig.axes[i, 2] for i in (0, 1))
    slid = hold.slide_displacements(p, hold.ball_offsets(p, state.q, state.position))
    given = (p.press_force * slid + mass * p.gravity * slid * p.rig.normals[:, 2]).sum()
    assert given > 0.05
    assert kinetic == pytest.approx(given, rel=1e-4)


@pytest.mark.parametrize("engine", ["reference", "dart", "mujoco"])
def test_ball_is_carried_straight_on(engine):
    """It stays within the stroke, and turns as a ball does that rolls at the carrier's speed."""
    setup = dribbling(*STRAIGHT)
    found = run_in(setup, engine, duration=1.0)
    p = setup.parameters
    assert hold.held_time(p, found) == 1.0
    # The presses push the ball ahead and so the carrier back, whose loop is a proportional one.
    push = -p.press_force * p.rig.normals[:, 0].sum()
    lag = push / (carried_mass(p) * CARRIER_BANDWIDTH)
    assert 0.5 - lag < found.qd[-1, 2] < 0.5
    spin = quaternion_matrix(found.orientation[-1]) @ found.twist[-1, 3:]
    moved = (found.position[-1] - found.position[-101]) / 0.1
    assert moved[0] == pytest.approx(p.radius * spin[1], rel=0.02)
    assert moved[0] == pytest.approx(found.qd[-1, 2], rel=0.1)


def test_a_lost_ball_is_told_once_and_rolls_on():
    """Pressed rollers without friction shoot the ball away; then nothing acts on it."""
    setup = dribbling("friction={law: viscous, coefficient: 0}", "controller={name: none}")
    found = run_in(setup, duration=1.0)
    (event,) = found.events
    assert event.kind == "ball_lost"
    assert event.time == pytest.approx(hold.held_time(setup.parameters, found), abs=2e-3)
    assert found.twist[-1] @ found.twist[-1] == pytest.approx(found.twist[-200] @ found.twist[-200])
    assert found.position[-1, 0] > found.position[-200, 0] + 0.1


def test_the_carrier_turns_as_easily_however_far_a_lost_ball_is():
    """Its rollers are pressed out as far as they go, and turn with it but for their own spin."""
    setup = dribbling("friction={law: viscous, coefficient: 0}", "controller={name: none}")
    p, simulator = setup.parameters, make_simulator(setup)
    simulator.reset(setup.initial)
    at = (p.radius + p.roller_radius - 2.0 * p.roller_radius) * p.rig.normals[:, :2]
    at[:, 0] += p.ball_ahead
    held, mass = p.roller_mass + p.holder_mass, carried_mass(p) + 0.01  # a stage's
    inertia = p.carrier_inertia + 2.0 * (p.roller_inertia + 1e-5) + held * (at**2).sum()
    inertia -= (
        p.roller_inertia * (p.rig.axes[:, 2] ** 2).sum() + (held * at.sum(axis=0)[0]) ** 2 / mass
    )
    for _ in range(2):
        before = simulator.step(Command(np.zeros(5)), 2.0)
        after = simulator.step(Command(np.array([0.0, 0.0, 0.0, 0.0, 10.0])), 1e-3)
        assert after.qd[4] - before.qd[4] == pytest.approx(1e-2 / inertia, rel=1e-6)


def test_cmd_vel_goes_before_the_program():
    """The carrier takes up what is asked, forward, sideways and in turn, within its limits."""
    setup = dribbling(MIDDLE)
    target = Target(np.array([0.3, 0.1, 0.0, 0.0, 0.0, 0.2]))
    found = run_in(setup, duration=1.0, target=target)
    yaw = found.q[-1, 4]
    velocity = [0.3 * np.cos(yaw) - 0.1 * np.sin(yaw), 0.3 * np.sin(yaw) + 0.1 * np.cos(yaw)]
    assert found.qd[-1, 2:4] == pytest.approx(velocity, abs=0.02)
    assert found.qd[-1, 4] == pytest.approx(0.2, abs=0.02)
    rates = np.diff(found.qd[:, 2:4], axis=0) / 1e-3
    assert np.abs(rates).max() < 2.0 * np.sqrt(2) + 0.5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (DART + ' --set friction={"law":"coulomb"}', "contact only"),
        ("""roller_sphere headings --set 'controller={"name":"dribble"}'""", "base must be free"),
        ("roller_sphere dribble --set controller.acceleration=0", "must be positive"),
        (
            "roller_sphere dribble --set controller.recall=4",
            "unknown key controller.recall; did you mean controller.proportional_gain?",
        ),
        (
            "roller_sphere dribble --set controller.learning=0",
            "unknown key controller.learning; did you mean controller.integral_gain?",
        ),
        ("roller_sphere dribble --set controller.integral_gain=-1", "must not be negative"),
    ],
)
def test_wrong_dribbles(complaint, words, message):
    pytest.importorskip("dartpy")
    assert message in complaint(words)

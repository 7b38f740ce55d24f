"""The arm under control: it gets where it is to be, in all engines alike, and touches nothing."""

from __future__ import annotations

import numpy as np
import pytest
from packbot.contact.clearance import Clearance
from packbot.model.arm import Arm, Kinematics
from packbot.model.parameters import JOINTS, pose
from roboaccord import AccordError, RobotState, Target, make_controller, make_simulator
from roboaccord.run.metrics import metrics_of
from running import run_in, setup_of
from scipy.linalg import expm

pytestmark = pytest.mark.thorough

ENGINES = ("reference", "dart", "mujoco")


def made(name, *changes):
    return setup_of("packbot", name, *changes)


@pytest.mark.parametrize(
    ("name", "changes", "watch"),
    [
        ("reach", ["controller={name: reach, pose: ready}"], 0.0),
        ("loose_elbow2", [], 0.0),
        ("watch_target", [], 0.8),
    ],
)
def test_pictures_are_about_the_point_that_has_a_target(name, changes, watch):
    """At the pose with the target it lies there; anywhere it is pinocchio's tip."""
    setup = made(name, *changes)
    aim, kinematics = setup.robot.aim(setup), Kinematics(setup, watch)
    links = [link.name for link in setup.tree.links]
    for q in (pose("ready"), np.linspace(-0.4, 0.9, 7)):
        origins, turns = setup.tree.forward(JOINTS, q, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))
        i = links.index(aim.link)
        place = origins[i] + turns[i] @ aim.offset
        assert place == pytest.approx(kinematics.tip(q), abs=1e-12)
    given = setup.scenario.controller.get("target")
    assert aim.target == pytest.approx(given or kinematics.tip(pose("ready")), abs=1e-12)


def run(setup, engine, duration, velocity=None, seed=0):
    return run_in(setup, engine, duration=duration, target=Target(velocity=velocity))


@pytest.fixture(scope="module")
def reaches():
    """Return the runs of the scenario reach in all engines."""
    setup = made("reach")
    return setup, {engine: run(setup, engine, 4.5) for engine in ENGINES}


def test_reach_is_at_rest_at_the_target(reaches):
    """Within 1 cm asked for; the model is exact, so that only the decay of the error is left.

    A second after the way's end 2 mrad (the next test) have come down by (1 + w t) exp(-w t), 5e-4.
    """
    setup, runs = reaches
    target = setup.scenario.controller["target"]
    for engine, trajectory in runs.items():
        figures = metrics_of(setup, trajectory)
        assert figures["contacts"] == 0 and figures["least_distance"] > 0.02, engine
        assert np.abs(trajectory.qd[-1]).max() < 1e-4, engine
        assert np.abs(Kinematics(setup).tip(trajectory.q[-1]) - target).max() < 1e-4
        assert figures["tip_error"] < 1e-4


def test_reach_keeps_to_its_plan(reaches):
    """In all engines the arm is within 2 mrad of the planned angles; the hand by that in 4 mm."""
    setup, runs = reaches
    controller = make_controller(setup)
    controller.reset(0)
    for engine, trajectory in runs.items():
        planned = np.array([controller.motion.at(time)[0] for time in trajectory.time])
        assert np.abs(trajectory.q - planned).max() < 2e-3, engine


def test_errors_decay_by_the_bandwidth():
    """A push of the shoulder decays by e'' = -2 w e' - w^2 e, efforts held for a period.

    Exact for a joint of constant inertia; the turret's is, while the others hold still.
    """
    setup = made("reach", "control_period=0.001", "physics_step=0.001",
                 "controller={name: velocity, clearance: 0, bandwidth: 10}")  # fmt: skip
    simulator, controller = make_simulator(setup), make_controller(setup)
    controller.reset(0)
    state = simulator.reset(setup.initial)
    controller.update(state, None)  # the angles to hold are those of now
    start = setup.initial.q + 0.01 * np.eye(7)[0]
    state = simulator.reset(RobotState(0.0, start, np.zeros(7), np.zeros(7)))
    for _ in range(200):
        state = simulator.step(controller.update(state, None), 0.001)
    decay = expm(np.array([[0.0, 1.0], [-100.0, -20.0]]) * 0.2) @ [0.01, 0.0]
    # Held efforts lag by half a period, 0.5 ms in 0.2 s.
    assert state.q[0] == pytest.approx(decay[0], rel=0.02)


@pytest.mark.parametrize("engine", ["reference", "mujoco"])
def test_velocities_are_followed_and_clipped(engine):
    """Ramps of 2 rad/s^2 up to the rate that is asked for, or to the speed limit.

    The ramps end after 0.75 s; at 1.5 s what they left of errors has decayed to some 1 %.
    """
    setup = made("teleop")
    asked = np.array([0.4, -0.2, 0.0, 5.0, 0.0, 0.0, -9.0])
    trajectory = run(setup, engine, 1.5, asked)
    rates = np.clip(asked, -setup.parameters.of_joints("speed_limit"),
                    setup.parameters.of_joints("speed_limit"))  # fmt: skip
    ramp = np.abs(rates) / 2.0
    moved = rates * (1.5 - 0.5 * ramp)
    assert trajectory.qd[-1] == pytest.approx(rates, abs=1e-3)
    assert trajectory.q[-1] - setup.initial.q == pytest.approx(moved, abs=1e-3)


def test_nothing_asked_is_held_against_gravity():
    setup = made("teleop")
    trajectory = run(setup, "mujoco", 0.5)
    assert np.abs(trajectory.q - setup.initial.q).max() < 1e-6
    assert np.abs(trajectory.effort[-1]).max() > 5.0  # N m; the arm hangs on its motors


def test_a_new_controller_holds_still_without_a_reset():
    """With gravity's torques, and no rate to begin with."""
    setup = made("teleop")
    command = make_controller(setup).update(setup.initial, None)
    gravity = Arm.of(setup).bias(setup.initial.q, np.zeros(7))
    assert command.effort == pytest.approx(gravity, abs=1e-9)


def test_joints_stop_short_of_their_limits():
    setup = made("teleop", "controller.clearance=0")
    trajectory = run(setup, "mujoco", 5.0, np.array([9.0, 0, 0, 0, -9.0, 0, 9.0]))
    p = setup.parameters
    lower, upper = p.of_joints("lower"), p.of_joints("upper")
    assert (trajectory.q > lower).all() and (trajectory.q < upper).all()
    end = trajectory.q[-1]
    assert [upper[0] - end[0], end[4] - lower[4], upper[6] - end[6]] == pytest.approx(
        [0.01] * 3, abs=1e-3
    )
    assert not trajectory.events


def test_velocities_into_the_ground_are_refused():
    """The arm stops at the clearance, goes no closer, and can be driven away again."""
    setup = made("teleop", "initial.q.shoulder=1.5")
    clearance = Clearance.of(setup)
    down = np.array([0, -0.5, 0, 0, 0, 0, 0])
    trajectory = run(setup, "mujoco", 2.0, down)
    distances = [clearance.closest(q)[1] for q in trajectory.q[::5]]
    assert min(distances) > 0.018  # m; of 0.02, less what a period moves
    assert distances[-1] < 0.03
    assert np.abs(trajectory.qd[-1]).max() < 1e-2
    controller = make_controller(setup)
    controller.reset(0)
    simulator = make_simulator(setup, "mujoco")
    state = simulator.reset(trajectory.state(len(trajectory) - 1))
    for _ in range(50):
        state = simulator.step(controller.update(state, Target(velocity=-down)), 0.01)
    assert state.qd[1] == pytest.approx(0.5, abs=5e-3)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("controller={name: reach}", "a reach takes a target x, y, z or a pose"),
        ("controller={name: reach, target: [1, 2]}", "target: three numbers are needed"),
        ("controller={name: reach, pose: ready, pitch: 1}", "a pose has its own pitch"),
        ("controller={name: reach, pose: ready, bandwidth: 100}", "up to 50 rad/s"),
        ("controller={name: reach, pose: ready, look: 3}", "look is 3, neither true nor false"),
        ("controller={name: velocity, acceleration: 0}", "acceleration is 0, and must be positive"),
        ("controller={name: velocity, clearance: -1}", "clearance must not be negative"),
        ("controller={name: velocity, approach: 0}", "approach is 0, and must be positive"),
    ],
)
def test_wrong_controllers_are_refused(change, expected):
    with pytest.raises(AccordError, match=expected):
        make_controller(made("reach", change))


def test_joints_go_to_positions_no_faster_than_allowed_and_stop_there():
    """As sliders ask for them: the wrist, and the turret; the other joints are asked for nothing.

    A trapezoid of speed covers d at speed v and acceleration a in d / v + v / a.
    """
    setup = made("teleop")
    joints, start = list(setup.joints), setup.initial.q
    position = np.full(len(joints), np.nan)
    position[[joints.index("wrist"), joints.index("turret")]] = [1.0, -0.5]
    motion = run_in(setup, duration=4.0, target=Target(position=position))
    asked = ~np.isnan(position)
    assert np.abs(motion.q[-1] - position)[asked].max() < 1e-4
    assert np.abs(motion.q - start)[:, ~asked].max() < 1e-4
    assert np.abs(motion.qd).max() < 0.5 * 1.01
    wrist = motion.q[:, joints.index("wrist")]
    arrived = motion.time[np.flatnonzero(wrist > 1.0 - 0.01)[0]]
    assert arrived == pytest.approx(1.0 / 0.5 + 0.5 / 2.0, abs=0.1)

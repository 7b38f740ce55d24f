"""The ball between its rollers in a real Gazebo server, against the paper's model."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from running import run_in

pytest.importorskip("roller_sphere", reason="the roller sphere is not installed")

from gazebo_server import ROOT, crawl, gazebo, nanoseconds, put_in, step, wait_for
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from roboaccord_ros.gazebo.transport import message_class
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.odometry import ball_spin

STEP = 0.001  # s, of world bearing
HOLD, RAMP, COUNT = 0.6, 0.1, 3  # s, s, headings
SOFT = 1e-5  # DART's constraint force mixing: what is left of a speed that a contact takes away


def scenario(alpha, *changes):
    """Return a fan of headings with rollers at +-alpha [degrees]."""
    turn = math.radians(alpha)
    angles = [f"parameters.alpha_1={turn!r}", f"parameters.alpha_2={-turn!r}"]
    fan = f"controller={{name: headings, speed: 0.5, count: {COUNT}, hold: {HOLD}, ramp: {RAMP}}}"
    changes = [*angles, fan, f"duration={HOLD * COUNT}", *changes]
    return load_scenario("roller_sphere", "roller_sphere", "headings", changes)


def steady(trajectory):
    """Return the samples of the last tenth of a second of each heading at full speed."""
    phase = np.mod(trajectory.time, HOLD)
    return (phase > HOLD - RAMP - 0.1) & (phase < HOLD - RAMP - 0.5 * STEP)


def spins(setup, trajectory):
    """Return w of the ball, w of the model at the rollers' rates (k, 3), and their speeds."""
    nu = setup.parameters.roller_radius * trajectory.qd
    return ball_spin(trajectory), Kinematics(setup.parameters.rig).omega(nu), nu


def test_pressed_rollers_turn_the_ball_as_the_model_says_but_for_its_free_part(tmp_path):
    changed = scenario(30, "friction={law: contact, mu: 0.5}")
    setup, motion = Setup.of(changed), crawl(changed, tmp_path / "run").trajectory
    kinematics = Kinematics(setup.parameters.rig)
    w, model, nu = (values[steady(motion)] for values in spins(setup, motion))
    (across, along), (model_across, middle) = (kinematics.rig.split(v) for v in (w, model))
    sizes = np.linalg.norm(model_across, axis=1)
    assert (sizes > 2.0).all()  # rad/s: it does turn
    assert (np.linalg.norm(across - model_across, axis=1) < SOFT * sizes).all()
    # Dry friction leaves w_s anywhere between the heights of the two lines (9).
    rig = kinematics.rig
    heights = nu[:, :2] * np.sin(rig.alpha[:2]) / rig.radius
    half = 0.5 * np.abs(heights[:, 0] - heights[:, 1])
    assert (np.abs((along - middle) @ kinematics.rig.pole) < half + SOFT * sizes).all()


def test_viscous_friction_turns_it_as_the_reference_has_it(tmp_path):
    changed = scenario(30, f"duration={2 * HOLD}", "friction={law: viscous, coefficient: 20}")
    setup, motion = Setup.of(changed), crawl(changed, tmp_path / "run").trajectory
    w, model, _ = spins(setup, motion)
    # I w' = -c r^2 sum(1 - p p') (w - model), and DART takes the friction of a step at its end.
    p, normals = setup.parameters, setup.parameters.rig.normals
    rates = 20 * p.radius**2 / p.ball_inertia * (2 * np.eye(3) - normals.T @ normals)
    pull = (model - w) @ rates
    settled = motion.time > 0.01  # it takes the contacts three steps
    growth = np.diff(w, axis=0)[settled[1:]] / STEP
    assert np.abs(growth).max() > 100.0  # rad/s^2
    bound = SOFT * np.linalg.norm(rates, 2) * np.linalg.norm(model, axis=1).max()
    assert np.linalg.norm(growth - pull[settled], axis=1).max() < bound
    reference = run_in(setup)
    # DART's steps are of the first order: it is up to one step late, in rates and in place.
    for ours, exact in ((motion.qd, reference.qd), (motion.position, reference.position)):
        assert np.abs(ours - exact).max() < np.abs(np.diff(exact, axis=0)).max()


def test_on_the_ground_the_ball_rolls_ahead_of_its_carrier(tmp_path):
    changed = load_scenario(
        "roller_sphere", "roller_sphere", "dribble", ["duration=1.0", "initial.spread_q=0"]
    )
    setup, motion = Setup.of(changed), crawl(changed, tmp_path / "run").trajectory
    p, settled = setup.parameters, motion.time > 0.1
    assert np.abs(motion.position[:, 1]).max() < 1e-6  # straight on, and all is mirrored
    assert np.abs(motion.position[:, 2] - p.radius).max() < 1e-6
    speed = np.diff(motion.position[:, 0]) / STEP
    rolled = p.radius * ball_spin(motion)[1:, 1]
    assert np.abs(rolled - speed)[settled[1:]].max() < 1e-3 * speed.max()
    assert speed.max() == pytest.approx(1.0, rel=0.02)  # m/s, of the scenario
    # The rollers turn it as their carrier goes, so it stays in its place.
    assert np.abs(motion.position[:, 0] - motion.q[:, 2]).max() < 2e-3


def test_the_springs_press_with_press_force():
    setup = Setup.of(scenario(0, "friction={law: contact, mu: 0.5}"))
    p, effort, messages = setup.parameters, 1.0, []
    with gazebo(ROOT / "worlds" / "bearing.sdf") as node:
        put_in(node, "bearing", setup)
        kind, topic = message_class("JointTrajectory"), "/model/roller_sphere/joint_state"
        assert node.subscribe(message_class("Model"), topic, messages.append)
        publisher = node.advertise("/model/roller_sphere/joint_trajectory", kind)
        wait_for(publisher.has_connections)
        time.sleep(0.5)  # a message sent at once can be lost
        efforts = {"effort": [effort, -effort]}
        publisher.publish(kind(joint_names=list(setup.joints), points=[efforts]))
        time.sleep(0.5)
        step("bearing", 50)
        wait_for(lambda: messages and nanoseconds(messages[-1]) >= 50_000_000)
    rates = {nanoseconds(m): [joint.axis1.velocity for joint in m.joint] for m in messages}
    times = sorted(t for t in rates if t)
    assert times == [1_000_000 * k for k in range(1, 51)]
    # The rollers spin on the ball: J rate' = effort - mu N roller_radius, with N the load. The
    # springs are 10 m long, and the rollers move by less than 1 mm.
    growth = np.diff([rates[t] for t in times[2:]], axis=0) / STEP
    load = (effort - p.roller_inertia * np.abs(growth)) / (0.5 * p.roller_radius)
    assert load == pytest.approx(p.press_force, rel=1e-4)

"""The worlds that ship, in a real Gazebo server: the pendulum, and the snake driven by efforts."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from running import run_in
from scipy.special import ellipj, ellipk

pytest.importorskip("snake", reason="the snake is not installed")

from gazebo_server import ROOT, crawl, gazebo, nanoseconds, step, wait_for
from roboaccord.crosscheck.recorded import check_bag
from roboaccord.run.metrics import metrics_of
from roboaccord.scenario.controllers import make_controller
from roboaccord_ros.gazebo.transport import message_class

STEP = 0.001  # s, of the worlds that ship
THETA, RATE = 2.0, math.sqrt(1.5 * 9.81)  # start [rad]; small oscillations of the rod [rad/s]


def pendulum(time):
    """Return the exact angle from hanging [rad] at times (k,) [s]."""
    k = math.sin(0.5 * THETA)
    _, cn, dn, _ = ellipj(RATE * time, k * k)
    return 2.0 * np.arcsin(k * cn / dn)


@pytest.fixture
def states():
    """Run the pendulum's world, and return a function that gives t (k,), q (k,), qd (k,)."""

    def run(iterations, effort=None):
        got = []
        with gazebo(ROOT / "worlds" / "pendulum.sdf") as node:
            topic = "/model/pendulum/joint_state"
            assert node.subscribe(message_class("Model"), topic, got.append)
            if effort is not None:
                kind = message_class("JointTrajectory")
                publisher = node.advertise("/model/pendulum/joint_trajectory", kind)
                wait_for(publisher.has_connections)
                publisher.publish(kind(joint_names=["pivot"], points=[{"effort": [effort]}]))
                time.sleep(0.5)
            step("pendulum", iterations)
            wait_for(lambda: got and nanoseconds(got[-1]) >= iterations * 1_000_000)
        axes = {nanoseconds(m): m.joint[0].axis1 for m in got}  # paused, it repeats a state
        rows = [(1e-9 * t, axis.position, axis.velocity) for t, axis in axes.items() if t]
        assert len(rows) == iterations
        return np.array(rows).T

    return run


def test_the_pendulum_follows_the_analytic_one(states):
    period = 4.0 * ellipk(math.sin(0.5 * THETA) ** 2) / RATE
    t, q, _ = states(round(2 * period / STEP))
    # A semi-implicit Euler step is off by half a step of the motion: h/2 of the largest speed.
    speed = 2.0 * RATE * math.sin(0.5 * THETA)
    assert np.abs(THETA + q - pendulum(t)).max() < 0.6 * STEP * speed
    assert q.min() < -3.99  # it does swing to the other side
    theta, rate = THETA, 0.0
    for angle in THETA + q:  # and beside the scheme nothing is lost
        rate -= STEP * RATE**2 * math.sin(theta)
        theta += STEP * rate
        assert angle == pytest.approx(theta, abs=1e-9)


def test_an_effort_on_the_topic_turns_the_pendulum(states):
    _, _, qd = states(1, effort=3.0)
    expected = 3.0 * 3.0 - RATE**2 * math.sin(THETA)  # (effort - m g L/2 sin th) / (m L^2 / 3)
    assert qd[0] / STEP == pytest.approx(expected, rel=1e-6)


FINE = ("friction.law=pyramid", "friction.slip_speed=0.001", "physics_step=0.0001")
LAWS = {
    "spheres": ("friction.law=pyramid", "friction.slip_speed=0"),
    "boxes": (*FINE, "friction.points=corners", "friction.loads=rigid"),
}


@pytest.mark.parametrize("contacts", LAWS)
def test_the_snake_crawls_by_the_law_of_its_contacts(setup_for, tmp_path, contacts):
    """The law is written from the contacts' geometry; the ellipse is 0.6 or 0.15 m/s away here."""
    mu = (0.5, 1.0) if contacts == "spheres" else (1.0, 0.1)
    ground = (f"friction.mu_along={mu[0]}", f"friction.mu_across={mu[1]}")
    setup = setup_for(*ground, duration=3.0)
    law = setup_for(*ground, *LAWS[contacts], duration=3.0)
    run = crawl(setup.scenario, tmp_path, contacts=contacts)
    speed = metrics_of(setup, run.trajectory)["speed"]
    assert speed == pytest.approx(metrics_of(law, reference(law, setup))["speed"], abs=0.05)
    assert abs(speed - metrics_of(setup, reference(setup))["speed"]) > 0.1
    if contacts == "spheres":  # and step by step
        assert check_bag(run).finding.outcome == "within"


def reference(setup, driven=None):
    return run_in(setup, controller=make_controller(driven or setup))


def test_in_lockstep_a_run_in_gazebo_repeats_bit_for_bit(setup_for, tmp_path):
    scenario = setup_for(duration=0.2).scenario
    first, second = (crawl(scenario, tmp_path / name).trajectory for name in "ab")
    assert len(first) == 201 and first.sha256() == second.sha256()


def test_free_the_wave_begins(setup_for, tmp_path):
    trajectory = crawl(setup_for(duration=0.2).scenario, tmp_path, lockstep="false").trajectory
    assert trajectory.time[-1] == 0.2
    assert np.abs(trajectory.q[-1]).max() > 0.01  # the wave has begun

"""The estimates of the drives: from their ranges, off again bit for bit, and by the law at rest."""

from __future__ import annotations

import numpy as np
import pytest
from packbot.model.arm import Arm
from packbot.model.parameters import JOINTS, PackbotParameters
from roboaccord import Command, Setup, load_scenario, make_simulator
from roboaccord.description.parameters import load_parameters, parameter_file
from running import run_in
from scipy.optimize import brentq

REAL = ("collapse", "frozen_elbow", "reach", "shelf")
E, W_S = 5e-3, 0.05  # rad/s


def made(name, *changes):
    return Setup.of(load_scenario("packbot", "packbot", name, changes))


def parameters(*changes):
    changed = load_scenario("packbot", "packbot", "reach", changes).parameters
    return load_parameters(PackbotParameters, "packbot", changed)


@pytest.mark.parametrize("name", REAL)
def test_a_real_scenario_is_the_plain_one_with_the_estimates(name):
    """And with nothing of its own but a description, and tolerances where it comes to contact."""
    entries = parameter_file("packbot", "real")
    plain, real = (load_scenario("packbot", "packbot", each) for each in (name, f"{name}_real"))
    assert real.parameters == {key: entry["value"] for key, entry in entries.items()}
    apart = {"name", "description", "parameters", "crosscheck"}
    assert {k: v for k, v in real.data().items() if k not in apart} == {
        k: v for k, v in plain.data().items() if k not in apart
    }


def test_estimates_are_scaled_from_the_limits_and_lie_in_their_ranges():
    """To the three digits that they are given with."""
    p, entries = parameters(), parameter_file("packbot", "real")
    torque, speed = p.of_joints("effort_limit"), p.of_joints("speed_limit")
    ratios = {
        "reflected_inertia": (torque / speed, (0.010, 0.035, 0.085)),
        "viscous": (torque / speed, (0.03, 0.09, 0.18)),
        "coulomb": (torque, (0.02, 0.06, 0.15)),
        "stiction": (torque, (0.03, 0.09, 0.20)),
    }
    sets = [parameters(f"parameters={each}") for each in ("real:low", "real", "real:high")]
    for kind, (scale, ratio) in ratios.items():
        found = [each.of_joints(kind) for each in sets]
        np.testing.assert_allclose(found, np.outer(ratio, scale), rtol=5e-3)
    for name, entry in entries.items():
        low, high = entry["uncertainty"]
        assert low <= entry["value"] <= high, name
        assert entry["source"].startswith(("estimate: ", "chosen: ")), name


def hash_of(setup, engine):
    return run_in(setup, engine, duration=0.03).sha256()


@pytest.mark.parametrize("engine", ["mujoco", pytest.param("reference", marks=pytest.mark.slow)])
def test_the_report_s_zeros_are_the_plain_run_bit_for_bit(engine):
    """By leaving the set out, and by setting each of its values back."""
    back = [
        f"parameters.{name}={parameter_file('packbot')[name]['value']}"
        for name in parameter_file("packbot", "real")
    ]
    plain = hash_of(made("collapse"), engine)
    assert hash_of(made("collapse_real", "parameters={}"), engine) == plain
    assert hash_of(made("collapse_real", *back), engine) == plain


# rad; the shoulder bears most of what breaks it away, 0.81
HELD = {"shoulder": 1.15, "elbow1": 0.43, "elbow2": -0.03, "tilt": 1.39, "pan": 0.08}


def creep(load, b, c, s):
    """Return the rate [rad/s] at which the law bears a load [N m], below its peak."""

    def left(w):
        return b * w + (c + (s - c) * np.exp(-((w / W_S) ** 2))) * w / np.hypot(w, E) - load

    return brentq(left, 0.0, 0.015)


@pytest.mark.parametrize("engine", ["reference", "mujoco"])
def test_an_arm_below_its_stiction_creeps_as_the_law_says(engine):
    """Without power, after 0.2 s: each joint at the rate at which its friction bears its load.

    Friction's time constant e J / k is 4 ms; loads change by 1e-3 on the way, rates by ten times
    that near the peak of the law.
    """
    changes = [f"initial.q.{joint}={angle}" for joint, angle in HELD.items()]
    setup = made("collapse_real", *changes)
    simulator = make_simulator(setup, engine)
    simulator.reset(setup.initial)
    before = simulator.step(Command(np.zeros(7)), 0.1)
    state = simulator.step(Command(np.zeros(7)), 0.1)
    loads = Arm.of(setup).bias(state.q, np.zeros(7))
    p = setup.parameters
    for i, joint in enumerate(JOINTS):
        law = [p.of_joints(kind)[i] for kind in ("viscous", "coulomb", "stiction")]
        rate = creep(abs(loads[i]), *law)
        assert abs(state.qd[i]) == pytest.approx(rate, rel=0.02, abs=1e-5), joint
        crept = abs(state.q[i] - before.q[i])
        assert crept == pytest.approx(0.1 * rate, rel=0.02, abs=1e-6), joint


def test_the_drive_pose_is_not_held_at_any_end_of_the_ranges():
    """Gravity turns elbow 1 with more than breaks it away; the shoulder is held but at the low."""
    setup, held = made("collapse"), list[np.ndarray]()
    load = np.abs(Arm.of(setup).bias(setup.initial.q, np.zeros(7)))
    for each in ("real:low", "real", "real:high"):
        held.append(load < parameters(f"parameters={each}").of_joints("stiction"))
    assert [each[JOINTS.index("elbow1")] for each in held] == [False, False, False]
    assert [each[JOINTS.index("shoulder")] for each in held] == [False, True, True]

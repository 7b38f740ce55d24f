"""Reaches of arms that are not their model: what is measured, and what counts as reached."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from benchmarks.campaigns.attempts import reach_for
from benchmarks.campaigns.drawn_arms import Instrumented, Plant, draw_arm
from benchmarks.campaigns.recovery import calls
from packbot.controllers.reach import ReachController
from packbot.controllers.trial import clear_start, tips
from packbot.model.arm import Arm, Kinematics
from roboaccord.cli.options import load_setup
from roboaccord.contract.state import Command
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty
from roboaccord_studies.packbot.identification.unknowns import vector

pytestmark = pytest.mark.thorough
TARGET = (1.2, 0.3, 0.15)  # m
SEED = 19_000  # of arms that the controller was looked at with


def setup_of(*faults):
    return clear_start(load_setup("packbot", "reach", faults=[*faults]))


def test_zeros_and_lengths_part_the_tips_from_where_they_are_measured():
    """A turret that reads too much turns the tips by that; a base too high lifts them."""
    setup = setup_of()
    limits = setup.effort_limits
    draw = draw_arm(np.random.default_rng(0), Uncertainty().scaled(0.0), limits)
    turned, up = 0.004 * np.eye(7)[0], np.array([0.0, 0.0, 0.003])
    off = vector({"zero": turned, "length": [*up, *np.zeros(18)]})
    arm = Instrumented(Plant(draw._replace(x=off), "mujoco"), 1)
    q = setup.initial.q
    exact = Kinematics(setup).tip(q)
    true, measured = tips(setup, q, arm)
    assert true == pytest.approx(exact + up, abs=1e-12)
    radius = np.hypot(exact[0] - setup.parameters.base_x, exact[1])
    chord = 2.0 * radius * np.sin(0.002)
    assert np.linalg.norm(measured - exact) == pytest.approx(chord, rel=1e-9)
    state = arm.reset(setup.initial)
    assert (state.q == q).all() and (state.measured.q == q + turned).all()
    after = arm.step(Command(np.zeros(7)), 0.01)
    assert (after.measured.q == after.q + turned).all() and (after.q != q).any()


@pytest.mark.slow
def test_a_healthy_arm_with_noise_ends_where_reach_has_it_and_comes_to_rest():
    """Its noise is 2.4 times what is assumed; the run ends 3 s after the motion, not 50 s."""
    *_, call = calls([load_setup("packbot", "reach")], "mujoco", SEED, 2, 1.0)
    found = reach_for(*call)
    assert not found.named and found.apart < 2e-3
    assert found.duration < 10.0
    displaced = abs(found.error - found.measured)
    assert 0.0 < displaced < 0.03
    assert found.recovered == found.baseline


def test_what_a_payload_that_is_not_known_pulls_down_is_integrated():
    """At rest the efforts are those of gravity, the payload's included, and nothing is left."""
    setup = setup_of()
    draw = draw_arm(np.random.default_rng(0), Uncertainty().scaled(0.0), setup.effort_limits)
    off = []
    for uncertainty in (None, {}):
        plant = Plant(draw._replace(x=vector({"payload": [0.2, 0.0, 0.0]})), "mujoco")
        controller = ReachController(setup, TARGET, uncertainty=uncertainty)
        controller.reset(0)
        end = controller.motion.duration + 6.0
        rows, states = plant.record(
            setup.initial.q, 0, partial(controller.update, target=None), end
        )
        off.append(np.abs(states[-1] - controller.motion.at(end)[0]).max())
    assert off[0] > 5e-3 and off[1] < 1e-4
    zero, q = np.zeros(7), states[-1]
    held = Arm.of(plant.setup).efforts(q, zero, zero)
    assert rows[-1, -7:] == pytest.approx(held, abs=1e-2)


@pytest.mark.slow
def test_an_arm_that_is_not_its_model_reaches_with_a_frozen_elbow():
    setup = load_setup("packbot", "reach", faults=["elbow1=frozen:0.4"])
    *_, call = calls([setup], "mujoco", SEED, 2, 1.0)
    found = reach_for(*call)
    assert found.named == ("elbow1=frozen",)
    assert found.recovered and not found.baseline
    assert found.measured < 5e-3  # the tips are drawn to the target by what is measured

"""The MonkeyBot's stable gait in a real Gazebo server, out of rest."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("monkeybot", reason="the MonkeyBot is not installed")

from gazebo_server import crawl
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from roboaccord_studies.monkeybot.orbits import shipped_gait

LENGTH = 0.61  # m, of a link
PHYSICS_STEP = 0.00025  # s, of world wall
YIELD = 0.25e-3  # m, of hand B in a step (docs/gazebo.md)
STEPS = 4


def test_out_of_rest_it_walks_in_the_stable_gait(tmp_path):
    scenario = load_scenario("monkeybot", "monkeybot", "clocked_from_rest", ["duration=3.8"])
    orbit = shipped_gait("clocked", Setup.of(scenario).parameters)
    motion = crawl(scenario, tmp_path / "walk").trajectory
    reported = [(event.subject, event.time) for event in motion.events if event.kind == "magnet_on"]
    assert [magnet for magnet, _ in reported] == ["magnet_b", "magnet_a"] * (STEPS // 2)
    times = np.array([time for _, time in reported])
    assert times == pytest.approx(0.92 + 0.943 * np.arange(STEPS), abs=1e-9)
    moves = np.diff(grips(motion, times), axis=0)
    # The scheme is half a step off in both angles; hand B yields by up to 0.25 mm a step; and a
    # disturbance of every step adds up to 1 / (1 - radius) of itself. The start is 0.3 mrad off.
    rate = np.abs(motion.qd).max()
    each = 0.5 * PHYSICS_STEP * rate * 2.0 * LENGTH + YIELD
    bound = each / (1.0 - orbit.spectral_radius) + 3e-4 * LENGTH
    assert np.abs(moves - [orbit.stride, 0.0]).max() < bound


def grips(motion, times):
    """Return where the hands are that grip, B first, to the right and up [m] (n, 2)."""
    at = np.round(times / 1e-3).astype(int)
    x, _, _, w = motion.orientation[at].T
    th1 = 2.0 * np.arctan2(x, w)
    th12 = th1 + motion.q[at, 0]
    reach = LENGTH * np.array([np.sin(th1) + np.sin(th12), -np.cos(th1) - np.cos(th12)]).T
    reach[1::2] = 0.0  # hand A is where the base is
    return motion.position[at, 1:] + reach

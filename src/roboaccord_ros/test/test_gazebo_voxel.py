"""The heavy ball on its terrain in a real Gazebo server: in a bowl, and driven by wrenches."""

from __future__ import annotations

import numpy as np
import pytest
from running import run_in

pytest.importorskip("voxel_sphere", reason="the voxel sphere is not installed")

from gazebo_server import cache, crawl  # noqa: F401 - for each test
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.scenario import limit_of
from roboaccord.scenario.setup import Setup
from rolling_pendulum import in_the_bowl

R = 0.1  # m


def test_released_in_a_bowl_it_follows_the_rolling_pendulum(tmp_path):
    """At n = 100; docs/voxel_sphere.md has n = 200."""
    path = crawl(load_scenario("voxel_sphere", "voxel_sphere", "bowl"), tmp_path / "run").trajectory
    assert path.time[-1] == 4.0
    assert np.linalg.norm(path.position - in_the_bowl(path.time), axis=1).max() < 0.1 * R


def test_torques_drive_it_over_waves_as_in_the_reference(tmp_path):
    given = load_scenario("voxel_sphere", "voxel_sphere", "teleop", ["duration=1.0"])
    setup, run = Setup.of(given), crawl(given, tmp_path / "run")
    reference = run_in(setup)
    gap = np.linalg.norm(run.trajectory.position - reference.position, axis=1)
    # Gazebo has the engine and the mesh of DART.
    limit = limit_of(given.crosscheck.tolerances.trajectory["dart"])
    assert gap.max() < limit
    assert reference.position[-1, 0] - reference.position[0, 0] > 10 * limit
    assert run.trajectory.wrench.shape == (1001, 6)
    assert np.abs(run.trajectory.wrench[:, 3:]).max() > 0.01  # N m

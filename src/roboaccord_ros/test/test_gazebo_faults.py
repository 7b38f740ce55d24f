"""Joints of the Packbot fail in a real Gazebo server: one is held by efforts, one has none."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

pytest.importorskip("gz.transport13", reason="Gazebo Harmonic is not installed, or not for Python")
pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("packbot", reason="the Packbot is not installed")
pytest.importorskip("coal", reason="coal, which measures the hulls' distances, is not installed")

if shutil.which("gz") is None:
    pytest.skip("the command gz is not installed (Gazebo Harmonic)", allow_module_level=True)

from gazebo_server import crawl
from roboaccord.scenario.files import load_scenario


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_frozen_joint_is_held_and_a_loose_one_gets_nothing(tmp_path):
    faults = 'faults=["elbow1=frozen@1.0","turret=loose@1.2"]'
    given = load_scenario("packbot", "packbot", "reach", ["duration=1.6", faults])
    motion = crawl(given, tmp_path / "run").trajectory
    reported = [(event.time, event.kind, event.subject) for event in motion.events]
    assert reported == [(1.0, "joint_frozen", "elbow1"), (1.2, "joint_loose", "turret")]
    period, time, k = given.control_period, motion.time, motion.joints.index("elbow1")
    first = int(np.searchsorted(time, 1.0 - 1e-9))
    away = np.abs(motion.q[first:, k] - motion.q[first, k])
    # The hold acts in the period that follows: before, the joint goes on by its rate at most.
    assert away.max() < abs(motion.qd[first, k]) * period
    # Friction, 0.5 N m s/rad, is what the hold does not know; the joint has stopped.
    assert away[10:].max() < 1e-4  # rad
    loose = time > 1.2 + 0.5 * period
    assert (motion.effort[loose, motion.joints.index("turret")] == 0.0).all()

"""The MonkeyBot's stable gaits over ROS, in lockstep: the walk of the direct loop, bit for bit."""

from __future__ import annotations

import pytest
from roboaccord.run.runner import run_direct
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("monkeybot", reason="the MonkeyBot is not installed")

from roboaccord_ros.run.runner import run_ros

pytestmark = pytest.mark.thorough

LIBRARIES = {"dart": "dartpy", "mujoco": "mujoco"}
STEPS = 4


@pytest.mark.slow
@pytest.mark.parametrize("engine", LIBRARIES)
@pytest.mark.parametrize(
    "scenario",
    [
        "clocked",
        *(pytest.param(s, marks=pytest.mark.slow) for s in ("level", "climbing", "flying")),
    ],
)
def test_a_stable_gait_walks_over_ros_as_in_the_direct_loop(scenario, engine, request_for):
    pytest.importorskip(LIBRARIES[engine])
    setup = Setup.of(load_scenario("monkeybot", "monkeybot", scenario, ("duration=3.8",)))
    direct = run_direct(request_for(setup, engine)).trajectory
    run = run_ros(request_for(setup, engine)).trajectory
    assert run.sha256() == direct.sha256()
    assert run.events == direct.events
    grips = [event.subject for event in run.events if event.kind == "magnet_on"]
    assert grips == ["magnet_b", "magnet_a"] * (STEPS // 2)

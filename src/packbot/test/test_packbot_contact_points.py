"""Contacts by geometry alone, which a viewer sees where a simulator reports none."""

from __future__ import annotations

import numpy as np
import pytest
from packbot.robot import ROBOT
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

REACH = 0.20 + 0.52 + 0.58 + 0.56 + 0.20  # m: finger tips of the stretched arm, ahead of the middle


@pytest.mark.parametrize("gap", [4e-4, -2e-4, 2e-3])
def test_a_wall_ahead_of_the_finger_tips_is_told_with_its_gap(gap: float) -> None:
    wall = (
        f"terrain.boxes={{wall: {{size: [0.1, 1, 1], position: [{REACH + gap + 0.05}, 0, 0.6]}}}}"
    )
    straight = [f"initial.q.{name}=0" for name in ("shoulder", "elbow1", "elbow2", "tilt")]
    setup = Setup.of(load_scenario("packbot", "packbot", "collapse", [wall, *straight]))
    points = ROBOT.contact_points(setup)(setup.initial)
    if gap > 1e-3:
        assert not points
        return
    assert {point.pair for point in points} == {("gripper_link", "wall")}
    assert len(points) == 2  # both fingers
    for point in points:
        assert point.depth == pytest.approx(-gap, abs=1e-9)
        assert point.normal == pytest.approx(np.array([1.0, 0.0, 0.0]), abs=1e-6)
        assert point.position[0] == pytest.approx(REACH + 0.5 * gap, abs=1e-6)
        assert point.force == 0.0

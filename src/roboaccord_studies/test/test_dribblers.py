"""`hold_ball`, and the page for teams: its code runs, and gives what the model and statics give."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from roboaccord import AccordError
from roboaccord_studies.roller_sphere.dribblers import Dribbler, hold_ball
from roboaccord_studies.roller_sphere.statics import largest_gain, largest_turn_rate
from roller_sphere.model.kinematics import Kinematics

PAGE = Path(__file__).resolve().parents[3] / "docs" / "dribblers.md"
OURS = Dribbler()


def test_the_code_of_the_page_runs_and_says_what_holds():
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    names = {}
    exec(code, names)  # noqa: S102 - the page's own code
    assert names["ours"] == OURS
    assert names["turn"].held and names["brake"].held
    assert not names["too_fast"].held
    assert names["too_fast"].press_bounds[0] > OURS.press_force


def test_rollers_turn_the_ball_as_it_rolls_with_its_place():
    """The forward map of their speeds is the velocity v + w z x d; at rest the load is statics'."""
    hold = hold_ball(OURS, velocity=(1.2, -0.4), turn_rate=1.5)
    motion = Kinematics(OURS.parameters().rig).forward(hold.surface_speeds)
    ball = np.array([1.2, -0.4 + 1.5 * OURS.ball_ahead])
    assert motion.speed == pytest.approx(np.hypot(*ball), rel=1e-12)
    assert motion.heading == pytest.approx(np.arctan2(ball[1], ball[0]) % (2 * np.pi), abs=1e-12)
    assert hold.spin == pytest.approx(motion.omega[2], rel=1e-12)
    assert hold.slip == pytest.approx(motion.slip, abs=1e-12)
    rest = hold_ball(OURS, velocity=(0.0, 0.0))
    pressed = OURS.press_force + OURS.holder_mass * 9.81 * np.sin(np.radians(60.0))
    assert rest.loads == pytest.approx([pressed, pressed], rel=1e-12)


def test_a_robot_whose_middle_is_the_ball_does_the_same():
    """The ball's motion is what counts, wherever on the robot its velocity is measured."""
    turning = {"turn_rate": 2.0, "turn_acceleration": 3.0}
    one = hold_ball(OURS, velocity=(1.0, 0.2), acceleration=(0.7, -0.5), **turning)
    d = OURS.ball_ahead
    other = hold_ball(
        replace(OURS, ball_ahead=0.0),
        velocity=(1.0, 0.2 + 2.0 * d), acceleration=(0.7, -0.5 + 3.0 * d), **turning,
    )  # fmt: skip
    for name in ("surface_speeds", "loads", "roller_share", "ground_share"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-6)


def test_limits_are_those_of_the_map():
    p = OURS.parameters()
    rate = largest_turn_rate(p, OURS.mu, OURS.mu_ground, 1.0)
    assert hold_ball(OURS, velocity=(1.0, 0.0), turn_rate=rate).roller_share == pytest.approx(1.0)
    gain = largest_gain(p, OURS.mu, OURS.mu_ground)
    hold = hold_ball(OURS, velocity=(0.0, 0.0), acceleration=(gain, 0.0))
    assert hold.roller_share == pytest.approx(1.0)
    assert hold.press_bounds[0] == pytest.approx(OURS.press_force, rel=1e-6)


def test_at_its_bounds_the_press_force_just_suffices():
    """In a turn it must be strong enough; on ice a strong one pushes the ball away."""
    turn = {"velocity": (1.0, 0.0), "turn_rate": 2.0}
    least, most = hold_ball(OURS, **turn).press_bounds
    assert 0.0 < least < OURS.press_force and most == np.inf
    assert not hold_ball(replace(OURS, press_force=0.99 * least), **turn).held
    assert hold_ball(replace(OURS, press_force=1.01 * least), **turn).held
    icy, brake = replace(OURS, mu_ground=0.1), {"velocity": (1.0, 0.0), "acceleration": (-0.8, 0.0)}
    most = hold_ball(icy, **brake).press_bounds[1]
    assert most < OURS.press_force
    assert hold_ball(replace(icy, press_force=0.99 * most), **brake).held
    assert not hold_ball(replace(icy, press_force=1.01 * most), **brake).held


def test_what_makes_no_dribbler_is_refused():
    with pytest.raises(AccordError, match="mu_ground is 0"):
        hold_ball(replace(OURS, mu_ground=0.0), velocity=(1.0, 0.0))
    with pytest.raises(AccordError, match="not finite"):
        hold_ball(OURS, velocity=(np.nan, 0.0))
    with pytest.raises(AccordError, match="same point"):
        hold_ball(replace(OURS, azimuth=(90.0, 90.0)), velocity=(1.0, 0.0))

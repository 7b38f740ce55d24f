"""The pictures of the snake's pages show the runs and gaits that they are about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawn_figures import keep_figures
from roboaccord import Setup, Trajectory, load_scenario
from roboaccord_studies.snake.adaptive import SETTLED_CHANGE
from roboaccord_studies.snake.figures import (
    EFFORT,
    write_change_of_ground,
    write_costs,
    write_steering,
)
from roboaccord_studies.snake.ideal import Gait
from snake.model.coordinates import PlanarSnake

CHEAPEST = Gait(0.2187, 0.554, 1.782)  # docs/snake_optimise.md, of cost 0.134 at 0.533 m/s
SHORT = ("duration=1.0",)


def test_a_body_line_goes_through_the_middles_of_the_links():
    """Bent by 90 degrees at the joint behind the head, which is the first one."""
    setup = Setup.of(load_scenario("snake", "snake", "serpenoid", ["parameters.joints=4"]))
    p = setup.parameters
    bent = replace(setup.initial, q=np.array([0.5 * np.pi, 0.0, 0.0, 0.0]))
    motion = Trajectory.from_states(setup.joints, [bent])
    steps = np.diff(PlanarSnake(setup.parameters).link_centres(motion)[0], axis=0)
    ahead, behind = p.pivot_ahead_of_rear, p.pivot_behind_front
    assert steps[:3] == pytest.approx(np.tile([ahead + behind, 0.0], (3, 1)))
    assert sorted(abs(steps[3])) == pytest.approx(sorted((ahead, behind)))


@pytest.mark.slow
def test_costs_are_those_of_the_page(tmp_path, monkeypatch):
    """The default gait and the cheapest; no gait drawn needs more than the effort allowed."""
    shown = keep_figures(monkeypatch)
    write_costs(tmp_path, {"cheapest": CHEAPEST}, count=20)
    left, right = shown["optimise_cost"].axes
    assert (left.get_xscale(), left.get_yscale()) == ("log", "log")
    drawn, default, cheapest = (line.get_xydata() for line in right.lines)
    assert 0 < len(drawn) < 20
    assert default[0] == pytest.approx([1.066, 0.527], abs=5e-4)
    assert cheapest[0] == pytest.approx([0.533, 0.134], abs=5e-4)
    assert f"{EFFORT:g} N m" in right.get_title()


def test_runs_are_drawn_with_their_words_apart(tmp_path, monkeypatch):
    """What is wanted and believed at the start: straight ahead, and the first ground."""
    shown = keep_figures(monkeypatch)
    write_steering(tmp_path, SHORT)
    path, heading, slalom = shown["steer"].axes
    assert len(slalom.patches) == 4
    assert path.get_aspect() == 1.0
    assert [text.get_text() for text in path.texts] == ["0 s"]
    wanted = {line.get_label(): line.get_ydata() for line in heading.lines}["wanted"]
    assert not wanted.any()
    write_change_of_ground(tmp_path, SHORT)
    above, below = shown["change_of_ground"].axes
    assert [line.get_label() for line in above.lines] == ["adaptive", "gait kept"]
    for line in above.lines:  # of windows within the run of 1 s
        assert line.get_xdata()[[0, -1]] == pytest.approx([0.25, 0.75])
    assert "mean over 0.5 s" in above.get_ylabel()
    along, across = (line.get_ydata() for line in below.lines)
    # Within what the controller takes for no change.
    assert along == pytest.approx(0.1, rel=SETTLED_CHANGE)
    assert across == pytest.approx(1.0, rel=SETTLED_CHANGE)

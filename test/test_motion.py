"""A run is hashed and measured as it goes, in parts, as it would be as a whole."""

from __future__ import annotations

import numpy as np
import pytest
from roboaccord.bag.reader import play
from roboaccord.bag.writer import write_trajectory
from roboaccord.contract.trajectory import Trajectory
from roboaccord.run import metrics as motions
from roboaccord.run.metrics import Figures, Motion, metrics_of
from roboaccord.scenario.setup import Setup
from running import run_in, setup_of

CASES = {
    "snake serpenoid": "duration=1.2 controller.frequency=4.0",
    "snake steer": "duration=0.8 controller.turn_time=0.3", "snake waypoints": "duration=0.6",
    "monkeybot brachiate": "duration=0.8", "packbot collapse": "duration=0.2",
    "roller_sphere figure_eight": "duration=1.0", "roller_sphere dribble": "duration=0.5",
    "voxel_sphere arena": "duration=0.1",
}  # fmt: skip


def moved(case: str) -> tuple[Setup, Trajectory]:
    """Return the motion of a scenario, shortened."""
    robot, scenario = case.split()
    setup = setup_of(robot, scenario, *CASES[case].split())
    return setup, run_in(setup)


@pytest.mark.parametrize("case", CASES)
def test_figures_and_hash_of_parts_are_those_of_the_whole(case, monkeypatch):
    """Blocks of 37 states: sums differ by round-off, and nothing else by anything."""
    monkeypatch.setattr(motions, "BLOCK", 37)
    setup, whole = moved(case)
    motion = Motion(whole.joints, lambda: Figures(setup))
    for i in range(len(whole)):
        motion.on_state(whole.state(i))
    for event in whole.events:
        motion.on_event(event)
    assert motion.sha256 == whole.sha256()
    found, expected = motion.figures(), metrics_of(setup, whole)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)
    assert len(found) > 3
    assert len(motion._block) <= 38


def test_a_bag_is_played_state_by_state(tmp_path):
    setup, whole = moved("monkeybot brachiate")
    write_trajectory(tmp_path / "bag", setup, "reference", "1", whole)
    motion = Motion(whole.joints, lambda: Figures(setup))
    play(tmp_path / "bag", setup, motion)
    assert motion.sha256 == whole.sha256()
    assert motion.figures() == pytest.approx(metrics_of(setup, whole))
    assert np.array_equal(motion.last.q, whole.q[-1])
    assert motion.events == list(whole.events)

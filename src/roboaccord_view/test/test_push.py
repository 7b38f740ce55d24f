"""Pushes from a page are forces and events of the run, and a run in view is paced and the same."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Command
from roboaccord.engines import spec
from roboaccord.engines.spec import Missing
from roboaccord.run.loop import make_simulator
from roboaccord.run.runner import RunRequest, run_direct
from roboaccord.scenario.setup import Setup
from roboaccord_view.live import LiveView, open_stage
from roboaccord_view.push import KIND, PushedSimulator
from running import setup_of


def engine_of(setup: Setup, engine: str) -> PushedSimulator:
    if isinstance(found := spec(engine).look(), Missing):
        pytest.skip(found.reason)
    return PushedSimulator(make_simulator(setup, engine))


@pytest.mark.parametrize(
    ("engine", "force"), [("dart", (5.0, 0.0, 0.0)), ("mujoco", (0.03, 0.04, 0.0))]
)
def test_a_push_gives_its_impulse(engine: str, force: tuple[float, ...]) -> None:
    """F T = m v: links on ice are pushed, and the event reports F T.

    DART's steps are of the first order where the links turn, so that it is pushed along them.
    """
    setup = setup_of("snake", "serpenoid", "friction={law: none}", "physics_step=0.001")
    simulator = engine_of(setup, engine)
    length, period = 0.05, setup.scenario.control_period
    simulator.reset(setup.initial)
    simulator.push(simulator.links[7], np.array(force), length)
    rest = Command(np.zeros(len(setup.joints)))
    states = [simulator.step(rest, period) for _ in range(100)]
    masses = np.array([link.mass for link in setup.tree.links])
    offsets = np.array([link.centre for link in setup.tree.links])

    def centre(state: Any) -> np.ndarray:
        place, turn = setup.tree.forward(setup.joints, state.q, state.position, state.orientation)
        return masses @ (place + np.einsum("kij,kj->ki", turn, offsets)) / masses.sum()

    velocity = (centre(states[99]) - centre(states[59])) / (states[99].time - states[59].time)
    assert velocity == pytest.approx(np.array(force) * length / masses.sum(), abs=1e-7)
    (event,) = simulator.take_events()
    assert (event.kind, event.impulse) == (KIND, pytest.approx(np.linalg.norm(force) * length))


def test_the_monkeybot_is_pushed_in_the_mode_it_is_in() -> None:
    """Held still against gravity: m g up at each link's centre lets the arms hang in the air."""
    setup = setup_of("monkeybot", "swing")
    simulator = engine_of(setup, "mujoco")
    free = engine_of(setup, "mujoco")
    rest = Command(np.zeros(1))
    for each in (simulator, free):
        each.reset(setup.initial)
    link = next(link for link in setup.tree.links if link.name == simulator.links[-1])
    simulator.push(link.name, np.array([0.0, 0.0, 9.81 * link.mass]), 1.0)
    pushed, fallen = (each.step(rest, setup.scenario.control_period) for each in (simulator, free))
    # The weight of one link is gone, so the arm falls more slowly.
    assert 0.0 < abs(pushed.twist[3]) < abs(fallen.twist[3])


def test_what_takes_no_push_says_so_and_a_run_that_is_not_pushed_is_the_same() -> None:
    setup = setup_of("snake", "serpenoid", "duration=0.02")
    plain = make_simulator(setup)
    simulator = PushedSimulator(make_simulator(setup))
    assert not simulator.links
    with pytest.raises(AccordError, match=r"^reference takes no push: use engine dart or mujoco$"):
        simulator.push("link_01", np.ones(3), 0.1)
    effort = Command(np.linspace(-1.0, 1.0, len(setup.joints)))
    simulator.reset(setup.initial)
    plain.reset(setup.initial)
    for _ in range(20):
        one, other = plain.step(effort, 0.001), simulator.step(effort, 0.001)
        assert np.array_equal(one.q, other.q) and np.array_equal(one.qd, other.qd)


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_a_run_in_view_is_paced_and_the_same(speed: float, tmp_path: Path) -> None:
    """0.4 s take 0.8 s or 0.2 s of wall time at least."""
    pytest.importorskip("viser", reason="viser is not installed")
    setup = setup_of("snake", "serpenoid", "duration=0.4")
    ask = {"setup": setup, "engine": "reference"}
    plain = run_direct(RunRequest(**ask, bag=tmp_path / "plain"))
    stage = open_stage(setup, 18470)
    live = LiveView(setup, speed, stage)
    try:
        start = time.monotonic()
        seen = RunRequest(**ask, bag=tmp_path / "seen", observers=(live,), wrap=live.wrap)
        paced = run_direct(seen)
        assert time.monotonic() - start > 0.4 / speed
        player = live.replay(paced.trajectory, 0.1)
        assert player._now > 0.0
    finally:
        stage.close()
    assert paced.trajectory.sha256() == plain.trajectory.sha256()
    assert read_run(paced.request.bag).trajectory.sha256() == plain.trajectory.sha256()

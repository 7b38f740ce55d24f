"""Inputs of a run: silence, targets in bags, and what a bag is repeated for."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from roboaccord.bag.content import Content
from roboaccord.bag.targets import read_targets
from roboaccord.bag.writer import BagWriter
from roboaccord.cli.main import run
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import RobotState, Target
from roboaccord.run.inputs import EFFORT, POSITION, VELOCITY, Announced, LiveInputs, RecordedInputs
from roboaccord.run.runner import RunRequest, run_direct
from roboaccord.scenario.setup import Setup
from running import setup_of

STATE = RobotState(0.0, np.zeros(2), np.zeros(2), np.zeros(2))
SILENCE = 0.5  # s


class Clock:
    """A wall time that a test sets [s]."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def live(clock: Clock) -> LiveInputs:
    return LiveInputs(("a", "b"), SILENCE, clock)


def test_nobody_has_asked(live: LiveInputs) -> None:
    assert live.target(STATE) is None


def test_a_twist_is_zero_after_the_silence(live: LiveInputs, clock: Clock) -> None:
    live.ask_twist(np.arange(6.0))
    target = live.target(STATE)
    assert target is not None and target.twist.tolist() == [0, 1, 2, 3, 4, 5]
    assert target.effort is target.velocity is target.position is None
    clock.now += SILENCE - 1e-3
    assert live.target(STATE) is target
    live.ask_twist(np.arange(6.0))  # the same again is no change, but a sign of life
    clock.now += SILENCE - 1e-3
    assert live.target(STATE) is target
    clock.now += 2e-3
    silent = live.target(STATE)
    assert silent is not None and not silent.twist.any()
    clock.now += 10.0
    assert live.target(STATE) is silent


def test_each_joint_falls_silent_by_itself_and_keeps_to_the_last_request(
    live: LiveInputs, clock: Clock
) -> None:
    def rows() -> list[list[float]]:
        target = live.target(STATE)
        assert target is not None and target.effort is None
        assert target.velocity is not None and target.position is not None
        return [target.position.tolist(), target.velocity.tolist()]

    live.ask_joint(0, VELOCITY, 0.3)
    live.ask_joint(1, POSITION, 1.5)
    assert rows() == [[pytest.approx(math.nan, nan_ok=True), 1.5], [0.3, 0.0]]
    clock.now += 0.3
    live.ask_joint(1, VELOCITY, -0.2)
    clock.now += 0.3
    assert rows() == [[pytest.approx(math.nan, nan_ok=True)] * 2, [0.0, -0.2]]
    clock.now += 0.3
    assert rows()[1] == [0.0, 0.0]


def test_stop_does_not_wait(live: LiveInputs) -> None:
    live.ask_joint(1, EFFORT, 2.0)
    live.stop()
    target = live.target(STATE)
    assert target is not None and target.effort is not None
    assert target.effort.tolist() == [0.0, 0.0]


def test_targets_come_back_from_a_bag_bit_by_bit(tmp_path: Path) -> None:
    setup = setup_of("snake", "serpenoid", "duration=0.01")
    rng = np.random.default_rng(1)
    joints = len(setup.joints)
    sent: list[tuple[float, Target]] = [
        (0.0, Target(velocity=rng.normal(size=joints))),
        (0.003, Target(rng.normal(size=6), velocity=rng.normal(size=joints))),
        (0.004, Target(np.zeros(6), velocity=np.zeros(joints), position=np.full(joints, np.nan))),
    ]
    with BagWriter(tmp_path / "bag", setup, "reference", "1", "direct") as bag:
        bag.on_state(setup.initial)
        reported = Announced(LiveInputs(setup.joints), bag.write_target)
        for time, target in sent:
            reported._inputs = Fixed(target)
            reported.target(replace(setup.initial, time=time))
    found = read_targets(Content.of(tmp_path / "bag"), setup.joints)
    assert [time for time, _ in found] == [time for time, _ in sent]
    for (_, a), (_, b) in zip(found, sent, strict=True):
        for name in ("twist", "effort", "velocity", "position"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


class Fixed(LiveInputs):
    """Inputs that are given a target."""

    def __init__(self, target: Target) -> None:
        super().__init__(())
        self._target = target


class Scripted(LiveInputs):
    """Inputs by simulated time: a target from a time on, and the end of the run."""

    def __init__(self, setup: Setup, start: float, end: float) -> None:
        super().__init__(setup.joints)
        self._asked = Target(np.array([0.3, 0.1, 0.0, 0.0, 0.0, 0.0]))
        self._start, self._end = start, end

    def target(self, state: RobotState) -> Target | None:
        self.over = state.time >= self._end - 1e-9
        return self._asked if state.time >= self._start else None


@pytest.fixture
def driven(tmp_path: Path) -> tuple[RunRequest, str]:
    """Drive the ball between the rollers for a moment; return the request and the hash."""
    setup = setup_of("roller_sphere", "teleop")
    request = RunRequest(
        setup=setup, engine="reference", bag=tmp_path / "bag", inputs=Scripted(setup, 0.1, 0.3)
    )
    result = run_direct(request)
    assert result.trajectory.time[-1] == 0.3  # the inputs have ended the run
    assert np.abs(result.trajectory.qd[:101]).max() == 0.0
    assert np.linalg.norm(result.trajectory.twist[-1, :2]) > 0.1
    return request, result.trajectory.sha256()


def test_a_driven_run_is_repeated_for_the_length_of_its_bag(
    driven: tuple[RunRequest, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request, sha256 = driven
    words = ["run", "roller-sphere", "teleop", "--transport", "direct", "--json", "--inputs"]
    words += [str(request.bag), "--out"]
    assert run([*words, str(tmp_path / "again")]) == 0
    reported = capsys.readouterr().out
    assert f'"trajectory_sha256": "{sha256}"' in reported
    assert '"duration": 0.3' in reported
    assert run([*words, str(tmp_path / "more"), "--set", "duration=0.4"]) == 0
    assert '"duration": 0.4' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["snake", "teleop"], "was recorded with robot roller_sphere, not snake"),
        (["roller-sphere", "headings"], "was recorded with controller {name: drive, speed: 0.0}"),
        (
            ["roller-sphere", "teleop", "--set", "physics_step=0.0005"],
            "was recorded with physics_step 0.001, not 0.0005",
        ),
    ],
)
def test_a_bag_of_another_setup_is_refused(
    words: list[str],
    message: str,
    driven: tuple[RunRequest, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("snake")
    assert run(["run", *words, "--inputs", str(driven[0].bag)]) == 2
    reported = capsys.readouterr()
    assert not reported.out
    assert message in reported.err
    assert len(reported.err.splitlines()) == 1


def test_what_is_no_bag_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AccordError, match="is not a bag"):
        RecordedInputs(tmp_path)

"""Comparison of runs whose differences are known beforehand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import toy_robot
from compared_bags import compare
from roboaccord.bag.writer import write_trajectory
from roboaccord.cli.main import run
from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import to_json
from roboaccord.contract.trajectory import Trajectory
from roboaccord.numerics.rotations import quaternion_product, rpy_quaternion, turn_quaternion

SIGNALS = {
    *(f"{kind}/{joint}" for kind in ("q", "qd", "effort") for joint in toy_robot.JOINTS),
    *(f"base/{axis}" for axis in ("x", "y", "z", "roll", "pitch", "yaw")),
}


@pytest.fixture
def bags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    toy_robot.install(tmp_path / "prefix")
    toy_robot.record(tmp_path / "a")
    toy_robot.record(tmp_path / "same")
    toy_robot.record(tmp_path / "larger", gain=1.01)
    toy_robot.record(tmp_path / "finer", ticks=640, period=0.0025)
    return tmp_path


def test_the_same_run_passes_with_zero_difference(bags: Path) -> None:
    result = to_json(compare(bags / "a", [bags / "same", bags / "a"]))
    assert result["verdict"] == "pass" and set(result) == {"verdict", "pairs"}
    for pair in result["pairs"]:
        assert set(pair) == {"bag", "duration", "signals"}
        assert pair["duration"] == 2.0 and set(pair["signals"]) == SIGNALS
        assert all(d == {"rms": 0.0, "max": 0.0, "at": 0.0} for d in pair["signals"].values())


def test_a_known_difference_is_measured_and_placed(bags: Path) -> None:
    result = compare(bags / "a", [bags / "larger"], signals=["q/turn", "base/*"])
    assert result.verdict == "fail"
    deviations = result.pairs[0].signals
    assert set(deviations) == {"q/turn", *(name for name in SIGNALS if name.startswith("base/"))}
    assert deviations["base/yaw"].max == 0.0
    t = np.arange(201) * 0.01
    assert deviations["q/turn"].max == pytest.approx(0.01 * np.sin(t).max(), rel=1e-12)
    assert deviations["q/turn"].at == t[np.sin(t).argmax()]
    assert deviations["q/turn"].rms == pytest.approx(0.01 * np.sqrt(np.mean(np.sin(t) ** 2)))
    assert compare(bags / "a", [bags / "larger"], tolerance=0.011).verdict == "pass"


def test_a_finer_recording_of_one_motion_passes_by_the_stamps_that_both_have(
    bags: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """640 steps of 2.5 ms hold 160 of 10 ms; there all signals are the same to the last bit."""
    for pair in ((bags / "finer", bags / "a"), (bags / "a", bags / "finer")):
        result = compare(pair[0], [pair[1]])
        assert result.verdict == "pass" and set(result.pairs[0].signals) == SIGNALS
        assert all(found.max == 0.0 for found in result.pairs[0].signals.values())
        assert result.pairs[0].duration == pytest.approx(1.6)
        assert to_json(result)["pairs"][0]["stamps_left"] == 480
        assert run(["compare", *map(str, pair)]) == 0
        assert "480 that only one has are left out" in capsys.readouterr().out
    result = compare(bags / "finer", [bags / "larger"], signals=["q/turn"])
    assert result.pairs[0].signals["q/turn"].max == pytest.approx(0.01 * np.sin(1.57), rel=1e-12)


def test_limits_of_time_are_kept(bags: Path) -> None:
    result = compare(bags / "a", [bags / "larger"], start=0.5, stop=1.0, signals=["q/turn"])
    assert result.pairs[0].duration == pytest.approx(0.5)
    assert result.pairs[0].signals["q/turn"].at == 1.0


def test_nothing_in_common_is_an_error(bags: Path) -> None:
    with pytest.raises(AccordError, match="no time in common within the limits"):
        compare(bags / "a", [bags / "same"], start=5.0)
    with pytest.raises(AccordError, match="no signal matches q/tur; did you mean q/turn"):
        compare(bags / "a", [bags / "same"], signals=["q/tur"])
    with pytest.raises(AccordError, match="tolerance"):
        compare(bags / "a", [bags / "same"], tolerance=float("nan"))


def test_switches_are_compared(bags: Path) -> None:
    """One tick late is a difference of 1, between ticks too."""
    setup = toy_robot.make_switched()
    for name, change in (("on_time", 7), ("late", 8)):
        motion = toy_robot.switched_motion(change=change)
        write_trajectory(bags / name, setup, "e", "1", motion)
    assert compare(bags / "on_time", [bags / "on_time"]).verdict == "pass"
    found = compare(bags / "on_time", [bags / "late"], signals=["switch/*"]).pairs[0].signals
    assert set(found) == {"switch/magnet_a", "switch/magnet_b"}
    assert found["switch/magnet_b"].max == 1.0 and found["switch/magnet_b"].at == 0.08


def test_an_angle_of_the_base_is_compared_whichever_axis_it_turns_about(bags: Path) -> None:
    """Roll past a whole turn, 1 mrad apart."""
    for name, ahead in (("roll", 0.0), ("more", 1e-3)):
        states = [
            replace(toy_robot.state_at(i), orientation=rpy_quaternion(0.1 * i + ahead, 0.0, 0.0))
            for i in range(100)
        ]
        motion = Trajectory.from_states(toy_robot.JOINTS, states)
        write_trajectory(bags / name, toy_robot.make_setup(), "e", "1", motion)
    found = compare(bags / "roll", [bags / "more"]).pairs[0].signals
    assert found["base/roll"].rms == pytest.approx(1e-3, rel=1e-9)
    assert found["base/yaw"].max == found["base/pitch"].max == 0.0


def test_orientations_that_pass_the_vertical_differ_by_a_rotation(bags: Path) -> None:
    """Pitch through 90 degrees and past a whole turn, turned on by 1e-9 rad about an axis.

    There roll and yaw, as angles, would differ by degrees. The rotation is known to round-off.
    """
    turn = 1e-9 * np.array([0.6, 0.0, 0.8])
    for name, apart in (("one", 0.0 * turn), ("other", turn)):
        pitched = [rpy_quaternion(0.3, i * np.pi / 60, -0.7) for i in range(1, 130)]
        turned = [quaternion_product(turn_quaternion(apart), q) for q in pitched]
        states = [replace(toy_robot.state_at(i), orientation=q) for i, q in enumerate(turned)]
        motion = Trajectory.from_states(toy_robot.JOINTS, states)
        write_trajectory(bags / name, toy_robot.make_setup(), "e", "1", motion)
    found = compare(bags / "one", [bags / "other"]).pairs[0].signals
    largest = [found[f"base/{turn}"].max for turn in ("roll", "pitch", "yaw")]
    assert largest == pytest.approx(abs(turn), abs=1e-15)


def test_a_number_whose_square_is_none_is_refused(bags: Path) -> None:
    """A flipped bit makes such a number in a bag without checksums."""
    toy_robot.record(bags / "huge", gain=1e305)
    with pytest.raises(AccordError, match=r"huge: angles are beyond 1e\+75 at t = "):
        compare(bags / "a", [bags / "huge"], signals=["q/turn"])


def test_the_default_tolerance_follows_the_engine_and_is_said(
    bags: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """1e-9 for recordings of one run, 0.05 where a bag is from Gazebo; a number given counts."""
    motion = Trajectory.from_states(
        toy_robot.JOINTS, [toy_robot.state_at(tick, gain=1.01) for tick in range(201)]
    )
    for engine, passes in (("dart", 1), ("gz", 0)):
        bag = bags / engine
        write_trajectory(bag, toy_robot.make_setup(), engine, "1", motion)
        for pair in ((bags / "a", bag), (bag, bags / "a")):
            words = ["compare", *map(str, pair), "--signals", "q/*"]
            assert run(words) == passes
            assert ("from Gazebo" in capsys.readouterr().out) == (engine == "gz")
        assert run([*words, "--tolerance", "1e-9"]) == 1
        assert "the default" not in capsys.readouterr().out

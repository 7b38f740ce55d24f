"""The MonkeyBot's commands, as a script calls them: keys of `--json`, and one line for mistakes."""

import json

import pytest
from monkeybot.gaits.gait import evaluate, horizontal
from monkeybots import REPORT
from workspace import accord, succeed

pytestmark = pytest.mark.thorough


def test_gait(tmp_path):
    """In a process of its own, as all are called by a script."""
    words = "monkeybot gait --rates 0.902 10.935 --torque 2 --json".split()
    found = json.loads(succeed(accord(*words, cwd=tmp_path)))
    assert found.pop("options")
    assert list(found) == ["error", "switch_time", "motor_time", "final"]
    assert list(found["final"]) == ["th2", "w1", "w2"]
    assert round(found["switch_time"], 3) == 0.428
    assert round(found["motor_time"], 3) == 0.024
    assert found["error"] == pytest.approx(7.6e-4, abs=1e-5)


def test_parameters_are_the_users(figures):
    """Facts: +1 % in I moves the switch from 0.428 s to 0.410 s."""
    inertia = 1.01 * REPORT.inertia_a
    found = figures(
        f"gait --rates 0.902 10.935 --set inertia_a={inertia} --set inertia_b={inertia}"
    )
    assert round(found["switch_time"], 3) == 0.410


@pytest.mark.slow
def test_minimise(figures):
    found = figures("gait --find minimum --rates 1 12 --torque 2")
    assert list(found)[:-1] == ["rates", "error", "switch_time", "motor_time", "evaluations"]
    again = evaluate(horizontal(2.0), REPORT, found["rates"], tolerance=1e-12)
    assert found["error"] == again.error[0] < 7.6e-4


def test_periodic(figures):
    found = figures("gait --find periodic --rates 0.63 11.21 --torque 10")
    assert list(found)[:-1] == ["rates", "torque", "residual", "multipliers"]
    assert found["torque"] == 10.0
    assert {name: len(pairs) for name, pairs in found["multipliers"].items()} == {
        "state_triggered": 3,
        "timed": 3,
        "clock": 4,
    }
    assert all(len(pair) == 2 for pairs in found["multipliers"].values() for pair in pairs)


def test_collisionless(figures):
    found = figures("gait --find collisionless --angle 0.58")
    assert list(found)[:-1] == ["angle", "period", "stride", "residual"]
    assert found["angle"] == pytest.approx(0.58225, abs=1e-5)


@pytest.mark.parametrize("clock", ["reset", "pure"])
def test_repeat(figures, clock):
    found = figures(
        f"gait --find repetition --rates 0.902 10.935 --torque 2 --steps 14 --clock {clock}"
    )
    assert list(found)[:-1] == ["error", "kinetic_energy", "height"]
    assert found.pop("options")
    assert {len(values) for values in found.values()} == {14}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("gait --torque 0", "cannot restore the energy"),
        ("gait --rates 0.1 2", "the free hand never rises to the line"),
        ("gait --set centre_a=0.7", "centre_a is 0.7 m, outside link A of length 0.61 m"),
        ("gait --set parameters.centre_a=0.7", "centre_a is 0.7 m, outside link A"),
        ("gait --set mass=3", "unknown key parameters.mass"),
        ("gait --set mass_a=heavy", "'heavy' is not a number"),
        ("gait --tolerance 0", "'--tolerance'"),
        ("gait --find minimum --rates 0.1 2", "the free hand never rises to the line"),
        ("gait --find periodic --rates 0.902 10.935 --torque 2", "no gait that repeats was found"),
        ("gait --find collisionless --angle 3", "must be between 0 and pi/2"),
        ("gait --find repetition --steps 0", "'--steps'"),
        ("gait --angle 0.6", "--angle belongs to monkeybot gait --find collisionless"),
        (
            "gait --find collisionless --torque 2",
            "not to --find collisionless",
        ),
        ("gait --find stable", "'stable' is not one of"),
    ],
)
def test_a_mistake_is_one_line(words, line, complaint):
    assert line in complaint(f"{words} --json")

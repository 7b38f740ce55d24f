"""`accord monkeybot stable` and `gaits`, as a script calls them; mistakes in one line."""

import pytest

pytestmark = pytest.mark.thorough


def test_stable(figures):
    found = figures("stable --period 0.943")
    assert list(found)[:-1] == [
        "period", "torque", "post_impact", "multipliers", "spectral_radius", "stride", "work",
        "drop",
    ]  # fmt: skip
    assert found["period"] == pytest.approx(0.943)
    assert len(found["post_impact"]) == len(found["multipliers"]) == 4
    sizes = [abs(complex(*pair)) for pair in found["multipliers"]]
    assert found["spectral_radius"] == pytest.approx(max(sizes))
    assert max(sizes) < 1.0
    assert abs(found["drop"]) < 1e-9


@pytest.mark.slow
def test_gaits(figures):
    found = {gait["name"]: gait for gait in figures("gaits --samples 60")["gaits"]}
    assert list(found) == [
        "clocked", "level", "passive", "report_lqr", "flying", "two_step", "climbing",
        "pulses",
    ]  # fmt: skip
    stable = {name for name, gait in found.items() if gait["spectral_radius"] < 1.0}
    assert stable == set(found) - {"passive"}  # the report's with its feedback
    assert found["passive"]["basin"]["survived"] == 0.0
    assert found["flying"]["basin"]["low"] > 0.9
    assert found["climbing"]["drop"] == pytest.approx(-0.012)
    assert found["passive"]["work"] == 0.0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("gaits --samples -1", "'--samples'"),
        ("stable --period 3", "must be between 0.5 and 1.5 s"),
        ("stable --period 0.7", "the branch of horizontal clocked gaits was followed to"),
        ("lqr --sample -1", "'--sample'"),
        ("find --period -1", "period is -1"),
        ("find --at period=.nan", "period is nan"),
        ("continue --along period --from 0.94 --to 0.95 --step 1e-300", "'--step'"),
    ],
)
def test_a_mistake_is_one_line(words, line, complaint):
    assert line in complaint(f"{words} --json")

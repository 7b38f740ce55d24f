"""Rules of pairs: found in each engine without being told, and used to make two engines equal."""

import math
from pathlib import Path

import pytest
from bench_checks import outcome
from roboaccord_bench import bench
from roboaccord_bench.found import load_problem
from roboaccord_bench.page import write_page
from roboaccord_bench.pairing import RULES, equal_surfaces

PAIRS = load_problem("pairs")
FRICTION, EQUAL, ONE_DEAD, BOUNCY = PAIRS.cases


def test_rules_against_their_definitions() -> None:
    """Values of .2 and .8; each of two equal surfaces gives the pair that was asked for."""
    values = {name: rule(0.2, 0.8) for name, rule in RULES.items()}
    expected = {"max": 0.8, "mean": 0.5, "geometric mean": 0.4, "harmonic mean": 0.32}
    assert values == pytest.approx({**expected, "product": 0.16, "min": 0.2})
    for name, rule in RULES.items():
        surface = equal_surfaces(name, 0.36)
        assert rule(surface, surface) == pytest.approx(0.36)


def test_laws_have_one_name_where_rules_agree() -> None:
    """Two equal surfaces show the product alone; the last case tells all six rules apart."""
    assert PAIRS.laws(**EQUAL) == {
        "max, mean, geometric mean, harmonic mean, min": 1.0,
        "product": 0.5,
    }
    assert len(PAIRS.laws(**BOUNCY)) == len(PAIRS.laws(**FRICTION)) == len(RULES)
    assert PAIRS.exact(**ONE_DEAD) == 0.4


@pytest.mark.parametrize(("engine", "rule"), [("dart", "min"), ("mujoco", "max")])
def test_rules_of_friction_are_found(engine: str, rule: str) -> None:
    """The engine's own documentation says the same."""
    found = outcome(PAIRS, engine, **FRICTION)
    assert found.law == rule
    assert found.constant == pytest.approx(RULES[rule](0.2, 0.8) / 0.5, rel=2e-3)


@pytest.mark.parametrize(("engine", "rule"), [("dart", "product"), ("mujoco", "min")])
def test_rules_of_restitution_are_found(engine: str, rule: str) -> None:
    """DART's product; MuJoCo's larger damping of two springs."""
    assert outcome(PAIRS, engine, **BOUNCY).law == rule


@pytest.mark.parametrize("number", [0, pytest.param(3, marks=pytest.mark.slow)], ids=["mu", "e"])
def test_two_engines_are_made_equal(number: int, tmp_path: Path) -> None:
    """Equal surfaces by the rules found: each then has the coefficient of the other within 1 %."""
    calls = bench.plan(["pairs"], ["dart", "mujoco"])
    data = bench.run([c for c in calls if c.case == PAIRS.cases[number]], tmp_path)
    page = write_page(data, tmp_path / "bench.html", "accord bench pairs").read_text()
    assert "Two engines made equal" in page
    (entry,) = data["problems"]
    assert [row["engine"] for row in entry["equal"]] == ["mujoco", "dart"]
    assert [row["like"] for row in entry["equal"]] == ["dart", "mujoco"]
    for row in entry["equal"]:
        assert abs(row["before"]) > 0.1
        assert abs(row["after"]) < 0.01


@pytest.mark.slow
def test_a_coefficient_that_is_1_percent_too_large_is_seen() -> None:
    """The pair of the smaller one moves with it, and not with the larger one."""
    wrong = outcome(PAIRS, "dart", mu=0.202, other=0.8).constant
    assert wrong is not None
    assert wrong * PAIRS.exact(mu=0.202, other=0.8) == pytest.approx(0.202, rel=2e-3)
    same = outcome(PAIRS, "dart", mu=0.2, other=0.808).constant
    assert same is not None
    assert same * PAIRS.exact(mu=0.2, other=0.808) == pytest.approx(0.2, rel=2e-3)


def test_series_are_those_of_the_mean() -> None:
    """Distance v^2 / (2 mu g) of the box, and height e^2 h of the bounce."""
    assert PAIRS.series(2.0, **FRICTION)[0] == pytest.approx(4.0 / (2.0 * 0.5 * 9.81))
    fall = math.sqrt(2.0 * 0.5 / 9.81)
    assert PAIRS.series(1.6 * fall, **BOUNCY)[0] == pytest.approx(0.36 * 0.5)

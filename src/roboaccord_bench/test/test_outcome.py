"""Outcomes of errors whose law is known, because they are made by it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from roboaccord_bench.outcome import judge

STEPS = (2e-3, 1e-3, 5e-4)


def figures(limit: float, factor: float, order: float) -> list[list[float]]:
    """Return figures whose relative error is limit + factor h^order."""
    return [[1.0 + limit + factor * (1e3 * step) ** order] for step in STEPS]


@given(
    st.floats(-0.5, 2.0),
    st.floats(0.01, 0.3) | st.floats(-0.3, -0.01),
    st.floats(0.7, 3.0),
)
def test_constant_and_order_of_a_law_of_errors(limit: float, factor: float, order: float) -> None:
    """L + c h^p is recovered: the exponent, and a limit as a constant unless it is round-off."""
    found = judge(figures(limit, factor, order), 1.0)
    assert found.constant == pytest.approx(1.0 + limit, abs=1e-3)
    if found.order is not None:
        assert found.order == pytest.approx(order, abs=1e-6)
    doubt = 0.51 * abs(factor) * 0.5**order
    if abs(limit) > max(doubt, 2e-3):
        assert found.outcome == "constant"
    if abs(limit) < 1e-4:
        assert found.outcome in ("order", "exact")


@pytest.mark.parametrize(
    ("errors", "outcome"),
    [
        ([0.01, 0.02, 0.04], "worse with a smaller step"),
        ([0.02, -0.03, 0.03], "no limit"),
        ([0.77, 0.58, 0.56], "constant"),
        ([0.56, 0.72, 0.0], "no limit"),
        ([2e-4, -3e-4, 1e-4], "exact"),
        ([4e-3, -3e-3, 5e-4], "exact"),
        ([-0.6, 1e-7, -3e-7], "exact"),
        ([0.3, 0.1, 0.1001], "constant"),
        ([0.01, float("nan"), 0.01], "no limit"),
    ],
)
def test_outcomes_without_an_order(errors: list[float], outcome: str) -> None:
    """Errors that grow, jump, or are too small to show a law, and Bullet's bounces."""
    assert judge([[1.0 + error] for error in errors], 1.0).outcome == outcome


def test_a_spread_over_phases_that_stays_is_said() -> None:
    """A figure that depends on where the step falls has no order, unless the spread vanishes."""
    stays = [[0.5, 0.7, 0.9]] * 3
    falls = [[0.7 - 100.0 * step, 0.7 + 100.0 * step] for step in STEPS]
    assert judge(stays, 0.7).outcome == "depends on where the step falls"
    assert judge(falls, 0.7).outcome == "exact"


def test_law_and_convention_are_named() -> None:
    """A constant near a law's is explained by it, one that is not has no name."""
    laws = {"pyramid": 2.0**0.5, "box": 0.5**0.5}
    assert judge(figures(0.4146, 1e-3, 1.0), 1.0, laws=laws).law == "pyramid"
    assert judge(figures(0.3, 1e-3, 1.0), 1.0, laws=laws).law == ""
    rule = judge([[0.8]] * 3, 0.5, laws={"max": 1.6}, convention=True)
    assert (rule.outcome, rule.law) == ("a convention", "max")


def test_an_answer_of_zero_has_a_limit_and_no_ratio() -> None:
    """A creep is judged by the scale that the problem gives."""
    found = judge([[3e-6 + step * 1e-3] for step in STEPS], 0.0, scale=1e-6)
    assert found.constant is None
    assert found.limit == pytest.approx(3e-6, rel=1e-6)
    assert found.outcome == "constant"

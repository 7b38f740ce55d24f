"""Numerical methods against what theory predicts of them."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from roboaccord.numerics.cholesky import factor, solve
from roboaccord.numerics.lemke import SOLVED, solve_by_lemke
from roboaccord.numerics.newton import bounded_step, newton_steps
from roboaccord.numerics.pivoting import solve_by_pivoting
from roboaccord.numerics.runge_kutta import STAGES, dense_rows, dense_state, rk4_stage, take_step


def definite(n: int, seed: int) -> np.ndarray:
    """Return a positive definite matrix with a condition of 100 at most."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return turn @ np.diag(rng.uniform(0.1, 10.0, n)) @ turn.T


@settings(deadline=None)
@given(st.integers(1, 9), st.integers(0, 10**6))
def test_cholesky_is_numpys(n: int, seed: int) -> None:
    """L is unique, and the solution is off by a condition number of rounding at most."""
    matrix = definite(n, seed)
    root, x = matrix.copy(), np.arange(1.0, n + 1.0)
    factor(root, root)
    assert np.tril(root) == pytest.approx(np.linalg.cholesky(matrix), abs=1e-12)
    solve(root, x)
    assert matrix @ x == pytest.approx(np.arange(1.0, n + 1.0), rel=1e-11)


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(0, 10**6))
def test_both_methods_of_complementarity_agree(n: int, seed: int) -> None:
    """For W positive definite the solution is unique [Cottle, Pang, Stone 1992, 3.1.6]."""
    w, b = definite(n, seed), np.random.default_rng(seed + 1).normal(size=n)
    x = np.empty(n)
    assert solve_by_lemke(w, -b, np.zeros(n, dtype=np.bool_), x) == SOLVED
    assert solve_by_pivoting(w, b) == pytest.approx(x, abs=1e-9)


def oscillator(x: np.ndarray) -> np.ndarray:
    """Return the slope of x'' = -x."""
    return np.array([x[1], -x[0]])


def rk4(h: float, steps: int) -> float:
    """Return the error of the oscillator after a number of steps."""
    y = np.array([1.0, 0.0])
    for _ in range(steps):
        slope, stage, end = np.empty(2), y.copy(), y.copy()
        for k in range(4):
            slope[:] = oscillator(stage)
            rk4_stage(k, h, y, slope, stage, end)
        y = end
    return float(np.hypot(y[0] - math.cos(h * steps), y[1] + math.sin(h * steps)))


def test_runge_kutta_is_of_order_4() -> None:
    """Half the step leaves a sixteenth of the error."""
    assert math.log2(rk4(0.1, 10) / rk4(0.05, 20)) == pytest.approx(4.0, abs=0.1)


def one_step(h: float) -> tuple[float, float]:
    """Return the errors of a step of Dormand and Prince's, at its end and in its middle."""
    start = np.array([1.0, 0.0])
    step = take_step(oscillator, start, oscillator(start), h, 1e-9)
    exact = [np.array([math.cos(t), -math.sin(t)]) for t in (h, 0.5 * h)]
    found = step.end, step.at(0.5)
    end, middle = (float(np.abs(a - b).max()) for a, b in zip(found, exact))
    return end, middle


def test_dormand_prince_is_of_order_5_with_dense_output_of_order_4() -> None:
    """One step is off by h^6, and by h^5 within [Hairer, Norsett, Wanner, II.6]."""
    (end, middle), (half_end, half_middle) = one_step(0.4), one_step(0.2)
    assert math.log2(end / half_end) == pytest.approx(6.0, abs=0.3)
    assert math.log2(middle / half_middle) > 4.7


def test_rows_of_a_tableau_add_up() -> None:
    """Each row of a Runge-Kutta tableau sums to its node: 1/5, 3/10, 4/5, 8/9, 1, 1."""
    assert [row.sum() for row in STAGES] == pytest.approx([1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1])


def test_compiled_dense_output_is_the_steps() -> None:
    """Both write the same polynomial."""
    start = np.array([1.0, 0.5])
    step = take_step(oscillator, start, oscillator(start), 0.3, 1e-9)
    rows, state = np.empty((5, 2)), np.empty(2)
    dense_rows(start, 2, 0.3, step.slopes, step.end, rows)
    for part in (0.0, 0.3, 1.0):
        dense_state(rows, 2, part, state)
        assert state == pytest.approx(step.at(part), abs=1e-14)


def test_newton_converges_quadratically_and_keeps_its_steps_short() -> None:
    """To sqrt(2), of which each iterate has twice the digits of the last."""
    iterates = list(
        newton_steps(
            lambda x: x**2 - 2.0, lambda x: np.array([[2.0 * x[0]]]), np.array([5.0]),
            longest=1.0, steps=8,
        )
    )  # fmt: skip
    errors = [abs(float(x[0]) - math.sqrt(2.0)) for x, _ in iterates]
    assert abs(iterates[1][0][0] - 5.0) == 1.0
    assert errors[-1] < 1e-15
    assert all(b <= a * a + 1e-15 for a, b in pairwise(errors) if a < 0.5)
    assert np.linalg.norm(bounded_step(np.eye(3), np.full(3, 9.0), 0.5)) == pytest.approx(0.5)


def test_newton_ends_where_nothing_is_finite() -> None:
    """It yields what it found, and does not go on."""
    found = newton_steps(
        lambda x: x + math.inf, lambda x: np.eye(1), np.zeros(1), longest=1.0, steps=9
    )
    assert len(list(found)) == 1

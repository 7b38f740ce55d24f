"""Linear complementarity against enumeration, least squares and the definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from roboaccord.contract.state import Array
from roboaccord.numerics.lemke import FAILED, SOLVED, _find_active, check_lcp, solve_by_lemke
from roboaccord.numerics.pivoting import solve_in_box
from scipy.optimize import lsq_linear, nnls

sizes = st.integers(1, 10)
seeds = st.integers(0, 2**32 - 1)


def solve(w: Array, b: Array, guess: Array | None = None) -> Array:
    x = np.full(len(b), np.nan)
    active = np.zeros(len(b), dtype=np.bool_) if guess is None else guess
    assert solve_by_lemke(w, b, active, x) == SOLVED
    return x


def enumerated(w: Array, b: Array) -> Array:
    """Return the solution by trying every set of positive entries."""
    n = len(b)
    for chosen in itertools.product((False, True), repeat=n):
        on = np.array(chosen)
        x = np.zeros(n)
        if on.any():
            x[on] = np.linalg.solve(w[np.ix_(on, on)], -b[on])
        if x.min() >= -1e-12 and (w @ x + b).min() >= -1e-9:
            return x
    raise AssertionError("no solution")


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), seeds)
def test_it_finds_the_solution_of_a_p_matrix(n: int, seed: int) -> None:
    """A matrix with a positive definite symmetric part is a P-matrix: there is one solution."""
    rng = np.random.default_rng(seed)
    root, twist = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    w, b = root @ root.T + 0.1 * np.eye(n) + twist - twist.T, rng.normal(size=n)
    guess = rng.integers(0, 2, n).astype(np.bool_)
    expected = enumerated(w, b)
    assert solve(w, b, guess) == pytest.approx(expected, rel=1e-7, abs=1e-9)
    _find_active(w, b, guess)  # by itself, before any entry is turned
    assert guess.tolist() == (expected > 0.0).tolist()


@pytest.mark.skipif(
    scipy.__version__.startswith(("1.12.", "1.13.", "1.14.")), reason="this SciPy's nnls cycles"
)
@settings(max_examples=100, deadline=None)
@given(sizes, sizes, st.booleans(), seeds)
def test_redundant_contacts_push_as_least_squares_say(
    n: int, rank: int, repeated: bool, seed: int
) -> None:
    """With W = J J^T and b = J c, J^T x + c is the shortest such vector: what moves is unique.

    What is added to the diagonal, S, moves it: with f(x) = |J^T x + c|^2 / 2 least at x* and
    f + x^T S x / 2 least at x, |J^T (x - x*)|^2 <= x*^T S x*, since f is strongly convex in J^T x.
    """
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, rank))
    if repeated:
        # Alike but for rounding, as the corners of a face that lies on a face.
        rows = rows[rng.integers(0, n, size=n)] + 1e-13 * rng.normal(size=(n, rank))
    c = rng.normal(size=rank)
    w = rows @ rows.T
    added = 1e-9 * np.diag(w)
    x = solve(w + np.diag(added), rows @ c)
    expected, _ = nnls(rows.T, -c)
    off = np.linalg.norm(rows.T @ (x - expected))
    assert off <= np.sqrt(added @ expected**2) + 1e-9
    assert x.min() >= 0.0


@pytest.mark.parametrize("seed", [12, 597, 799, 1172, 1278, 2100])
def test_entries_that_rounding_has_put_on_the_wrong_side_are_turned(seed: int) -> None:
    """Rows that are redundant but for 1e-13: Lemke's own set did not pass the check for these."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 13))
    rows = rng.normal(size=(n, int(rng.integers(1, max(2, n // 2)))))
    little = 10.0 ** rng.uniform(-13, -8)
    w, scale = rows @ rows.T + little * np.eye(n), rng.random()
    if scale < 0.3:
        b = rng.normal(size=n) * 10.0 ** rng.uniform(-2, 2)
    else:
        near = rows @ rng.normal(size=rows.shape[1])
        b = rng.normal(size=n) * little * 10.0 ** rng.uniform(0, 2) - near
    assert check_lcp(w, b, solve(w, b)) < 1e-8


def test_it_says_where_there_is_no_solution() -> None:
    x = np.zeros(1)
    assert solve_by_lemke(np.array([[-1.0]]), np.array([-1.0]), np.zeros(1, np.bool_), x) == FAILED


def test_the_check_finds_what_is_wrong() -> None:
    w, b = np.eye(2), np.array([-1.0, 1.0])
    assert check_lcp(w, b, np.array([1.0, 0.0])) == 0.0
    for wrong in ([1.1, 0.0], [0.9, 0.0], [1.0, 0.1], [1.0, -0.1]):
        assert check_lcp(w, b, np.array(wrong)) > 0.05


@settings(max_examples=100, deadline=None)  # the first call compiles
@given(seed=st.integers(0, 10**6), size=st.integers(1, 40), rank=st.integers(1, 40))
def test_a_box_is_solved_as_by_least_squares(seed: int, size: int, rank: int) -> None:
    """With x' A' A x / 2 - (A' y)' x, half of |A x - y|^2, SciPy finds the same."""
    rng = np.random.default_rng(seed)
    a = np.vstack([rng.normal(size=(rank, size)), 0.01 * np.eye(size)])  # nearly redundant rows
    y = np.concatenate([rng.normal(size=rank), np.zeros(size)])
    low = np.where(rng.random(size) < 0.2, -np.inf, -rng.random(size))
    high = np.where(rng.random(size) < 0.2, np.inf, rng.random(size))
    x = np.empty(size)
    solve_in_box(a.T @ a, -a.T @ y, low, high, x)
    assert (low <= x).all() and (x <= high).all()
    slope = a.T @ (a @ x - y)
    assert np.abs(slope[(low < x) & (x < high)]).max(initial=0.0) < 1e-9
    assert slope[x == low].min(initial=0.0) > -1e-9 and slope[x == high].max(initial=0.0) < 1e-9
    best = lsq_linear(a, y, (low, high), method="bvls", tol=1e-14).cost
    assert 0.5 * np.sum((a @ x - y) ** 2) <= best + 1e-9

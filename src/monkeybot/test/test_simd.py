"""Vectors of eight floats: each lane does what a float does."""

import numpy as np
import pytest
from roboaccord.numerics.jit import COMPILES, kernel
from workspace import set_numba

if not COMPILES:
    pytest.skip("vectors are numba's", allow_module_level=True)

from monkeybot.model.simd import fma, larger, load, nearest, root, sine_cosine, size, smaller, store


@kernel
def compute(x, out):
    a, b = load(x, 0), load(x, 1)
    store(out, 0, (a + b) * 2.0 - 3 / b)
    store(out, 1, fma(a, b, -a))
    store(out, 2, larger(a, b) - smaller(a, 0.5))
    store(out, 3, root(size(a)) + nearest(b))


@kernel
def turn(x, out):
    s, c = sine_cosine(load(x, 0))
    store(out, 0, s)
    store(out, 1, c)


@kernel
def copy(x, i, out):
    store(out, i, load(x, 0))


@pytest.mark.parametrize("i", [-1, 1])
def test_a_row_beside_an_array_is_an_error_where_bounds_are_checked(i, monkeypatch):
    set_numba(monkeypatch, "BOUNDSCHECK", 1)
    row, out = np.ones((1, 8)), np.zeros((3, 8))
    copy(row, 0, out[1:2])
    assert out.sum(axis=1).tolist() == [0, 8, 0]
    with pytest.raises(IndexError, match="out of bounds"):
        copy(row, i, out[1:2])


def test_lanes_are_floats():
    rng = np.random.default_rng(0)
    x, out = rng.normal(0.0, 3.0, (2, 8)), np.empty((4, 8))
    compute(x, out)
    a, b = x
    assert np.array_equal(out[0], (a + b) * 2.0 - 3 / b)
    assert out[1] == pytest.approx(a * b - a, rel=1e-15, abs=1e-15)
    assert np.array_equal(out[2], np.maximum(a, b) - np.minimum(a, 0.5))
    assert np.array_equal(out[3], np.sqrt(np.abs(a)) + np.rint(b))


def test_sine_and_cosine_are_those_of_the_library():
    """To two units in the last place of 1, at angles of many turns and beside multiples of pi."""
    rng = np.random.default_rng(1)
    for scale in (1e-9, 1.0, 30.0, 1e4):
        for shift in (0.0, 0.5 * np.pi, np.pi):
            x, out = rng.uniform(-scale, scale, (1, 8)) + shift, np.empty((2, 8))
            turn(x, out)
            assert np.abs(out - [np.sin(x[0]), np.cos(x[0])]).max() < 4.5e-16

"""Vectors of eight floats: bounds, and sine and cosine."""

import numpy as np
import pytest
from roboaccord.numerics.jit import COMPILES, kernel
from workspace import set_numba

if not COMPILES:
    pytest.skip("vectors are numba's", allow_module_level=True)

from monkeybot.model.simd import load, sine_cosine, store


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


def test_sine_and_cosine_are_those_of_the_library():
    """To two units in the last place of 1, at angles of many turns and beside multiples of pi."""
    rng = np.random.default_rng(1)
    for scale in (1e-9, 1.0, 30.0, 1e4):
        for shift in (0.0, 0.5 * np.pi, np.pi):
            x, out = rng.uniform(-scale, scale, (1, 8)) + shift, np.empty((2, 8))
            turn(x, out)
            assert np.abs(out - [np.sin(x[0]), np.cos(x[0])]).max() < 4.5e-16

"""Errors of the rolling schemes and of bounces: closed forms, and voxels that are near to them."""

import numpy as np
import pytest
from benchmarks.campaigns.rolling_cases import cases, error, measure
from benchmarks.campaigns.rolling_errors import HEADINGS, bounces
from slow_cases import late
from voxel_sphere.rolling.motion import Roller, roll

pytestmark = pytest.mark.thorough

N, R = 100, 10.0
CASES = {case.name: case for case in cases()}


@pytest.mark.parametrize("name", CASES)
def test_the_step_converges_to_closed_forms(name):
    """RK4 of 0.02 rad on the closed field: its own error is about (0.02)^4."""
    case = CASES[name]
    field = case.exact(N, R)
    start = field.place(*(N / 2 + R * np.array(case.start)))
    path = roll(Roller(field, centre=start), case.omega, case.duration, 60)
    assert error(path, case, N, start) < 1e-8


@pytest.mark.parametrize(
    ("name", "binary", "bound"),
    [
        ("bowl", True, 0.05),
        ("level loops", False, 0.01),
        *late(("bowl loops", False, 0.01), ("cylinder", False, 0.05), ("sinusoid", True, 0.05)),
    ],
)
def test_voxels(name, binary, bound):
    """Issue 7: 0.05 r at n = 100, and 0.01 r after 47 r of loops."""
    assert measure(CASES[name], N, "exact", binary=binary) < bound


def test_it_is_worse_on_a_curve():
    errors = {s: measure(CASES["bowl"], 50, s) for s in ("exact", "as_described")}
    assert errors["exact"] < 0.05 and 0.2 < errors["as_described"] < 3.0


@pytest.mark.slow
@pytest.mark.parametrize("binary", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_bounces(binary):
    """Issue 7, at its n = 100 and at the turn that fits the grid worst."""
    found = bounces(100, 20.0, binary=binary)
    assert found.heading_error < 3.0 and found.contact_error < 0.05
    assert found.stuck == 0 and found.hits >= 12


def test_who_meets_no_wall_is_stuck(monkeypatch):
    """Within two steps of 0.01 rad; there is no heading then, which counts as the opposite one."""
    monkeypatch.setattr("benchmarks.campaigns.rolling_errors.SPEED", 1e-3)
    found = bounces(20, 0.0)
    assert (found.hits, found.stuck) == (0, HEADINGS)
    assert (found.heading_error, found.mean_error) == (180.0, 180.0)

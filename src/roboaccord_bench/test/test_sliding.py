"""The threshold of sliding: statics, a motion by integration, and laws that are not Coulomb's."""

from math import atan, cos, sin

import numpy as np
import pytest
from bench_checks import figure, steepest, with_mu
from roboaccord.contract import AccordError
from roboaccord_bench.found import load_problem
from scipy.integrate import solve_ivp

SLIDING = load_problem("sliding")


def test_exact_threshold_against_statics() -> None:
    """A linear program finds forces of contact for a box at rest up to a slope of mu."""
    assert SLIDING.exact(heading=45.0) == pytest.approx(steepest(0.4, 0.1, 0.5), rel=1e-9)


def test_series_against_an_integration() -> None:
    """Newton's law along and across the ramp, with Coulomb's force."""
    angle, mass = atan(0.8), 1.0

    def rate(_: float, x: np.ndarray) -> list[float]:
        normal = mass * 9.81 * cos(angle)
        return [x[1], (mass * 9.81 * sin(angle) - 0.5 * normal) / mass]

    distance = solve_ivp(rate, (0.0, 0.4), [0.0, 0.0], rtol=1e-10, atol=1e-12).y[0, -1]
    assert SLIDING.series(0.4)[0] == pytest.approx(distance, rel=1e-8)


@pytest.mark.parametrize("engine", ["dart", "mujoco"])
def test_friction_that_is_1_percent_too_large_is_seen(engine: str) -> None:
    """The threshold is proportional to mu, at any heading."""
    found = figure(with_mu(SLIDING, 0.505), engine, heading=22.5)
    assert found / SLIDING.exact() == pytest.approx(1.01, abs=5e-4)


@pytest.mark.parametrize("heading", [22.5, 45.0])
@pytest.mark.parametrize(("engine", "law"), [("mujoco", "pyramid"), ("dart", "box")])
def test_default_laws_shift_the_threshold(engine: str, law: str, heading: float) -> None:
    """1 / (cos + sin) under MuJoCo's pyramid, and 1 / cos under DART's friction by axes."""
    found = figure(SLIDING, engine, "default", heading=heading) / SLIDING.exact()
    assert found == pytest.approx(SLIDING.laws(heading=heading)[law], rel=2e-3)


def test_a_box_that_sticks_is_refused() -> None:
    """A creep that grows with the slope is not taken for sliding."""
    with pytest.raises(AccordError, match="goes no further"):
        figure(with_mu(SLIDING, 50.0), "dart", heading=0.0)

"""The box that stops: its exact answer, and what a wrong coefficient shows."""

import numpy as np
import pytest
from bench_checks import outcome, set_to
from roboaccord_bench.found import load_problem
from scipy.integrate import solve_ivp

STOPPING = load_problem("stopping")


def test_exact_distance_and_series_against_an_integration() -> None:
    """Newton's law with Coulomb's force, integrated until the speed is 0."""

    def rate(_: float, x: np.ndarray) -> list[float]:
        return [x[1], -0.5 * 9.81]

    def stops(_: float, x: np.ndarray) -> float:
        return float(x[1])

    stops.terminal = True  # type: ignore[attr-defined]
    run = solve_ivp(rate, (0.0, 2.0), [0.0, 2.0], events=stops, rtol=1e-12, atol=1e-12)
    assert STOPPING.exact(heading=45.0) == pytest.approx(run.y[0, -1], rel=1e-10)
    half = run.t[-1] / 2.0
    middle = solve_ivp(rate, (0.0, half), [0.0, 2.0], rtol=1e-12, atol=1e-12).y[0, -1]
    assert STOPPING.series(half)[0] == pytest.approx(middle, rel=1e-10)


@pytest.mark.parametrize("engine", ["dart", "mujoco"])
def test_a_wrong_coefficient_is_a_constant_of_its_size(engine: str) -> None:
    """At 45 degrees, with mu 1 % too large, a box stops after 1 / 1.01 of the distance."""
    found = outcome(STOPPING, engine, change=set_to(mu=0.505), heading=45.0)
    assert found.outcome == "constant"
    assert found.constant == pytest.approx(1.0 / 1.01, abs=1e-3)

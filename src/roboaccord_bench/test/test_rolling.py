"""The sphere that starts to roll: an integration, wrong coefficients, and other laws."""

import numpy as np
import pytest
from bench_checks import changed, figure, with_inertia, with_mu
from roboaccord.contract import AccordError
from roboaccord_bench.found import load_problem
from scipy.integrate import solve_ivp

ROLLING = load_problem("rolling")


def test_exact_time_and_series_against_an_integration() -> None:
    """Newton's and Euler's laws with Coulomb's force, until the lowest point has no speed."""
    mass, radius, speed = 1.0, 0.1, 2.0
    force, inertia = 0.2 * mass * 9.81, 0.4 * mass * radius**2

    def rate(_: float, x: np.ndarray) -> list[float]:
        return [-force / mass, force * radius / inertia]

    def rolls(_: float, x: np.ndarray) -> float:
        return float(x[0] - radius * x[1])

    rolls.terminal = True  # type: ignore[attr-defined]
    run = solve_ivp(rate, (0.0, 2.0), [speed, 0.0], events=rolls, rtol=1e-12, atol=1e-12)
    assert ROLLING.exact(heading=45.0) == pytest.approx(run.t[-1], rel=1e-9)
    half = run.t[-1] / 2.0
    velocity, spin = solve_ivp(rate, (0.0, half), [speed, 0.0], rtol=1e-12).y[:, -1]
    assert ROLLING.series(half)[0] == pytest.approx(velocity - radius * spin, rel=1e-9)
    assert ROLLING.series(1.1 * run.t[-1])[0] == 0.0


@pytest.mark.parametrize("engine", ["dart", "mujoco"])
def test_coefficients_that_are_1_percent_too_large_are_seen(engine: str) -> None:
    """Time is v / (mu g (1 + m R^2 / I)): by mu 1 / 1.01, by I 3.5 / (1 + 2.5 / 1.01)."""
    by_mu = figure(with_mu(ROLLING, 0.202), engine, heading=22.5)
    assert by_mu / ROLLING.exact() == pytest.approx(1.0 / 1.01, abs=1e-3)
    by_inertia = figure(changed(ROLLING, with_inertia), engine, heading=22.5)
    assert by_inertia / ROLLING.exact() == pytest.approx(3.5 / (1.0 + 2.5 / 1.01), abs=1e-3)


@pytest.mark.parametrize("heading", [22.5, 45.0])
@pytest.mark.parametrize(("engine", "law"), [("mujoco", "pyramid"), ("dart", "box")])
def test_default_laws_change_the_time(engine: str, law: str, heading: float) -> None:
    """Cos + sin under MuJoCo's pyramid, and cos under DART's friction by axes."""
    found = figure(ROLLING, engine, "default", heading=heading) / ROLLING.exact()
    assert found == pytest.approx(ROLLING.laws(heading=heading)[law], rel=2e-3)


def test_a_sphere_that_slides_on_is_refused() -> None:
    """Without friction there is no time at which it rolls."""
    with pytest.raises(AccordError, match="it still slips"):
        figure(with_mu(ROLLING, 0.0), "dart", heading=0.0)

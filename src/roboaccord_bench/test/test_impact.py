"""One oblique impact: Routh's integration, wrong coefficients, and laws of engines."""

import numpy as np
import pytest
from bench_checks import outcome, set_to, with_inertia
from roboaccord_bench.found import load_problem
from scipy.integrate import solve_ivp

IMPACT = load_problem("impact")
SLIDES = {"heading": 45.0, "spin": -56.0, "e": 0.0}
STICKS = {"heading": 45.0, "spin": 0.0, "e": 0.0}


@pytest.mark.parametrize("case", IMPACT.cases, ids=str)
def test_exact_answer_against_an_integration_over_the_impulse(case: dict[str, float]) -> None:
    """Newton's and Euler's laws of a rigid sphere in space, with Coulomb's friction.

    The independent variable is the impulse of the normal force, which ends by Newton's law of
    impact. Friction opposes the slip until an event, after which none is needed.
    """
    scene = IMPACT.scene(**case)
    ball = scene.moving[0]
    arm = np.array([0.0, 0.0, -ball.size[0] / 2.0])
    inertia = 0.4 * ball.mass * arm[2] ** 2

    def slip(state: np.ndarray) -> np.ndarray:
        return (state[:3] + np.cross(state[3:], arm)) * (1.0, 1.0, 0.0)

    start = np.concatenate([ball.velocity, ball.spin])
    direction = slip(start) / np.linalg.norm(slip(start))  # which the slip keeps

    def rate(_: float, state: np.ndarray) -> np.ndarray:
        friction = -scene.mu * direction
        force = friction + np.array([0.0, 0.0, 1.0])
        return np.concatenate([force / ball.mass, np.cross(arm, force) / inertia])

    def stops(_: float, state: np.ndarray) -> float:
        return float(slip(state) @ direction)

    stops.terminal = True  # type: ignore[attr-defined]
    total = -(1.0 + case["e"]) * ball.mass * ball.velocity[2]
    run = solve_ivp(rate, (0.0, total), start, events=stops, rtol=1e-10, atol=1e-12)
    lost = np.linalg.norm(start[:2] - run.y[:2, -1])
    assert IMPACT.exact(**case) == pytest.approx(lost, rel=1e-7)
    after = IMPACT.series(0.05, **case)[0]
    assert after == pytest.approx(np.linalg.norm(start[:2]) - lost, rel=1e-7)


def test_coefficients_that_are_1_percent_too_large_are_seen() -> None:
    """The loss grows as mu while it slides, as (1 + e), and as 1 / (1 + m R^2 / I) if it sticks."""
    assert outcome(IMPACT, "dart", **SLIDES).outcome == "exact"
    assert outcome(IMPACT, "dart", **STICKS).outcome == "order"
    wrong = outcome(IMPACT, "dart", change=set_to(mu=0.303), **SLIDES)
    assert wrong.constant == pytest.approx(1.01, abs=1e-3)
    bouncing = {**SLIDES, "e": 0.5}
    wrong = outcome(IMPACT, "dart", change=set_to(restitution=0.505), **bouncing)
    assert wrong.constant == pytest.approx(1.505 / 1.5, abs=1e-3)
    wrong = outcome(IMPACT, "dart", change=with_inertia, **STICKS)
    assert wrong.outcome == "constant"
    assert wrong.constant == pytest.approx(3.5 / (1.0 + 2.5 / 1.01), abs=1e-3)


def test_friction_by_axes_is_seen_without_an_integrator() -> None:
    """DART by default: 1.4142 at 45 degrees, and its law at 22.5; nothing where it sticks."""
    found = outcome(IMPACT, "dart", "default", **SLIDES)
    assert (found.law, found.constant) == ("box", pytest.approx(2.0**0.5, rel=1e-3))
    assert outcome(IMPACT, "dart", "default", **{**SLIDES, "heading": 22.5}).law == "box"
    assert outcome(IMPACT, "dart", "default", **STICKS).outcome == "order"


def test_turning_the_world_changes_the_pyramid_and_not_the_cone() -> None:
    """MuJoCo loses 0.71 times as much at 45 degrees by default, and the same with its cone."""
    ratio = {}
    for setting in ("default", "expert"):
        along, across = (
            outcome(IMPACT, "mujoco", setting, **{**SLIDES, "heading": heading}).constant
            for heading in (0.0, 45.0)
        )
        assert along is not None
        assert across is not None
        ratio[setting] = across / along
    assert ratio["default"] == pytest.approx(0.5**0.5, abs=0.01)
    assert ratio["expert"] == pytest.approx(1.0, abs=1e-3)

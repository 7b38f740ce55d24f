"""The bounce: an integration with events, a wrong coefficient, phases of a step, and springs."""

import math

import numpy as np
import pytest
from bench_checks import outcome, set_to
from roboaccord_bench.engines.mujoco import spring
from roboaccord_bench.found import load_engine, load_problem
from roboaccord_bench.problem import PHASES, Trial
from roboaccord_bench.scene import Body, Scene
from scipy.integrate import solve_ivp

BOUNCE = load_problem("bounce")


@pytest.mark.parametrize("case", BOUNCE.cases, ids=str)
def test_exact_series_against_an_integration_with_events(case: dict[str, float]) -> None:
    """Free fall from event to event, each of which turns the speed round, times e."""

    def hits(_: float, state: np.ndarray) -> float:
        return float(state[0])

    hits.terminal, hits.direction = True, -1.0  # type: ignore[attr-defined]
    time, state, times = 0.0, [case["height"], 0.0], np.linspace(0.0, BOUNCE.duration, 61)
    while time < BOUNCE.duration:
        run = solve_ivp(
            lambda _, x: [x[1], -9.81],
            (time, BOUNCE.duration),
            state,
            events=hits,
            rtol=1e-12,
            atol=1e-12,
            dense_output=True,
        )
        inside = times[(times >= time) & (times <= run.t[-1])]
        exact = [BOUNCE.series(each, **case)[0] for each in inside]
        if exact:
            np.testing.assert_allclose(exact, run.sol(inside)[0], atol=1e-6)
        time, state = run.t[-1], [0.0, -case["e"] * run.y[1, -1]]
        if state[1] < 1e-3:
            break
    rest = [BOUNCE.series(each, **case)[0] for each in times if each > time]
    np.testing.assert_allclose(rest, 0.0, atol=1e-6)


@pytest.mark.parametrize("engine", ["dart", "mujoco"])
def test_a_restitution_that_is_1_percent_too_large_is_seen(engine: str) -> None:
    """Both expert settings bounce rightly, DART with order 1; then 1.01 times as fast."""
    case = {"e": 0.7, "height": 0.5}
    right = outcome(BOUNCE, engine, **case)
    assert right.outcome == {"dart": "order", "mujoco": "exact"}[engine]
    wrong = outcome(BOUNCE, engine, change=set_to(restitution=0.707), **case)
    assert wrong.outcome == "constant"
    assert wrong.constant == pytest.approx(1.01, abs=2e-3)


def test_mujoco_has_no_restitution_by_default() -> None:
    """It leaves with 0.13, whatever e: a critically damped spring that does not pull."""
    found = outcome(BOUNCE, "mujoco", "default", e=1.0, height=0.5)
    assert (found.law, found.outcome) == ("critically damped spring", "constant")
    assert found.constant == pytest.approx(math.exp(-2.0), abs=0.01)


def test_phases_fall_where_they_are_said_to() -> None:
    """The exact impact is in another fifth of a step in each run, at any step."""
    for step in (2e-3, 1.3e-3):
        hit = math.sqrt(2.0 * 0.5 / 9.81)
        starts = Trial(load_engine("dart"), "default", step).starts(hit)
        for phase, start in zip(PHASES, starts, strict=True):
            assert (hit - start) / step % 1.0 == pytest.approx(phase, abs=1e-9)
            ball = BOUNCE.scene(e=0.5, height=0.5).after(start).moving[0]
            height, speed = ball.position[2] - 0.05, ball.velocity[2]
            assert 9.81 * height + 0.5 * speed**2 == pytest.approx(9.81 * 0.5, rel=1e-12)


@pytest.mark.parametrize("restitution", [0.14, 0.3, 0.7, 1.0])
def test_springs_leave_with_their_restitution(restitution: float) -> None:
    """A mass on the spring of `solref`, integrated until it would pull."""
    body = Body(name="a", size=(1.0,), restitution=restitution)
    stiffness, damping = (-float(word) for word in spring(1e4, body).split('"')[1].split())

    def pulls(_: float, x: np.ndarray) -> float:
        return float(-stiffness * x[0] - damping * x[1])

    pulls.terminal, pulls.direction = True, -1.0  # type: ignore[attr-defined]
    run = solve_ivp(
        lambda _, x: [x[1], -stiffness * x[0] - damping * x[1]],
        (0.0, 1.0),
        [-1e-12, -1.0],
        events=pulls,
        rtol=1e-10,
        atol=1e-14,
    )
    assert run.y[1, -1] == pytest.approx(restitution, abs=1e-4)


def test_scenes_after_free_flight() -> None:
    """Fixed bodies stay; others move by Galileo's law."""
    scene = BOUNCE.scene(e=0.5, height=0.5)
    later: Scene = scene.after(0.1)
    assert later.bodies[0] == scene.bodies[0]
    assert later.bodies[1].velocity == pytest.approx((0.0, 0.0, -0.981))
    assert later.bodies[1].position == pytest.approx((0.0, 0.0, 0.55 - 0.5 * 9.81 * 0.01))

"""The pinch: statics, a lift that is planted, and a grip that is too weak."""

import numpy as np
import pytest
from bench_checks import figure, outcome, set_to
from roboaccord_bench.found import load_problem
from scipy.optimize import linprog

PINCH = load_problem("pinch")


@pytest.mark.parametrize("case", PINCH.cases, ids=str)
def test_the_cube_can_rest_by_statics(case: dict[str, float]) -> None:
    """Friction of both fingers carries it, within mu F; unknowns: two tractions, the ground's."""
    weight, force = 0.1 * 9.81, case["force"]
    ground = (0.0, None if case["height"] == 0.0 else 0.0)
    grip = (-1.0 * force, 1.0 * force)  # mu is 1
    moment = [0.025, -0.025, 0.0]  # about the centre
    balance, load = [[1.0, 1.0, 1.0], moment], [weight, 0.0]
    found = linprog(np.zeros(3), None, None, balance, load, [grip, grip, ground])
    assert found.status == 0
    assert (PINCH.exact(**case), PINCH.series(1.0, **case)) == (0.0, (0.0,))


@pytest.mark.slow
@pytest.mark.parametrize("case", PINCH.cases, ids=str)
def test_dart_neither_lifts_nor_drops(case: dict[str, float]) -> None:
    """By default its rise vanishes with the step."""
    assert outcome(PINCH, "dart", "default", **case).outcome in {"exact", "order"}


def test_1_percent_of_mu_decides_between_slipping_and_holding() -> None:
    """With 2 mu F below the weight it falls by (g - 2 mu F / m) t^2 / 2, with 1 % more it holds."""
    case, mu = {"height": 0.1, "force": 2.0}, 0.2445
    slips = outcome(PINCH, "dart", "default", set_to(mu=mu), **case)
    fall = 0.5 * (9.81 - 2.0 * mu * 2.0 / 0.1)  # 15 mm, while the fingers still touch
    assert slips.limit == pytest.approx(-fall, rel=0.01)
    assert outcome(PINCH, "dart", "default", set_to(mu=1.01 * mu), **case).outcome != "constant"


def test_a_lift_is_seen() -> None:
    """A force of 2 % of the weight that nobody asked for lifts the loose cube."""

    class Lifting(type(PINCH)):  # type: ignore[misc]
        """Fingers, and something that pulls the cube up."""

        def forces(self, **case: float) -> dict[str, np.ndarray]:
            pull = np.array([0.0, 0.0, 1.02 * 0.981])
            return {**super().forces(**case), "cube": pull}

    rise = figure(Lifting(), "dart", "default", height=0.0, force=0.0)
    assert rise == pytest.approx(0.5 * 0.02 * 9.81, rel=0.01)

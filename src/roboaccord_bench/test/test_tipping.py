"""The threshold of tipping: statics, a motion by integration, and a box that is too wide."""

from dataclasses import replace
from math import atan, cos, sin

import numpy as np
import pytest
from bench_checks import figure, steepest, with_mu
from roboaccord_bench.found import load_problem
from roboaccord_bench.scene import Scene
from scipy.integrate import solve_ivp

TIPPING = load_problem("tipping")
LEVER = np.array([-0.1, 0.2])  # from the lower edge to the centre, downhill and upwards [m]
INERTIA = (0.2**2 + 0.4**2) / 12.0 + LEVER @ LEVER  # of 1 kg about the edge [kg m^2]
WEIGHT = 9.81 * np.array([sin(atan(0.6)), -cos(atan(0.6))])  # on the first slope [N]


def lever(angle: float) -> np.ndarray:
    """Return the lever of a box that has tipped by an angle, downhill (2,) [m]."""
    return np.array([[cos(angle), sin(angle)], [-sin(angle), cos(angle)]]) @ LEVER


def rate(_: float, x: np.ndarray) -> list[float]:
    """Return the rates of angle and spin: Euler's law about the edge."""
    across, up = lever(x[0])
    return [x[1], (up * WEIGHT[0] - across * WEIGHT[1]) / INERTIA]


def test_exact_threshold_against_statics() -> None:
    """A linear program finds forces for a box at rest up to the width over the height."""
    assert TIPPING.exact() == pytest.approx(steepest(0.2, 0.4, 1.0), rel=1e-9)


def test_series_against_an_integration_that_slips_nowhere() -> None:
    """The spin about the edge; the force there presses, and stays inside the cone of friction."""
    motion = solve_ivp(rate, (0.0, 0.3), [0.0, 0.0], rtol=1e-10, atol=1e-12, dense_output=True)
    for time in np.linspace(0.0, 0.3, 7):
        angle, spin = motion.sol(time)
        assert TIPPING.series(time)[0] == pytest.approx(spin, abs=1e-8)
        turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
        arm, growth = lever(angle), rate(time, np.array([angle, spin]))[1]
        friction, normal = growth * turn @ arm - spin**2 * arm - WEIGHT
        assert abs(friction) < 0.71 * normal  # 0.71: also inside a pyramid at 45 degrees


@pytest.mark.parametrize("engine", ["dart", "mujoco"])
def test_a_box_that_is_1_percent_too_wide_is_seen(engine: str) -> None:
    """The threshold is proportional to the width, and does not depend on mu."""

    class Wide(type(TIPPING)):  # type: ignore[misc]
        def scene(self, **case: float) -> Scene:
            scene = super().scene(**case)
            ground, box = scene.bodies
            x, y, z = box.size
            return replace(scene, bodies=(ground, replace(box, size=(1.01 * x, y, z))))

    right = figure(TIPPING, engine, heading=22.5)
    assert figure(Wide(), engine, heading=22.5) / right == pytest.approx(1.01, abs=1e-3)
    assert figure(with_mu(TIPPING, 1.01), engine, heading=22.5) == pytest.approx(right, rel=2e-4)


@pytest.mark.parametrize(("engine", "bound"), [("dart", 2e-4), ("mujoco", 5e-3)])
def test_no_heading_tips_earlier(engine: str, bound: float) -> None:
    """The threshold is right; MuJoCo's soft contacts let the box lean, by a third of a per cent."""
    for setting in ("default", "expert"):
        found = figure(TIPPING, engine, setting, heading=45.0)
        assert found == pytest.approx(TIPPING.exact(), rel=bound)

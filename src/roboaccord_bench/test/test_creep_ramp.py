"""Creep on a ramp: statics, a box that slides in truth, and the law of soft friction."""

from dataclasses import replace
from math import atan, cos, sin

import pytest
from bench_checks import figure, steepest, with_mu
from roboaccord_bench.found import load_engine, load_problem
from roboaccord_bench.problem import Trial

CREEP = load_problem("creep_ramp")


def test_the_box_is_held_by_each_law_of_friction() -> None:
    """Statics allows rest up to mu; up to 0.71 mu under a pyramid at 45 degrees."""
    assert steepest(0.4, 0.1, 0.5) * 2.0**-0.5 > 0.3
    assert CREEP.exact(heading=45.0) == CREEP.series(1.0)[0] == 0.0


@pytest.mark.parametrize("heading", [0.0, 45.0])
def test_dart_does_not_creep(heading: float) -> None:
    """Neither with its default solver nor with another: less than 0.1 um/s."""
    for setting in ("default", "expert"):
        assert abs(figure(CREEP, "dart", setting, heading=heading)) < 1e-7


def test_too_little_friction_is_seen_as_the_speed_of_sliding() -> None:
    """With mu 0.25 the box slides: its mean speed from 0.5 to 1 s is that at 0.75 s."""
    angle = atan(0.3)
    speed = 0.75 * 9.81 * (sin(angle) - 0.25 * cos(angle))
    found = figure(with_mu(CREEP, 0.25), "dart", heading=22.5)
    assert found == pytest.approx(speed, rel=2e-3)
    assert abs(figure(with_mu(CREEP, 0.505), "dart", heading=22.5)) < 1e-7


@pytest.mark.parametrize("step", [2e-3, 5e-4])
@pytest.mark.parametrize("impratio", [1.0, 10.0])
@pytest.mark.parametrize(("cone", "factor"), [("elliptic", 1.0), ("pyramidal", 1.0 + 0.5**2)])
def test_law_of_creep_in_mujoco(cone: str, factor: float, impratio: float, step: float) -> None:
    """R f / b of each of four contacts, by solref 0.02 1 and solimp 0.9 0.95, at any step.

    The tolerance is that of d, which grows by 0.001 as the box sinks by a tenth of its width.
    """
    options = {"own": {"cone": cone, "impratio": str(impratio)}}
    engine = replace(load_engine("mujoco"), options=options)
    (found,) = Trial(engine, "own", step).measure(CREEP, {"heading": 45.0})
    b, force = 2.0 / (0.95 * 0.02), 9.81 * sin(atan(0.3)) / 4.0
    softness = factor * (1.0 - 0.9) / (0.9 * impratio * 1.0)
    assert found == pytest.approx(softness * force / b, rel=0.02)

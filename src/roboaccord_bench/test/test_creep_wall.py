"""Creep on a wall: statics, a cube that falls in truth, and turns about the vertical."""

from dataclasses import replace
from math import radians

import numpy as np
import pytest
from bench_checks import figure, steepest, with_mu
from roboaccord_bench.found import load_problem
from roboaccord_bench.scene import Scene, direction

CREEP = load_problem("creep_wall")


def test_the_cube_is_held_by_each_force() -> None:
    """A wall is a ramp: the force presses, the weight pulls, and statics allows rest up to mu."""
    slopes = [9.81 / case["force"] for case in CREEP.cases]
    assert max(slopes) < steepest(0.1, 0.1, 0.5)
    assert CREEP.exact() == CREEP.series(1.0)[0] == 0.0


@pytest.mark.parametrize("force", [25.0, 200.0])
def test_dart_does_not_creep(force: float) -> None:
    """Less than 2 um/s, with either solver."""
    for setting in ("default", "expert"):
        assert abs(figure(CREEP, "dart", setting, force=force)) < 2e-6


def test_too_little_friction_is_seen_as_the_speed_of_falling() -> None:
    """With mu 0.35 the cube falls under 25 N: the mean speed from 0.5 to 1 s is that at 0.75 s."""
    speed = 0.75 * (9.81 - 0.35 * 25.0)
    found = figure(with_mu(CREEP, 0.35), "dart", force=25.0)
    assert found == pytest.approx(speed, rel=2e-3)


def test_mujoco_creeps_less_under_more_force() -> None:
    """Its contacts grow harder as they sink in; the creep is also given per newton."""
    creeps = {case["force"]: figure(CREEP, "mujoco", **case) for case in CREEP.cases}
    assert all(1e-5 < creep < 1e-3 for creep in creeps.values())
    assert sorted(creeps.values(), reverse=True) == [*creeps.values()]
    assert CREEP.further(3e-4, force=200.0) == {"per_newton": pytest.approx(1.5e-6)}


@pytest.mark.parametrize(("engine", "bound"), [("dart", 1e-6), ("mujoco", 1e-5)])
def test_a_turn_about_the_vertical_changes_nothing(engine: str, bound: float) -> None:
    """A wall, a cube and a force that are turned by 45 degrees, by default."""
    away = direction(45.0)

    class Turned(type(CREEP)):  # type: ignore[misc]
        def scene(self, **case: float) -> Scene:
            scene = super().scene(**case)
            bodies = [
                replace(body, position=tuple(body.position[0] * away), yaw=radians(45.0))
                for body in scene.bodies
            ]
            return replace(scene, bodies=tuple(bodies))

        def forces(self, **case: float) -> dict[str, np.ndarray]:
            return {"cube": -case["force"] * away}

    turned = figure(Turned(), engine, "default", force=50.0)
    assert turned == pytest.approx(figure(CREEP, engine, "default", force=50.0), abs=bound)

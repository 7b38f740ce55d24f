"""The stack at rest: statics by a linear program, and what an engine without contact would do."""

import numpy as np
import pytest
from bench_checks import outcome
from roboaccord_bench.found import load_engine, load_problem
from roboaccord_bench.problem import Trial
from scipy.optimize import linprog

STACK = load_problem("stack")
(CASE,) = STACK.cases


def test_rest_is_possible_by_statics() -> None:
    """Forces at corners that only push and stay in the cone carry both boxes: the way is 0.

    Unknowns are the forces (x, y, z) at the four corners under each box; balances are those of
    force and of moment about the centre of each.
    """
    boxes = STACK.scene(**CASE).moving
    corners = [np.array([x, y, -0.1]) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    balance, load = np.zeros((12, 24)), np.zeros(12)
    for number, box in enumerate(boxes):
        for corner, arm in enumerate(corners):
            columns = slice(3 * (4 * number + corner), 3 * (4 * number + corner) + 3)
            for sign, row, at in ((1.0, 6 * number, arm), (-1.0, 0, arm * (1.0, 1.0, -1.0))):
                if sign > 0.0 or number == 1:  # what carries the upper box presses on the lower
                    balance[row : row + 3, columns] += sign * np.eye(3)
                    balance[row + 3 : row + 6, columns] += sign * np.cross(at, np.eye(3)).T
        load[6 * number + 2] = box.mass * 9.81
    bounds = [(None, None), (None, None), (0.0, None)] * 8
    cones = []
    for force in range(8):
        for axis in (0, 1):
            for sign in (-1.0, 1.0):
                row = np.zeros(24)
                row[3 * force + axis], row[3 * force + 2] = sign, -0.5 / 2.0**0.5
                cones.append(row)
    found = linprog(np.zeros(24), cones, np.zeros(len(cones)), balance, load, bounds)
    assert found.status == 0
    pushes = found.x[2::3]
    assert pushes[:4].sum() == pytest.approx(101.0 * 9.81)
    assert pushes[4:].sum() == pytest.approx(100.0 * 9.81)
    assert STACK.exact(**CASE) == 0.0
    assert STACK.series(0.5, **CASE) == (0.0, 0.0)


def test_dart_converges_and_mujoco_sinks_by_what_its_springs_give() -> None:
    """DART's way vanishes with the step; MuJoCo's is a constant below 2 mm."""
    assert outcome(STACK, "dart", "default", **CASE).outcome == "order"
    for setting, sink in (("default", 0.83e-3), ("expert", 1.24e-3)):
        found = outcome(STACK, "mujoco", setting, **CASE)
        assert found.outcome == "constant"
        assert found.limit == pytest.approx(sink, rel=0.02)


def test_the_series_has_the_sink_and_the_way() -> None:
    """Both are the same where the box goes straight down."""
    trial = Trial(load_engine("mujoco"), "expert", 2e-3)
    (way,) = trial.measure(STACK, CASE)
    assert len(trial.series) == 500
    assert trial.series[-1][1] == pytest.approx(way, rel=1e-3)

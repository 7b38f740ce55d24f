"""Equilibria over the active joints: by roots and the energy, and in which wells they are."""

from __future__ import annotations

import numpy as np
import pytest
from failed_arms import arm_of
from packbot.model.arm import Arm
from packbot.planning.transition import TransitionPlanner
from roboaccord_studies.packbot.recovery.equilibrium_map import equilibria_at, map_equilibria
from scipy.optimize import brentq


@pytest.mark.parametrize("joint", ["shoulder", "elbow1", "elbow2"])
def test_gravity_leaves_one_stable_and_one_unstable_zero_whatever_the_others_do(joint):
    """By roots of pinocchio's torque on a fine grid, and the second difference of the energy."""
    arm = arm_of(joint)
    plain, (j,) = Arm.of(arm.setup), arm.loose
    p, rng, zero = arm.setup.parameters, np.random.default_rng(3), np.zeros(7)
    clear = 0
    for _ in range(12):
        q = rng.uniform(*p.limits)
        q[[0, 4, 5, 6]] = arm.setup.initial.q[[0, 4, 5, 6]]

        def at(angle, q=q):
            return np.where(np.arange(7) == j, angle, q)

        def torque(angle, at=at):
            return plain.efforts(at(angle), zero, zero)[j]

        grid = np.linspace(-np.pi, np.pi, 50) + 1e-3
        values = [torque(angle) for angle in grid]
        roots = [
            brentq(torque, grid[i], grid[i + 1], xtol=1e-12)
            for i in range(len(grid) - 1)
            if values[i] * values[i + 1] < 0.0
        ]
        assert len(roots) == 2
        found = [each for each in equilibria_at(arm, q) if each.kind in ("stable", "unstable")]
        clear += len(found)
        for each in found:
            angle = each.q[j]
            nearest = min(roots, key=lambda root, a=angle: abs(np.sin(0.5 * (root - a))))
            assert abs(2.0 * np.sin(0.5 * (nearest - angle))) < 1e-9
            low, here, high = (plain.energy(at(angle + h), zero) for h in (-1e-3, 0.0, 1e-3))
            assert each.stiffness == pytest.approx((low + high - 2.0 * here) / 1e-6, rel=1e-3)
            assert (each.stiffness > 0.0) == (each.kind == "stable")
    assert clear > 5


def test_a_rest_and_the_unstable_zero_vanish_in_a_fold():
    """There the torque is zero and its slope negative; a little further the joint falls far."""
    arm = arm_of()
    q = arm.setup.initial.q.copy()
    q[1] = 1.7
    found = map_equilibria(arm, q, ["elbow1"], 11)
    plain, zero = Arm.of(arm.setup), np.zeros(7)
    assert len(found.folds) == 2  # one on each side of link 2
    for fold in found.folds:
        there = q.copy()
        there[1:4] = list(fold.angles.values())
        turned = (plain.efforts(there + h * np.eye(7)[3], zero, zero)[3] for h in (1e-4, -1e-4))
        slope = (next(turned) - next(turned)) / 2e-4
        assert slope < 0.0
        # The contact's angle is known to 1e-4 rad, the fold to a cell over 2^14.
        assert abs(plain.efforts(there, zero, zero)[3]) < 2e-3 * abs(slope)
        on = -np.sign(there[3])
        inside, beyond = (there + on * h * np.eye(7)[2] for h in (-0.01, 0.01))
        assert abs(arm.resting_pose(inside)[3] - there[3]) < 0.01
        assert on * (arm.resting_pose(beyond)[3] - there[3]) > 1.0


def test_no_quasi_static_path_joins_the_two_equilibria_of_the_scenario():
    """They are in different wells, and in different parts of the map."""
    arm = arm_of()
    plan = TransitionPlanner(arm.setup, arm, arm.setup.initial.q, 1.3)
    first, second = (equilibria_at(arm, q) for q in (plan.start, plan.goal))
    rests = [each for each in first if each.kind != "unstable"]
    assert [(each.kind, each.well) for each in rests] == [("propped", 0), ("stable", 1)]
    assert [each.q[3] for each in rests] == pytest.approx([plan.start[3], plan.goal[3]], abs=2e-4)
    assert len(first) == len(second)
    found = map_equilibria(arm, plan.start, ["elbow1"], 13)
    assert all(len({each.well for each in cell}) <= 2 for cell in found.by_cell)
    wells = {}
    for each in (each for cell in found.by_cell for each in cell if each.part >= 0):
        wells.setdefault(each.part, set()).add(each.well)
    assert all(len(some) == 1 for some in wells.values())

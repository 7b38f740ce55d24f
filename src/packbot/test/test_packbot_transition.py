"""Equilibria over the active joints, and the transition from one to another."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from packbot.model.arm import Arm
from packbot.planning.failed_arm import FailedArm
from packbot.planning.transition import PLANE, PlanarArm, flow, inverse, step
from packbot.source.equilibria import equilibria_at, map_equilibria
from roboaccord import AccordError
from roboaccord.cli.options import load_setup
from roboaccord.contract.fault import Fault
from roboaccord.run.loop import make_simulator, simulate
from scipy.optimize import brentq

ELBOW2 = 3


def arm_of(joint="elbow2"):
    setup = load_setup("packbot", "transition")
    return FailedArm(setup, [Fault(joint, "loose")], q=setup.initial.q)


@functools.cache
def planar():
    setup = load_setup("packbot", "transition")
    return PlanarArm(setup, arm_of(), setup.initial.q, 1.3)


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
        assert abs(arm.rest(inside)[3] - there[3]) < 0.01
        assert on * (arm.rest(beyond)[3] - there[3]) > 1.0


def test_no_quasi_static_path_joins_the_two_equilibria_of_the_scenario():
    """They are in different wells, and in different parts of the map."""
    arm, plan = arm_of(), planar()
    first, second = (equilibria_at(arm, q) for q in (plan.start, plan.goal))
    rests = [each for each in first if each.kind != "unstable"]
    assert [(each.kind, each.well) for each in rests] == [("propped", 0), ("stable", 1)]
    assert [each.q[3] for each in rests] == pytest.approx([plan.start[3], plan.goal[3]], abs=2e-4)
    assert len(first) == len(second)
    found = map_equilibria(arm, plan.start, ["elbow1"], 13)
    assert all(len({each.well for each in cell}) <= 2 for cell in found.found)
    wells = {}
    for each in (each for cell in found.found for each in cell if each.part >= 0):
        wells.setdefault(each.part, set()).add(each.well)
    assert all(len(some) == 1 for some in wells.values())


def test_the_planar_arm_moves_as_the_whole_one_does():
    """Inverse and forward dynamics, against pinocchio's with the other joints at rest."""
    plan, rng = planar(), np.random.default_rng(0)
    plain, p = Arm.of(plan.arm.setup), plan.arm.setup.parameters
    plane, viscous = list(PLANE), p.of_joints("viscous")[1:4]
    for _ in range(10):
        q, qd, qdd = plan.start.copy(), np.zeros(7), np.zeros(7)
        q[plane], qd[plane], qdd[plane] = rng.uniform(-2.0, 2.0, (3, 3))
        x, tau = np.concatenate([q[plane], qd[plane]]), np.empty(3)
        inverse(plan.model, x, qdd[plane], tau)
        expected = plain.efforts(q, qd, qdd)[plane] + viscous * qd[plane]
        assert tau == pytest.approx(expected, abs=1e-10)
        rate = np.empty(6)
        flow(plan.model, plan.loose, x, qdd[plane[:2]], rate, tau)
        assert tau[2] == pytest.approx(0.0, abs=1e-10)
        qdd[plane] = rate[3:]
        effort = plain.efforts(q, qd, qdd)
        assert effort[plane] + viscous * qd[plane] == pytest.approx(tau, abs=1e-9)


def test_link_3_leans_on_its_spring_at_the_start():
    """It yields by the torque over the stiffness, a milliradian or less, and stays there."""
    plan = planar()
    x = np.concatenate([plan.start[list(PLANE)], np.zeros(3)])
    for _ in range(200):
        x = step(plan.model, plan.loose, 0.01, x, np.zeros(2))
    weight = plan.arm.gravity(plan.start)[ELBOW2]
    assert x[2] - plan.start[ELBOW2] == pytest.approx(-weight / 3000.0, rel=0.05)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (["controller.via=[1.7]"], "via takes two angles"),
        (["faults=[elbow1=loose]"], "takes a loose elbow2"),
        (["faults=[]"], "takes a loose elbow2"),
        (["initial.q.elbow2=2.1"], "leans on something"),
    ],
)
def test_a_transition_that_cannot_be_is_refused(changes, words):
    setup = load_setup("packbot", "transition", changes)
    with pytest.raises(AccordError, match=words):
        setup.robot.controllers["transition"](setup, **controller_keys(setup))


def controller_keys(setup):
    return {k: v for k, v in setup.scenario.controller.items() if k != "name"}


@pytest.mark.slow
def test_the_transition_is_made_in_the_reference_and_in_mujoco():
    """Within a milliradian of the goal at rest; the energy changes by work less friction."""
    setup = load_setup("packbot", "transition")
    control = setup.robot.controllers["transition"](setup, **controller_keys(setup))
    plain, viscous = Arm.of(setup), setup.parameters.of_joints("viscous")
    for engine in ("reference", "mujoco"):
        run = simulate(
            simulator=make_simulator(setup, engine),
            controller=control,
            initial=setup.initial,
            duration=setup.scenario.duration,
            control_period=setup.scenario.control_period,
        )
        assert run.q[-1] == pytest.approx(planar().goal, abs=1e-3)
        assert np.abs(run.qd[-1]).max() < 1e-2
        met = {e.subject.split("/")[0].split()[0] for e in run.events if e.kind != "joint_loose"}
        assert met <= {"link1_link"}
        # Work is exact, for efforts are held; friction is integrated over samples 10 ms apart.
        energy = np.array([plain.energy(q, qd) for q, qd in zip(run.q, run.qd, strict=True)])
        work = (run.effort[1:] * np.diff(run.q, axis=0)).sum(axis=1)
        power = (viscous * run.qd**2).sum(axis=1)
        gains = np.diff(energy) - work + 0.5 * np.diff(run.time) * (power[1:] + power[:-1])
        free = run.time[:-1] > 4.0  # link 3 has left the casing
        # The reference converges; MuJoCo's scheme is of first order, 1 % of what friction takes.
        bound = 0.01 if engine == "reference" else 0.01 * float(power.sum() * run.time[1])
        assert abs(gains[free].sum()) < bound
        assert -0.5 < gains[~free].sum() < bound  # contacts take some, and give none

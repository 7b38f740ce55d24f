"""The arm's dynamics against algorithms of another hand, at random states."""

from __future__ import annotations

import numpy as np
import pytest
import rigid_bodies as oracle
from packbot.model.arm import Arm
from packbot.model.parameters import JOINTS
from roboaccord import Setup, load_scenario, make_simulator
from roboaccord.crosscheck.levels.acceleration import relative

pytestmark = pytest.mark.thorough

STATES = 500
REFLECTED = [f"parameters.reflected_inertia_{joint}={0.01 * (i + 1)}"
             for i, joint in enumerate(JOINTS)]  # fmt: skip


@pytest.fixture(scope="module", params=[[], REFLECTED], ids=["plain", "reflected"])
def case(request):
    """Return the arm, the oracle's bodies, gravity, reflected inertia and random states."""
    setup = Setup.of(load_scenario("packbot", "packbot", "collapse", request.param))
    p = setup.parameters
    rng = np.random.default_rng(8)
    q = rng.uniform(p.of_joints("lower"), p.of_joints("upper"), (STATES, 7))
    qd, qdd = rng.normal(size=(2, STATES, 7))
    bodies = oracle.read(setup.urdf(base="fixed"))
    assert tuple(body.joint for body in bodies) == JOINTS
    return Arm.of(setup), bodies, p.gravity, p.of_joints("reflected_inertia"), q, qd, qdd


def furthest(found, expected):
    """Return the largest difference of any state, over the largest value of that state."""
    found, expected = (np.reshape(a, (STATES, -1)) for a in (found, expected))
    return (np.abs(found - expected).max(axis=1) / np.abs(expected).max(axis=1)).max()


def test_against_independent_algorithms(case):
    """Efforts, mass matrix, bias and accelerations agree to round-off, at 500 states."""
    arm, bodies, gravity, armature, q, qd, qdd = case
    efforts = oracle.newton_euler(bodies, gravity, q, qd, qdd) + armature * qdd
    bias = oracle.newton_euler(bodies, gravity, q, qd, np.zeros_like(q))
    rows = range(STATES)
    assert furthest([arm.efforts(q[i], qd[i], qdd[i]) for i in rows], efforts) < 1e-10
    assert furthest([arm.bias(q[i], qd[i]) for i in rows], bias) < 1e-10
    assert furthest([arm.mass_matrix(q[i]) @ qdd[i] for i in rows], efforts - bias) < 1e-10
    found = np.array([arm.acceleration(q[i], qd[i], efforts[i]) for i in rows])
    assert furthest(found, qdd) < 1e-9  # there by the oracle, and back


def test_energy_rises_by_what_the_joints_give(case):
    """The rate of change of the energy is the power of the efforts; by a central difference."""
    arm, bodies, gravity, _, q, qd, effort = case
    h = 1e-5  # s; the difference errs by h^2 and by round-off over h, both about 1e-10
    for i in range(0, STATES, 5):
        qdd = arm.acceleration(q[i], qd[i], effort[i])
        after, before = (
            arm.energy(q[i] + s * qd[i] + 0.5 * s * s * qdd, qd[i] + s * qdd) for s in (h, -h)
        )
        scale = np.abs(qd[i]) @ np.abs(effort[i]) + np.abs(qd[i] @ arm.bias(q[i], qd[i]))
        assert (after - before) / (2 * h) == pytest.approx(qd[i] @ effort[i], abs=2e-6 * scale)
    rest = np.array([arm.energy(angles, np.zeros(7)) for angles in q])
    assert rest == pytest.approx(oracle.potential(bodies, gravity, q), rel=1e-12)


@pytest.mark.parametrize("engine", ["dart", "drake"])
def test_simulators_with_rotors_against_independent_algorithms(engine):
    """At drawn states, without contacts, which DART has not with rotors; the others are alike."""
    pytest.importorskip({"dart": "dartpy", "drake": "pydrake"}[engine])
    changes = [*REFLECTED, "friction.law=none"]
    setup = Setup.of(load_scenario("packbot", "packbot", "collapse", changes))
    simulator, p = make_simulator(setup, engine), setup.parameters
    bodies, rng = oracle.read(setup.urdf(base="fixed")), np.random.default_rng(9)
    for i in range(50):
        state, effort = setup.robot.draw_state(setup, rng, i)
        found = simulator.acceleration(state, effort).joints
        held = oracle.newton_euler(bodies, p.gravity, state.q, state.qd, found)
        assert relative(held + p.of_joints("reflected_inertia") * found, effort) < 1e-8

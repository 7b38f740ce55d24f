"""The independent Packbot of the campaigns: its dry friction as a set, and its order."""

from __future__ import annotations

import numpy as np
import pytest
from workspace import ROOT

pytest.importorskip("pinocchio")
HOLDING, PUSHED = 40.0, 5.0  # N m of dry friction: of the joints, and of elbow 2
ELBOW2 = 3


def test_joints_stick_and_slide_by_coulombs_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the friction nothing moves; above it one joint, M qdd = tau - g - c - b qd."""
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks.campaigns.pinocchio_arm import PinocchioArm
    from packbot.model.arm import Arm
    from packbot.model.parameters import JOINTS
    from roboaccord.cli.options import load_setup
    from roboaccord.contract.state import Command

    dry = [f"parameters.coulomb_{name}={HOLDING}" for name in JOINTS]
    dry[ELBOW2] = f"parameters.coulomb_{JOINTS[ELBOW2]}={PUSHED}"
    setup = load_setup("packbot", "reach", dry)
    q, arm, simulator = setup.initial.q, Arm.of(setup), PinocchioArm(setup)
    pushed = np.zeros(7)
    pushed[ELBOW2] = 1.0
    gravity = arm.bias(q, np.zeros(7))
    gravity = np.clip(gravity, -setup.effort_limits, setup.effort_limits)
    simulator.reset(setup.initial)
    for _ in range(10):
        state = simulator.step(Command(gravity + 0.9 * PUSHED * pushed), 0.01)
    assert state.q == pytest.approx(q, abs=1e-12)  # round-off of the sweeps
    viscous, inertia = setup.parameters.viscous_elbow2, arm.mass_matrix(q)[ELBOW2, ELBOW2]
    state = simulator.step(Command(gravity + 1.5 * PUSHED * pushed), 0.01)
    expected = 0.5 * PUSHED / viscous * -np.expm1(-viscous / inertia * 0.01)
    # Over 10 ms gravity turns by less than 1e-3 of the push; a step of h errs by b h / 2 M.
    assert state.qd[ELBOW2] == pytest.approx(expected, rel=2e-3)
    assert np.delete(state.q, ELBOW2) == pytest.approx(np.delete(q, ELBOW2), abs=1e-12)


def test_it_converges_on_the_reference_at_first_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without dry friction, which the reference smooths: errors halve with the step."""
    pytest.importorskip("coal")
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks.campaigns.pinocchio_arm import PinocchioArm
    from roboaccord.cli.options import load_setup
    from roboaccord.contract.state import Command

    setup = load_setup("packbot", "reach")
    reference = setup.robot.reference(setup)
    efforts = 0.5 * setup.effort_limits * np.array([0.2, -0.1, 0.2, 0.2, 0.1, 0.1, 0.1])
    ends = []
    for each in (reference, *(PinocchioArm(setup, h) for h in (5e-4, 2.5e-4))):
        each.reset(setup.initial)
        for _ in range(15):
            state = each.step(Command(efforts), 0.01)
        ends.append(state.q)
    coarse, fine = (np.linalg.norm(end - ends[0]) for end in ends[1:])
    assert np.linalg.norm(ends[0] - setup.initial.q) > 0.1
    assert coarse / fine == pytest.approx(2.0, rel=0.1)
    assert fine < 2e-3

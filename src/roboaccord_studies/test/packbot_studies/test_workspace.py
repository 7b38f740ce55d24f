"""The workspace that a failed arm keeps, by closed forms of the planar chain."""

from __future__ import annotations

import numpy as np
import pytest
from failed_arms import two_link
from packbot.planning.failed_arm import FailedArm
from roboaccord.cli.options import load_setup
from roboaccord.contract.fault import Fault, parse_fault
from roboaccord_studies.packbot.recovery import workspace

pytestmark = pytest.mark.thorough


def test_poses_drawn_of_a_workspace_have_their_loose_joints_at_rest():
    """Hanging through any obstacle, or fallen: at no torque, a contact or a stop."""
    setup, rng = load_setup("packbot", "collapse"), np.random.default_rng(0)
    (frozen,) = workspace._drawn(FailedArm(setup, [Fault("elbow2", "frozen", angle=0.5)]), 40, rng)
    assert frozen.shape == (40, 7) and (frozen[:, 3] == 0.5).all()
    arm = FailedArm(setup, [Fault("elbow2", "loose")])
    hanging, fallen = workspace._drawn(arm, 40, rng)
    assert len(hanging) == 40 and 0 < len(fallen) <= 10
    for q in hanging:
        assert abs(arm.gravity(q)[3]) < 1e-9 or q[3] in (arm.lower[3], arm.upper[3])
    for q in fallen:
        assert not arm.clearance.touches(q) and arm.resting_pose(q) == pytest.approx(q, abs=1e-3)


@pytest.mark.slow
def test_workspace_kept_is_that_of_the_planar_chain():
    """Within twice the sampling error of a median over 25 angles, by resampling them."""
    setup, rng = load_setup("packbot", "collapse"), np.random.default_rng(0)
    for joint, share in (("shoulder", 0.49), ("elbow1", 0.46), ("elbow2", 0.42)):
        cases = [[fault] for fault in workspace.angles_of(setup, Fault(joint, "frozen"))]
        values = np.array(
            [each.retained for each in workspace.retained_workspaces(setup, cases)][1:]
        )
        error = np.median(rng.choice(values, (2000, len(values))), axis=1).std()
        assert abs(np.median(values) - share) < min(2.0 * error, 0.03)


def test_dense_workspace_agrees_with_closed_forms():
    """Cells whose centre is reached, by two links; others are on their border, or in slits."""
    setup = load_setup("packbot", "collapse")
    fault = parse_fault("elbow1=frozen:0.9")
    _, workspaces = workspace.retained_workspaces(setup, [[fault]], poses=60_000)
    arm = FailedArm(setup, [fault])
    p, inside = setup.parameters, set()
    for i in range(-40, 40):
        for j in range(45):
            target = np.array([p.base_x + 0.05 * (i + 0.5), 0.0, 0.05 * (j + 0.5)])
            exact = [q for q in two_link(arm, target) if abs(q[0]) < 1.6]
            exact = [np.array([0.0, *q[1:]]) for q in exact]
            if any(not arm.clearance.touches(q) for q in exact):
                inside.add((i, j))
    assert len(inside) > 500
    missed = inside - workspaces.cells
    assert len(missed) < 0.01 * len(inside)
    border = {(i + a, j + b) for i, j in inside for a in (-1, 0, 1) for b in (-1, 0, 1)}
    assert len(workspaces.cells - border) < 0.01 * len(inside)


def test_the_turret_stands_straight_for_a_workspace_wherever_it_starts():
    """A board beside the robot blocks an arm that is turned to it."""
    board = "terrain.boxes={board: {size: [1.0, 0.01, 1.0], position: [0.5, 0.5, 0.5]}}"
    straight, turned = (
        workspace.workspace(FailedArm(load_setup("packbot", "collapse", [board, start]), ()), 200)
        for start in ("initial.q.turret=0", "initial.q.turret=1.2")
    )
    assert len(straight) > 50 and turned == straight


@pytest.mark.slow
def test_a_study_of_workspaces_goes_on_where_it_ended(figures, complaint, tmp_path):
    """Its file, cut within a line, is completed to what it was."""
    words = "workspace --study --poses 100 --angles 1 --out study".split()
    workspaces, file = figures(words), tmp_path / "study/study.jsonl"
    lines = file.read_text().splitlines()
    assert len(lines) == 1 + 1 + 7 * 3
    file.write_text("\n".join([*lines[:9], lines[9][:30]]))
    assert figures(words) == workspaces
    assert sorted(file.read_text().splitlines()) == sorted(lines)  # pieces end in any order
    assert all(
        shares["0"] >= shares["5"] >= shares["10"] for shares in workspaces["medians"].values()
    )
    assert "is of another study" in complaint([*words, "--seed", "1"])

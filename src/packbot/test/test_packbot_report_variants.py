"""The report's contact, joint_clamp: what it stops and holds, and where it breaks."""

from __future__ import annotations

import numpy as np
import pytest
from packbot.source.collapse import collapse_setup
from packbot.source.variants import JointClampReference
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.run.loop import make_simulator, run_setup

JOINTS = ("turret", "shoulder", "elbow1", "elbow2", "tilt", "pan", "wrist")
# What the report's 3.4 calls relevant: planar joints between two bodies; not waist, not pan.
RELEVANT = {
    frozenset(("base_link", "link1_link")): {"shoulder"},
    frozenset(("base_link", "pan_link")): {"shoulder", "elbow1", "elbow2", "tilt"},
    frozenset(("turret_link", "link2_link")): {"shoulder", "elbow1"},
    frozenset(("link2_link", "pan_link")): {"elbow2", "tilt"},
    frozenset(("link1_link", "gripper_link")): {"elbow1", "elbow2"},
    frozenset(("pan_link", "gripper_link")): {"tilt"},
}


def fall(duration: float) -> tuple[JointClampReference, Trajectory]:
    setup = collapse_setup("joint_clamp", duration)
    simulator = make_simulator(setup)
    trajectory = run_setup(setup, simulator)
    assert isinstance(simulator, JointClampReference)
    return simulator, trajectory


@pytest.fixture(scope="module")
def short() -> tuple[JointClampReference, Trajectory]:
    """Until after the first stop, of the shoulder, at 0.165 s."""
    return fall(0.17)


def test_relevant_joints_follow_from_the_tree(
    short: tuple[JointClampReference, Trajectory],
) -> None:
    clearance, relevant = short[0].clearance, short[0].relevant
    seen = set()
    for i, joints in enumerate(relevant):
        links = frozenset(clearance.pair_links(i))
        if links in RELEVANT:
            seen.add(links)
            assert {JOINTS[j] for j in joints} == RELEVANT[links]
    assert seen == set(RELEVANT)


def test_one_stop_adds_energy(short: tuple[JointClampReference, Trajectory]) -> None:
    """2.6 J, as another program found it, too."""
    simulator, trajectory = short
    (event,) = trajectory.events
    assert event.subject == "base_link/chassis link1_link/elbow1_casing"
    assert event.kind == "joint_clamp" and event.time == pytest.approx(0.165, abs=0.002)
    assert simulator.energy.largest == pytest.approx(2.6, abs=0.05)


def test_the_joint_is_held_one_way(short: tuple[JointClampReference, Trajectory]) -> None:
    _, trajectory = short
    shoulder = trajectory.qd[:, 1]
    assert shoulder[16] > 1.0  # it falls back
    assert shoulder[17] <= 0.0  # stopped, and free to go forward alone


def test_it_touches_where_a_pair_is_held(short: tuple[JointClampReference, Trajectory]) -> None:
    """The elbow's casing lies on the chassis, so far away as the hulls are."""
    simulator, trajectory = short
    (contact,) = simulator.contacts()
    assert contact.pair == ("base_link", "link1_link")
    assert contact.depth == pytest.approx(-simulator.clearance.distances(trajectory.q[-1]).min())
    assert np.linalg.norm(contact.normal) == pytest.approx(1.0) and contact.normal[2] > 0.9
    assert contact.force == 0.0


def test_pairs_that_intersect_while_held_are_counted_and_let_go() -> None:
    simulator, trajectory = fall(0.45)
    kinds = [event.kind for event in trajectory.events]
    assert kinds.count("joint_clamp") == 2
    assert simulator.secondary == kinds.count("secondary_intersection") > 0
    assert simulator.resets == simulator.secondary + 2
    broken = [e for e in trajectory.events if e.kind == "broken"]
    assert [type(e) for e in broken] == [Event]
    assert np.isfinite(trajectory.q).all()
    assert trajectory.time[-1] == 0.45

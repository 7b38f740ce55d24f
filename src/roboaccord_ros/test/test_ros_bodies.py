"""Free bodies over ROS: a run in nodes is that of the direct loop, also beside its reference."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("packbot", reason="the Packbot, whose arm pushes bodies, is not installed")

from roboaccord.bag.content import Content
from roboaccord.cdr import BodiesCodec, JointStateCodec, OdometryCodec
from roboaccord.run.runner import run_direct
from roboaccord_ros.graph.inlet import Inlet
from roboaccord_ros.graph.ledger import Ledger
from running import setup_of
from test_second_robot import Checked


def test_a_run_with_bodies_is_recorded_with_its_reference_beside_it(graph, request_for, tmp_path):
    """The bag has the hash of the direct run, and frames of the bodies of both robots."""
    setup = setup_of("packbot", "topple", "duration=0.1")
    run, second, _ = Checked(graph, tmp_path, setup).read(graph)
    assert run.bodies == ("bottle",) and run.complete
    assert run.sha256 == run_direct(request_for(setup)).trajectory.sha256()
    assert np.array_equal(run.trajectory.bodies, second.bodies)
    content = Content.of(tmp_path / "bag")
    assert len(content.raw("/packbot/bodies")) == len(run.trajectory)
    frames = b"".join(content.raw("/tf"))
    assert b"reference/bottle\0" in frames and b"\0bottle\0" in frames


def test_a_state_waits_for_all_of_its_bodies():
    """In any order; a body of somebody else is ignored."""
    setup = setup_of("packbot", "topple")
    state = setup.initial
    messages = {
        "take_joint_states": JointStateCodec(setup.joints).encode(state),
        "take_odometry": OdometryCodec().encode(state),
        "take_body": BodiesCodec(setup.body_names).encode(state)[0],
    }
    for last in messages:
        inlet = Inlet(setup.joints, setup.body_names)
        assert inlet.take_body(BodiesCodec(["stranger"]).encode(state)[0]) is None
        for name, data in messages.items():
            assert name == last or getattr(inlet, name)(data) is None
        found = getattr(inlet, last)(messages[last])
        assert np.array_equal(found.bodies, state.bodies)


def test_a_lost_body_is_counted():
    ledger = Ledger(10, ["box"])
    for name in ("odom", "joint_states"):
        assert ledger.add(name, 0)
    assert not ledger.has_states_until(0)
    assert ledger.add("bodies/box", 0) and ledger.has_states_until(0)
    assert not ledger.add("bodies/stranger", 0)
    assert ledger.add("bodies/box", 20) and ledger.lost == 1

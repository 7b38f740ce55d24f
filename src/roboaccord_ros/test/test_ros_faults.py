"""Faults over ROS: parameters and messages let joints fail; efforts hold them in Gazebo."""

from __future__ import annotations

import dataclasses
import logging

import numpy as np
import pytest
from roboaccord.contract.fault import Fault
from roboaccord.contract.state import Command
from roboaccord.run.loop import Stepper, make_simulator
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("packbot", reason="the Packbot is not installed")

from launch_files import declared
from rclpy.node import Node
from rclpy.parameter import Parameter
from roboaccord_ros.gazebo.faults import GazeboFaults
from roboaccord_ros.graph.faults import FaultInlet, declare_faults
from roboaccord_ros.graph.shell import Shell
from roboaccord_ros.plan.request import Request
from std_msgs.msg import String

pytestmark = pytest.mark.thorough


@pytest.fixture
def setup() -> Setup:
    return Setup.of(load_scenario("packbot", "packbot", "reach"))


def node_of(graph, **parameters) -> Node:
    given = [Parameter(name, value=value) for name, value in parameters.items()]
    node = Node("simulator", context=graph.context, parameter_overrides=given)
    graph.nodes.append(node)
    return node


def test_parameters_at_the_start_are_faults_of_the_scenario(graph, setup):
    node = node_of(graph, **{"fault.elbow1": "frozen:0.5", "fault.turret": "loose@2"})
    found = declare_faults(node, setup)
    assert found.faults == (Fault("elbow1", "frozen", 0.0, 0.5), Fault("turret", "loose", 2.0))
    assert found.initial.q[2] == 0.5
    assert node.get_parameter("fault.pan").value == "none"
    assert declare_faults(node_of(graph), setup) is setup


def test_a_parameter_or_a_message_acts_while_it_runs(graph, setup, caplog):
    node = node_of(graph)
    declare_faults(node, setup)
    failed: list[Fault] = []
    inlet = FaultInlet(Shell(node, "packbot", graph.run), setup, failed.append)
    (done,) = node.set_parameters([Parameter("fault.elbow1", value="frozen")])
    assert done.successful and failed == [Fault("elbow1", "frozen")]
    refused = {"none": "unknown kind none", "loose@3": "leave out @3", "frozen:0.1": "the start"}
    for value, message in refused.items():
        (done,) = node.set_parameters([Parameter("fault.pan", value=value)])
        assert not done.successful and message in done.reason
    inlet._on_message(String(data="wrist=loose"))
    assert failed[1:] == [Fault("wrist", "loose")]
    with caplog.at_level(logging.WARNING):
        inlet._on_message(String(data="wrist=broken"))
        inlet._on_message(String(data="belly=loose"))
    assert "unknown kind broken" in caplog.text and "no joint belly" in caplog.text
    assert len(failed) == 2


def test_what_fails_before_the_start_fails_at_the_first_tick(setup):
    """A node is connected before its run begins, and a reset heals what had failed before."""
    stepper = Stepper(make_simulator(setup), setup.initial, setup.scenario.control_period)
    for expected in (["joint_loose"], []):
        if expected:
            stepper.fail(Fault("wrist", "loose"))
        stepper.start()
        assert [event.kind for event in stepper.step(Command(np.zeros(7)))] == expected


def test_the_launch_argument_is_the_scenario_s_key():
    given = {**declared(), "robot": "packbot", "scenario": "reach"}
    given["fault"] = "elbow1=frozen@1.5 turret=loose"
    setup = Request.parse([f"{name}:={value}" for name, value in given.items()]).setup
    assert setup.faults == (Fault("turret", "loose"), Fault("elbow1", "frozen", 1.5))


def test_the_hold_in_gazebo_is_the_lock_s_effort_where_nothing_is_off(setup):
    """At q0 and at rest its effort gives the joint no acceleration, and the others the lock's."""
    rng = np.random.default_rng(1)
    lock = setup.failing([Fault("elbow1", "frozen"), Fault("pan", "loose")])
    reference, locked = make_simulator(setup), make_simulator(lock)
    for _ in range(5):
        q = setup.initial.q + 0.1 * rng.normal(size=7)
        qd = rng.normal(size=7)
        qd[2] = 0.0
        state = dataclasses.replace(setup.initial, q=q, qd=qd)
        faults = GazeboFaults(lock)
        kinds = [(e.kind, e.subject) for e in faults.bring_into_force(state)]
        assert sorted(kinds) == [("joint_frozen", "elbow1"), ("joint_loose", "pan")]
        assert faults.bring_into_force(state) == []
        effort = faults.drive_efforts(Command(rng.normal(size=7)))
        assert effort[5] == 0.0
        held = reference.acceleration(state, faults.efforts_with_locks(state, effort)).joints
        expected = locked.acceleration(state, effort).joints
        assert abs(held[2]) < 1e-9 * np.abs(expected).max()
        np.testing.assert_allclose(held, expected, atol=1e-9 * np.abs(expected).max())


def test_the_hold_has_both_poles_at_a_half(setup):
    """Off by e and e', the reference's joint comes back by the sampled double integrator."""
    frozen = setup.failing([Fault("elbow1", "frozen")])
    faults, reference = GazeboFaults(frozen), make_simulator(setup)
    faults.bring_into_force(setup.initial)
    period, e, rate = setup.scenario.control_period, 1e-3, -0.02
    state = dataclasses.replace(
        setup.initial, q=setup.initial.q + e * np.eye(7)[2], qd=rate * np.eye(7)[2]
    )
    found = reference.acceleration(state, faults.efforts_with_locks(state, np.zeros(7))).joints[2]
    step = np.array([[1.0, period], [0.0, 1.0]])
    gain = np.array([[0.5 * period**2], [period]])
    # Ackermann's formula for two poles at 1/2.
    square = (step - 0.5 * np.eye(2)) @ (step - 0.5 * np.eye(2))
    row = np.array([[0.0, 1.0]]) @ np.linalg.inv(np.hstack([gain, step @ gain])) @ square
    assert found == pytest.approx(-(row @ [e, rate]).item(), rel=1e-9)

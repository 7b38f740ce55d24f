"""Switches over ROS: services answered before the command with which they act, and what goes wrong.

Tried with the MonkeyBot, whose magnets they are.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Command, Target
from roboaccord.run.runner import run_direct
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("monkeybot", reason="the MonkeyBot, which has switches, is not installed")

from roboaccord_ros.graph import extras
from roboaccord_ros.graph.extras import ExtraOutputs
from roboaccord_ros.graph.inlet import Inlet
from roboaccord_ros.graph.live import SwitchLog
from roboaccord_ros.graph.shell import Shell
from roboaccord_ros.run.processes import run_ros_processes
from roboaccord_ros.run.runner import run_ros
from roboaccord_ros.run.teleop import RosLink
from std_msgs.msg import Float64
from std_srvs.srv import SetBool

pytestmark = pytest.mark.thorough

LIBRARIES = {"reference": "numpy", "dart": "dartpy", "mujoco": "mujoco"}
SWING = {"magnet_a": True, "magnet_b": False}
CHANGE = 0.428  # s, the first change of hands of scenario brachiate


def monkeybot(scenario: str = "brachiate", *changes: str) -> Setup:
    """Make a run of the MonkeyBot that goes just beyond the first change of hands."""
    return Setup.of(load_scenario("monkeybot", "monkeybot", scenario, ("duration=0.5", *changes)))


@pytest.mark.parametrize("engine", LIBRARIES)
def test_it_brachiates_through_the_services_as_in_the_direct_loop(engine, request_for):
    pytest.importorskip(LIBRARIES[engine])
    direct = run_direct(request_for(monkeybot(), engine)).trajectory
    run = run_ros(request_for(monkeybot(), engine))
    assert run.trajectory.sha256() == direct.sha256()
    assert run.trajectory.events == direct.events
    bag = read_run(run.request.bag).trajectory
    assert [(e.kind, e.subject) for e in bag.events] == [
        ("magnet_off", "magnet_a"),
        ("magnet_on", "magnet_b"),
    ]
    # A switch acts from the time of the command on: the state of that time is still the old one.
    for motion in (direct, bag):
        held = {name: np.flatnonzero(~on if name == "magnet_a" else on)
                for name, on in motion.switches.items()}  # fmt: skip
        assert {name: motion.time[first[0]] for name, first in held.items()} == pytest.approx(
            dict.fromkeys(SWING, CHANGE + 0.001)
        )


@pytest.mark.slow
def test_it_brachiates_in_three_processes_as_in_the_direct_loop(request_for):
    apart = run_ros_processes(request_for(monkeybot()))
    direct = run_direct(request_for(monkeybot()))
    assert apart.trajectory.sha256() == direct.trajectory.sha256()
    assert apart.trajectory.events == direct.trajectory.events


def test_a_persons_effort_is_sent_while_it_is_held_and_once_when_it_ends(graph):
    link = RosLink(graph.node("person"), monkeybot("teleop"))
    heard = graph.node("robot").create_subscription(Float64, "monkeybot/elbow_effort", print, 20)
    sender, end = link._publishers["elbow_effort"], time.monotonic() + 60.0
    while not (heard.get_publisher_count() and sender.get_subscription_count()):
        assert time.monotonic() < end
        time.sleep(0.01)
    for effort in (None, 1.5, -0.5, 0.0, None, 2.0):
        link.drive(Target(effort=None if effort is None else np.array([effort])), {}, 0.01)
    got = []
    while 2.0 not in got:
        assert time.monotonic() < end
        if taken := heard.handle.take_message(Float64, False):
            got.append(taken[0].data)
    assert got == [1.5, -0.5, 0.0, 2.0]


def test_a_person_grips_with_the_other_hand_and_all_motion_stops(graph):
    setup = monkeybot("swing", "controller={name: teleop}")
    shell, client = graph.simulator(setup), graph.node("person")
    graph.controller(setup)
    grip = client.create_client(SetBool, "/monkeybot/magnet_b/set")
    answers = []

    def call_once():
        if not answers and shell.stepper.state.time >= 0.2:
            answers.append(grip.call_async(SetBool.Request(data=True)))

    client.create_timer(0.001, call_once)
    graph.spin()
    assert answers[0].result().success
    motion = graph.motion.trajectory
    (event,) = motion.events
    assert (event.kind, event.subject) == ("magnet_on", "magnet_b")
    after = motion.time > event.time + 1e-9
    assert motion.switches["magnet_b"].tolist() == after.tolist()
    assert np.abs(motion.qd[~after]).max() > 0.1
    assert np.abs(motion.qd[after]).max() < 1e-12
    assert np.abs(motion.twist[after]).max() < 1e-12


def test_a_run_that_was_reset_starts_with_the_first_switches(graph):
    from std_srvs.srv import Trigger

    setup = monkeybot()
    shell, client = graph.simulator(setup), graph.node("client")
    graph.controller(setup)
    service = client.create_client(Trigger, "/sim/reset")
    asked = []

    def reset_once():
        if not asked and shell.stepper.state.time > CHANGE + 0.02:
            asked.append(service.call_async(Trigger.Request()))

    client.create_timer(0.001, reset_once)
    graph.spin()
    assert asked
    motion = graph.motion.trajectory
    assert [(e.kind, round(e.time, 6)) for e in motion.events] == [
        ("magnet_off", CHANGE),
        ("magnet_on", CHANGE),
    ]


def test_an_unknown_switch_is_named(request_for, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    request = request_for(monkeybot(), controller="faulty_controllers:NoSuchMagnet")
    with pytest.raises(AccordError, match=r"sets switch magnet_c at t = 0.05.*magnet_a, magnet_b"):
        run_ros(request)


@pytest.fixture
def outputs(graph):
    """Make the sending side alone, with a command that switches magnet B on."""
    inlet = Inlet(("elbow",))
    inlet.switches = SWING
    node = graph.node("controller")
    made = ExtraOutputs(Shell(node, "monkeybot", graph.run), Command(np.zeros(1)), inlet)
    node.create_timer(0.05, graph.run.guard(made.check_services))
    return made, inlet


def send(outputs, graph, then):
    """Send once the services are there, where any are."""
    made, _ = outputs
    command = Command(np.zeros(1), {"magnet_b": True})
    node = graph.node("helper")
    timer = node.create_timer(0.2, lambda: (timer.cancel(), made.send(0.0, command, then)))
    graph.spin()


def serve(graph, *, success):
    """Offer both services, in a node of their own."""

    def answer(_, response):
        response.success, response.message = success, "the magnet is cold"
        return response

    node = graph.node("simulator")
    for name in SWING:
        node.create_service(SetBool, f"/monkeybot/{name}/set", answer)


def test_a_service_that_refuses_gives_one_line(graph, outputs):
    serve(graph, success=False)
    with pytest.raises(AccordError, match=r"/monkeybot/magnet_b/set refuses True: the magnet is"):
        send(outputs, graph, lambda: pytest.fail("it went on"))


def test_a_service_that_is_not_there_is_no_hang(graph, outputs, monkeypatch):
    monkeypatch.setattr(extras, "PATIENCE", 0.3)
    assert outputs[0].missing() == "/monkeybot/magnet_a/set"
    with pytest.raises(AccordError, match=r"no answer from .* /monkeybot/magnet_b/set within 0.3"):
        send(outputs, graph, lambda: pytest.fail("it went on"))


def test_what_follows_an_answer_may_fail_in_one_line(graph, outputs):
    serve(graph, success=True)

    def fail():
        raise AccordError("the effort cannot be sent")

    with pytest.raises(AccordError, match="the effort cannot be sent"):
        send(outputs, graph, fail)
    assert outputs[1].switches == {"magnet_a": True, "magnet_b": True}
    assert SWING["magnet_b"] is False  # states that were given away keep theirs


def test_the_log_of_switches_follows_stamped_events():
    from roboaccord.contract.trajectory import Event

    log = SwitchLog(SWING)
    log.add(Event(0.2, "magnet_off", "magnet_a"))
    log.add(Event(0.1, "joint_stop", "elbow"))
    log.add(Event(0.3, "magnet_on", "magnet_b"))
    for until, now in ((0.2, SWING), (0.25, {**SWING, "magnet_a": False})):
        log.advance(until)
        assert log.now == now
    log.advance(1.0)
    assert log.now == {"magnet_a": False, "magnet_b": True}

"""Messages that come twice, late or from a second node are noticed, and reported in a line."""

from __future__ import annotations

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.cdr import EffortCodec, JointStateCodec, OdometryCodec
from roboaccord.contract.errors import AccordError, LockstepError
from roboaccord.run.runner import run_direct

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake, by which the graph is tested, is not installed")

from roboaccord_ros.graph import names
from roboaccord_ros.graph.ledger import Ledger
from roboaccord_ros.nodes.recorder import RecorderShell
from roboaccord_ros.run import domain

pytestmark = pytest.mark.thorough

HALVES = (names.ODOMETRY, names.STATES)


def test_the_ledger_tells_what_is_wrong_with_stamps():
    """Of 0 1 2 [lost 3] 4 4 3 5: one lost, one twice, one out of order; a reset is none of it."""
    ledger = Ledger(1000)
    is_taken = [ledger.add(names.STATES, 1000 * k) for k in (0, 1, 2, 4, 4, 3, 5)]
    assert is_taken == [True, True, True, True, False, False, True]
    assert ledger.summary() == "1 lost, 1 came twice, 1 out of order"
    assert all(ledger.add(names.STATES, 1000 * k) for k in (0, 1, 2))
    assert ledger.summary() == "1 lost, 1 came twice, 1 out of order"


def repeater(graph, delay):
    """Publish the states of the run again, `delay` states later."""
    node = graph.node("repeater")
    for name in HALVES:
        send, received = names.advertise(node, "snake", name).send, []

        def again(data, send=send, received=received):
            if data not in received:  # its own come back to it
                received.append(data)
                if len(received) > delay:
                    send(received[-1 - delay])

        names.subscribe(node, "snake", name, again)


def test_a_controller_leaves_out_a_state_that_comes_again(graph, setup_for, caplog, request_for):
    setup = setup_for(duration=0.05)
    graph.simulator(setup)
    graph.controller(setup)
    repeater(graph, 0)
    graph.spin()
    direct = run_direct(request_for(setup)).trajectory
    assert graph.motion.trajectory.sha256() == direct.sha256()
    assert caplog.text.count("arrived twice; the second is ignored") == 1


def test_states_out_of_order_end_a_lockstep_run(graph, setup_for):
    setup = setup_for(duration=0.05)
    graph.simulator(setup)
    graph.controller(setup)
    repeater(graph, 5)
    line = r"^the state of t = 0.00\d+ s came after that of t = 0.0\d+ s: messages are out of order"
    with pytest.raises(LockstepError, match=line):
        graph.spin()


def test_two_controllers_on_one_name_are_refused(graph, setup_for):
    setup = setup_for(duration=0.05)
    graph.simulator(setup, peers=())
    for name, effort in (("first", 0.0), ("second", 0.1)):
        node, codec = graph.node(name), EffortCodec(setup.joints)
        send = names.advertise(node, "snake", names.EFFORTS).send

        def answer(data, send=send, codec=codec, effort=effort):
            time = JointStateCodec(setup.joints).decode(data)[0]
            send(codec.encode(time, np.full(21, effort)))

        names.subscribe(node, "snake", names.STATES, answer)
    line = r"^t = 0.0\d+ s was answered twice, with different commands: 2 nodes publish /snake/"
    with pytest.raises(LockstepError, match=line):
        graph.spin()


def test_a_recorder_does_not_mix_the_states_of_two_simulators(graph, setup_for, tmp_path, caplog):
    """The second one starts from the same names with a time of its own."""
    setup = setup_for(duration=0.2)
    shell = graph.simulator(setup, peers=("controller", "recorder"))
    graph.controller(setup)
    graph.run.expect()
    recorder = RecorderShell(graph.node("recorder"), "snake", tmp_path / "bag", graph.run)
    rival = graph.node("rival")
    sends = [names.advertise(rival, "snake", name).send for name in HALVES]

    def intrude():
        if shell.stepper.state.time > 0.05:
            state = setup.initial
            joints, base = JointStateCodec(setup.joints), OdometryCodec()
            for send, data in zip(sends, (base.encode(state), joints.encode(state)), strict=True):
                stamped = bytearray(data)
                stamped[8:12] = (20_000_000).to_bytes(4, "little")
                send(bytes(stamped))

    names.every(rival, 0.005, intrude)
    with pytest.raises(AccordError, match=r"2 nodes publish /snake/|another simulator publishes"):
        graph.spin()
    recorder.close()
    times = read_run(tmp_path / "bag").trajectory.time
    assert len(times) > 20
    assert (np.diff(times) > 0).all()
    assert "out of order" in caplog.text


def test_a_run_stays_on_this_machine_unless_the_user_opens_it(monkeypatch):
    monkeypatch.delenv(domain.DISCOVERY, raising=False)
    lines = list[str]()
    domain.announce(lines.append)
    assert lines == []
    with domain.private_domain() as number:
        assert domain.os.environ[domain.DISCOVERY] == "LOCALHOST"
        assert number > 0
    monkeypatch.setenv(domain.DISCOVERY, "SUBNET")
    monkeypatch.setenv(domain.DOMAIN, "7")
    domain.announce(lines.append)
    assert lines == [f"ROS is open: domain 7, {domain.DISCOVERY}=SUBNET"]
    with domain.private_domain() as number:
        assert number == 7
        assert domain.os.environ[domain.DISCOVERY] == "SUBNET"


def test_shared_memory_of_a_killed_run_is_removed_and_that_of_a_living_one_stays(tmp_path):
    for name in ("fastrtps_dead", "fastrtps_alive", "other"):
        (tmp_path / name).touch()
        (tmp_path / f"{name}_el").touch()
    (tmp_path / "fastrtps_port7").touch()  # its process was killed between the two
    with (tmp_path / "fastrtps_alive_el").open() as alive:
        domain.fcntl.flock(alive, domain.fcntl.LOCK_EX)
        assert domain.remove_orphans(tmp_path) == 0  # all are young
        assert domain.remove_orphans(tmp_path, age=0.0) == 2
    remaining = {path.name for path in tmp_path.iterdir()}
    assert remaining == {"fastrtps_alive", "fastrtps_alive_el", "other", "other_el"}

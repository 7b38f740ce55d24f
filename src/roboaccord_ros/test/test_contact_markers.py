"""Contacts travel as markers, alike with and without ROS, and only where there are any."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("dartpy", reason="DART is not installed")
pytest.importorskip("roller_sphere", reason="the roller sphere is not installed")

from roboaccord.bag.content import Content
from roboaccord.cdr import encode_contacts, encode_surfaces
from roboaccord.contract.contact import ContactPoint
from roboaccord.run import runner
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from roboaccord.scenario.surroundings import surfaces_around
from roboaccord.simulators.proxy import Proxy
from roboaccord_ros.graph import names
from roboaccord_ros.graph.parameters import Options
from roboaccord_ros.nodes.simulator import SimulatorShell
from roboaccord_ros.run.runner import run_nodes

TOPIC = "/roller_sphere/contacts"


def at(time):
    """Return the one contact of a time [s]: its force is the time."""
    return [ContactPoint(("a", "b"), np.zeros(3), np.array([0.0, 0.0, 1.0]), time, 0.0)]


class Touched(Proxy):
    """Let a simulator report contacts, and count how often it is asked."""

    asked = 0

    def contacts(self):
        self.asked += 1
        return at(100.0 * self.state().time)


def setup_of(*changes):
    changes = ("duration=0.2", *changes)
    return Setup.of(load_scenario("roller_sphere", "roller_sphere", "headings", changes))


def test_they_are_the_same_in_the_direct_loop_and_over_ros(request_for, monkeypatch):
    """0.2 s have a message at 0 and at the first tick 1/30 s after each."""
    setup = setup_of("friction={law: contact}")
    monkeypatch.setattr(runner, "make_simulator", lambda *_: Touched(make_simulator(setup, "dart")))
    direct = runner.run_direct(request_for(setup, "dart"))
    ros = run_nodes(request_for(setup, "dart"), Touched(make_simulator(setup, "dart")))
    times = (0.0, 0.034, 0.068, 0.102, 0.136, 0.17)
    expected = [encode_contacts(time, at(100.0 * time)) for time in times]
    for run in (direct, ros):
        assert Content.of(run.request.bag).messages[TOPIC] == expected
    assert ros.trajectory.sha256() == direct.trajectory.sha256()


def test_nobody_asks_for_them_where_nobody_listens_or_nothing_touches(graph, request_for):
    setup = setup_of("friction={law: contact}")
    alone, without = (Touched(make_simulator(s, "dart")) for s in (setup, setup_of()))
    options = Options(engine="dart", peers=("controller",))
    SimulatorShell(graph.node("simulator"), setup, alone, graph.run, options)
    at_start = alone.asked  # whether it knows its contacts
    graph.controller(setup)
    graph.spin()
    run_nodes(request_for(setup_of(), "dart"), without)
    assert (alone.asked, without.asked) == (at_start, 0)


def test_surroundings_reach_who_subscribes_late(graph, setup_for):
    """The simulator publishes them as it is made, before the subscription."""
    setup = setup_for(duration=0.05)
    graph.simulator(setup)
    graph.controller(setup)
    found, late = [], graph.node("late")

    def take(data):
        found.append(bytes(data))
        graph.run.done()

    graph.run.expect()  # the run can be over before the subscriber is discovered
    names.subscribe(late, "snake", names.SURROUNDINGS, take)
    late.create_timer(20.0, graph.run.stop)
    graph.spin()
    assert found == [encode_surfaces(surfaces_around(setup))]

"""Reset, pause, real time and the live cross-check, on the running graph."""

from __future__ import annotations

import time

import pytest
from running import run_in

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake, by which the graph is tested, is not installed")

from std_srvs.srv import SetBool, Trigger


def direct_hash(setup):
    return run_in(setup).sha256()


def test_a_run_that_was_reset_repeats_from_the_start(graph, setup_for):
    setup = setup_for()
    shell = graph.simulator(setup)
    graph.controller(setup)
    client = graph.node("client")
    service = client.create_client(Trigger, "/sim/reset")
    ticks = []

    def reset_once():
        if not ticks and shell.stepper.tick > 20:
            ticks.append(shell.stepper.tick)
            service.call_async(Trigger.Request())

    client.create_timer(0.001, reset_once)
    graph.spin()
    assert ticks
    assert shell.result["trajectory_sha256"] == direct_hash(setup)


def test_a_paused_run_stands_still_and_goes_on_unchanged(graph, setup_for):
    setup = setup_for()
    shell = graph.simulator(setup)
    graph.controller(setup)
    client = graph.node("client")
    service = client.create_client(SetBool, "/sim/pause")
    seen = []

    def pause_once():
        if not seen and shell.stepper.tick > 20:
            seen.append(time.monotonic())
            service.call_async(SetBool.Request(data=True))

    def watch():
        if shell.pacing.halt.paused:
            seen.append(shell.stepper.tick)
            if len(seen) == 5:
                service.call_async(SetBool.Request(data=False))

    client.create_timer(0.001, pause_once)
    client.create_timer(0.1, watch)
    graph.spin()
    assert len(set(seen[1:5])) == 1
    assert shell.result["trajectory_sha256"] == direct_hash(setup)


def test_without_lockstep_the_run_takes_no_less_than_it_says(graph, setup_for):
    setup = setup_for("control_period=0.005", "controller={name: none}", duration=0.5)
    shell = graph.simulator(setup, lockstep=False)
    graph.controller(setup)
    graph.spin()
    assert shell.wall_time > 0.45 and shell.is_over

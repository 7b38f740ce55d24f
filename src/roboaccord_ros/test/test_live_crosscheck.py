"""The live cross-check reports of a run what `accord crosscheck BAG` reports of its bag."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from roboaccord.bag.reader import read_run
from roboaccord.crosscheck.recorded import check_bag
from roboaccord.falsify import parse_perturbation, wrap
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from slow_cases import late

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake is not installed")

from roboaccord_ros.graph.parameters import Options
from roboaccord_ros.nodes.crosscheck import STATUS_OUTSIDE, CrosscheckShell
from roboaccord_ros.nodes.recorder import RecorderShell
from roboaccord_ros.nodes.simulator import SimulatorShell

RUNS = [
    ("monkeybot swing", "dart", ("dart:gravity=1.01",), "outside"),
    *late(
        ("snake serpenoid", "dart", (), "within"),
        ("monkeybot brachiate", "dart", (), "within"),  # with the step in which the hands change
        ("roller_sphere figure_eight", "dart", (), "within"),
        ("snake serpenoid", "mujoco", ("mujoco:delay=1",), "outside"),
        ("snake serpenoid", "dart", ("dart:effort_limit:joint_11=0.01",), "clipped"),
    ),
]


def falsified(engine, more):
    """Return an engine with errors, or its name where there are none."""
    perturbations = [parse_perturbation(text) for text in more]
    return wrap(engine, perturbations=perturbations) if perturbations else engine


def without_twin(report):
    """Return a report without the level `scheme`, which names and resolves a recorded run alone."""
    kept = {
        name: {level: found for level, found in getattr(report, name).items() if level != "scheme"}
        for name in ("levels", "checks", "rows")
    }
    return replace(report, **kept)


@pytest.mark.parametrize(("what", "engine", "more", "outcome"), RUNS)
def test_the_live_verdict_is_the_offline_one(graph, tmp_path, caplog, what, engine, more, outcome):
    caplog.set_level(logging.INFO)
    robot, scenario = what.split()
    pytest.importorskip(robot)
    setup = Setup.of(load_scenario(robot, robot, scenario, ["duration=0.5"]))
    simulator = make_simulator(setup, falsified(engine, more))
    for _ in ("crosscheck", "recorder", "controller"):
        graph.run.expect()
    graph.run.done()  # the controller is expected by the graph itself
    check = CrosscheckShell(graph.node("crosscheck"), robot, 0.0, graph.run)
    recorder = RecorderShell(graph.node("recorder"), robot, tmp_path / "bag", graph.run)
    peers = ("controller", "crosscheck", "recorder")
    options = Options(engine=engine, peers=peers)
    SimulatorShell(graph.node("simulator"), setup, simulator, graph.run, options)
    graph.controller(setup)
    graph.spin()
    recorder.close()
    verdict = check.verdict
    offline = check_bag(read_run(tmp_path / "bag"))  # which names and resolves, too
    plain = [without_twin(v) for v in (verdict, offline)]
    assert plain[0] == replace(plain[1], resolution={engine: []})
    schemes = [{k: f.outcome for k, f in v.levels.scheme.items()} for v in (verdict, offline)]
    assert schemes[0] == schemes[1]
    clipped = any(kind.kind == "clipped" for kind in verdict.checks["drive"][engine].kinds)
    assert clipped is (outcome == "clipped")
    assert ("clipped" in verdict.levels.drive[engine].reason) is clipped
    status = STATUS_OUTSIDE * (outcome != "within")
    assert check.status == status
    assert outcome in ("clipped", verdict.finding.outcome)
    steps = round(0.5 / setup.scenario.control_period)
    step = verdict.step
    assert step.compared + step.left_out == steps and not step.skipped
    assert sum("crosscheck" in record.name for record in caplog.records) <= 1


def test_what_comes_while_it_compiles_is_judged_after_that(graph, setup_for, monkeypatch):
    """Of a run that does not wait for it, either."""
    monkeypatch.setattr("roboaccord_ros.nodes.crosscheck.warm_up", lambda _: time.sleep(2.0))
    graph.run.expect()
    check = CrosscheckShell(graph.node("crosscheck"), "snake", 0.0, graph.run)
    shell = graph.simulator(setup_for(duration=0.1))
    graph.controller(setup_for(duration=0.1))
    ended_unjudged = list[bool]()
    shell.every(0.01, lambda: ended_unjudged.append(bool(shell.result) and not check.verdict))
    graph.spin()
    assert any(ended_unjudged)
    assert check.verdict.step.compared == 100 and not check.verdict.step.skipped


@pytest.mark.slow
@pytest.mark.parametrize("perturbed", [(), ("mujoco:mass:base_link=1.01",)])
def test_the_node_says_its_verdict_in_one_line_and_by_its_status(graph, setup_for, perturbed):
    command = [sys.executable, "-m", "roboaccord_ros.nodes.crosscheck"]
    command += ["--ros-args", "-p", "robot:=snake"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        setup = setup_for(duration=0.3)
        simulator = make_simulator(setup, falsified("mujoco", perturbed))
        options = Options(engine="mujoco", peers=("controller", "crosscheck"))
        SimulatorShell(graph.node("simulator"), setup, simulator, graph.run, options)
        graph.controller(setup)
        graph.spin()
        lines = process.communicate(timeout=60)[1].splitlines()
        message = [line for line in lines if "compiling" not in line]
    assert process.returncode == STATUS_OUTSIDE * bool(perturbed)
    assert [line for line in message if line.startswith("crosscheck: ")] == message[-1:]
    assert ("outside" if perturbed else "within") in message[-1]
    assert "300 of 300 ticks compared, 0 left out, 0 skipped" in message[-1]
    assert len(message) <= 2  # a warning at most

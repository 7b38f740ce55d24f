"""The view in the browser beside a run: it shows the simulator's state, and the run is the same."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import replace
from urllib.request import urlopen

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("viser", reason="viser is not installed")
pytest.importorskip("snake", reason="the snake, by which the graph is tested, is not installed")

from roboaccord.description.materials import OPACITY
from roboaccord.run.runner import run_direct
from roboaccord_ros.nodes.crosscheck import CrosscheckShell
from roboaccord_view import live, node

PATIENCE = 60.0  # s of wall time


def frames_of(stage):
    """Return the places (k, 3) [m] of the links on the page."""
    return np.array([frame.position for frame in stage.robot.frames.values()])


def test_a_page_shows_the_robot_where_the_simulator_has_it(graph, setup_for, request_for):
    """Opened after the run it has the last state and the path; nothing is posed before."""
    setup = setup_for(duration=0.5)
    view = node.BrowserShell(graph.node("browser"), setup, graph.run)
    simulator = graph.simulator(setup, pace=1.0)
    graph.controller(setup)
    graph.spin()
    try:
        last, stage = simulator.stepper.state, view.stage
        before = frames_of(stage)
        stage.server.get_clients = lambda: {0: None}  # as if somebody had opened it
        view.draw_newest()
        links, _ = setup.tree.forward(setup.joints, last.q, last.position, last.orientation)
        expected = links[list(stage.robot.frames)]
        assert np.abs(expected - before).max() > 0.1
        np.testing.assert_allclose(frames_of(stage), expected, atol=1e-6)
        assert view._last_state.time == last.time == setup.scenario.duration
        assert len(view._display._path) >= 3
    finally:
        view.close()
    alone = run_direct(request_for(setup)).trajectory
    assert graph.motion.trajectory.sha256() == alone.sha256()


def test_the_path_stays_short_and_begins_anew_behind_a_reset(setup_for, monkeypatch):
    """Where it is too long every second point is left out, but not the first and the last."""
    setup = setup_for()
    monkeypatch.setattr(live, "MAX_PATH_POINTS", 8)
    stage = live.open_stage(setup)
    display, places = live.StateDisplay(setup, stage, None), np.arange(9.0)
    for x in places:
        display.add_to_path(replace(setup.initial, time=x, position=np.array([x, 0.0, 0.0])))
    moved = np.array(display._path)[:, 0]
    np.testing.assert_allclose(moved - moved[0], places[::2], atol=1e-12)
    display.add_to_path(setup.initial)
    assert len(display._path) == 1
    stage.close()


@pytest.mark.thorough
def test_ctrl_c_ends_the_view(graph):
    command = [sys.executable, "-m", "roboaccord_ros.run.module", "roboaccord_view.node"]
    command += ["--ros-args", "-p", "robot:=snake", "-p", "scenario:=serpenoid"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        url = process.stdout.readline().removeprefix("watch at ").strip()
        with urlopen(url) as page:
            assert page.status == 200
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output) == (0, ("", ""))


def test_the_desktops_browser_gets_the_address(tmp_path, monkeypatch):
    program, got = tmp_path / "own", tmp_path / "got"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > {got}.part; mv {got}.part {got}\n')
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(program))
    node.open_in_desktop("http://127.0.0.1:8080")
    end = time.monotonic() + PATIENCE
    while not got.exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert got.read_text() == "http://127.0.0.1:8080"


@pytest.mark.slow
def test_a_page_shows_it_where_the_reference_has_it(graph, setup_for):
    """With the look of the cross-check; before its first state there is none."""
    setup = setup_for(duration=0.3)
    view = node.BrowserShell(graph.node("browser"), setup, graph.run)
    graph.run.expect()
    check = CrosscheckShell(graph.node("crosscheck"), "snake", 0.0, graph.run, reference=True)
    graph.simulator(setup, peers=("controller", "crosscheck"))
    graph.controller(setup)
    view._second.show()
    assert view._second.figure is None
    graph.spin()
    try:
        view._second.show()
        last, figure = check.second.companion.state, view._second.figure
        links, _ = setup.tree.forward(setup.joints, last.q, last.position, last.orientation)
        seen = np.array([frame.position for frame in figure.frames.values()])
        np.testing.assert_allclose(seen, links[list(figure.frames)], atol=1e-6)
        assert {handle.opacity for handle in figure._handles} == {OPACITY}
    finally:
        view.close()

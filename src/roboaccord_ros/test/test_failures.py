"""Whatever goes wrong ends the run in one line, leaves a readable bag, and nothing hangs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.cdr import EffortCodec
from roboaccord.contract.errors import AccordError, LockstepError
from roboaccord.run.runner import run_direct
from slow_cases import late

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake, by which the graph is tested, is not installed")

from roboaccord_ros.graph import names, peers
from roboaccord_ros.run import processes
from roboaccord_ros.run.processes import NODES, run_commands, run_ros_processes
from roboaccord_ros.run.runner import run_ros

pytestmark = pytest.mark.thorough

COMMANDS = {name: [sys.executable, "-m", f"roboaccord_ros.nodes.{name}"] for name in NODES}


@pytest.fixture(autouse=True)
def faulty_on_path(monkeypatch):
    folder = str(Path(__file__).parent)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", folder, prepend=os.pathsep)


@pytest.mark.parametrize(
    ("controller", "message"),
    [
        ("Raising", r"Raising raised ZeroDivisionError: the gait has no period at t = 0.05"),
        ("NotANumber", r"NotANumber gave effort nan for joint_03 at t = 0.05"),
    ],
)
def test_a_faulty_controller_is_named(controller, message, request_for, setup_for):
    request = request_for(setup_for(), controller=f"faulty_controllers:{controller}")
    with pytest.raises(AccordError, match=message):
        run_ros(request)
    bag = read_run(request.bag)
    assert bag.sha256 is None and bag.trajectory.time[-1] == pytest.approx(0.05)


TRANSPORTS = {"direct": run_direct, "ros": run_ros, "ros_processes": run_ros_processes}
LINES = {
    "Writing": r"Writing raised ValueError: .* \(states are read-only: .*\) at t = 0\.050000 s",
    # On a machine that stands still for seconds, an earlier answer is missed.
    "Endless": r"no command for t = 0\.0[0-5]\d+ s from the controller within 3 s",
    "Asleep": r"no command for t = 0\.0[0-5]\d+ s from the controller within 3 s",
    "Exiting": r"Exiting raised SystemExit: 0 at t = 0\.050000 s",
    "ExitingInReset": r"ExitingInReset\.reset raised SystemExit: 0",
    "ExitingWhenMade": r"controller raised SystemExit: 0",
    "Interrupting": r"Interrupting raised KeyboardInterrupt at t = 0\.050000 s",
    "Generating": r"Generating raised GeneratorExit at t = 0\.050000 s",
}


LATE = ("Asleep", "Endless")
IN_VAIN, IN_VAIN_APART = 0.3, 3.0  # s


def cases():
    """Return every controller in one process, and of each kind of end one in three processes.

    What is waited for in vain for seconds, and what starts processes, is slow.
    """
    for name in LINES:
        marks = [pytest.mark.slow] if name in LATE else []
        yield from (pytest.param(name, way, marks=marks) for way in ("direct", "ros"))
    for name in ("Asleep", "Exiting", "ExitingWhenMade"):
        yield pytest.param(name, "ros_processes", marks=pytest.mark.slow)


@pytest.mark.parametrize(("controller", "transport"), cases())
def test_a_line_is_the_same_in_every_transport(controller, transport, request_for, setup_for):
    made = request_for(setup_for(), controller=f"faulty_controllers:{controller}")
    started = time.monotonic()
    with pytest.raises(AccordError) as caught:
        TRANSPORTS[transport](replace(made, timeout=IN_VAIN_APART if controller in LATE else 600.0))
    place = rf" \(\S*faulty_controllers\.py:\d+ in {controller}\.\w+\)"
    raised = "raised" in LINES[controller]
    assert re.fullmatch(LINES[controller] + (place if raised else ""), str(caught.value))
    assert time.monotonic() - started < 300.0  # half of the time for which one sleeps


@pytest.mark.parametrize("transport", ["direct", "ros", *late("ros_processes")])
def test_a_module_that_exits_cannot_be_imported(transport, request_for, setup_for):
    sys.modules.pop("exiting_module", None)
    made = request_for(setup_for(), controller="exiting_module:Controller")
    line = r"cannot import exiting_module:Controller: it raised SystemExit: 0"
    with pytest.raises(AccordError, match=line):
        TRANSPORTS[transport](made)


def test_a_controller_that_never_answers_is_a_clear_error(graph, setup_for):
    setup = setup_for()
    graph.simulator(setup, timeout=IN_VAIN, peers=())
    silent = graph.node("controller")
    names.advertise(silent, "snake", names.EFFORTS)
    for topic in (names.STATES, names.ODOMETRY):
        names.subscribe(silent, "snake", topic, lambda data: None)
    with pytest.raises(LockstepError, match=r"no command for t = 0.000000 s .* within 0.3 s"):
        graph.spin()


def test_a_controller_that_is_not_there_is_a_clear_error(graph, setup_for, monkeypatch, caplog):
    """One that compiles is waited for, and not late."""
    monkeypatch.setattr("roboaccord_ros.nodes.pacing.REMINDER", 0.1)
    graph.simulator(setup_for(), start_timeout=IN_VAIN)
    node = graph.node("controller")
    signs = [peers.announce_preparing(node, "snake")]
    names.every(node, 5 * IN_VAIN, lambda: node.destroy_publisher(signs.pop()))
    with pytest.raises(LockstepError, match=r"no controller publishes /snake/joint_trajectory"):
        graph.spin()
    assert not signs
    for why in ("controller not ready", "no controller publishes /snake/joint_trajectory"):
        assert f"waiting: {why}" in caplog.text


@pytest.mark.parametrize(
    ("joints", "time_asked", "effort", "message"),
    [
        (slice(0, -1), 0.0, 0.0, "joint_21 is missing"),
        (slice(None), 0.0, np.nan, "effort nan for joint_01"),
        (slice(None), 7.0, 0.0, r"answered t = 7.000000 s, the simulator is at t = 0.001000 s"),
    ],
)
def test_a_foreign_command_that_is_wrong_is_refused(
    graph, joints, time_asked, effort, message, setup_for
):
    setup = setup_for()
    graph.simulator(setup, peers=())
    foreign = graph.node("foreign")
    send = names.advertise(foreign, "snake", names.EFFORTS).send
    good = EffortCodec(setup.joints).encode(0.0, np.zeros(21))
    some = setup.joints[joints]
    bad = EffortCodec(some).encode(time_asked, np.full(len(some), effort))
    answers = iter([good, bad] if time_asked else [bad])
    names.subscribe(foreign, "snake", names.STATES, lambda data: send(next(answers)))
    names.subscribe(foreign, "snake", names.ODOMETRY, lambda data: None)
    with pytest.raises(AccordError, match=message):
        graph.spin()


def states_in(bag):
    try:
        return len(read_run(bag).trajectory)
    except AccordError:
        return 0


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_simulator_leaves_a_readable_bag(number, request_for, setup_for):
    request = request_for(setup_for(duration=60), controller="faulty_controllers:Slow")

    def kill_soon(processes):
        def kill():
            deadline = time.monotonic() + 300
            while time.monotonic() < deadline and states_in(request.bag) < 10:
                time.sleep(0.1)
            processes["simulator"].send_signal(number)

        threading.Thread(target=kill, daemon=True).start()

    with pytest.raises(AccordError, match=r"SIGKILL|interrupted"):
        run_commands(request, COMMANDS, kill_soon)
    bag = read_run(request.bag)
    assert bag.sha256 is None and len(bag.trajectory) > 5


@pytest.mark.slow
def test_a_process_that_does_not_end_is_ended(request_for, setup_for, monkeypatch):
    """DDS hangs at times as a node goes: the run reports which process, and ends it."""
    monkeypatch.setattr(processes, "ENDING", 5.0)  # s; who takes longer is killed instead
    hanging = [
        "sh",
        "-c",
        f'"{sys.executable}" -m roboaccord_ros.nodes.controller "$@"; exec sleep 6000',
        "-",
    ]
    started = time.monotonic()
    with pytest.raises(AccordError, match=r"the controller process was killed by SIG(INT|KILL)"):
        run_commands(request_for(setup_for(duration=0.1)), {**COMMANDS, "controller": hanging})
    assert time.monotonic() - started < 600.0


def test_a_wrong_parameter_is_one_line_and_status_2():
    command = [*COMMANDS["simulator"], "--ros-args", "-p", "robot:=snaek", "-p", "scenario:=x"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: unknown robot snaek; did you mean snake?\n"
    command = [*COMMANDS["recorder"], "--ros-args", "-p", "robott:=snake", "-p", "fault.x:=none"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: unknown parameter robott; did you mean robot?\n"


HANGING = """
import ctypes, sys
from rclpy.node import Node
from roboaccord.contract.errors import AccordError
from roboaccord_ros.graph.shell import Shell

Node.destroy_node = lambda self: ctypes.PyDLL(None).pause()  # holds the interpreter for ever

class Hanging(Shell):
    name = "hanging"
    @classmethod
    def build(cls, node, run):
        run.fail(AccordError("it failed")) if sys.argv[1] == "fail" else run.stop()
        return cls(node, "", run)
    def report(self):
        print("reported")

Hanging.main([])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("what", "status"), [("end", -signal.SIGALRM), ("fail", 1)])
def test_a_node_that_hangs_in_native_code_as_ros_ends_is_gone_after_seconds(what, status):
    """What it has to report is printed before, and its status shows whether all was well."""
    command = [sys.executable, "-c", HANGING, what]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == status
    reported = "reported" in done.stdout.splitlines()  # Fast DDS may print, too
    assert (reported, done.stderr) in ((True, ""), (False, "error: it failed\n"))

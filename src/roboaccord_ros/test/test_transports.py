"""The same run gives the same hash in the direct loop, in one process over ROS, and in three."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.contract.state import Command
from roboaccord.contract.trajectory import Event
from roboaccord.run.runner import RunRequest, find_runner, run_direct

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake, by which the graph is tested, is not installed")

from roboaccord_ros.run.domain import private_domain
from roboaccord_ros.run.processes import run_ros_processes
from roboaccord_ros.run.runner import run_ros

pytestmark = pytest.mark.thorough

LIBRARIES = {"reference": "numpy", "dart": "dartpy", "mujoco": "mujoco"}


@pytest.mark.parametrize("engine", LIBRARIES)
def test_lockstep_in_one_process_repeats_the_direct_loop(engine, request_for, setup_for):
    pytest.importorskip(LIBRARIES[engine])
    setup = setup_for()
    direct = run_direct(request_for(setup, engine))
    ros = run_ros(request_for(setup, engine))
    assert ros.trajectory.sha256() == direct.trajectory.sha256()
    bag = read_run(ros.request.bag)
    assert bag.complete
    assert bag.sha256 == bag.trajectory.sha256() == direct.trajectory.sha256()
    assert len(bag.commands.time) == len(direct.trajectory) - 1
    assert (bag.transport, bag.engine_version) == ("ros", direct.engine_version)


class Finder:
    """Find something in the state of t = 0.05 s."""

    def __init__(self, setup):
        self.effort = np.zeros(len(setup.joints))

    def reset(self, seed):
        """Do nothing."""

    def update(self, state, target):
        found = [Event(state.time, "found_loose", "joint_03")] if state.time == 0.05 else []
        return Command(self.effort, findings=tuple(found))


def test_findings_of_a_controller_are_recorded_as_in_the_direct_loop(request_for, setup_for):
    over_ros = replace(request_for(setup_for()), controller=f"{__name__}:Finder")
    direct = replace(over_ros, bag=over_ros.bag.with_name("direct"))
    runs = [read_run(run.request.bag) for run in (run_ros(over_ros), run_direct(direct))]
    assert runs[0].findings == runs[1].findings == (Event(0.05, "found_loose", "joint_03"),)
    assert runs[0].sha256 == runs[1].sha256


@pytest.mark.slow
def test_three_processes_repeat_the_direct_loop(request_for, setup_for):
    setup = setup_for("controller.friction.mu_along=0.3")
    before = dict(os.environ)
    apart = run_ros_processes(request_for(setup))
    assert apart.trajectory.sha256() == run_direct(request_for(setup)).trajectory.sha256()
    assert read_run(apart.request.bag).transport == "ros_processes"
    assert dict(os.environ) == before


def test_the_controller_may_live_in_the_simulators_process(request_for, setup_for):
    """Two nodes, one process, one executor; as a launch in lockstep has them."""
    setup = setup_for("parameters.joints=3")
    words = ["robot:=snake", "scenario:=serpenoid", "set:=[parameters.joints=3]", "composed:=true",
             f"duration:={setup.scenario.duration}", "peers:=[controller]"]  # fmt: skip
    command = [sys.executable, "-m", "roboaccord_ros.nodes.simulator", "--ros-args"]
    with private_domain():
        parameters = [part for word in words for part in ("-p", word)]
        done = subprocess.run([*command, *parameters], capture_output=True, text=True, timeout=60)
    said = [line for line in done.stderr.splitlines() if "compiling kernels" not in line]
    assert (done.returncode, said) == (0, [])
    again = run_direct(request_for(setup)).trajectory.sha256()
    printed = done.stdout[done.stdout.index("{") :]  # Fast DDS may print before it
    assert json.loads(printed)["trajectory_sha256"] == again


def test_observers_are_told_as_in_the_direct_loop(request_for, setup_for):
    def printed(runner):
        log = []

        class Observer:
            def on_state(self, state):
                log.append(("state", state.time))

            def on_command(self, state, command):
                log.append(("command", state.time, command.effort.tobytes()))

            def on_event(self, event):
                log.append(("event", event))

        request = request_for(setup_for(duration=0.05))
        runner(RunRequest(setup=request.setup, engine=request.engine, bag=request.bag,
                          observers=(Observer(),)))  # fmt: skip
        return log

    assert printed(run_ros) == printed(run_direct)


def test_the_transports_are_found_by_entry_point():
    assert find_runner("ros") is run_ros
    assert find_runner("ros_processes") is run_ros_processes

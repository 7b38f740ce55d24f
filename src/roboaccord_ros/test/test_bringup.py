"""How a launch ends: processes of a plan under the real launch service, where that is installed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

pytest.importorskip("launch_ros", reason="launch_ros is not on PyPI")

from roboaccord_ros.launch_data import Process
from sessions import in_time, processes_of

DRIVER = """
import json, socket, sys
from launch import LaunchDescription, LaunchService
from roboaccord_ros.bringup import BringUp

plan = {"namespace": "", "messages": [], "processes": json.load(sys.stdin)}
service = LaunchService(noninteractive=True)
started = BringUp(sys.executable, plan, socket.socket()).start()
service.include_launch_description(LaunchDescription(started))
sys.exit(service.run())
"""
IN_VAIN = 0.5  # s
LASTS = ["sleep", "600"]
SERVER = Process(name="gazebo", meaning="helper", command=LASTS)
pytestmark = pytest.mark.thorough


def shell(text):
    return ["sh", "-c", text]


def bring_up(*processes, ready=None):
    """Run a plan to its end; return status and last line, and see that nothing is left.

    It is interrupted once a file is there, if one is given.
    """
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PYTHONPATH": path}, start_new_session=True,
    )  # fmt: skip
    driver.stdin.write(json.dumps([asdict(process) for process in processes]))
    driver.stdin.close()
    if ready:
        assert in_time(ready.exists)
        os.killpg(driver.pid, signal.SIGINT)
    output = driver.stdout.read()
    status = driver.wait(300)
    assert in_time(lambda: not processes_of(driver.pid))
    assert "Traceback" not in output
    assert not ready or "has died" not in output
    return status, output.splitlines()[-1].partition("[launch.user]: ")[2]


def test_a_process_that_waits_too_long_is_named():
    late = "Gazebo's server does not answer"
    create = Process(name="create", meaning="once", command=LASTS, within=IN_VAIN, late=late)
    after = Process(name="gz_adapter", meaning="ends", command=LASTS, after="create")
    status, last = bring_up(SERVER, create, after)
    assert (status, last) == (1, f"the launch failed: create is not done within 0.5 s: {late}")


def test_a_process_that_is_in_time_has_its_followers_run():
    create = Process(name="create", meaning="once", command=["true"], within=60.0, late="late")
    after = Process(name="gz_adapter", meaning="ends", command=["sleep", "2"], after="create")
    status, last = bring_up(SERVER, create, after)
    assert (status, last) == (0, "the run is over")


def test_a_server_that_is_killed_is_the_last_line():
    server = Process(name="gazebo", meaning="helper", command=shell("sleep 0.5; kill -9 $$"))
    ends = Process(name="gz_adapter", meaning="ends", command=LASTS)
    status, last = bring_up(server, ends)
    assert (status, last) == (1, "the launch failed: gazebo ended early, with status 137")


def test_a_server_that_sleeps_is_killed_after_what_it_keeps_waiting():
    """The line is that of the node which noticed, as it wrote it."""
    server = Process(name="gazebo", meaning="helper", command=shell("kill -STOP $$"))
    ends = Process(name="gz_adapter", meaning="ends", module="failing_module")
    status, last = bring_up(server, ends)
    assert (status, last) == (1, "the launch failed: gz_adapter: no answer from Gazebo")


def test_a_closed_window_ends_the_run_well():
    window = Process(name="gazebo_window", meaning="window_ends", command=["sleep", "0.5"])
    status, last = bring_up(SERVER, window, Process(name="run", meaning="part", command=LASTS))
    assert (status, last) == (0, "gazebo_window was closed")


def test_an_interrupted_launch_ends_its_nodes_first_and_nothing_dies(tmp_path):
    ready, order = tmp_path / "ready", tmp_path / "order"
    server = shell(f"trap 'echo gazebo >> {order}; exit' TERM; sleep 600 & wait")
    env = {"READY": str(ready), "ORDER": str(order)}
    node = Process(name="gz_adapter", meaning="ends", module="slow_module", env=env)
    status, last = bring_up(replace(SERVER, command=server), node, ready=ready)
    assert (status, last) == (0, "the launch was interrupted")
    assert order.read_text().split() == ["node", "gazebo"]

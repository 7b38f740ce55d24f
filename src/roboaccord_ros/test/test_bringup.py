"""How a launch ends: processes of a run under the real launch service, where that is installed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("launch_ros", reason="launch_ros is not on PyPI")

from sessions import in_time, processes_of

DRIVER = """
import json, shlex, signal, sys
from launch import LaunchDescription, LaunchService
from launch.actions import SetLaunchConfiguration
from roboaccord_ros.launch import LaunchedRun
from roboaccord_ros.launch.planner import WITH_PARENT

run, started = LaunchedRun(), []
for words, options in json.load(sys.stdin)[::-1]:
    if "then" in options:
        options["then"] = [started.pop(0)]
    started.insert(0, getattr(run, options.pop("make"))(*words, **options))
tie = ["env", "--block-signal=INT", sys.executable, "-S", str(WITH_PARENT)]
decided = {"python": sys.executable, "with_parent": shlex.join(tie)}
signal.signal(signal.SIGINT, lambda *_: None)
service = LaunchService(noninteractive=True)
settings = [SetLaunchConfiguration(*each) for each in decided.items()]
service.include_launch_description(LaunchDescription([*settings, *started]))
sys.exit(service.run())
"""
LASTS = ["sleep", "600"]
pytestmark = pytest.mark.thorough


def shell(text):
    return ["sh", "-c", text]


def process(name, ends, command, **options):
    return [name, ends, command], {"make": "process", **options}


def node(name, ends, module):
    return [name, ends, module], {"make": "node"}


SERVER = process("gazebo", "helper", LASTS)


def bring_up(*processes, ready=None):
    """Run processes to their end; return status and last line, and see that nothing is left.

    It is interrupted once a file is there, if one is given.
    """
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PYTHONPATH": path}, start_new_session=True,
    )  # fmt: skip
    driver.stdin.write(json.dumps(processes))
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


def test_a_server_that_is_killed_is_the_last_line():
    server = process("gazebo", "helper", shell("sleep 0.5; kill -9 $$"))
    status, last = bring_up(server, process("simulator", "ends", LASTS))
    assert (status, last) == (1, "the launch failed: gazebo ended early, with status 137")


def test_a_server_that_sleeps_is_killed_after_what_it_keeps_waiting():
    """The line is that of the node which noticed, as it wrote it."""
    server = process("gazebo", "helper", shell("kill -STOP $$"))
    status, last = bring_up(server, node("simulator", "ends", "failing_module"))
    assert (status, last) == (1, "the launch failed: simulator: no answer from Gazebo")


def test_a_closed_window_ends_the_run_well():
    window = process("gazebo_window", "window_ends", ["sleep", "0.5"])
    status, last = bring_up(SERVER, window, process("run", "part", LASTS))
    assert (status, last) == (0, "gazebo_window was closed")


RUN = process("run", "ends", ["true"])


def test_the_verdict_of_the_judge_counts_whatever_the_live_one_was(tmp_path):
    live = process("crosscheck", "part", shell("exit 1"))
    for status in (0, 1):
        judge = process("judge", "last", shell(f"echo the verdict; exit {status}"))
        assert bring_up(judge, RUN, live)[0] == status
    assert bring_up(RUN, live)[0] == 1
    judge = process("judge", "last", ["touch", str(tmp_path / "started")])
    assert bring_up(judge, RUN, process("recorder", "part", ["false"]))[0] == 1
    assert not (tmp_path / "started").exists()


def test_a_judge_that_is_interrupted_says_so_by_its_silence(tmp_path):
    ready = tmp_path / "ready"
    judge = process("judge", "last", shell(f"touch {ready}; exec sleep 600"))
    outcome = "the launch was interrupted; its bag is not judged"
    assert bring_up(judge, RUN, ready=ready) == (0, outcome)


def test_an_interrupted_launch_ends_its_nodes_first_and_nothing_dies(tmp_path, monkeypatch):
    ready, order = tmp_path / "ready", tmp_path / "order"
    server = process(
        "gazebo", "helper", shell(f"trap 'echo gazebo >> {order}; exit' TERM; sleep 600 & wait")
    )
    monkeypatch.setenv("READY", str(ready))
    monkeypatch.setenv("ORDER", str(order))
    status, last = bring_up(server, node("simulator", "ends", "slow_module"), ready=ready)
    assert (status, last) == (0, "the launch was interrupted")
    assert order.read_text().split() == ["node", "gazebo"]

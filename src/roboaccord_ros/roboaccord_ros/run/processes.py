"""The transport `ros_processes`: a run in which simulator, controller and recorder are processes.

The request is written as a scenario and a file of parameters, from which the three nodes start.
They run until all have ended well or one has failed, and the result is read from the bag. The run
equals that of the direct loop, bit for bit (test_transports).

Another field of the request is added to `_write_parameters`. POLL and ENDING may be tuned; GRACE
stays below that of cli/signals.py, or `accord` kills a recorder while it closes its bag.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from roboaccord.bag import play
from roboaccord.contract import AccordError, Inputs
from roboaccord.numerics import python
from roboaccord.run import NO_INPUTS, Figures, Motion, RecordedInputs, RunRequest
from roboaccord.run import Run as RunResult
from roboaccord.scenario import path_changes

from roboaccord_ros.graph.parameters import Value
from roboaccord_ros.graph.process import PARENT, STATUS_INTERRUPTED
from roboaccord_ros.run.domain import announce, private_domain, remove_orphans

POLL = 0.02  # s between checks of the processes: a run of seconds ends 10 ms later on average
GRACE = 1.5  # s: time in which a process must end after SIGINT, less than `accord` has itself
# s: time in which all processes must end after the first one has, as in a launch
# (launch/processes.py).
ENDING = 90.0
GOOD = (0, -signal.SIGALRM)  # statuses of good ends: SIGALRM if ROS hung when the work was done
NODES = ("recorder", "controller", "simulator")
# Command of each node, by its name.
Commands = Mapping[str, Sequence[str]]


def run_ros_processes(request: RunRequest) -> RunResult:
    """Run over ROS in three processes, and read the result from the bag.

    Observers of the request are not called: the run is not in this process.

    Raises:
        AccordError: whatever ends the run early, in one line.
    """
    commands = {name: python("-m", f"roboaccord_ros.nodes.{name}") for name in NODES}
    return run_commands(request, commands)


def run_commands(
    request: RunRequest, commands: Commands,
    on_start: Callable[[Mapping[str, subprocess.Popen[str]]], None] = lambda _: None,
) -> RunResult:  # fmt: skip
    """Run with given commands for the nodes; `on_start` gets the processes."""
    with private_domain(), tempfile.TemporaryDirectory() as folder:
        parameters = _write_parameters(request, Path(folder))
        processes: dict[str, subprocess.Popen[str]] = {}
        with _ends_processes(processes):
            for name in NODES:
                processes[name] = subprocess.Popen(
                    [*commands[name], "--ros-args", "--params-file", str(parameters)], text=True,
                    stdout=subprocess.PIPE, stderr=(Path(folder) / f"{name}.err").open("w"),
                    env={**os.environ, PARENT: str(os.getpid())},
                )  # fmt: skip
            on_start(processes)
            failed = _wait(processes)
        if failed:
            errors = (Path(folder) / f"{failed}.err").read_text(errors="replace")
            error = AccordError(_reason(failed, processes[failed].returncode, errors.splitlines()))
            error.add_note(errors)
            raise error
        printed = processes["simulator"].communicate()[0]
    result = json.loads(printed[printed.index("{") :])  # Fast DDS may print before it
    if result["error"]:
        raise AccordError(f"the simulator process ended early: {result['error']}")
    announce(request.tell)
    return _read_result(request, result)


def _write_parameters(request: RunRequest, folder: Path) -> Path:
    """Write the scenario and the parameters of the three nodes; return the file of the latter."""
    scenario = folder / "scenario.yaml"
    data = json.loads(json.dumps(request.setup.scenario.data()))
    scenario.write_text(yaml.safe_dump(data), encoding="utf-8")
    if not isinstance(request.controller, str):
        raise AccordError("the transport ros_processes takes a controller as MODULE:CLASS alone")
    robot, changes = request.setup.robot, [*path_changes(data), *request.setup.given] or [""]
    common: dict[str, Value] = {
        "robot": robot.key, "scenario": str(scenario), "set": changes, "engine": request.engine,
        "controller": request.controller, "inputs": _bag_of(request.inputs),
        "timeout": request.timeout, "transport": "ros_processes",
    }  # fmt: skip
    # The simulator waits for a controller node, which makes its controller twice.
    limit = request.start_timeout
    parameters: dict[str, dict[str, Value]] = {
        "simulator": {**common, "start_timeout": 3.0 * limit, "peers": ["controller", "recorder"]},
        "controller": {**common, "start_timeout": limit, "peers": ["simulator", "recorder"]},
        "recorder": {"robot": robot.name, "bag": str(request.bag.absolute()), "set": changes},
    }
    file = folder / "parameters.yaml"
    nodes = {name: {"ros__parameters": values} for name, values in parameters.items()}
    copied = json.loads(json.dumps(nodes))  # ROS reads no YAML with anchors of repeated lists
    file.write_text(yaml.safe_dump(copied), encoding="utf-8")
    return file


def _bag_of(inputs: Inputs) -> str:
    """Return the bag of recorded inputs, "" for none.

    Raises:
        AccordError: for other inputs, which cannot be passed to a process.
    """
    if isinstance(inputs, RecordedInputs):
        return str(inputs.bag.absolute())
    if inputs is not NO_INPUTS:
        raise AccordError("the transport ros_processes takes inputs from a bag alone")
    return ""


def _wait(processes: Mapping[str, subprocess.Popen[str]]) -> str:
    """Wait until all processes have ended well, or one has failed; return its name, or "".

    A process that still runs ENDING after the first end counts as failed: it hangs.
    """
    first_end = math.inf  # of the steady clock [s]
    while True:
        codes = {name: process.poll() for name, process in processes.items()}
        if set(GOOD) & set(codes.values()):
            first_end = min(first_end, time.monotonic())
        for name, code in codes.items():
            if code not in (None, *GOOD):
                return name
        if all(code in GOOD for code in codes.values()):
            return ""
        if time.monotonic() - first_end > ENDING:
            return next(name for name, code in codes.items() if code is None)
        time.sleep(POLL)


@contextlib.contextmanager
def _ends_processes(processes: Mapping[str, subprocess.Popen[str]]) -> Iterator[None]:
    """Leave no process behind: send SIGINT, wait, then kill."""
    try:
        yield
    finally:
        for process in processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + GRACE
        for process in processes.values():
            try:
                process.wait(max(deadline - time.monotonic(), 0.0))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        remove_orphans()


def _reason(name: str, code: int, lines: Sequence[str]) -> str:
    """Return why a process failed, from the lines that it has written or its status."""
    for line in lines:
        if line.startswith("error: "):
            return line.removeprefix("error: ")
    if code < 0:
        return f"the {name} process was killed by {signal.Signals(-code).name}"
    if code == STATUS_INTERRUPTED:
        return f"the {name} process was interrupted"
    return f"the {name} process ended with status {code}: {(lines or ['no message'])[-1]}"


def _read_result(request: RunRequest, result: Mapping[str, Any]) -> RunResult:
    """Return the run, with the motion in its bag.

    Raises:
        AccordError: if the bag is not complete.
    """
    motion = Motion(request.setup.joints, partial(Figures, request.setup))
    play(request.bag, request.setup, motion)
    if motion.sha256 != result["trajectory_sha256"]:
        missing = f"messages were lost, {motion.states} of {result['steps'] + 1} states are there"
        raise AccordError(f"{request.bag} does not hold what was simulated: {missing}")
    version, wall = str(result["engine_version"]), float(result["wall_time"])
    return RunResult(request, motion, version, "ros_processes", wall)

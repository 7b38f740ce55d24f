"""Bring-up of a run: `ros2 launch` starts what the planner says, and minds how it ends.

It imports launch, launch_ros, ament_index_python and the standard library alone: `ros2 launch`
reads launch files in the Python of ROS, which need not have the core's libraries. The planner and
the nodes run in the Python of the workspace.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory
from launch import LaunchContext, LaunchDescription
from launch.actions import (
    EmitEvent,
    ExecuteProcess,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    TimerAction,
)
from launch.events import Shutdown
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from roboaccord_ros.plan.arguments import ARGUMENTS
from roboaccord_ros.run.claim import claim_names

PACKAGE = "roboaccord_ros"
PYTHON = "ROBOACCORD_PYTHON"  # environment variable: the workspace's Python
TIED = Path(__file__).with_name("run") / "tied.py"
MODULE = ("-m", "roboaccord_ros.run.module")  # runs one that Ctrl-C ends as its libraries load
LIBRARIES = "roboaccord rclpy mcap numba numpy pydantic rosbags scipy typer xacro yaml"
CHECK = f"import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, {LIBRARIES.split()})))"
PLANNING = 300.0  # s that the planner may take
ENDING = 90.0  # s that recorder, controller and cross-check may take after the run
GRACE = 10.0  # s between SIGTERM and SIGKILL of the others
DONE = (0, -signal.SIGALRM)  # the latter of a node that was done, and hung as ROS ended
INTERRUPTED = (130, -signal.SIGINT, -signal.SIGTERM)


def simulate_scenario(robot: str, scenario: str) -> LaunchDescription:
    """Return a description that includes simulate.launch.py, whose other arguments it takes.

    Args:
        robot: name of the robot.
        scenario: name of one of its scenarios.
    """
    shared = PathJoinSubstitution([FindPackageShare(PACKAGE), "launch", "simulate.launch.py"])
    arguments = {"robot": robot, "scenario": scenario}
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=arguments.items())])


def start_planned(context: LaunchContext) -> list[Any]:
    """Return the actions that the planner makes of the launch arguments.

    Raises:
        RuntimeError: whatever cannot be run, in one line; then the launch fails.
    """
    claim = claim_names(LaunchConfiguration("namespace").perform(context))
    python = find_python()
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    words = [f"{name}:={value}" for name, value in given.items()]
    command = [*tie(python, signal.SIGTERM), python, *MODULE, "roboaccord_ros.plan", *words]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PLANNING, check=False
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"the planner of the launch took more than {PLANNING:g} s") from None
    if done.returncode in INTERRUPTED:
        raise RuntimeError("interrupted before anything was started")
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it says nothing"]
        raise RuntimeError(lines[-1].removeprefix("error: "))
    return BringUp(python, json.loads(done.stdout.splitlines()[-1]), claim).start()


def tie(python: str, number: int, cores: Sequence[int] = ()) -> list[str]:
    """Return what makes a command get a signal when `ros2 launch` ends, however it does.

    Args:
        python: that runs it.
        number: of the signal.
        cores: on which the command may run; on all if empty.
    """
    allowed = ",".join(map(str, cores))
    return [python, "-S", str(TIED), str(int(number)), str(os.getpid()), allowed]


def find_python() -> str:
    """Return the Python of the workspace.

    Raises:
        RuntimeError: if there is none that has the libraries.
    """
    named = os.environ.get(PYTHON)
    for python in [named] if named else _pythons():
        if not os.access(python, os.X_OK):
            continue
        code = subprocess.call([python, "-c", CHECK], stderr=subprocess.DEVNULL)
        if code in INTERRUPTED:
            raise RuntimeError("interrupted before anything was started")
        if not code:
            return python
    where = f"{PYTHON}={named} lacks" if named else "no Python here has"
    raise RuntimeError(f"{where} the workspace's libraries: run `make ros` in the workspace")


def _pythons() -> Iterator[str]:
    """Yield the Python that runs this, then those of environments above the installed files."""
    yield sys.executable
    for start in (Path(__file__), Path(get_package_share_directory(PACKAGE)) / "launch"):
        for folder in start.resolve().parents:
            yield from (str(folder / name / "bin" / "python") for name in (".venv_ros", ".venv"))


class BringUp:
    """Start the processes of a plan, and end the launch when the run is over.

    Args:
        python: of the workspace.
        plan: as `python -m roboaccord_ros.plan` prints it.
        claim: on the names of the run, which is kept.
    """

    def __init__(self, python: str, plan: dict[str, Any], claim: socket.socket) -> None:
        self._python, self._plan, self._claim = python, plan, claim
        self._actions: dict[str, Any] = {}
        self._left = {p["name"]: p["meaning"] for p in plan["processes"]}
        self._over, self._differs = False, False

    def start(self) -> list[Any]:
        """Return what is to be done at once."""
        messages = [LogInfo(msg=message) for message in self._plan["messages"]]
        return [*messages, *self._after("")]

    def _after(self, name: str) -> list[Any]:
        """Return the processes that may start after the good end of another."""
        ready = [p for p in self._plan["processes"] if p["after"] == name]
        self._actions |= {p["name"]: self._action(p) for p in ready}
        return [self._actions[p["name"]] for p in ready]

    def _action(self, process: dict[str, Any]) -> Any:
        common = {
            "additional_env": process["env"],
            "prefix": self._tie(process),
            "on_exit": partial(self._on_exit, process["name"]),
            "sigkill_timeout": str(ENDING if process["meaning"] == "part" else GRACE),
        }
        if process["command"]:
            return ExecuteProcess(cmd=process["command"], name=process["name"], **common)
        own, arguments = bool(process["module"]), list(process["arguments"])
        return Node(
            package=None if own else process["package"],
            executable=self._python if own else process["executable"],
            arguments=[*MODULE, process["module"]] if own else arguments,
            output="screen" if own else "log",
            name=None if own else process["name"],  # ours have theirs; a process may have two
            exec_name=process["name"],
            namespace=self._plan["namespace"] or None,
            parameters=[{k: _parameter(v) for k, v in process["parameters"].items()}],
            remappings=[tuple(rule) for rule in process["remappings"]],
            **common,
        )

    def _tie(self, process: dict[str, Any]) -> str:
        """Return the prefix by which a process ends with `ros2 launch`, however that ends."""
        # A node ends its bag, and Gazebo's window its server. A bare server can hang at SIGTERM.
        gentle = process["module"] or process["meaning"] == "window_ends"
        number = signal.SIGTERM if gentle else signal.SIGKILL
        return shlex.join(tie(self._python, number, process["cores"]))

    def _on_exit(self, name: str, event: ProcessExited, context: LaunchContext) -> list[Any]:
        """Go on after the end of a process.

        Raises:
            RuntimeError: if it ended badly; then the launch shuts down, and fails.
        """
        meaning, code, ending = self._left.pop(name), event.returncode, context.is_shutdown
        good = code in DONE or meaning in ("window", "view")
        if name == "crosscheck" and code == 1:
            good = self._differs = True
        if ending and (code in INTERRUPTED or meaning not in ("ends", "part")):
            good = True
        if meaning == "helper" and not ending:
            good = self._over
        if not good:
            raise RuntimeError(f"{name} ended early, with status {code}")
        if ending:
            self._check_verdict()
            return []
        if meaning == "once":
            return self._after(name)
        if meaning == "window_ends":
            return self._finish()
        return self._go_on(begin=meaning == "ends")

    def _go_on(self, *, begin: bool) -> list[Any]:
        """End the launch when the run is over, its nodes have ended and windows are closed."""
        self._over = self._over or begin
        if not self._over:
            return []
        if "part" in self._left.values():
            late = OpaqueFunction(function=self._refuse_late)
            return [TimerAction(period=ENDING, actions=[late])] if begin else []
        windows = [name for name, meaning in self._left.items() if meaning.startswith("window")]
        if windows:
            close = f"close {' and '.join(windows)}, or press Ctrl-C, to end"
            how = "Ctrl-C ends the view in the browser" if "browser" in windows else close
            return [LogInfo(msg=f"the run is over; {how}")]
        return self._finish()

    def _finish(self) -> list[Any]:
        """Return the end of the launch.

        Raises:
            RuntimeError: if the live cross-check says so; it ends the launch as well.
        """
        self._check_verdict()
        return [EmitEvent(event=Shutdown(reason="the run is over"))]

    def _check_verdict(self) -> None:
        differs, self._differs = self._differs, False
        if differs:
            raise RuntimeError("the live cross-check is outside its tolerance")

    def _refuse_late(self, _: LaunchContext) -> None:
        late = [name for name, meaning in self._left.items() if meaning == "part"]
        raise RuntimeError(f"{', '.join(late)} did not end within {ENDING:g} s of the run")


def _parameter(value: Any) -> Any:
    """Return a parameter as it is, where launch_ros would read a text as YAML."""
    if not isinstance(value, (str, list)):
        return value
    return ParameterValue(value, value_type=str if isinstance(value, str) else list[str])

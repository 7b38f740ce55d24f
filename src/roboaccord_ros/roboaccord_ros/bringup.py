"""Bring-up of a run: `ros2 launch` starts what the planner lists, and monitors how it ends.

It imports launch, launch_ros, ament_index_python and the standard library alone: `ros2 launch`
reads launch files in the Python of ROS, which need not have the core's libraries. The planner and
the nodes run in the Python of the workspace.
"""

from __future__ import annotations

import difflib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch import Action, LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    LogInfo,
    OpaqueFunction,
    TimerAction,
)
from launch.events import Shutdown
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from roboaccord_ros.launch_data import ARGUMENTS, Process, Value, claim_names

PACKAGE = "roboaccord_ros"
PYTHON = "ROBOACCORD_PYTHON"  # environment variable: the workspace's Python
TRUST = "ROBOACCORD_TRUST"  # environment variable, as of the core's `description`
WITH_PARENT = Path(__file__).with_name("run") / "with_parent.py"
# Runs one that Ctrl-C ends as its libraries load; -P: nothing is imported from the current folder.
MODULE = ("-P", "-m", "roboaccord_ros.run.module")
LIBRARIES = "roboaccord rclpy mcap numba numpy pydantic rosbags scipy typer xacro yaml"
CHECK = f"import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, {LIBRARIES.split()})))"
PLANNING = 300.0  # s that the planner may take
ENDING = 90.0  # s that recorder, controller and cross-check may take after the run
GRACE = 5.0  # s between SIGTERM and SIGKILL of the others
DONE = (0, -signal.SIGALRM)  # the latter of a node that was done, and hung as ROS ended
INTERRUPTED = (130, 255, -signal.SIGINT, -signal.SIGTERM)  # 255: asyncio lost the status
# What `ros2 launch` and its actions take, whatever the launch file.
TAKEN_BY_LAUNCH = "launch-prefix launch-prefix-filter emulate_tty sigterm_timeout sigkill_timeout"


def simulate_scenario(robot: str = "", scenario: str = "") -> LaunchDescription:
    """Return a description that simulates a robot, as the launch arguments ask.

    Args:
        robot: name of the robot; an argument of the launch if empty.
        scenario: name of one of its scenarios; likewise.
    """
    trust = "false" if robot else ""  # a package is trusted anyway
    known = ("robot", robot), ("scenario", scenario), ("trust", trust)
    fixed = {name: given for name, given in known if given}
    taken = {name: given for name, given in ARGUMENTS.items() if name not in fixed}
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in taken.items()
    ]
    named = [fixed.get(name) or LaunchConfiguration(name) for name in ("robot", "scenario")]
    return LaunchDescription(
        [
            *declared,
            LogInfo(msg=["planning ", named[0], " ", named[1], " ..."]),
            OpaqueFunction(function=start_planned, args=[fixed]),
        ]
    )


def start_planned(context: LaunchContext, fixed: dict[str, str]) -> list[Action]:
    """Return the actions that the planner makes of the launch arguments.

    Args:
        context: of the launch.
        fixed: arguments that the launch file sets.

    Raises:
        RuntimeError: whatever cannot be run, in one line; then the launch fails.
    """
    refuse_unknown(context, [name for name in ARGUMENTS if name not in fixed])
    claim = claim_names(LaunchConfiguration("namespace").perform(context))
    python = find_python()
    given = {n: fixed.get(n) or LaunchConfiguration(n).perform(context) for n in ARGUMENTS}
    os.environ.update({TRUST: "1"} if given["trust"] == "true" else {})
    words = [f"{name}:={value}" for name, value in given.items()]
    command = [*tie(python, signal.SIGTERM), python, *MODULE, "roboaccord_ros.plan", *words]
    # Each kernel is called a few times, for which compiling it would take seconds.
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PLANNING, check=False, env=env
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"the planner of the launch took more than {PLANNING:g} s") from None
    if done.returncode in INTERRUPTED or not (done.returncode or done.stdout):
        raise RuntimeError("interrupted before anything was started")
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise RuntimeError(lines[-1].removeprefix("error: "))
    plan = json.loads(done.stdout.splitlines()[-1])
    processes = [Process(**process) for process in plan.pop("processes")]
    return BringUp(python, processes, claim, **plan).start()


def refuse_unknown(context: LaunchContext, known: list[str]) -> None:
    """Refuse an argument of the command line that the launched file does not take.

    A file that includes ours may have arguments of its own.

    Raises:
        RuntimeError: naming the argument, and what is close to it.
    """
    if not _is_launched(Path(context.get_locals_as_dict().get("current_launch_file_path", ""))):
        return
    for name in (word.partition(":=")[0] for word in context.argv):
        if name not in (*known, *TAKEN_BY_LAUNCH.split()):
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else "--show-args lists what there is"
            raise RuntimeError(f"unknown argument {name}; {hint}")


def _is_launched(file: Path) -> bool:
    """Return whether a launch file is the one on the command line, PACKAGE FILE or a path."""
    for package, word in pairwise(sys.argv):
        if Path(word).name != file.name:
            continue
        if Path(word).is_file():
            return Path(word).samefile(file)
        try:
            return Path(get_package_share_directory(package)) in file.parents
        except (PackageNotFoundError, ValueError):  # another word of the same name
            continue
    return False


def tie(python: str, number: int, cores: Sequence[int] = ()) -> list[str]:
    """Return what makes a command get a signal when `ros2 launch` ends, however it does.

    Args:
        python: that runs it.
        number: of the signal.
        cores: on which the command may run; on all if empty.
    """
    allowed = ",".join(map(str, cores))
    # A signal waits until somebody handles it, for Python would show a traceback as it starts.
    waits = ["env", "--block-signal=INT"]
    return [*waits, python, "-S", str(WITH_PARENT), str(int(number)), str(os.getpid()), allowed]


def find_python() -> str:
    """Return the Python of the workspace.

    Raises:
        RuntimeError: if there is none that has the libraries.
    """
    named = os.environ.get(PYTHON)
    for python in [named] if named else _pythons():
        if not os.access(python, os.X_OK):
            continue
        code = subprocess.call([python, "-P", "-c", CHECK], stderr=subprocess.DEVNULL)
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
        processes: of the plan, as are
        namespace, messages: as `python -m roboaccord_ros.plan` prints them.
        claim: on the names of the run, which is kept.
    """

    def __init__(
        self,
        python: str,
        processes: Sequence[Process],
        claim: socket.socket,
        *,
        namespace: str,
        messages: Sequence[str],
    ) -> None:
        self._python, self._processes, self._claim = python, processes, claim
        self._namespace, self._messages = namespace, messages
        self._actions: dict[str, ExecuteProcess] = {}
        self._left = {p.name: p.meaning for p in processes}
        self._over, self._differs, self._failed = False, False, False
        self._outcome = "the launch was interrupted"

    def start(self) -> list[Action]:
        """Return what is to be done at once."""
        # The launch service hears of Ctrl-C by a descriptor. A KeyboardInterrupt in its own code as
        # well could lose a process, for which it would wait for ever.
        signal.signal(signal.SIGINT, lambda *_: None)
        messages = [LogInfo(msg=message) for message in self._messages]
        return [*messages, *self._after("")]

    def _after(self, name: str) -> list[Action]:
        """Return the processes that may start after the good end of another."""
        ready = [p for p in self._processes if p.after == name]
        self._actions |= {p.name: self._action(p) for p in ready}
        limits = [
            TimerAction(period=p.within, actions=[OpaqueFunction(function=self._refuse, args=[p])])
            for p in ready
            if p.within
        ]
        return [*(self._actions[p.name] for p in ready), *limits]

    def _action(self, process: Process) -> ExecuteProcess:
        common = {
            "additional_env": process.env,
            "prefix": self._tie(process),
            "on_exit": partial(self._on_exit, process.name),
            "sigkill_timeout": str(ENDING if process.meaning == "part" else GRACE),
        }
        if process.command:
            return ExecuteProcess(cmd=process.command, name=process.name, **common)
        own, arguments = bool(process.module), list(process.arguments)
        return Node(
            package=None if own else process.package,
            executable=self._python if own else process.executable,
            arguments=[*MODULE, process.module] if own else arguments,
            output="screen" if own else "log",
            cached_output=True,
            name=None if own else process.name,  # ours have theirs; a process may have two
            exec_name=process.name,
            namespace=self._namespace or None,
            parameters=[{k: _parameter(v) for k, v in process.parameters.items()}],
            remappings=[tuple(rule) for rule in process.remappings],
            **common,
        )

    def _tie(self, process: Process) -> str:
        """Return the prefix by which a process ends with `ros2 launch`, however that ends."""
        # A node ends its bag. Gazebo's server can hang at SIGTERM.
        number = signal.SIGTERM if process.module else signal.SIGKILL
        return shlex.join(tie(self._python, number, process.cores))

    def _on_exit(self, name: str, event: ProcessExited, context: LaunchContext) -> list[Action]:
        """Go on after the end of a process; after the last one report how the launch ended.

        Raises:
            RuntimeError: if it ended badly; then the launch shuts down, and fails.
        """
        meaning, code, ending = self._left.pop(name), event.returncode, context.is_shutdown
        good = code in DONE or meaning in ("window", "view") or (ending and self._failed)
        if name == "crosscheck" and code == 1:
            good = self._differs = True
        if ending and (code in INTERRUPTED or meaning not in ("ends", "part")):
            good = True
        if meaning == "helper" and not ending:
            good = self._over
        if not good:
            self._fail(self._reason(name, code))
        if ending:
            self._check_verdict()
            running = self._left.keys() & self._actions.keys()
            return [] if running else [LogInfo(msg=self._outcome)]
        if meaning == "once":
            return self._after(name)
        if meaning == "window_ends":
            return self._finish(f"{name} was closed")
        return self._go_on(begin=meaning == "ends")

    def _reason(self, name: str, code: int) -> str:
        """Return why a process ended badly: what it wrote about it, or its status."""
        action = self._actions[name]
        text = action.get_stderr() if isinstance(action, Node) else ""
        errors = [line for line in text.splitlines() if line.startswith("error: ")]
        if errors:
            return f"{name}: {errors[-1].removeprefix('error: ')}"
        return f"{name} ended early, with status {code}"

    def _fail(self, reason: str) -> None:
        self._failed, self._outcome = True, f"the launch failed: {reason}"
        raise RuntimeError(reason)

    def _go_on(self, *, begin: bool) -> list[Action]:
        """End the launch when the run is over, its nodes have ended and windows are closed."""
        self._over = self._over or begin
        if not self._over:
            return []
        if "part" in self._left.values():
            late = OpaqueFunction(function=self._refuse_late)
            return [TimerAction(period=ENDING, actions=[late])] if begin else []
        self._outcome = "the run is over"
        windows = [name for name, meaning in self._left.items() if meaning.startswith("window")]
        if windows:
            close = f"close {' and '.join(windows)}, or press Ctrl-C, to end"
            how = "Ctrl-C ends the view in the browser" if "browser" in windows else close
            return [LogInfo(msg=f"the run is over; {how}")]
        return self._finish("the run is over")

    def _finish(self, reason: str) -> list[Action]:
        """Return the end of the launch.

        Raises:
            RuntimeError: if the live cross-check fails; it ends the launch as well.
        """
        self._check_verdict()
        self._outcome = reason
        return [EmitEvent(event=Shutdown(reason=reason))]

    def _check_verdict(self) -> None:
        differs, self._differs = self._differs, False
        if differs:
            self._fail("the live cross-check is outside its tolerance")

    def _refuse_late(self, _: LaunchContext) -> None:
        late = [name for name, meaning in self._left.items() if meaning == "part"]
        self._fail(f"{', '.join(late)} did not end within {ENDING:g} s after the run")

    def _refuse(self, _: LaunchContext, process: Process) -> None:
        if process.name in self._left:
            self._fail(f"{process.name} is not done within {process.within:g} s: {process.late}")


def _parameter(value: Value) -> Value | ParameterValue:
    """Return a parameter as it is, where launch_ros would read a text as YAML."""
    if not isinstance(value, (str, list)):
        return value
    return ParameterValue(value, value_type=str if isinstance(value, str) else list[str])

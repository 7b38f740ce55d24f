"""Planner of a launch: an action that turns launch arguments into decisions.

`plan` runs the program roboaccord_ros.plan as a process in the workspace's Python (`find_python`).
That program decides what a launch file cannot, such as which simulator runs the scenario, and
prints its decisions as JSON; `plan` stores each of them as a launch configuration. `parameters`
then passes launch configurations to nodes as ROS parameters.

To add a parameter that is not a string, enter its type in TYPES. To add a package that every node
imports, enter it in LIBRARIES. An argument of `ros2 launch` itself must be in TAKEN_BY_LAUNCH, or
it is refused as unknown. PLANNING may be raised. The values of PYTHON and TRUST stay: users set
them, and the core reads them.
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
from itertools import pairwise
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory
from launch import Action, LaunchContext, Substitution
from launch.actions import DeclareLaunchArgument, LogInfo, SetLaunchConfiguration
from launch.substitutions import LaunchConfiguration
from launch_ros.parameter_descriptions import ParameterValue

from roboaccord_ros.launch.processes import INTERRUPTED, MODULE
from roboaccord_ros.run.claim import claim_names

PACKAGE = "roboaccord_ros"
PYTHON = "ROBOACCORD_PYTHON"  # environment variable: the workspace's Python
TRUST = "ROBOACCORD_TRUST"  # environment variable: the core then expands any xacro file
# Program that runs another one and ends it as soon as this process ends.
WITH_PARENT = Path(__file__).parents[1] / "run" / "with_parent.py"
# Packages that a Python must have to be the workspace's.
LIBRARIES = "roboaccord rclpy mcap numba numpy pydantic rosbags scipy typer xacro yaml".split()
# Program whose exit status is 0 if all LIBRARIES can be imported.
CHECK = f"import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, {LIBRARIES})))"
# s: longest time of the planner, which may load a user's engine, whose kernels compile for a
# minute, and several times as long on a busy machine.
PLANNING = 300.0
# Arguments that `ros2 launch` and its actions take in any launch file.
TAKEN_BY_LAUNCH = "launch-prefix launch-prefix-filter emulate_tty sigterm_timeout sigkill_timeout"
# Types of the parameters that are not strings.
TYPES: dict[str, Any] = {"set": list[str], "peers": list[str], "duration": float, "pace": float}
TYPES |= dict.fromkeys("composed lockstep open_page reference use_sim_time window".split(), bool)
# Sockets that reserve the names of runs; open as long as this process lives.
_claims: list[socket.socket] = []


def argument(
    name: str, default: str, description: str, choices: Sequence[str] = ()
) -> DeclareLaunchArgument:
    """Declare an argument of a launch file."""
    options = {"description": description, "choices": list(choices) or None}
    return DeclareLaunchArgument(name, default_value=default, **options)


def parameters(*names: str, **others: str) -> dict[str, ParameterValue]:
    """Return parameters of a node from launch configurations.

    Args:
        *names: parameters that have the names of their launch configurations.
        **others: for each other parameter, the name of its launch configuration.
    """
    configurations = {name: name for name in names} | others
    return {
        name: ParameterValue(LaunchConfiguration(source), value_type=TYPES.get(name, str))
        for name, source in configurations.items()
    }


def plan(context: LaunchContext, *arguments: DeclareLaunchArgument) -> list[Action]:
    """Check the arguments of a launch, run the planner, and store its decisions.

    Returns:
        actions that set one launch configuration for each decision, and print its messages.

    Raises:
        RuntimeError: in one line, why the launch cannot run; the launch then fails.
    """
    values = {a.name: LaunchConfiguration(a.name).perform(context) for a in arguments}
    _refuse_unknown(context, values)
    _claims.append(claim_names(values["namespace"]))
    python = find_python()
    if values["trust"] == "true":
        os.environ[TRUST] = "1"
    # The command that ties a process to this one. A SIGINT while Python starts would print a
    # traceback, so SIGINT is blocked until it is handled.
    tied = ["env", "--block-signal=INT", python, "-S", str(WITH_PARENT)]
    # Signal that ends the planner, and the process with whose end it comes.
    on_end = [str(int(signal.SIGTERM)), str(os.getpid())]
    words = [f"{name}:={value}" for name, value in values.items()]
    decisions = _decide([*tied, *on_end, python, *MODULE, "roboaccord_ros.plan", *words])
    # The launch service learns of Ctrl-C through a file descriptor. If Python also raised
    # KeyboardInterrupt in the service's code, the service could lose track of a process and wait
    # for it for ever.
    signal.signal(signal.SIGINT, lambda *_: None)
    messages = [LogInfo(msg=line) for line in decisions.pop("messages").splitlines()]
    decisions |= {"python": python, "with_parent": shlex.join(tied)}
    return [*(SetLaunchConfiguration(key, text) for key, text in decisions.items()), *messages]


def _decide(command: Sequence[str]) -> dict[str, str]:
    """Run the planner's command, and return the decisions that it prints, by name."""
    # The planner calls each kernel a few times, so compiling it is not worth the seconds.
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    try:
        planner = subprocess.run(
            command, capture_output=True, text=True, timeout=PLANNING, check=False, env=env
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"the planner of the launch took more than {PLANNING:g} s") from None
    if planner.returncode in INTERRUPTED or not (planner.returncode or planner.stdout):
        raise RuntimeError("interrupted before anything was started")
    if planner.returncode:
        lines = planner.stderr.strip().splitlines() or ["no message"]
        raise RuntimeError(lines[-1].removeprefix("error: "))
    decisions: dict[str, str] = json.loads(planner.stdout.splitlines()[-1])
    return decisions


def _refuse_unknown(context: LaunchContext, values: dict[str, str]) -> None:
    """Check that each argument of the command line has an effect.

    Only for launch files of this project: a user's file that includes one may have more arguments.

    Raises:
        RuntimeError: that names an argument without effect, and one with a similar name.
    """
    if not _is_ours(values["robot"]):
        return
    for name, value in dict(word.split(":=", 1) for word in context.argv).items():
        if values.get(name, value) != value:
            raise RuntimeError(f"{name}:={value}: this launch file has {name}:={values[name]}")
        if name not in (*values, *TAKEN_BY_LAUNCH.split()):
            close = difflib.get_close_matches(name, values, n=1)
            hint = f"did you mean {close[0]}?" if close else "--show-args lists what there is"
            raise RuntimeError(f"unknown argument {name}; {hint}")


def _is_ours(robot: str) -> bool:
    """Return whether the launch file of the command line is this package's or the robot's."""
    # `ros2 launch PACKAGE FILE`, or `ros2 launch FILE`: the word before the file may be a package.
    file = next((pair for pair in pairwise(sys.argv) if pair[1].endswith(".launch.py")), None)
    if file is None:
        return False
    package, path = file[0], Path(file[1]).resolve()
    folder = Path(get_package_share_directory(PACKAGE), "launch").resolve()
    is_of_robot = path.parent.name == "launch" and path.parent.parent.name == robot
    return package in (PACKAGE, robot) or is_of_robot or folder == path.parent


class WorkspacePython(Substitution):  # type: ignore[misc]
    """The path of the workspace's Python, for a launch file without a planner."""

    def perform(self, _: LaunchContext) -> str:
        """Return the path of the first Python that has all LIBRARIES."""
        return find_python()


def find_python() -> str:
    """Return the first Python that has all LIBRARIES; only the one in PYTHON if that is set.

    Raises:
        RuntimeError: if none has them.
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
    """Yield the running Python, then those of environments in folders above the package's files."""
    yield sys.executable
    for start in (Path(__file__), Path(get_package_share_directory(PACKAGE)) / "launch"):
        for folder in start.resolve().parents:
            yield from (str(folder / name / "bin" / "python") for name in (".venv_ros", ".venv"))

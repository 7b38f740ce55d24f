"""The planner of a launch, run as a process: its decisions become launch configurations.

`plan` runs roboaccord_ros.plan in the Python of the workspace, which `find_python` looks for, and
sets what it prints as launch configurations; `parameters` makes parameters of nodes of them.
Decisions are changed in roboaccord_ros/plan.

A parameter that is no text is entered in TYPES, a package that every node imports in LIBRARIES, and
an argument of `ros2 launch` itself, which would be refused as unknown, in TAKEN_BY_LAUNCH. PLANNING
may be raised. PYTHON and TRUST stay, for users and the core read them.
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

from ament_index_python.packages import get_package_share_directory
from launch import Action, LaunchContext
from launch.actions import DeclareLaunchArgument, LogInfo, SetLaunchConfiguration
from launch.substitutions import LaunchConfiguration
from launch_ros.parameter_descriptions import ParameterValue

from roboaccord_ros.launch.processes import INTERRUPTED, MODULE
from roboaccord_ros.run.claim import claim_names

PACKAGE = "roboaccord_ros"
PYTHON = "ROBOACCORD_PYTHON"  # environment variable: the workspace's Python
TRUST = "ROBOACCORD_TRUST"  # environment variable: the core then expands any xacro file
WITH_PARENT = Path(__file__).parents[1] / "run" / "with_parent.py"
LIBRARIES = "roboaccord rclpy mcap numba numpy pydantic rosbags scipy typer xacro yaml"
CHECK = f"import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, {LIBRARIES.split()})))"
PLANNING = 300.0  # for the planner [s]: it may load a user's engine
# Arguments of `ros2 launch` and its actions, for all launch files.
TAKEN_BY_LAUNCH = "launch-prefix launch-prefix-filter emulate_tty sigterm_timeout sigkill_timeout"
# Types of parameters that are no texts.
TYPES = {
    **dict.fromkeys("set peers".split(), list[str]),
    **dict.fromkeys("lockstep composed reference open_page use_sim_time window".split(), bool),
    **dict.fromkeys("duration pace".split(), float),
}
_claims: list[socket.socket] = []  # on the names of runs, kept while this process lives


def argument(
    name: str, default: str, description: str, choices: Sequence[str] = ()
) -> DeclareLaunchArgument:
    """Declare an argument of a launch file."""
    options = {"description": description, "choices": list(choices) or None}
    return DeclareLaunchArgument(name, default_value=default, **options)


def parameters(*names: str, **others: str) -> dict[str, ParameterValue]:
    """Return parameters of a node from launch configurations.

    Args:
        *names: of parameters and of their launch configurations.
        **others: launch configuration by the name of a parameter.
    """
    configurations = dict(zip(names, names)) | others
    return {
        name: ParameterValue(LaunchConfiguration(source), value_type=TYPES.get(name, str))
        for name, source in configurations.items()
    }


def plan(context: LaunchContext, *arguments: DeclareLaunchArgument) -> list[Action]:
    """Let the planner decide on the arguments of a launch.

    Raises:
        RuntimeError: whatever cannot be run, in one line; then the launch fails.
    """
    values = {a.name: LaunchConfiguration(a.name).perform(context) for a in arguments}
    _refuse_unknown(context, values)
    _claims.append(claim_names(values["namespace"]))
    python = find_python()
    os.environ.update({TRUST: "1"} if values["trust"] == "true" else {})
    # Python shows a traceback if SIGINT comes as it starts, so that is blocked until it is handled.
    tie = ["env", "--block-signal=INT", python, "-S", str(WITH_PARENT)]
    end = [str(int(signal.SIGTERM)), str(os.getpid())]
    words = [f"{name}:={value}" for name, value in values.items()]
    decided = _decide([*tie, *end, python, *MODULE, "roboaccord_ros.plan", *words])
    # The launch service notices Ctrl-C by a descriptor. A KeyboardInterrupt in its code, too, could
    # lose a process, and it would wait for that for ever.
    signal.signal(signal.SIGINT, lambda *_: None)
    messages = [LogInfo(msg=line) for line in decided.pop("messages").splitlines()]
    decided |= {"python": python, "with_parent": shlex.join(tie)}
    return [*(SetLaunchConfiguration(*pair) for pair in decided.items()), *messages]


def _decide(command: Sequence[str]) -> dict[str, str]:
    """Run the planner, and return what it prints."""
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
    decided: dict[str, str] = json.loads(planner.stdout.splitlines()[-1])
    return decided


def _refuse_unknown(context: LaunchContext, values: dict[str, str]) -> None:
    """Check that all arguments of the command line have an effect.

    A user's own file that includes ours may have arguments of its own.

    Raises:
        RuntimeError: that names the argument, and one that is close to it.
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
    """Return whether the launch file of the command line is that of a robot, or ours."""
    file = next((pair for pair in pairwise(sys.argv) if pair[1].endswith(".launch.py")), None)
    if file is None:
        return False
    package, path = file[0], Path(file[1]).resolve()
    folder = Path(get_package_share_directory(PACKAGE), "launch").resolve()
    is_of_robot = path.parent.name == "launch" and path.parent.parent.name == robot
    return package in (PACKAGE, robot) or is_of_robot or folder == path.parent


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

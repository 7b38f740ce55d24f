"""`accord list`, `scenario`, `doctor`: what there is, a scenario's keys, what this machine has."""

from __future__ import annotations

import importlib
import platform
import shlex
import shutil
import sys
from dataclasses import asdict

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table, warn
from roboaccord.cli.options import Changes, RobotName, ScenarioName, load_setup
from roboaccord.engines import engine_names, spec
from roboaccord.engines.spec import Available, Missing
from roboaccord.numerics.jit import HAS_NUMBA
from roboaccord.run.runner import transports
from roboaccord.scenario.catalogue import read_catalogue
from roboaccord.scenario.keys import REQUIRED, Key, keys_of
from roboaccord.scenario.setup import robot_names

OPTIONAL = {
    "rclpy": "transport ros; from ROS 2 Jazzy, or make",
    "viser": "accord view in the browser; pip install viser",
    "pinocchio": "the Packbot's reference and controllers; pip install pin coal",
    "skimage": "meshes of terrain; pip install scikit-image trimesh fast-simplification",
    "launch": "ros2 launch; from ROS 2 Jazzy",
    "gz.transport13": "sim:=gz in lockstep; from ros-jazzy-gz-transport-vendor 0.0.9",
}


def doctor_command() -> Result:
    """Say what this machine has, and what to install for what it lacks.

    Example:

      accord doctor
    """
    rows = [("python", True, f"{platform.python_version()} in {sys.prefix}")]
    rows.append(("numba", HAS_NUMBA, "" if HAS_NUMBA else "kernels run 100 times slower"))
    for engine in engine_names():
        match spec(engine).look():
            case Available(version):
                rows.append((engine, True, version))
            case Missing(reason):
                rows.append((engine, False, reason))
    for module, use in OPTIONAL.items():
        there = found(module)
        rows.append((module, there, "" if there else f"for {use}"))
    gazebo = shutil.which("gz") is not None
    rows.append(("gz", gazebo, "" if gazebo else "for sim:=gz; Gazebo Harmonic"))
    film = shutil.which("ffmpeg") is not None
    rows.append(("ffmpeg", film, "" if film else "for accord view --mp4; apt-get install ffmpeg"))
    rows.append(("robots", bool(robot_names()), ", ".join(robot_names())))
    rows.append(("transports", True, ", ".join(transports())))
    table = make_table("what", "found", "note", words=["found"], text=["note"])
    for name, ok, note in rows:
        table.add_row(name, Text("yes", "green") if ok else Text("no", "yellow"), note)
    return Result({name: {"found": ok, "note": note} for name, ok, note in rows}, [table])


def found(module: str) -> bool:
    """Return whether a module can be imported."""
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def list_command() -> Result:
    """List robots, their scenarios and controllers.

    Example:

      accord list
    """
    found = read_catalogue()
    for name, reason in found.broken.items():
        warn(f"robot {name} is left out: {reason}")
    names = ("scenario", "controller")
    table = make_table("robot", *names, "what it is", words=names, text=["what it is"])
    for row in found.scenarios:
        table.add_row(row.robot, row.scenario, row.controller, row.description)
    return Result(found, [table])


INDENT = (0, 0, 0, 4)


def scenario_command(robot: RobotName, scenario: ScenarioName, changes: Changes = None) -> Result:
    """List all keys of a scenario with value, type, unit, default and meaning.

    Each is a line as `--set` takes it, quoted for the shell, with its meaning below. Keys of the
    robot's parameters, of its controller, of friction and terrain are among them.

    Examples:

      accord scenario snake serpenoid

      accord scenario packbot reach --set controller.name=velocity --json
    """
    setup = load_setup(robot, scenario, changes)
    found = keys_of(setup)
    shown: list[RenderableType] = []
    for key in found:  # what is to be copied is never broken
        shown += [shlex.quote(f"{key.key}={key.value}"), Padding(Text(_words(key)), INDENT)]
    return Result({"keys": [asdict(key) for key in found]}, shown)


def _words(key: Key) -> str:
    default = REQUIRED if key.default == REQUIRED else f"default {key.default}"
    facts = ", ".join(filter(None, (key.kind, key.unit and f"[{key.unit}]", default)))
    return f"{facts}: {key.meaning}" if key.meaning else facts

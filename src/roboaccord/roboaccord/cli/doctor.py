"""`accord doctor`: what this machine has, and what to do about what it lacks."""

from __future__ import annotations

import importlib
import platform
import shutil
import sys

from rich.text import Text

from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table
from roboaccord.engines import engine_names, spec
from roboaccord.engines.spec import Available, Missing
from roboaccord.numerics.jit import HAS_NUMBA
from roboaccord.run.runner import transports
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

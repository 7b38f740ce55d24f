"""What a launch needs to know before Gazebo runs a robot: whether it can, and by what.

To refuse a scenario or ask for a package, extend `check_gazebo`; `runs_in_process` decides which
scenarios need no process of Gazebo. How `own_cores` shares cores may be changed: it alters the
speed, and no motion. A key that `in_gazebo` returns is a launch configuration: use it in
launch/simulate.launch.py (test_simulate).
"""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path

import yaml
from roboaccord.contract import AccordError
from roboaccord.description import share
from roboaccord.gazebo import base_in_gazebo, contact_shapes, expand_for_gazebo
from roboaccord.numerics import quaternion_rpy
from roboaccord.scenario import Setup

from roboaccord_ros.gazebo.bridge import PARTITION, RESOURCES, World, refuse_start
from roboaccord_ros.gazebo.faults import refuse_hold
from roboaccord_ros.gazebo.transport import load, message


def is_installed(package: str) -> bool:
    """Return whether a ROS package is in the ament index."""
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    marker = f"share/ament_index/resource_index/packages/{package}"
    return any(prefix and (Path(prefix) / marker).exists() for prefix in prefixes)


def check_gazebo(setup: Setup, world: str, *, lockstep: bool, contacts: str) -> World:
    """Return the world of a run that Gazebo can do here.

    Raises:
        AccordError: where Gazebo or its bindings are missing, or it cannot run the scenario.
    """
    missing = [name for name in ("ros_gz_sim", "ros_gz_bridge") if not is_installed(name)]
    if missing or not shutil.which("gz"):
        what = f"package {missing[0]}" if missing else "command gz"
        raise AccordError(f"Gazebo Sim ({what}) is not installed; try sim:=dart")
    contact_shapes(setup, contacts)
    found = World.of(setup, world, lockstep=lockstep)
    found.check_period(setup.scenario.control_period)
    refuse_start(setup)
    if lockstep:
        message("WorldControl")  # of the Python bindings
    for fault in setup.faults:
        refuse_hold(fault, lockstep=lockstep)
    return found


def runs_in_process(setup: Setup) -> bool:
    """Return whether Gazebo's server can run inside the node that steps it; see `simulator`."""
    pushed = not setup.joints  # a ball that is one body, by a wrench
    thrown = bool(setup.initial.twist.any()) and base_in_gazebo(setup.scenario) == "free"
    if setup.initial.switches or pushed or setup.scenario.driven or thrown:
        return False
    try:
        load("gz.sim8")
        load("gz.math7")
    except AccordError:
        return False
    return True


def partition() -> str:
    """Return what keeps this launch's Gazebo apart: a new name, unless the user has set one."""
    return os.environ.get(PARTITION) or f"roboaccord_{uuid.uuid4().hex[:8]}"


def own_cores() -> tuple[str, str]:
    """Return cores for Gazebo's server, and others for what answers it in lockstep; "" means all.

    They take turns, and threads of both on one core would keep each other waiting.
    """
    cores = [str(core) for core in sorted(os.sched_getaffinity(0))]
    half = len(cores) // 2
    return (",".join(cores[:half]), ",".join(cores[half:])) if half else ("", "")


def in_gazebo(
    setup: Setup, world: World, contacts: str, *, taking_turns: bool
) -> dict[str, str | float]:
    """Return decisions about a run whose server is a process: world, bridge, place of the robot.

    Args:
        setup: robot and scenario.
        world: where it is put.
        contacts: with what it touches the ground; see `contact_shapes`.
        taking_turns: whether the server only ever waits for, or is waited for.
    """
    models = [*map(str, world.models), os.environ.get(RESOURCES, "")]
    topics = share(setup.robot.package) / "config" / "bridge.yaml"
    bridged = [entry["ros_topic_name"] for entry in yaml.safe_load(topics.read_text("utf-8"))]
    angles = quaternion_rpy(setup.initial.orientation)
    place = (float(value) for value in (*setup.initial.position, *angles))
    server, answering = own_cores() if taking_turns else ("", "")
    return {
        "world": str(world.path),
        "world_name": world.name,
        "urdf": expand_for_gazebo(setup, contacts),
        **dict(zip("xyzRPY", place, strict=True)),
        "bridge": str(topics),
        "bridge_topics": " ".join(name.strip("/") for name in bridged),
        "gz_models": os.pathsep.join(models),
        "server_cores": server,
        "answering_cores": answering,
    }

"""Processes by which Gazebo runs a robot in a world: server, bridges, creation, adapter."""

from __future__ import annotations

import os
import shutil
import uuid
from dataclasses import replace
from functools import partial
from pathlib import Path

import yaml
from roboaccord.contract import AccordError
from roboaccord.description import share
from roboaccord.gazebo import base_in_gazebo, contact_shapes, expand_for_gazebo
from roboaccord.numerics import quaternion_rpy
from roboaccord.scenario import Setup

from roboaccord_ros.gazebo.bridge import PARTITION, World, first_command, refuse_start
from roboaccord_ros.gazebo.faults import refuse_hold
from roboaccord_ros.gazebo.transport import load, message
from roboaccord_ros.graph import names as graph
from roboaccord_ros.launch_data import Process, Value

CLOCK = "/clock@rosgraph_msgs/msg/Clock[gz.msgs.Clock"
SERVER, WINDOW = "gazebo", "gazebo_window"  # names of the processes
UP = 60.0  # s that the server may take to come up and take the robot
ANSWERING = ("clock_bridge", "bridge", "gz_adapter", "controller")


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
    pushed = first_command(setup).wrench is not None
    thrown = bool(setup.initial.twist.any()) and base_in_gazebo(setup.scenario) == "free"
    if setup.initial.switches or pushed or setup.scenario.driven or thrown:
        return False
    try:
        load("gz.sim8")
        load("gz.math7")
    except AccordError:
        return False
    return True


def partition() -> dict[str, str]:
    """Return the environment that keeps this launch's Gazebo apart, unless the user has set it."""
    return {} if os.environ.get(PARTITION) else {PARTITION: f"roboaccord_{uuid.uuid4().hex[:8]}"}


def on_own_cores(processes: list[Process]) -> list[Process]:
    """Return processes of a run in lockstep, Gazebo's server on other cores than what answers it.

    They take turns, and threads of both on one core would keep each other waiting.
    """
    cores = sorted(os.sched_getaffinity(0))
    half = len(cores) // 2
    if not half:
        return processes
    own = {SERVER: cores[:half], **dict.fromkeys(ANSWERING, cores[half:])}
    return [replace(p, cores=own.get(p.name, ())) for p in processes]


def gazebo_processes(
    setup: Setup, world: World, adapter: dict[str, Value], env: dict[str, str], *, window: bool
) -> list[Process]:
    """Return the processes; the adapter waits for the robot, and lets the paused world run.

    Args:
        setup: robot and scenario.
        world: where it is put.
        adapter: parameters of the adapter.
        env: environment of all of them.
        window: whether Gazebo shows one.
    """
    # Not by gz_sim.launch.py: its shell would take the signals, and leave the server running.
    models = [*map(str, world.models), os.environ.get("GZ_SIM_RESOURCE_PATH", "")]
    bridge = partial(
        Process,
        meaning="helper",
        package="ros_gz_bridge",
        executable="parameter_bridge",
        env=env,
    )
    topics = share(setup.robot.package) / "config" / "bridge.yaml"
    bridged = [entry["ros_topic_name"] for entry in yaml.safe_load(topics.read_text("utf-8"))]
    x, y, z = (float(value) for value in setup.initial.position)
    roll, pitch, yaw = (float(value) for value in quaternion_rpy(setup.initial.orientation))
    place = {"x": x, "y": y, "z": z, "R": roll, "P": pitch, "Y": yaw}
    urdf = expand_for_gazebo(setup, str(adapter.get("contacts", "")))
    model = {"world": world.name, "name": setup.robot.name, "string": urdf}
    found = {**env, "GZ_SIM_RESOURCE_PATH": os.pathsep.join(models)}
    # `gz sim` without -s and -g forks into both, and leaves them behind where it is killed; and its
    # server can wait for ever for a message of its window.
    shown = Process(name=WINDOW, meaning="window_ends", command=["gz", "sim", "-g"], env=found)
    return [
        Process(
            name=SERVER,
            meaning="helper",
            command=["gz", "sim", "-s", str(world.path)],
            env=found,
        ),
        *([shown] if window else []),
        bridge(name="clock_bridge", arguments=[CLOCK], remappings=[("/clock", graph.CLOCK)]),
        bridge(
            name="bridge",
            parameters={"config_file": str(topics)},
            remappings=[(name, name.strip("/")) for name in bridged],
        ),
        Process(
            name="create",
            meaning="once",
            package="ros_gz_sim",
            executable="create",
            parameters={**model, **place},
            env=env,
            within=UP,
            late="Gazebo's server does not answer",
        ),
        Process(
            name="gz_adapter",
            meaning="ends",
            module="roboaccord_ros.gazebo.gz_adapter",
            parameters={**adapter, "world": str(world.path)},
            env=env,
            after="create",
        ),
    ]

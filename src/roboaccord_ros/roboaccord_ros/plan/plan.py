"""The plan of a launch: its processes, and what to report to the user."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path

from roboaccord.contract import AccordError, Json, plugins
from roboaccord.description import share
from roboaccord.gazebo import contact_shapes
from roboaccord.run import make_simulator
from roboaccord.scenario import check_controller, path_changes

from roboaccord_ros.gazebo.bridge import PARTITION
from roboaccord_ros.gazebo.prepare import (
    gazebo_processes,
    on_own_cores,
    partition,
    runs_in_process,
)
from roboaccord_ros.graph import names as graph
from roboaccord_ros.launch_data import Meaning, Process, Value
from roboaccord_ros.plan.request import GAZEBO, PAGE, Choice, Request, Sight, choose, speed

REAL = 1.0  # simulated seconds a second; 0: as fast as can be


def make_plan(request: Request) -> Json:
    """Return processes and messages, as JSON has them.

    Raises:
        AccordError: for whatever cannot be run.
    """
    setup = request.setup
    custom = request["controller"]
    check_controller(setup, "" if custom == "none" else custom)
    choice = choose(request)
    sight = Sight.of(request, choice.sim)
    crosscheck = request.on("crosscheck", auto=choice.sim == GAZEBO)
    if crosscheck and choice.sim != "reference":
        make_simulator(setup)
    bag = _bag(request, choice.sim)
    env = partition() if choice.sim == GAZEBO else {}
    pace = _pace(request, sight)
    beside: dict[str, dict[str, Value]] = {"recorder": {"bag": bag}} if bag else {}
    second = crosscheck and request.on("reference") and custom != "none"
    if crosscheck:
        own: dict[str, Value] = {"controller": custom} if second and custom else {}
        beside["crosscheck"] = {"reference": second, **own}
    processes = _nodes(request, choice, sight, pace, beside, env)
    processes += _viewers(request, sight)
    return {
        "namespace": request["namespace"],
        "messages": _messages(request, choice, sight, pace, bag, env, second=second),
        "processes": [asdict(process) for process in processes],
    }


def _pace(request: Request, sight: Sight) -> float:
    asked, lockstep = request["pace"], request.on("lockstep")
    if asked == "fast" and not lockstep:
        raise AccordError("pace:=fast needs lockstep:=true: running free is real time")
    watched = sight.anybody or request.driven or not lockstep
    return REAL if asked == "real" or (asked == "auto" and watched) else 0.0


def _bag(request: Request, sim: str) -> str:
    """Return the folder of the bag, or ""."""
    asked = request["record"]
    if asked in ("", "false"):
        return ""
    names = (request.setup.robot.name, request.setup.scenario.name, sim, request["namespace"])
    words = [name.strip("/").replace("/", "_") for name in names if name]
    started = f"{datetime.now():%Y%m%d_%H%M%S_%f}"
    bag = Path("runs", "_".join([*words, started])) if asked == "true" else Path(asked)
    if bag.exists():
        raise AccordError(f"{bag} exists already; choose another name for the bag")
    there = next(folder for folder in bag.absolute().parents if folder.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        raise AccordError(f"no bag can be written into {there}; see record:=FOLDER, record:=false")
    return str(bag)


def _node(name: str, meaning: Meaning, parameters: Mapping[str, Value]) -> Process:
    """Return a node of the workspace."""
    module = f"roboaccord_ros.nodes.{name}"
    return Process(name=name, meaning=meaning, module=module, parameters=parameters)


def _inside(request: Request, sight: Sight) -> bool:
    """Return whether Gazebo's server runs inside the simulator node."""
    plain = request.on("lockstep") and not sight.gazebo and not request["world"]
    return plain and runs_in_process(request.setup)


def _run(request: Request) -> dict[str, Value]:
    """Return the parameters by which a node finds robot and scenario."""
    given = request.changes
    if request["contacts"]:
        given = [*given, f"engine_options.gz.contacts={request['contacts']}"]
    changes = {"set": given} if given else {}
    return {**request.run, **changes, "log": request["log_level"]}


def _nodes(
    request: Request,
    choice: Choice,
    sight: Sight,
    pace: float,
    beside: Mapping[str, Mapping[str, Value]],
    env: dict[str, str],
) -> list[Process]:
    """Return simulator or Gazebo, controller, and the nodes beside them with their parameters."""
    run = {**_run(request), "lockstep": request.on("lockstep")}
    if request.duration:
        run["duration"] = request.duration
    recorder = [name for name in beside if name == graph.RECORDER]
    controller = [] if request["controller"] == "none" else ["controller"]
    peers = [*controller, *beside]
    simulator = {**run, "pace": pace, **({"peers": peers} if peers else {})}
    steering: dict[str, Value] = {"controller": request["controller"]}
    if request.recorded:
        steering["inputs"] = str(request.recorded.bag)
    apart = choice.world is not None and not _inside(request, sight)
    composed = bool(controller) and request.on("lockstep") and not apart
    if choice.world is not None and apart:
        shapes = {"contacts": request["contacts"]} if request["contacts"] else {}
        processes = gazebo_processes(
            request.setup, choice.world, {**simulator, **shapes}, env, window=sight.gazebo
        )
    else:
        if choice.world is not None:
            touching = contact_shapes(request.setup, request["contacts"]).values()
            simulator["transport"] = ", ".join(["in_process", *touching])
        both = {"composed": True, **steering} if composed else {}
        node = _node("simulator", "ends", {**simulator, "engine": choice.sim, **both})
        processes = [replace(node, env=env)]
    if controller and not composed:
        one = {**steering, "peers": [processes[-1].name, *recorder]}
        processes.append(_node("controller", "part", {**run, **one}))
    if apart and run["lockstep"] and not sight.gazebo:
        processes = on_own_cores(processes)
    common = {"robot": request.setup.robot.name, "log": request["log_level"]}
    given = {"set": named} if (named := path_changes(request.setup.scenario.data())) else {}
    processes += [_node(name, "part", {**common, **given, **own}) for name, own in beside.items()]
    return processes


def _viewers(request: Request, sight: Sight) -> list[Process]:
    viewers, clock = [], {"use_sim_time": True}
    if sight.rviz:
        robot = request.setup.robot.name
        file = share("roboaccord_ros") / "config" / "rviz" / f"{robot}.rviz"
        topics = [f"{robot}/{name}" for name in graph.KINDS] + ["tf", "tf_static", graph.CLOCK]
        viewers.append(
            Process(
                name="rviz2",
                meaning="window",
                package="rviz2",
                executable="rviz2",
                arguments=["-d", str(file)] if file.is_file() else [],
                parameters=clock,
                remappings=[(f"/{topic}", topic) for topic in topics],
            )
        )
    if sight.view:
        page = {**_run(request), "open_page": sight.screen}
        node = _node("browser", sight.view, page)
        viewers.append(replace(node, module=plugins.entries("displays")[PAGE].module))
    if sight.foxglove:
        bridge = "foxglove_bridge"
        viewers.append(
            Process(
                name=bridge, meaning="helper", package=bridge, executable=bridge, parameters=clock
            )
        )
    return viewers


def _messages(
    request: Request,
    choice: Choice,
    sight: Sight,
    pace: float,
    bag: str,
    env: dict[str, str],
    *,
    second: bool,
) -> list[str]:
    setup = request.setup
    reason = f" ({choice.reason})" if choice.reason else ""
    words = [
        f"{setup.robot.name} {setup.scenario.name} in sim:={choice.sim}{reason}",
        "in real time" if pace else "as fast as possible",
        f"look: {sight.where(bag) or 'ros2 topic echo, or rviz:=true, foxglove:=true'}",
        f"bag: {bag}" if bag else "no bag (record:=false)",
    ]
    if second:
        words.insert(3, sight.where_reference(bag))
    if choice.sim == GAZEBO:
        factor = speed(request)
        known = "not known yet" if factor is None else f"{factor:.2g} in the last run"
        words.insert(1, f"real-time factor on this machine: {known}")
        if not sight.gazebo:
            why = "headless:=true" if request.on("headless") else "there is no display"
            words.insert(1, f"without a window: {why}")
    if request.duration == float("inf"):
        words.append("until Ctrl-C")
    if sight.lacks:
        words.append(sight.lacks)
    lines = ["; ".join(words)]
    if choice.sim == GAZEBO:
        name = env.get(PARTITION) or os.environ[PARTITION]
        lines.append(f"to use gz beside it: export {PARTITION}={name}")
    return lines

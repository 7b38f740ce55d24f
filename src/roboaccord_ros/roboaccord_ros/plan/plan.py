"""Makes the plan of a launch: its decisions, by the names of launch configurations.

simulator.py and sight.py choose simulator and windows. This module adds the folder of the bag, the
pace, the peers that each node waits for, and the line that users read (`_summary`, which may be
reworded). launch/simulate.launch.py shows what each decision is for.

A decision is a key in `make_plan` and a launch configuration in that file
(test_every_decision_of_the_planner_is_of_use).
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from roboaccord.contract import AccordError
from roboaccord.description import share
from roboaccord.gazebo import contact_shapes
from roboaccord.run import make_simulator
from roboaccord.scenario import check_controller, path_changes

from roboaccord_ros.gazebo.world import PARTITION, new_partition
from roboaccord_ros.graph import names as graph
from roboaccord_ros.plan.request import Request
from roboaccord_ros.plan.sight import Sight
from roboaccord_ros.plan.simulator import GAZEBO, Choice, choose, speed

REAL = 1.0  # pace of real time [simulated s per s]; a pace of 0 is as fast as possible
# The value of a decision, before it becomes text.
Decision = bool | float | str | Sequence[str]


def make_plan(request: Request) -> dict[str, str]:
    """Return the decisions on a request, as the texts of launch configurations.

    Raises:
        AccordError: for whatever cannot be run.
    """
    setup, controller = request.setup, request["controller"]
    steered = controller != "none"  # whether this launch starts a controller
    check_controller(setup, controller if steered else "")
    choice = choose(request)
    sight = Sight.of(request, choice.sim)
    crosscheck = request.on("crosscheck", auto=choice.sim == GAZEBO)
    # The cross-check needs the reference: fail now if it cannot run the setup.
    if crosscheck and choice.sim != "reference":
        make_simulator(setup)
    bag, pace = _bag(request, choice.sim), _pace(request, sight)
    second = crosscheck and request.on("reference") and steered
    composed = steered and request.on("lockstep")
    decided: dict[str, Decision] = {
        **request.run,
        "name": setup.robot.name,
        "set": request.changes,
        "files": path_changes(setup.scenario.data()),
        "duration": request.duration,
        "sim": choice.sim,
        "transport": _transport(request, choice.sim),
        "pace": pace,
        "composed": composed,
        "separate": steered and not composed,
        "inputs": str(request.recorded.bag) if request.recorded else "",
        **_peers(steered=steered, recorded=bool(bag), crosscheck=crosscheck),
        "record": bool(bag),
        "bag": bag,
        "crosscheck": crosscheck,
        "judge": request.on("judge", auto=crosscheck and bool(bag)),
        "reference": second,
        **_windows(setup.robot.name, sight),
        "gz_partition": os.environ.get(PARTITION)
        or (new_partition() if choice.sim == GAZEBO else ""),
    }
    lines = [_summary(request, choice, sight, pace, bag, second=second)]
    if choice.sim == GAZEBO:
        lines.append(f"to use gz beside it: export {PARTITION}={decided['gz_partition']}")
    decided["messages"] = "\n".join(lines)
    return {name: _text(value) for name, value in decided.items()}


def _transport(request: Request, sim: str) -> str:
    """Return the transport that the bag states; for Gazebo with its contact shapes."""
    if sim != GAZEBO:
        return "ros"
    return ", ".join(["in_process", *contact_shapes(request.setup, request["contacts"]).values()])


def _peers(*, steered: bool, recorded: bool, crosscheck: bool) -> dict[str, Decision]:
    """Return the nodes that simulator and controller wait for."""
    controller = [graph.CONTROLLER] if steered else []
    recorder = [graph.RECORDER] if recorded else []
    check = [graph.CROSSCHECK] if crosscheck else []
    return {"peers": [*controller, *recorder, *check], "controller_peers": ["simulator", *recorder]}


def _windows(robot: str, sight: Sight) -> dict[str, Decision]:
    """Return which windows are shown, and the layout and topics of RViz."""
    layout = share("roboaccord_ros") / "config" / "rviz" / f"{robot}.rviz"
    topics = [*(f"{robot}/{name}" for name in graph.KINDS), "tf", "tf_static", graph.CLOCK]
    return {
        "rviz": sight.rviz,
        "rviz_layout": str(layout) if layout.is_file() else "",
        "rviz_topics": " ".join(topics),
        "view": bool(sight.view),
        "view_node": sight.view,
        "view_ends": "window" if sight.stays else "view",
        "open_page": sight.screen,
        "gazebo_window": sight.gazebo,
    }


def _text(value: Decision) -> str:
    """Return a decision as the text of a launch configuration."""
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return json.dumps(list(value) or [""])  # ROS has no empty lists
    return str(value).lower()


def _pace(request: Request, sight: Sight) -> float:
    """Return the pace: REAL, or 0 for as fast as possible.

    Raises:
        AccordError: for a fast run without lockstep.
    """
    pace, lockstep = request["pace"], request.on("lockstep")
    if pace == "fast" and not lockstep:
        raise AccordError("pace:=fast needs lockstep:=true: running free is real time")
    watched = sight.anybody or request.driven or not lockstep
    return REAL if pace == "real" or (pace == "auto" and watched) else 0.0


def _bag(request: Request, sim: str) -> str:
    """Return the folder of the bag, or "" if nothing is recorded.

    Raises:
        AccordError: if it exists or cannot be written, or the judge needs one.
    """
    record = request["record"]
    if not request.on("record"):
        if request.on("judge"):
            raise AccordError("judge:=true judges the bag, which record:=false leaves out")
        return ""
    names = (request.setup.robot.name, request.setup.scenario.name, sim, request["namespace"])
    words = [name.strip("/").replace("/", "_") for name in names if name]
    started = f"{datetime.now():%Y%m%d_%H%M%S_%f}"
    default = Path("runs", "_".join([*words, started]))
    bag = default if record.lower() == "true" else Path(record)
    if bag.exists():
        raise AccordError(f"{bag} exists already; choose another name for the bag")
    parent = next(folder for folder in bag.absolute().parents if folder.exists())
    if not (parent.is_dir() and os.access(parent, os.W_OK | os.X_OK)):
        raise AccordError(f"no bag can be written into {parent}; see record:=FOLDER, record:=false")
    return str(bag)


def _summary(
    request: Request, choice: Choice, sight: Sight, pace: float, bag: str, *, second: bool
) -> str:
    """Return in one line what runs, how, where it can be seen, and where the bag is."""
    setup = request.setup
    reason = f" ({choice.reason})" if choice.reason else ""
    words = [f"{setup.robot.name} {setup.scenario.name} in sim:={choice.sim}{reason}"]
    if choice.sim == GAZEBO:
        if not sight.gazebo:
            cause = "headless:=true" if request.on("headless") else "there is no display"
            words.append(f"without a window: {cause}")
        factor = speed(request)
        speed_text = "not known yet" if factor is None else f"{factor:.2g} in the last run"
        words.append(f"real-time factor on this machine: {speed_text}")
    words += [
        "in real time" if pace else "as fast as possible",
        f"look: {sight.where(bag) or 'ros2 topic echo, or rviz:=true, foxglove:=true'}",
        *([sight.where_reference(bag)] if second else []),
        f"bag: {bag}" if bag else "no bag (record:=false)",
        *(["until Ctrl-C"] if request.duration == float("inf") else []),
        *([sight.lacks] if sight.lacks else []),
    ]
    return "; ".join(words)

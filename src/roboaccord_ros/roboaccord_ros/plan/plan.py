"""Makes the plan of a launch: its decisions, by the names of launch configurations.

simulator.py and windows.py choose simulator and windows. This module adds the folder of the bag,
the pace, the peers that each node waits for, and the line that users read (`_summary`, which may be
reworded). launch/simulate.launch.py shows what each decision is for.

A decision is a key in `make_plan` and a launch configuration in that file
(test_every_decision_of_the_planner_is_of_use).
"""

from __future__ import annotations

import json
import math
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
from roboaccord_ros.plan.simulator import GAZEBO, Choice, choose, speed
from roboaccord_ros.plan.windows import Windows

REAL_TIME = 1.0  # pace of real time [simulated s per s]; a pace of 0 is as fast as possible
# The value of a decision, before it becomes text.
Decision = bool | float | str | Sequence[str]


def make_plan(request: Request) -> dict[str, str]:
    """Return the decisions on a request, as the texts of launch configurations.

    Raises:
        AccordError: for whatever cannot be run.
    """
    setup, controller = request.setup, request["controller"]
    has_controller = controller != "none"  # whether this launch starts one
    check_controller(setup, controller if has_controller else "")
    choice = choose(request)
    windows = Windows.of(request, choice.sim)
    crosscheck = request.is_on("crosscheck", auto=choice.sim == GAZEBO)
    # The cross-check needs the reference: fail now if it cannot run the setup.
    if crosscheck and choice.sim != "reference":
        make_simulator(setup)
    bag, pace = _bag(request, choice.sim), _pace(request, windows)
    shows_reference = crosscheck and request.is_on("reference") and has_controller
    composed = has_controller and request.is_on("lockstep")  # one process with the simulator
    partition = os.environ.get(PARTITION) or (new_partition() if choice.sim == GAZEBO else "")
    decisions: dict[str, Decision] = {
        **request.run,
        "name": setup.robot.name,
        "set": request.changes,
        "files": path_changes(setup.scenario.data()),
        "duration": request.duration,
        "sim": choice.sim,
        "transport": _transport(request, choice.sim),
        "pace": pace,
        "composed": composed,
        "separate": has_controller and not composed,
        "inputs": str(request.recorded.bag) if request.recorded else "",
        **_peers(has_controller=has_controller, recorded=bool(bag), crosscheck=crosscheck),
        "record": bool(bag),
        "bag": bag,
        "crosscheck": crosscheck,
        "judge": request.is_on("judge", auto=crosscheck and bool(bag)),
        "reference": shows_reference,
        **_window_decisions(setup.robot.name, windows),
        "gz_partition": partition,
    }
    lines = [_summary(request, choice, windows, pace, bag, shows_reference=shows_reference)]
    if choice.sim == GAZEBO:
        lines.append(f"to use gz beside it: export {PARTITION}={partition}")
    decisions["messages"] = "\n".join(lines)
    return {name: _text(value) for name, value in decisions.items()}


def _transport(request: Request, sim: str) -> str:
    """Return the transport that the bag states; for Gazebo with its contact shapes."""
    if sim != GAZEBO:
        return "ros"
    return ", ".join(["in_process", *contact_shapes(request.setup, request["contacts"]).values()])


def _peers(*, has_controller: bool, recorded: bool, crosscheck: bool) -> dict[str, Decision]:
    """Return the nodes that simulator and controller wait for."""
    controller = [graph.CONTROLLER] if has_controller else []
    recorder = [graph.RECORDER] if recorded else []
    check = [graph.CROSSCHECK] if crosscheck else []
    return {"peers": [*controller, *recorder, *check], "controller_peers": ["simulator", *recorder]}


def _window_decisions(robot: str, windows: Windows) -> dict[str, Decision]:
    """Return which windows are shown, and the layout and topics of RViz."""
    layout = share("roboaccord_ros") / "config" / "rviz" / f"{robot}.rviz"
    topics = [*(f"{robot}/{name}" for name in graph.KINDS), "tf", "tf_static", graph.CLOCK]
    return {
        "gazebo_window": windows.gazebo, "open_page": windows.has_screen,
        "rviz": windows.rviz, "rviz_topics": " ".join(topics),
        "rviz_layout": str(layout) if layout.is_file() else "",
        "view": bool(windows.view), "view_node": windows.view,
        "view_ends": "window" if windows.view_stays else "view",
    }  # fmt: skip


def _text(value: Decision) -> str:
    """Return a decision as the text of a launch configuration."""
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return json.dumps(list(value) or [""])  # ROS has no empty lists
    return str(value).lower()


def _pace(request: Request, windows: Windows) -> float:
    """Return the pace: REAL_TIME, or 0 for as fast as possible.

    Raises:
        AccordError: for a fast run without lockstep.
    """
    pace, lockstep = request["pace"], request.is_on("lockstep")
    if pace == "fast" and not lockstep:
        raise AccordError("pace:=fast needs lockstep:=true: running free is real time")
    is_shown = windows.gazebo or windows.rviz or windows.foxglove or bool(windows.view)
    is_watched = is_shown or request.driven or not lockstep
    return REAL_TIME if pace == "real" or (pace == "auto" and is_watched) else 0.0


def _bag(request: Request, sim: str) -> str:
    """Return the folder of the bag, or "" if nothing is recorded.

    Raises:
        AccordError: if it exists or cannot be written, or the judge needs one.
    """
    record = request["record"]
    if not request.is_on("record"):
        if request.is_on("judge"):
            raise AccordError("judge:=true judges the bag, which record:=false leaves out")
        return ""
    names = (request.setup.robot.name, request.setup.scenario.name, sim, request["namespace"])
    words = [name.strip("/").replace("/", "_") for name in names if name]
    started = f"{datetime.now():%Y%m%d_%H%M%S_%f}"
    default = Path("runs", "_".join([*words, started]))
    bag = default if record.lower() == "true" else Path(record)
    if bag.exists():
        raise AccordError(f"{bag} exists already; choose another name for the bag")
    # The folder in which the bag, or the folders above it, are to be made.
    parent = next(folder for folder in bag.absolute().parents if folder.exists())
    if not (parent.is_dir() and os.access(parent, os.W_OK | os.X_OK)):
        raise AccordError(f"no bag can be written into {parent}; see record:=FOLDER, record:=false")
    return str(bag)


def _summary(
    request: Request, choice: Choice, windows: Windows, pace: float, bag: str, shows_reference: bool
) -> str:
    """Return in one line what runs, how, where it can be seen, and where the bag is."""
    setup = request.setup
    reason = f" ({choice.reason})" if choice.reason else ""
    words = [f"{setup.robot.name} {setup.scenario.name} in sim:={choice.sim}{reason}"]
    if choice.sim == GAZEBO:
        if not windows.gazebo:
            cause = "headless:=true" if request.is_on("headless") else "there is no display"
            words.append(f"without a window: {cause}")
        factor = speed(request)
        speed_text = "not known yet" if factor is None else f"{factor:.2g} in the last run"
        words.append(f"real-time factor on this machine: {speed_text}")
    words.append("in real time" if pace else "as fast as possible")
    places = windows.places(bag)
    words.append(f"look: {places or 'ros2 topic echo, or rviz:=true, foxglove:=true'}")
    if shows_reference:
        words.append(f"reference: {'there, too' if places else 'by view:=true'}")
    words.append(f"bag: {bag}" if bag else "no bag (record:=false)")
    if request.duration == math.inf:
        words.append("until Ctrl-C")
    if windows.missing_display:
        words.append(windows.missing_display)
    return "; ".join(words)

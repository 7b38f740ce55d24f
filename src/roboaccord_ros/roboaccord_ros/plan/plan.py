"""The decisions of a launch that only a program can make, by the name of the launch configuration.

To add a decision, add a key to `make_plan`, and use it as a launch configuration in
launch/simulate.launch.py (test_every_decision_of_the_planner_is_of_use). The line that users read
is made in `_summary`, and may be reworded. Simulator and windows are chosen in request.py,
what keeps Gazebo apart is in gazebo/prepare.py.

launch/simulate.launch.py shows what each is for.
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
from roboaccord_ros.plan.request import GAZEBO, Choice, Request, Sight, choose, speed

REAL = 1.0  # simulated seconds a second; 0: as fast as can be
Decision = bool | float | str | Sequence[str]


def make_plan(request: Request) -> dict[str, str]:
    """Return the decisions as launch configurations, which are texts.

    Raises:
        AccordError: for whatever cannot be run.
    """
    setup, custom = request.setup, request["controller"]
    steered = custom != "none"
    check_controller(setup, custom if steered else "")
    choice = choose(request)
    sight = Sight.of(request, choice.sim)
    crosscheck = request.on("crosscheck", auto=choice.sim == GAZEBO)
    if crosscheck and choice.sim != "reference":
        make_simulator(setup)
    bag, pace = _bag(request, choice.sim), _pace(request, sight)
    second = crosscheck and request.on("reference") and steered
    in_gazebo, transport = choice.sim == GAZEBO, "ros"
    if in_gazebo:
        shapes = contact_shapes(setup, request["contacts"])
        transport = ", ".join(["in_process", *shapes.values()])
    composed = steered and request.on("lockstep")
    recorder = [graph.RECORDER] if bag else []
    layout = share("roboaccord_ros") / "config" / "rviz" / f"{setup.robot.name}.rviz"
    shown = [*(f"{setup.robot.name}/{name}" for name in graph.KINDS), "tf", "tf_static"]
    decided: dict[str, Decision] = {
        **request.run,
        "name": setup.robot.name,
        "set": request.changes,
        "files": path_changes(setup.scenario.data()),
        "duration": request.duration,
        "sim": choice.sim,
        "transport": transport,
        "pace": pace,
        "composed": composed,
        "separate": steered and not composed,
        "inputs": str(request.recorded.bag) if request.recorded else "",
        "peers": [
            *(["controller"] if steered else []),
            *recorder,
            *([graph.CROSSCHECK] if crosscheck else []),
        ],
        "controller_peers": ["simulator", *recorder],
        "record": bool(bag),
        "bag": bag,
        "crosscheck": crosscheck,
        "judge": request.on("judge", auto=crosscheck and bool(bag)),
        "reference": second,
        "rviz": sight.rviz,
        "rviz_layout": str(layout) if layout.is_file() else "",
        "rviz_topics": " ".join([*shown, graph.CLOCK]),
        "view": bool(sight.view),
        "view_node": sight.view,
        "view_ends": "window" if sight.stays else "view",
        "open_page": sight.screen,
        "gazebo_window": sight.gazebo,
        "gz_partition": os.environ.get(PARTITION) or (new_partition() if in_gazebo else ""),
    }
    lines = [_summary(request, choice, sight, pace, bag, second=second)]
    if in_gazebo:
        lines.append(f"to use gz beside it: export {PARTITION}={decided['gz_partition']}")
    decided["messages"] = "\n".join(lines)
    return {name: _text(value) for name, value in decided.items()}


def _text(value: Decision) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return json.dumps(list(value) or [""])  # ROS has no empty lists
    return str(value).lower()


def _pace(request: Request, sight: Sight) -> float:
    asked, lockstep = request["pace"], request.on("lockstep")
    if asked == "fast" and not lockstep:
        raise AccordError("pace:=fast needs lockstep:=true: running free is real time")
    watched = sight.anybody or request.driven or not lockstep
    return REAL if asked == "real" or (asked == "auto" and watched) else 0.0


def _bag(request: Request, sim: str) -> str:
    """Return the folder of the bag, or ""."""
    asked = request["record"]
    if not request.on("record"):
        if request.on("judge"):
            raise AccordError("judge:=true judges the bag, which record:=false leaves out")
        return ""
    names = (request.setup.robot.name, request.setup.scenario.name, sim, request["namespace"])
    words = [name.strip("/").replace("/", "_") for name in names if name]
    started = f"{datetime.now():%Y%m%d_%H%M%S_%f}"
    own = Path("runs", "_".join([*words, started]))
    bag = own if asked.lower() == "true" else Path(asked)
    if bag.exists():
        raise AccordError(f"{bag} exists already; choose another name for the bag")
    there = next(folder for folder in bag.absolute().parents if folder.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        raise AccordError(f"no bag can be written into {there}; see record:=FOLDER, record:=false")
    return str(bag)


def _summary(
    request: Request, choice: Choice, sight: Sight, pace: float, bag: str, *, second: bool
) -> str:
    """Return what runs, how, where it is seen, and where the bag is."""
    setup = request.setup
    reason = f" ({choice.reason})" if choice.reason else ""
    words = [f"{setup.robot.name} {setup.scenario.name} in sim:={choice.sim}{reason}"]
    if choice.sim == GAZEBO:
        if not sight.gazebo:
            why = "headless:=true" if request.on("headless") else "there is no display"
            words.append(f"without a window: {why}")
        factor = speed(request)
        known = "not known yet" if factor is None else f"{factor:.2g} in the last run"
        words.append(f"real-time factor on this machine: {known}")
    words += [
        "in real time" if pace else "as fast as possible",
        f"look: {sight.where(bag) or 'ros2 topic echo, or rviz:=true, foxglove:=true'}",
        *([sight.where_reference(bag)] if second else []),
        f"bag: {bag}" if bag else "no bag (record:=false)",
        *(["until Ctrl-C"] if request.duration == float("inf") else []),
        *([sight.lacks] if sight.lacks else []),
    ]
    return "; ".join(words)

"""The request of a launch: its arguments, robot and scenario, and the choice of a simulator.

To add an argument, declare it in launch/simulate.launch.py, list it in docs/ros.md, and read it
here by its name. SLOW may be tuned: below this part of real time nobody can drive. The order in
which `choose` tries simulators is documented in docs/ros.md: change both. What cannot run is
refused in one line (test_plan).
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from roboaccord.contract import AccordError, count_steps, plugins
from roboaccord.engines import REFERENCE, default_names, engine_names
from roboaccord.run import RecordedInputs, make_simulator
from roboaccord.scenario import RELEASED, Setup, is_file

from roboaccord_ros.gazebo.prepare import check_gazebo, is_installed
from roboaccord_ros.gazebo.world import World
from roboaccord_ros.graph.parameters import setup_of
from roboaccord_ros.speed import last_factor

SIMULATORS = tuple(dict.fromkeys(["auto", "gz", *engine_names(), REFERENCE]))
NAMESPACE = re.compile(r"/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*", re.ASCII)
GAZEBO = "gz"
BROWSER, PAGE = "browser", "the browser view"  # the display of `view:=true`
SLOW = 0.4  # of real time, below which driving is refused


@dataclass(frozen=True)
class Request:
    """The arguments of a launch as texts, and the robot and scenario that they give."""

    given: dict[str, str]

    @classmethod
    def parse(cls, words: Sequence[str]) -> Request:
        """Read arguments of the form NAME:=VALUE, all of them.

        Raises:
            AccordError: for a value that an argument does not take; those of which every value is
                known beforehand are checked by the launch file.
        """
        given = dict(word.split(":=", 1) for word in words)
        given["view"] = given["view"].replace("True", "true").replace("False", "false")
        displays = ("auto", "true", "false", *displays_of_launches())
        for name, choices in (("sim", SIMULATORS), ("view", displays)):
            if given[name] not in choices:
                raise AccordError(f"{name}:={given[name]}: available: {', '.join(choices)}")
        if not given["robot"]:
            raise AccordError("robot:=NAME is missing; accord list shows what there is")
        if given["namespace"] and not NAMESPACE.fullmatch(given["namespace"]):
            raise AccordError(f"namespace:={given['namespace']} is not a name of ROS")
        return cls(given)

    def __getitem__(self, name: str) -> str:
        return self.given[name]

    def on(self, name: str, auto: bool = False) -> bool:
        """Return whether an argument is true, or `auto` where it is "auto"."""
        return auto if self[name] == "auto" else self[name].lower() not in ("", "false")

    @cached_property
    def changes(self) -> list[str]:
        """The changes to the scenario, KEY=VALUE each.

        Raises:
            AccordError: for a quote that is not closed.
        """
        try:
            changes = shlex.split(self["set"])
        except ValueError as error:
            raise AccordError(f"set:={self['set']}: {str(error).lower()}") from None
        faults = self["fault"].split()
        given = {
            "contacts": self["contacts"],
            "world": self["world"],
            "physics": self["gz_physics"],
        }
        if given["world"].endswith(".sdf"):
            given["world"] = str(Path(given["world"]).absolute())
        asked = [f"engine_options.gz.{key}={text}" for key, text in given.items() if text]
        return [*changes, *([f"faults={json.dumps(faults)}"] if faults else []), *asked]

    @cached_property
    def setup(self) -> Setup:
        """Robot and scenario, with its changes.

        Raises:
            AccordError: for what does not exist or does not fit.
        """
        setup = setup_of({**self.run, "set": self.changes, "duration": self._seconds})
        if self.recorded:
            self.recorded.check(setup)
        return setup

    @cached_property
    def recorded(self) -> RecordedInputs | None:
        """The driven run to repeat.

        Raises:
            AccordError: if there is no such bag, or its inputs cannot be repeated here.
        """
        if not self["inputs"]:
            return None
        if self["controller"] == "none" or not self.on("lockstep"):
            raise AccordError("inputs:=BAG needs a controller of this launch, and lockstep:=true")
        return RecordedInputs(Path(self["inputs"]).absolute())

    @property
    def driven(self) -> bool:
        """Whether a person drives."""
        return self.setup.scenario.driven and not self.recorded

    @cached_property
    def run(self) -> dict[str, str]:
        """The parameters by which nodes find robot and scenario."""
        robot, scenario = self["robot"], self["scenario"]
        if is_file(robot):
            return {"robot": str(Path(robot).absolute()), "scenario": scenario or RELEASED}
        return {"robot": robot.replace("-", "_"), "scenario": scenario}

    @property
    def duration(self) -> float:
        """Length of the run [s]; infinite where a person drives and none is given."""
        return self._seconds or (math.inf if self.driven else 0.0)

    @cached_property
    def _seconds(self) -> float:
        try:
            seconds = float(self["duration"])
        except ValueError:
            seconds = math.nan
        if not seconds >= 0:
            raise AccordError(f"duration:={self['duration']} is not a length of a run in seconds")
        return seconds or (self.recorded.duration if self.recorded else 0.0)


def displays_of_launches() -> dict[str, str]:
    """Return the displays that are installed for launches: the module of each node, by name."""
    nodes = [entry for name, entry in plugins.entries("displays").items() if name.endswith(".node")]
    return {entry.name.removesuffix(".node"): entry.module for entry in nodes}


@dataclass(frozen=True)
class Choice:
    """What runs a scenario, and why not what comes before it."""

    sim: str
    reason: str


def choose(request: Request) -> Choice:
    """Return the simulator that is asked for; for `auto` the first that can run the scenario.

    Raises:
        AccordError: why it cannot be run.
    """
    asked = request["sim"]
    if asked != "auto":
        _check(request, asked)
        return Choice(asked, "as asked")
    reasons: list[str] = []
    for sim in (GAZEBO, *default_names()):
        try:
            _check(request, sim)
            if sim == GAZEBO:
                _refuse_slow(request)
            return Choice(sim, "; ".join(reasons))
        except AccordError as error:
            reasons.append(f"not {sim}: {error}".removesuffix("; try sim:=dart"))
    _check(request, REFERENCE)
    return Choice(REFERENCE, "; ".join(reasons))


def _check(request: Request, sim: str) -> None:
    """Refuse what a simulator cannot run."""
    setup = request.setup
    if sim == GAZEBO and is_file(setup.scenario.robot):
        raise AccordError("Gazebo takes robots with a package, not a file: use sim:=dart")
    if sim == GAZEBO:
        check_gazebo(setup)
        return
    if request["world"]:
        World.find(request["world"])
    simulator = make_simulator(setup, sim)
    what = "control_period over physics_step"
    count_steps(setup.scenario.control_period, simulator.physics_step, what)


def speed(request: Request) -> float | None:
    """Return the real-time factor of the last such run in Gazebo on this machine, if known."""
    return last_factor(request.setup, contacts=request["contacts"], lockstep=request.on("lockstep"))


def _refuse_slow(request: Request) -> None:
    """Refuse to let a person drive where the last run was slow."""
    factor = speed(request)
    if request.driven and factor is not None and factor < SLOW:
        reached = f"its last run here reached {factor:.2g} of real time"
        raise AccordError(f"{reached}; sim:=gz uses it anyway")


@dataclass(frozen=True)
class Sight:
    """Which windows are shown, and whether somebody looks at all.

    `screen` is that windows can be shown; `view` is the module of the node that shows the run
    beside, or "", `stays` that it does so after the run, too; `lacks` is why there is none where
    one was due, or "".
    """

    gazebo: bool
    rviz: bool
    foxglove: bool
    screen: bool = False
    view: str = ""
    stays: bool = False
    lacks: str = ""

    @classmethod
    def of(cls, request: Request, sim: str) -> Sight:
        """Decide by the arguments, the display and what is installed.

        Raises:
            AccordError: for what is asked for and cannot be shown.
        """
        display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
        shown = display and not request.on("headless")
        gazebo = sim == GAZEBO and shown
        has_rviz = is_installed("rviz2")
        rviz = request.on("rviz", shown and has_rviz and not gazebo)
        foxglove = request.on("foxglove")
        if rviz and not (has_rviz and display):
            what = "a display: DISPLAY is not set" if has_rviz else "the package rviz2"
            raise AccordError(f"rviz:=true needs {what}")
        if foxglove and not is_installed("foxglove_bridge"):
            raise AccordError("foxglove:=true needs the package foxglove_bridge")
        sight = cls(gazebo, rviz, foxglove, shown)
        if not request.on("view", not (request.on("headless") or gazebo or rviz)):
            return sight
        asked, displays = request["view"] != "auto", displays_of_launches()
        name = request["view"] if request["view"] in displays else BROWSER
        lacks = plugins.lacking("displays", f"{name}.node", PAGE)
        if name == BROWSER and not find_spec("viser"):
            lacks = lacks or f"{PAGE} needs viser; run: pip install viser"
        if lacks and asked:
            raise AccordError(lacks)
        if lacks or name not in displays:
            return replace(sight, lacks=lacks)
        return replace(sight, view=displays[name], stays=shown or asked)

    @property
    def anybody(self) -> bool:
        """Whether a person is assumed to look."""
        return bool(self.gazebo or self.rviz or self.foxglove or self.view)

    def where(self, bag: str) -> str:
        """Return where to look at the run."""
        places = {
            "Gazebo's window": self.gazebo,
            "RViz": self.rviz,
            "the browser, at the address below": bool(self.view),
            "Foxglove at ws://localhost:8765": self.foxglove,
            f"accord view {bag}": bool(bag),
        }
        return ", ".join(place for place, is_there in places.items() if is_there)

    def where_reference(self, bag: str) -> str:
        """Return where the reference is seen as a second robot."""
        return f"reference: {'there, too' if self.where(bag) else 'by view:=true'}"

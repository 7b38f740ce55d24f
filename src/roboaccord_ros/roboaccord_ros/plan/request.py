"""The request of a launch: its arguments, and the robot and scenario that they specify.

An argument is declared in launch/simulate.launch.py, listed in docs/ros.md, and read here by its
name. A value that an argument cannot have is refused in one line (test_plan).
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from roboaccord.contract import AccordError, plugins
from roboaccord.engines import REFERENCE, engine_names
from roboaccord.run import RecordedInputs
from roboaccord.scenario import RELEASED, Setup, is_file

from roboaccord_ros.graph.parameters import setup_of

SIMULATORS = tuple(dict.fromkeys(["auto", "gz", *engine_names(), REFERENCE]))
# Namespaces that ROS allows.
NAMESPACE = re.compile(r"/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*", re.ASCII)


@dataclass(frozen=True)
class Request:
    """Arguments of a launch, texts by name, and the robot and scenario that they specify."""

    texts: dict[str, str]

    @classmethod
    def parse(cls, words: Sequence[str]) -> Request:
        """Read arguments of the form NAME:=VALUE, all of them.

        Raises:
            AccordError: for a value that an argument does not take. The launch file itself checks
                arguments with a fixed list of values.
        """
        texts = dict(word.split(":=", 1) for word in words)
        texts["view"] = texts["view"].replace("True", "true").replace("False", "false")
        displays = ("auto", "true", "false", *displays_of_launches())
        for name, choices in (("sim", SIMULATORS), ("view", displays)):
            if texts[name] not in choices:
                raise AccordError(f"{name}:={texts[name]}: available: {', '.join(choices)}")
        if not texts["robot"]:
            raise AccordError("robot:=NAME is missing; accord list shows what there is")
        if texts["namespace"] and not NAMESPACE.fullmatch(texts["namespace"]):
            raise AccordError(f"namespace:={texts['namespace']} is not a name of ROS")
        return cls(texts)

    def __getitem__(self, name: str) -> str:
        """Return the text of an argument."""
        return self.texts[name]

    def is_on(self, name: str, auto: bool = False) -> bool:
        """Return whether an argument is on; `auto` if its text is "auto"."""
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
        if self["fault"].split():
            changes.append(f"faults={json.dumps(self['fault'].split())}")
        world = self["world"]
        if world.endswith(".sdf"):
            world = str(Path(world).absolute())
        settings = {"contacts": self["contacts"], "world": world, "physics": self["gz_physics"]}
        options = [f"engine_options.gz.{key}={text}" for key, text in settings.items() if text]
        return [*changes, *options]

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
        if self["controller"] == "none" or not self.is_on("lockstep"):
            raise AccordError("inputs:=BAG needs a controller of this launch, and lockstep:=true")
        return RecordedInputs(Path(self["inputs"]).absolute())

    @property
    def driven(self) -> bool:
        """Whether a person drives the robot."""
        return self.setup.scenario.driven and not self.recorded

    @cached_property
    def run(self) -> dict[str, str]:
        """Parameters by which nodes find robot and scenario."""
        robot, scenario = self["robot"], self["scenario"]
        if is_file(robot):
            return {"robot": str(Path(robot).absolute()), "scenario": scenario or RELEASED}
        return {"robot": robot.replace("-", "_"), "scenario": scenario}

    @property
    def duration(self) -> float:
        """Length of the run [s]; infinite if a person drives and no length is given."""
        return self._seconds or (math.inf if self.driven else 0.0)

    @cached_property
    def _seconds(self) -> float:
        """Length of the run that is given, or of the run to repeat [s]; 0 if there is neither.

        Raises:
            AccordError: for a text that is no length.
        """
        try:
            seconds = float(self["duration"])
        except ValueError:
            seconds = math.nan
        if not seconds >= 0:
            raise AccordError(f"duration:={self['duration']} is not a length of a run in seconds")
        return seconds or (self.recorded.duration if self.recorded else 0.0)


def displays_of_launches() -> dict[str, str]:
    """Return the modules of the nodes of installed displays, by the names of the displays.

    A display is a program that shows a running robot, such as the browser view.
    """
    nodes = [entry for name, entry in plugins.entries("displays").items() if name.endswith(".node")]
    return {entry.name.removesuffix(".node"): entry.module for entry in nodes}

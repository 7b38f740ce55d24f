"""The request of a launch: its arguments as typed values, and robot and scenario found by them."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from roboaccord.contract import AccordError, did_you_mean
from roboaccord.engines import REFERENCE, engine_names
from roboaccord.run import RecordedInputs
from roboaccord.scenario import RELEASED, Setup, is_file

from roboaccord_ros.graph.parameters import setup_of
from roboaccord_ros.launch_data import ARGUMENTS, CHOICES, Value

SIMULATORS = tuple(dict.fromkeys(["auto", "gz", *engine_names(), REFERENCE]))
NAMESPACE = re.compile(r"/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*", re.ASCII)


@dataclass(frozen=True)
class Request:
    """Hold the arguments of a launch as texts, and what they say of robot and scenario."""

    given: dict[str, str]

    @classmethod
    def parse(cls, words: Sequence[str]) -> Request:
        """Read arguments of the form NAME:=VALUE.

        Raises:
            AccordError: for an unknown name, or a value that an argument does not take.
        """
        given = {name: default for name, (default, _) in ARGUMENTS.items() if default is not None}
        for word in words:
            name, sign, value = word.partition(":=")
            if not sign or name not in ARGUMENTS:
                raise AccordError(f"unknown argument {word}{did_you_mean(name, list(ARGUMENTS))}")
            if value in ("True", "False"):  # as Python writes them
                value = value.lower()
            choices = CHOICES.get(name, SIMULATORS if name == "sim" else (value,))
            if value not in choices:
                raise AccordError(f"{name}:={value}: there is {', '.join(choices)}")
            given[name] = value
        if given["namespace"] and not NAMESPACE.fullmatch(given["namespace"]):
            raise AccordError(f"namespace:={given['namespace']} is no name of ROS")
        return cls(given)

    def __getitem__(self, name: str) -> str:
        return self.given.get(name, "")

    def on(self, name: str, auto: bool = False) -> bool:
        """Return whether an argument is true, or `auto` where it says so."""
        return auto if self[name] == "auto" else self[name] == "true"

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
        return [*changes, f"faults={json.dumps(faults)}"] if faults else changes

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
    def run(self) -> dict[str, Value]:
        """The parameters that simulator and controller share."""
        robot, scenario = self["robot"], self["scenario"]
        if is_file(robot):
            return {"robot": str(Path(robot).absolute()), "scenario": scenario or RELEASED}
        return {"robot": robot.replace("-", "_"), "scenario": scenario}

    @property
    def duration(self) -> float:
        """Length of the run [s]; infinite where a person drives and nothing else is said."""
        return self._seconds or (math.inf if self.driven else 0.0)

    @cached_property
    def _seconds(self) -> float:
        try:
            seconds = float(self["duration"])
        except ValueError:
            seconds = math.nan
        if not seconds >= 0:
            raise AccordError(f"duration:={self['duration']} is no length of a run in seconds")
        return seconds or (self.recorded.duration if self.recorded else 0.0)

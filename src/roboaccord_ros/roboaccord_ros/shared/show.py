"""Scenario that shows a robot, and others whose terrain is a model."""

from __future__ import annotations

from dataclasses import dataclass

from roboaccord.description.resources import share
from roboaccord.description.yaml_files import read_yaml
from roboaccord.scenario.files import load_scenario, scenario_names
from roboaccord.scenario.setup import Setup, find_robot


@dataclass(frozen=True)
class Show:
    """Hold a robot in the scenario that shows it, and others whose terrain is a model."""

    setup: Setup
    terrains: tuple[Setup, ...]

    @classmethod
    def of(cls, name: str) -> Show:
        """Read `config/show.yaml` of a robot's package; without it, the first scenario is shown.

        Raises:
            AccordError: if a scenario is broken.
        """
        package = find_robot(name).package
        path = share(package) / "config" / "show.yaml"
        given = read_yaml(path) if path.is_file() else {}
        names = [given.get("scenario") or scenario_names(package)[0], *given.get("terrains", [])]
        changes = given.get("set", [])
        setups = [Setup.of(load_scenario(package, name, each, changes)) for each in names]
        return cls(setups[0], tuple(setups[1:]))

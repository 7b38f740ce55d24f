"""Scenario files: read from YAML, changed by KEY=VALUE, checked, and found; setups by them.

A new key of a scenario is a field in scenario.py and needs nothing here, unless it names a path:
then its name must be in PATHS, so that no bag, message or shipped file opens what it names
(test_bag_is_data). LARGEST and LONGEST bound numbers and names, and may be raised. `load_setup` is
what commands, functions and nodes call; the forms `extends`, KEY=VALUE and nested keys with dots
are in files and scripts of users, and stay.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import ValidationError

from roboaccord.contract.checks import count_steps
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.plugins import entries, lacking
from roboaccord.contract.results import Quantity, Word
from roboaccord.description.parameters import parameter_file, parameter_set
from roboaccord.description.resources import share
from roboaccord.description.xacro_file import NO_ARGUMENTS
from roboaccord.description.yaml_files import parse_yaml, read_yaml
from roboaccord.scenario.installed import RELEASED, is_file, robot_names
from roboaccord.scenario.robot_file import RobotFile
from roboaccord.scenario.scenario import ONE_STEP, Scenario
from roboaccord.scenario.setup import Setup, find_robot

LARGEST = 1e12  # of a number of a scenario, in SI units
PATHS = ("file", "folder", "identified")  # keys of controllers and terrain that name one
LONGEST = 100  # bytes of a name: folders are called by it
NO_PACKAGES: Mapping[str, Path] = {}


def _place(loc: Sequence[Any]) -> list[str]:
    types = ("constrained-float", "float", "int", "Allowance")
    return [str(part) for part in loc if part not in types]


def load_scenario(package: str, robot: str, name: str, changes: Sequence[str] = ()) -> Scenario:
    """Read a scenario of a package, or a YAML file, and apply `KEY=VALUE` changes.

    Args:
        package: ROS package that holds `scenarios/NAME.yaml`.
        robot: name of the robot or path of its file, which the scenario must agree with.
        name: of the scenario, or a path ending in .yaml.
        changes: `KEY=VALUE`, dots into nested keys, values in YAML.

    Raises:
        AccordError: for an unknown scenario or key, or a value that does not fit.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else _shipped(package, robot, name)
    data = read_scenario(path)
    given = str(data.get("robot", robot))
    if robot not in (given, str(Path(given).absolute())):
        raise AccordError(f"{path.name} is a scenario of {given}, not of {robot}")
    data["robot"] = robot
    data.setdefault("name", path.stem)
    _name_parameters(data, package)
    for change in changes:
        apply_change(data, change)
        _name_parameters(data, package)
    scenario = make_scenario(data)
    check_paths(scenario.data(), [*changes, "robot="], package)
    return scenario


def paths_of(data: Mapping[str, Any], section: str = "") -> dict[str, str]:
    """Return the paths that the data of a scenario name, by key."""
    found = dict[str, str]()
    for name, value in data.items():
        key = f"{section}.{name}".strip(".")
        if isinstance(value, Mapping):
            found |= paths_of(value, key)
        elif isinstance(value, str) and value:
            world = key == "world" and ("/" in value or value.endswith(".sdf"))
            other = name in PATHS or section == "packages" or (key == "robot" and is_file(value))
            found |= {key: value} if world or other else {}
    return found


def path_changes(data: Mapping[str, Any]) -> list[str]:
    """Return the paths of a scenario as `KEY=VALUE`, by which another process may read them."""
    return [f"{key}={json.dumps(path)}" for key, path in paths_of(data).items()]


def check_paths(data: Mapping[str, Any], changes: Sequence[str], package: str) -> None:
    """Refuse a path that a scenario alone names: bags, messages and its file may name any.

    Args:
        data: of the scenario.
        changes: `KEY=VALUE` of the command line, which are in it.
        package: of the robot, of which meshes may be named.

    Raises:
        AccordError: naming the key.
    """
    given = tuple(f"{change.partition('=')[0].strip()}." for change in changes)
    for key, path in paths_of(data).items():
        ships = Path(path).name == path and (share(package) / "meshes" / path).is_file()
        if not (ships or f"{key}.".startswith(given)):
            only = f"only a command line may name a file: --set {key}={path} where it takes that"
            raise AccordError(f"{key}: {path} is not read; {only}")


def recorded_setup(
    data: Mapping[str, Any], robot: str, urdf: str = "", changes: Sequence[str] = ()
) -> Setup:
    """Return the setup of a run as a bag or a message states it, which may name any file.

    Args:
        data: of its scenario.
        robot: name of its topics.
        urdf: its description, which is the robot where that is a file.
        changes: `KEY=VALUE` of the scenario, which may name files.

    Raises:
        AccordError: if it cannot be had without opening others.
    """
    data, named = {"robot": robot, **data}, "robot" in paths_of(data)
    for change in changes:
        apply_change(data, change)
        named &= change.partition("=")[0].strip() != "robot"
    scenario = make_scenario(data)
    found = find_robot(scenario.robot, *([urdf, robot] if named else ()))
    read = {"terrain": scenario.terrain} if urdf else scenario.data()  # of a bag; of a message
    check_paths(read, changes, found.package)
    return Setup.of(scenario, found)


def read_scenario(path: Path) -> dict[str, Any]:
    """Return the data of a scenario's file, on top of those of the one beside it that it extends.

    Raises:
        AccordError: if one cannot be read, or extends itself.
    """
    data, read = read_yaml(path), [path.stem]
    while (base := data.pop("extends", None)) is not None:
        if not isinstance(base, str) or not base.isidentifier() or base in read:
            raise AccordError(f"{path.name}: extends: {base!r} is not another scenario beside it")
        read.append(base)
        data = _merge(read_yaml(path.with_name(f"{base}.yaml")), data)
    return data


def _merge(base: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the base with the data on top, mappings merged key by key."""
    merged = dict(base)
    for key, value in data.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            value = _merge(old, value)
        merged[key] = value
    return merged


def _name_parameters(data: dict[str, Any], package: str) -> None:
    """Put the values of a set of parameters in place of its name."""
    if isinstance(named := data.get("parameters"), str):
        data["parameters"] = parameter_set(package, named)


def make_scenario(data: Mapping[str, Any]) -> Scenario:
    """Check plain data and return the scenario.

    Raises:
        AccordError: one line that names the first wrong key.
    """
    _check_numbers(data)
    try:
        scenario = Scenario(**data)
    except ValidationError as error:
        # pydantic names the types of a union that it tried; the deepest got furthest.
        found = [(_place(e["loc"]), e) for e in error.errors()]
        within = found[0][0]
        place, first = max(
            ((p, e) for p, e in found if p[: len(within)] == within), key=lambda pair: len(pair[0])
        )
        key = ".".join(place)
        if "extra" in first["type"]:
            raise AccordError(f"unknown key {key}{_hint(key, data)}") from None
        raise AccordError(f"{key}: {first['msg'].lower()}") from None
    _check_numbers(scenario.data())  # again: pydantic makes numbers of texts, of nan, too
    if "/" in scenario.name or not scenario.name.isprintable() or len(scenario.name) > LONGEST:
        raise AccordError(f"name: {scenario.name[:LONGEST]!r} is not a name of a scenario")
    if not isinstance(assumed := scenario.controller.get("friction", {}), dict):
        raise AccordError(f"controller.friction: {assumed!r} has none of the keys of friction")
    named = {"controller.name": scenario.controller, "friction.law": scenario.friction}
    for key, section in {**named, "controller.friction.law": assumed}.items():
        if not isinstance(value := section.get(key.rpartition(".")[2], ""), str):
            raise AccordError(f"{key}: {value!r} is not a name")
    one_step = scenario.crosscheck.tolerances.one_step
    if isinstance(one_step, float) and not 0.0 < one_step <= ONE_STEP:
        form = f"to exceed {ONE_STEP:g}, write {{limit: NUMBER, reason: TEXT}}"
        raise AccordError(f"crosscheck.tolerances.one_step: {one_step:g} is none; {form}")
    count_steps(scenario.control_period, scenario.physics_step, "control_period over physics_step")
    count_steps(scenario.duration, scenario.control_period, "duration over control_period")
    return scenario


def _hint(key: str, data: Mapping[str, Any]) -> str:
    """Return a hint for an unknown key: the one of this name in a section, or what is like it."""
    sections = {**Scenario(robot="any").data(), **data}
    with suppress(AccordError):
        robot = find_robot(str(data.get("robot")), "", "a file")  # which is not opened
        sections["parameters"] = parameter_file(robot.package)
    below = (s for s, keys in sections.items() if isinstance(keys, Mapping) and key in keys)
    section = next(below, "")
    return f"; did you mean {section}.{key}?" if section else did_you_mean(key, data_keys())


def _check_numbers(data: Any, key: str = "") -> None:
    """Refuse numbers that are not finite, or beyond what any quantity in SI units is.

    Raises:
        AccordError: naming the key.
    """
    if isinstance(data, Mapping):
        for name, value in data.items():
            if not isinstance(name, str):
                raise AccordError(f"{key or 'the scenario'}: {name!r} is not a key")
            _check_numbers(value, f"{key}.{name}" if key else str(name))
    elif isinstance(data, (list, tuple)):
        for value in data:
            _check_numbers(value, key)
    elif isinstance(data, float) and not math.isfinite(data):
        raise AccordError(f"{key}: {data:g} is not a number")
    elif isinstance(data, (int, float)) and abs(data) > LARGEST and key != "seed":
        raise AccordError(f"{key}: {data:g} is out of range: {LARGEST:g} at most")


def data_keys() -> list[str]:
    """Return the top-level keys of a scenario."""
    return list(Scenario(robot="any").data())


def scenario_names(package: str) -> list[str]:
    """Return the names of the scenarios that a package ships, and that others add to it."""
    return sorted(_shipped_files(package))


def _shipped_files(package: str) -> dict[str, Path]:
    folders = [share(package) / "scenarios"]
    if entry := entries("scenarios").get(package):
        folders.append(share(entry.value) / "scenarios" / package)
    return {path.stem: path for folder in folders for path in folder.glob("*.yaml")}


def apply_change(data: dict[str, Any], change: str) -> None:
    """Apply one `KEY=VALUE` to plain scenario data, in place.

    Raises:
        AccordError: if it has no `=`, no key, or reaches into something that has no keys.
    """
    key, equals, text = change.partition("=")
    if not equals or not key.strip():
        raise AccordError(f"--set takes KEY=VALUE, not {change!r}")
    *parents, last = key.strip().split(".")
    place = data
    for parent in parents:
        place = place.setdefault(parent, {})
        if not isinstance(place, dict):
            raise AccordError(f"unknown key {key}: {parent} has no keys below it")
    try:
        place[last] = parse_yaml(text)
    except yaml.YAMLError as error:
        shown = text if len(text) < LONGEST else f"{text[:LONGEST]}..."
        reason = str(error).splitlines()[0]
        raise AccordError(f"--set {key}: {shown!r} is not a YAML value: {reason}") from None


def _shipped(package: str, robot: str, name: str) -> Path:
    found = _shipped_files(package)
    if name not in found:
        if line := lacking("scenarios", f"{package}.{name}", f"{robot} {name}"):
            raise AccordError(line)
        raise AccordError(f"{robot} has no scenario {name}{did_you_mean(name, found)}")
    return found[name]


@dataclass(frozen=True)
class Listed:
    """Hold a scenario: its robot, what that is, its controller, and what it is."""

    robot: Word
    summary: str
    scenario: Word
    controller: Word
    description: Annotated[str, Quantity("", name="what it is", form="text")]


@dataclass(frozen=True)
class Catalogue:
    """Hold robots that can be used, a row of each scenario, and what is wrong with others."""

    robots: list[str]
    scenarios: Annotated[list[Listed], Quantity("", "robots and their scenarios")]
    broken: dict[str, str]


def read_catalogue(robot: str = "") -> Catalogue:
    """Return what is installed, of one robot or of all; a broken package hides no other.

    Raises:
        AccordError: if the robot that is named is unknown or broken.
    """
    if robot:
        rows = _scenarios(robot)
        return Catalogue([rows[0].robot] if rows else [], rows, {})
    found, broken = list[Listed](), dict[str, str]()
    for name in robot_names():
        try:
            found += _scenarios(name)
        except AccordError as error:
            broken[name] = str(error)
    return Catalogue([name for name in robot_names() if name not in broken], found, broken)


def _scenarios(name: str) -> list[Listed]:
    """Return a row of each scenario of a robot.

    Raises:
        AccordError: if its package cannot be loaded, or a scenario not be read.
    """
    robot, rows = find_robot(name), []
    for scenario in scenario_names(robot.package):
        data = read_scenario(_shipped(robot.package, robot.name, scenario))
        what = data.get("controller", {}).get("name", "none"), data.get("description", "")
        rows.append(Listed(robot.name, robot.summary, scenario, *what))
    return rows


def load_setup(
    robot: str,
    scenario: str = "",
    changes: Sequence[str] = (),
    faults: Sequence[str] = (),
    *,
    base: str = "",
    packages: Mapping[str, Path] = NO_PACKAGES,
    arguments: Mapping[str, str] = NO_ARGUMENTS,
    endless: bool = False,
) -> Setup:
    """Return the setup of a robot's scenario with changes, and with faults instead of its own.

    Args:
        robot: name, or path of a file.
        scenario: name, or a YAML file; a robot that is a file has one where none is named.
        changes: `KEY=VALUE`, values in YAML.
        faults: `JOINT=KIND[@S]`; refused beyond the scenario's duration.
        base: how the root of a file moves: `fixed`, `planar` or `free`; "": by the file.
        packages: folders of ROS packages that a file names.
        arguments: of a xacro file.
        endless: whether the run ends otherwise than by its duration.

    Raises:
        AccordError: for whatever cannot be had.
    """
    found = find_robot(robot)
    if not is_file(robot) and (base or packages or arguments):
        raise AccordError("--base, --package and NAME:=VALUE are for a robot that is a file")
    if not scenario and not is_file(robot):
        raise AccordError(f"name a scenario of {found.name}: accord list {found.name}")
    every = [f"base={base}"] if base else []
    if packages:
        folders = {name: str(Path(path).absolute()) for name, path in packages.items()}
        every.append(f"packages={json.dumps(folders)}")
    if arguments:
        every.append(f"arguments={json.dumps(dict(arguments))}")
    every += [*changes, *([f"faults={json.dumps(list(faults))}"] if faults else [])]
    setup = Setup.of(load_scenario(found.package, found.key, scenario or RELEASED, every))
    if not (scenario or base) and isinstance(found, RobotFile) and found.floats(setup):
        setup = Setup.of(load_scenario(found.package, found.key, RELEASED, ["base=free", *every]))
    for fault in setup.faults if faults and not endless else ():
        if fault.time >= setup.scenario.duration:
            end = f"{setup.scenario.duration:g} s"
            raise AccordError(f"fault {fault}: the run ends at {end}; --set duration=SECONDS")
    return setup

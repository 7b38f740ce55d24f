"""Scenario files: found, read from YAML, changed by KEY=VALUE, and checked.

A new key of a scenario is a field in scenario.py and needs nothing here; one that names a path is
added to paths.py, too. LARGEST and LONGEST bound numbers and names, and may be raised. `extends`,
KEY=VALUE and nested keys with dots are in files and scripts of users, and stay (test_scenario).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from roboaccord.contract.checks import count_steps
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.plugins import entries, lacking
from roboaccord.description.parameters import parameter_file, parameter_set
from roboaccord.description.resources import share
from roboaccord.description.yaml_files import parse_yaml, read_yaml
from roboaccord.scenario.paths import check_paths
from roboaccord.scenario.scenario import ONE_STEP, Scenario
from roboaccord.scenario.setup import find_robot

LARGEST = 1e12  # of a number in SI units: beyond it products in float64 lose their meaning
LONGEST = 100  # characters of a name: folders are called by it, and systems allow 255 bytes


def _key_of(location: Sequence[Any]) -> list[str]:
    """Return the key at which pydantic reports an error, without the types that it tried."""
    types = ("constrained-float", "float", "int", "Allowance")
    return [str(word) for word in location if word not in types]


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
    path = Path(name) if name.endswith((".yaml", ".yml")) else shipped_file(package, robot, name)
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


def read_scenario(path: Path) -> dict[str, Any]:
    """Return the data of a scenario's file, merged into those of the file that it extends.

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
    """Replace the name of a set of parameters by its values."""
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
        # pydantic reports each type of a union that it tried; the deepest key got furthest.
        failures = [(_key_of(e["loc"]), e) for e in error.errors()]
        within = failures[0][0]
        deeper = [pair for pair in failures if pair[0][: len(within)] == within]
        words, first = max(deeper, key=lambda pair: len(pair[0]))
        key = ".".join(words)
        if "extra" in first["type"]:
            raise AccordError(f"unknown key {key}{_hint(key, data)}") from None
        raise AccordError(f"{key}: {first['msg'].lower()}") from None
    _check_numbers(scenario.data())  # again: pydantic turns texts into numbers, "nan" too
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
        form = f"above 0 and at most {ONE_STEP:g}, or {{limit: NUMBER, reason: TEXT}}"
        raise AccordError(f"crosscheck.tolerances.one_step: {one_step:g} is not {form}")
    count_steps(scenario.control_period, scenario.physics_step, "control_period over physics_step")
    count_steps(scenario.duration, scenario.control_period, "duration over control_period")
    return scenario


def _hint(key: str, data: Mapping[str, Any]) -> str:
    """Return a hint for an unknown key: the same key in a section, or one spelled like it."""
    sections = {**Scenario(robot="any").data(), **data}
    with suppress(AccordError):
        robot = find_robot(str(data.get("robot")), "", "a file")  # which is not opened
        sections["parameters"] = parameter_file(robot.package)
    below = (s for s, keys in sections.items() if isinstance(keys, Mapping) and key in keys)
    section = next(below, "")
    return f"; did you mean {section}.{key}?" if section else did_you_mean(key, data_keys())


def _check_numbers(data: Any, key: str = "") -> None:
    """Refuse numbers that are not finite, or larger than any quantity in SI units.

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
    section = data
    for parent in parents:
        section = section.setdefault(parent, {})
        if not isinstance(section, dict):
            raise AccordError(f"unknown key {key}: {parent} has no keys below it")
    try:
        section[last] = parse_yaml(text)
    except yaml.YAMLError as error:
        shown = text if len(text) < LONGEST else f"{text[:LONGEST]}..."
        reason = str(error).splitlines()[0]
        raise AccordError(f"--set {key}: {shown!r} is not a YAML value: {reason}") from None


def shipped_file(package: str, robot: str, name: str) -> Path:
    """Return the file of a scenario that a package ships, or that another package adds to it.

    Raises:
        AccordError: if there is none of that name.
    """
    files = _shipped_files(package)
    if name not in files:
        if line := lacking("scenarios", f"{package}.{name}", f"{robot} {name}"):
            raise AccordError(line)
        raise AccordError(f"{robot} has no scenario {name}{did_you_mean(name, files)}")
    return files[name]

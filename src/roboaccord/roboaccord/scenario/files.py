"""Scenario files: found, read from YAML, changed by KEY=VALUE, and checked.

A scenario is one complete experiment with a robot: initial state, controller, friction, duration
and so on. `load_scenario` reads a file of a package or of a user, merges it into the file that its
key `extends` names, applies the changes of the option `--set`, and lets `make_scenario` check keys,
types, numbers and periods. Every error is one line that names the key.

Keys are fields of `Scenario` in scenario.py; a key that names a path is listed in paths.py, too.
`extends`, KEY=VALUE and dots into nested keys are in files and scripts of users, and stay
(test_scenario).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from roboaccord.contract import AccordError, count_steps, did_you_mean, plugins
from roboaccord.description.parameters import parameter_file, parameter_set
from roboaccord.description.resources import share
from roboaccord.description.yaml_files import parse_yaml, read_yaml
from roboaccord.scenario.installed import package_of, robot_names
from roboaccord.scenario.paths import check_paths
from roboaccord.scenario.scenario import ONE_STEP, Scenario
from roboaccord.scenario.setup import find_robot

LARGEST = 1e12  # largest number, in SI units; products of larger ones lose their meaning in float64
# Characters of a name at most; folders are named by it, and file systems allow 255 bytes.
LONGEST_NAME = 100


def load_scenario(package: str, robot: str, name: str, changes: Sequence[str] = ()) -> Scenario:
    """Read a scenario of a package, or a YAML file, and apply `KEY=VALUE` changes.

    Args:
        package: ROS package that holds `scenarios/NAME.yaml`.
        robot: name of the robot or path of its file, which the scenario must agree with.
        name: of the scenario, or a path ending in .yaml.
        changes: `KEY=VALUE`, with dots into nested keys, and values in YAML.

    Raises:
        AccordError: for an unknown scenario or key, or a value that does not fit.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else shipped_file(package, robot, name)
    data = read_scenario(path)
    robot_in_file = str(data.get("robot", robot))
    if robot not in (robot_in_file, str(Path(robot_in_file).absolute())):
        raise AccordError(f"{path.name} is a scenario of {robot_in_file}, not of {robot}")
    data["robot"] = robot
    data.setdefault("name", path.stem)
    _expand_parameter_set(data, package)
    for change in changes:
        apply_change(data, change)
        _expand_parameter_set(data, package)
    scenario = make_scenario(data)
    check_paths(scenario.data(), [*changes, "robot="], package)
    return scenario


def read_scenario(path: Path) -> dict[str, Any]:
    """Return the data of a scenario's file, merged into those of the files that it extends.

    Raises:
        AccordError: if a file cannot be read, or extends itself.
    """
    data, read_names = read_yaml(path), [path.stem]
    while (base := data.pop("extends", None)) is not None:
        if not isinstance(base, str) or not base.isidentifier() or base in read_names:
            raise AccordError(f"{path.name}: extends: {base!r} is not another scenario beside it")
        read_names.append(base)
        data = _merge(read_yaml(path.with_name(f"{base}.yaml")), data)
    return data


def _merge(base: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with the values of `data` in place of its own; mappings are merged."""
    merged = dict(base)
    for key, value in data.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            value = _merge(old, value)
        merged[key] = value
    return merged


def _expand_parameter_set(data: dict[str, Any], package: str) -> None:
    """Replace the name of a parameter set by the values of the set, in place."""
    name = data.get("parameters")
    if isinstance(name, str):
        data["parameters"] = parameter_set(package, name)


def make_scenario(data: Mapping[str, Any]) -> Scenario:
    """Check plain data and return the scenario.

    Raises:
        AccordError: naming the first wrong key.
    """
    _check_numbers(data)
    scenario = _validate(data)
    _check_numbers(scenario.data())  # again: pydantic turns texts into numbers, "nan" too
    name = scenario.name
    if "/" in name or not name.isprintable() or len(name) > LONGEST_NAME:
        raise AccordError(f"name: {name[:LONGEST_NAME]!r} is not a name of a scenario")
    # Friction that the controller assumes, which may differ from the scenario's.
    assumed = scenario.controller.get("friction", {})
    if not isinstance(assumed, dict):
        raise AccordError(f"controller.friction: {assumed!r} has none of the keys of friction")
    _check_name("controller.name", scenario.controller.get("name", ""))
    _check_name("friction.law", scenario.friction.get("law", ""))
    _check_name("controller.friction.law", assumed.get("law", ""))
    one_step = scenario.crosscheck.tolerances.one_step
    if isinstance(one_step, float) and not 0.0 < one_step <= ONE_STEP:
        form = f"above 0 and at most {ONE_STEP:g}, or {{limit: NUMBER, reason: TEXT}}"
        raise AccordError(f"crosscheck.tolerances.one_step: {one_step:g} is not {form}")
    count_steps(scenario.control_period, scenario.physics_step, "control_period over physics_step")
    count_steps(scenario.duration, scenario.control_period, "duration over control_period")
    return scenario


def _check_name(key: str, name: object) -> None:
    """Refuse the value of a key that must be a name, and is not a text."""
    if not isinstance(name, str):
        raise AccordError(f"{key}: {name!r} is not a name")


def _validate(data: Mapping[str, Any]) -> Scenario:
    """Return the scenario, with keys and types checked; errors as of `make_scenario`."""
    try:
        return Scenario(**data)
    except ValidationError as error:
        # pydantic reports an error for each type of a union. The one with the deepest key belongs
        # to the type that fits best.
        failures = [(_key_path(failure["loc"]), failure) for failure in error.errors()]
        top = failures[0][0]
        of_first_key = [pair for pair in failures if pair[0][: len(top)] == top]
        key_path, failure = max(of_first_key, key=lambda pair: len(pair[0]))
        key = ".".join(key_path)
        if "extra" in failure["type"]:
            raise AccordError(f"unknown key {key}{_hint(key, data)}") from None
        raise AccordError(f"{key}: {failure['msg'].lower()}") from None


def _key_path(location: Sequence[Any]) -> list[str]:
    """Return the path of keys in a location of pydantic, which also names the types it tried."""
    types = ("constrained-float", "float", "int", "Allowance")
    return [str(word) for word in location if word not in types]


def _hint(key: str, data: Mapping[str, Any]) -> str:
    """Return a hint for an unknown key: a key of any section that it may stand for."""
    sections = _merge(Scenario(robot="any").data(), data)
    with suppress(AccordError):
        robot = find_robot(str(data.get("robot")), "", "a file")  # a robot's file is not opened
        sections["parameters"] = dict.fromkeys(parameter_file(robot.package))
    if "." not in key:
        del sections["crosscheck"]  # its lengths and tolerances are meant only by their full names
    otherwise = "accord scenario ROBOT SCENARIO lists all keys"
    return did_you_mean(key, {*_flat(sections)} - {key}, "", otherwise)


def _flat(section: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the keys of a section and of those in it, with dots."""
    for name, value in section.items():
        yield prefix + name
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")


def _check_numbers(data: Any, key: str = "") -> None:
    """Refuse numbers that are not finite or, except for the seed, larger than LARGEST.

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
    """Return the sorted names of a package's scenarios, with those that other packages add."""
    return sorted(_shipped_files(package))


def _shipped_files(package: str) -> dict[str, Path]:
    """Return the files of a package's scenarios, with those that other packages add, by name."""
    folders = [share(package) / "scenarios"]
    if entry := plugins.entries("scenarios").get(package):
        folders.append(share(entry.value) / "scenarios" / package)
    return {path.stem: path for folder in folders for path in folder.glob("*.yaml")}


def apply_change(data: dict[str, Any], change: str) -> None:
    """Apply one `KEY=VALUE` to plain scenario data, in place.

    Raises:
        AccordError: if it has no `=` or no key, or a key leads below something without keys.
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
        start = text if len(text) < LONGEST_NAME else f"{text[:LONGEST_NAME]}..."
        reason = str(error).splitlines()[0]
        raise AccordError(f"--set {key}: {start!r} is not a YAML value: {reason}") from None


def shipped_file(package: str, robot: str, name: str) -> Path:
    """Return the file of a package's scenario, which may come from another package.

    Raises:
        AccordError: if there is no scenario of that name.
    """
    files = _shipped_files(package)
    if name not in files:
        if line := plugins.lacking("scenarios", f"{package}.{name}", f"{robot} {name}"):
            raise AccordError(line)
        owners = [other for other in robot_names() if name in _shipped_files(package_of(other))]
        otherwise = f"it has {', '.join(sorted(files))}: accord list {robot}"
        hint = f"; {owners[0]} has one" if owners else did_you_mean(name, files, "", otherwise)
        raise AccordError(f"{robot} has no scenario {name}{hint}")
    return files[name]

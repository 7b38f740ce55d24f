"""Scenarios: what is run, from a YAML file, checked before anything starts.

The models keep to what pydantic 1 and 2 have in common, because ROS machines carry either.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, Field, ValidationError

from roboaccord.errors import AccordError
from roboaccord.loop import count_steps
from roboaccord.resources import share

Level = Literal["acceleration", "one_step", "trajectory", "statistics"]
Base = Literal["fixed", "planar", "free", "ball"]
ONE_STEP = 1e-3  # of the change of the rates in a control period
MANY = 24  # names that a line of choices has at most


class Initial(BaseModel, extra="forbid", frozen=True):
    """Where a run starts: joints by name [rad, rad/s], the base, and switches by name.

    `roll`, `pitch` and `yaw` are about the world's fixed axes, in that order, as in URDF [rad].
    `spread_q` is drawn anew for each seed: every joint starts uniformly within plus and minus it
    of its angle [rad].
    """

    q: dict[str, float] = {}
    qd: dict[str, float] = {}
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    roll: float = 0.0
    pitch: float = 0.0
    yaw: float = 0.0
    twist: tuple[float, float, float, float, float, float] = (0.0,) * 6
    switches: dict[str, bool] = {}
    spread_q: float = Field(0.0, ge=0, lt=float("inf"))


class Allowance(BaseModel, extra="forbid", frozen=True):
    """A tolerance that is looser than the measured one, with the reason why."""

    limit: float = Field(gt=0, lt=math.inf)
    reason: str = Field(min_length=1)


def _place(loc: Sequence[Any]) -> list[str]:
    return [str(part) for part in loc if part not in ("float", "int", "Allowance")]


def limit_of(tolerance: float | Allowance) -> float:
    """Return the number of a tolerance, with or without a reason."""
    return tolerance.limit if isinstance(tolerance, Allowance) else tolerance


class Tolerances(BaseModel, extra="forbid", frozen=True):
    """What the cross-check accepts. Each default says where it comes from.

    A plain number tightens what is measured; what loosens it is `{limit: NUMBER, reason: TEXT}`.

    Args:
        acceleration: relative; round-off of a forward-dynamics solve of a long chain.
        order: part of the expected order of convergence that the observed one may lack.
        mass: relative, of any link.
        one_step: error of one control period, relative to the change; above it the error must
            fall with the physics step by order 1, less `one_step_order`.
        trajectory: largest distance of any link [m] at the scenario's physics step, by engine.
    """

    acceleration: float = Field(1e-8, gt=0)
    mass: float = Field(1e-6, gt=0)
    one_step: float | Allowance = Field(ONE_STEP)
    one_step_order: float = Field(0.3, gt=0)
    order: float = Field(0.1, gt=0)
    trajectory: dict[str, float | Allowance] = {}


class StatisticsSpec(BaseModel, extra="forbid", frozen=True):
    """How a sensitive motion is compared: by the median of a figure over seeds.

    Args:
        figure: name of a figure of the run.
        seeds: number of runs of each engine.
        allowance: difference of the medians, in the figure's unit, that is allowed beside what the
            physics step makes; 0 for none.
    """

    figure: str
    seeds: int = Field(20, ge=3)
    allowance: float = Field(0.0, ge=0)


class CrosscheckSpec(BaseModel, extra="forbid", frozen=True):
    """How a scenario is cross-checked: run length [s], number of random states, tolerances.

    With `statistics` the motion counts as chaotic: engines are compared by a figure's median over
    seeds, in runs of the scenario's own duration, and not by steps and trajectories.
    `excuse` names, by level and engine, why what is found there does not count against the engine.
    """

    duration: float = Field(5.0, gt=0)
    states: int = Field(100, ge=1)
    statistics: StatisticsSpec | None = None
    tolerances: Tolerances = Tolerances()
    excuse: dict[Level, dict[str, str]] = {}


class Scenario(BaseModel, extra="forbid", frozen=True):
    """One experiment, complete: with the versions of the engines it can be repeated exactly.

    Args:
        robot: name of the robot.
        name: of the scenario, from its file.
        description: one line for `accord list`.
        base: how `base_link` is tied to the world; a ball turns about its centre, which stays.
        world: name of the world for Gazebo, where the robot makes none of its terrain.
        terrain: what stands around the robot, in the words of the robot's package.
        parameters: changes to the robot's physical parameters.
        initial: the state to start from.
        controller: `name`, and the controller's parameters beside it.
        friction: `law`, and the law's parameters beside it.
        duration, control_period, physics_step: [s].
        seed: for whatever is random.
        engine_options: by engine, `integrator` of MuJoCo say.
        crosscheck: lengths and tolerances of the cross-check.
    """

    robot: str
    name: str = ""
    description: str = ""
    base: Base = "fixed"
    world: str = "flat"
    terrain: dict[str, Any] = {}
    parameters: dict[str, float | int] = {}
    initial: Initial = Initial()
    controller: dict[str, Any] = {"name": "none"}
    friction: dict[str, Any] = {"law": "none"}
    duration: float = Field(10.0, gt=0)
    control_period: float = Field(0.001, gt=0)
    physics_step: float = Field(0.001, gt=0)
    seed: int = Field(0, ge=0)
    engine_options: dict[str, dict[str, Any]] = {}
    crosscheck: CrosscheckSpec = CrosscheckSpec()

    def data(self) -> dict[str, Any]:
        """Return the scenario as plain data, as it would stand in a file."""
        dump = getattr(self, "model_dump", None) or self.dict
        plain: dict[str, Any] = dump()
        return plain


def load_scenario(package: str, robot: str, name: str, changes: Sequence[str] = ()) -> Scenario:
    """Read a scenario of a package, or a YAML file, and apply `KEY=VALUE` changes.

    Args:
        package: ROS package that holds `scenarios/NAME.yaml`.
        robot: name of the robot, which the file must agree with.
        name: of the scenario, or a path ending in .yaml.
        changes: `KEY=VALUE`, dots into nested keys, values in YAML.

    Raises:
        AccordError: for an unknown scenario or key, or a value that does not fit.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else _shipped(package, robot, name)
    data = read_yaml(path)
    if data.setdefault("robot", robot) != robot:
        raise AccordError(f"{path.name} is a scenario of {data['robot']}, not of {robot}")
    data.setdefault("name", path.stem)
    for change in changes:
        apply_change(data, change)
    return make_scenario(data)


def make_scenario(data: Mapping[str, Any]) -> Scenario:
    """Check plain data and return the scenario.

    Raises:
        AccordError: one line that names the first wrong key.
    """
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
            raise AccordError(f"unknown key {key}{did_you_mean(key, data_keys())}") from None
        raise AccordError(f"{key}: {first['msg'].lower()}") from None
    _check_tolerances(scenario.crosscheck.tolerances)
    count_steps(scenario.control_period, scenario.physics_step, "control_period over physics_step")
    count_steps(scenario.duration, scenario.control_period, "duration over control_period")
    return scenario


def _check_tolerances(tolerances: Tolerances) -> None:
    """Refuse numbers that are no tolerance, and one that loosens a level without a reason."""
    place = "crosscheck.tolerances"
    numbers = {f"trajectory.{engine}": v for engine, v in tolerances.trajectory.items()}
    for key, value in {"one_step": tolerances.one_step, **numbers}.items():
        if isinstance(value, float) and not 0.0 < value < math.inf:
            raise AccordError(f"{place}.{key}: {value:g} is no tolerance")
    if isinstance(tolerances.one_step, float) and tolerances.one_step > ONE_STEP:
        raise AccordError(
            f"{place}.one_step: what loosens {ONE_STEP:g} takes {{limit: NUMBER, reason: TEXT}}"
        )
    defaults = Tolerances()
    for key in ("acceleration", "mass", "one_step_order", "order"):
        most = getattr(defaults, key)
        if not getattr(tolerances, key) <= most:
            raise AccordError(f"{place}.{key}: it is {most:g} at most, and may be made smaller")


def data_keys() -> list[str]:
    """Return the top-level keys of a scenario."""
    return list(Scenario(robot="any").data())


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint for a mistyped word, or what there is to choose from."""
    options = sorted(known)
    close = difflib.get_close_matches(word, options, n=1)
    if close:
        return f"; did you mean {close[0]}?"
    more = f" and {len(options) - MANY} more" if len(options) > MANY else ""
    return f"; there is {', '.join(options[:MANY]) or 'none'}{more}"


def scenario_names(package: str) -> list[str]:
    """Return the names of the scenarios that a package ships."""
    return sorted(path.stem for path in (share(package) / "scenarios").glob("*.yaml"))


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a mapping from a YAML file.

    Raises:
        AccordError: if it cannot be read, is no YAML or holds no mapping.
    """
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=_NumberLoader)  # noqa: S506
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise AccordError(f"cannot read {path}: {reason}") from None
    if not isinstance(data, dict):
        raise AccordError(f"cannot read {path}: it holds no keys")
    return data


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
        place[last] = yaml.load(text, Loader=_NumberLoader)  # noqa: S506 - a safe loader
    except yaml.YAMLError:
        raise AccordError(f"--set {key}: {text!r} is no YAML value") from None


class _NumberLoader(yaml.SafeLoader):
    """Read 1e-3 as a number, as every engineer means it and YAML 1.1 does not."""


_NumberLoader.yaml_implicit_resolvers = {
    k: list(v) for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_NumberLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)


def _shipped(package: str, robot: str, name: str) -> Path:
    path = share(package) / "scenarios" / f"{name}.yaml"
    if not path.is_file():
        hint = did_you_mean(name, scenario_names(package))
        raise AccordError(f"{robot} has no scenario {name}{hint}")
    return path

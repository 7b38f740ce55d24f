"""Physical parameters of a robot: declared once, in a YAML file that Python and xacro both read.

`config/parameters.yaml` of the robot's package has an entry for each parameter: `value`, `unit`,
`source` and `uncertainty`. `Parameters` offers the values as read-only attributes; a robot derives
a class from it, with derived quantities as properties, and `check` to refuse values. Sets of other
values are further files of the same form. Instances are read-only and equal by value
(test_parameters).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, NoReturn, Self, TypeVar, get_type_hints

from roboaccord.contract.errors import AccordError, check_known, did_you_mean
from roboaccord.description.resources import share
from roboaccord.description.yaml_files import read_yaml

P = TypeVar("P", bound="Parameters")
ENDS = ("low", "high")  # of a range


class MissingParameterError(AccordError, AttributeError):
    """A parameter that the robot's file does not have."""


class Parameters:
    """Physical parameters of a robot in SI units, as read-only attributes.

    `config/parameters.yaml` of the robot's package declares them. A robot derives a class to add
    derived quantities (properties), to refuse values (`check`), and to annotate whole numbers:
    `joints: int`.

    Args:
        values: by name.
    """

    _names: tuple[str, ...]

    def __init__(self, **values: float) -> None:
        for name, value in values.items():
            if not math.isfinite(value):
                raise ValueError(f"{name} is {value}, and must be finite")
        self.__dict__.update(values, _names=tuple(values))
        self.check()

    def check(self) -> None:
        """Refuse values of which no robot can be made; a derived class overrides it.

        Raises:
            ValueError: one line that names the parameter.
        """

    def as_dict(self) -> dict[str, float]:
        """Return the values by name."""
        return {name: self.__dict__[name] for name in self._names}

    def replace(self, **changes: float) -> Self:
        """Return parameters with some of the values changed."""
        for name in changes:
            if name not in self._names:
                raise TypeError(f"unknown parameter {name}{did_you_mean(name, self._names)}")
        return type(self)(**{**self.as_dict(), **changes})

    def __getattr__(self, name: str) -> float:
        """Refuse a name that is no parameter."""
        raise MissingParameterError(f"parameter {name} is missing")

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        """Refuse any change."""
        raise AttributeError(f"parameters are read-only: {name}")

    def __eq__(self, other: object) -> bool:
        """Return whether another object has the same class and values."""
        return type(other) is type(self) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        """Return a hash of names and values."""
        return hash(tuple(self.as_dict().items()))

    def __repr__(self) -> str:
        """Return the class with all values."""
        values = ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items())
        return f"{type(self).__name__}({values})"


@cache
def parameter_file(package: str, name: str = "parameters") -> dict[str, Any]:
    """Return the entries of a package's parameter file, `config/NAME.yaml`.

    Raises:
        AccordError: if it cannot be read, or an entry of it has no value that is a number.
    """
    path = share(package) / "config" / f"{name}.yaml"
    entries = read_yaml(path)
    for name, entry in entries.items():
        value = entry.get("value") if isinstance(entry, dict) else None
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not math.isfinite(float(value or 0.0)):
            raise AccordError(f"{path}: {name} has no value that is a number")
    return entries


def parameter_set(package: str, choice: str) -> dict[str, float]:
    """Return the values of a set of parameters.

    Args:
        package: ROS package that holds `config/NAME.yaml`.
        choice: `NAME`; or `NAME:low` or `NAME:high` for an end of each value's uncertainty.

    Raises:
        AccordError: for an unknown set, or an end of a parameter without a range.
    """
    name, colon, end = choice.partition(":")
    if not name.isidentifier() or not (share(package) / "config" / f"{name}.yaml").is_file():
        raise AccordError(f"parameters: {package} has no set {name!r}")
    entries = parameter_file(package, name)
    if not colon:
        return {key: entry["value"] for key, entry in entries.items()}
    check_known(f"parameters: unknown end of the set {name}: ", end, ENDS)
    for key, entry in entries.items():
        if not isinstance(entry.get("uncertainty"), list):
            raise AccordError(f"parameters: {key} of the set {name} has no range")
    return {key: entry["uncertainty"][ENDS.index(end)] for key, entry in entries.items()}


def load_parameters(kind: type[P], package: str, changes: Mapping[str, float] | None = None) -> P:
    """Return the parameters of a robot, with some of them changed.

    Args:
        kind: class of the parameters.
        package: ROS package that holds `config/parameters.yaml`.
        changes: values that replace the file's.

    Raises:
        AccordError: for an unknown parameter, or a value of the wrong kind.
    """
    values: dict[str, float] = {n: e["value"] for n, e in parameter_file(package).items()}
    check_known("unknown key parameters.", changes or (), values)
    values |= changes or {}
    kinds = get_type_hints(kind)
    for name, value in values.items():
        is_whole = kinds.get(name) is int
        if is_whole and not float(value).is_integer():
            raise AccordError(f"parameters.{name}: {value} is not a whole number")
        values[name] = int(value) if is_whole else float(value)
    try:
        return kind(**values)
    except ValueError as error:
        raise AccordError(f"parameters: {error}") from None

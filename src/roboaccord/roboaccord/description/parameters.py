"""Physical parameters: one YAML file a robot, read by its dataclass and by its xacro alike.

Each entry of `config/parameters.yaml` has `value`, `unit`, `source` and `uncertainty`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.description.resources import share
from roboaccord.description.yaml_files import read_yaml

P = TypeVar("P")


@cache
def parameter_file(package: str) -> dict[str, Any]:
    """Return the entries of a package's parameter file."""
    return read_yaml(share(package) / "config" / "parameters.yaml")


def load_parameters(
    kind: type[P], package: str, changes: Mapping[str, float | int] | None = None
) -> P:
    """Return the parameters of a robot, with some of them changed.

    Args:
        kind: frozen dataclass whose fields the file names.
        package: ROS package that holds `config/parameters.yaml`.
        changes: values that replace the file's.

    Raises:
        AccordError: for an unknown parameter, or a value of the wrong kind.
    """
    fields = {f.name: f.type for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    values: dict[str, Any] = {n: e["value"] for n, e in parameter_file(package).items()}
    for name, value in (changes or {}).items():
        if name not in fields:
            raise AccordError(f"unknown key parameters.{name}{did_you_mean(name, fields)}")
        values[name] = value
    for name, value in values.items():
        if fields[name] == "int":
            if float(value) != int(value):
                raise AccordError(f"parameters.{name}: {value} is not a whole number")
            values[name] = int(value)
        else:
            values[name] = float(value)
    try:
        return kind(**values)
    except ValueError as error:
        raise AccordError(f"parameters: {error}") from None

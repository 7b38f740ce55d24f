"""Typed results: quantities with a unit and a meaning, and their JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeAlias, get_type_hints

import numpy as np

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""What JSON can hold."""


@dataclass(frozen=True)
class Quantity:
    """Say of a field of a result what it is: `speed: Annotated[float, Quantity("m/s", "...")]`.

    Args:
        unit: SI symbol, products with blanks as `N m`; 1 for a ratio, "" for what has none.
        meaning: what is measured, in a few words.
    """

    unit: str
    meaning: str = ""


@cache
def quantities(result: type) -> Mapping[str, Quantity]:
    """Return the quantities among the fields of a dataclass, by name."""
    hints = get_type_hints(result, include_extras=True)
    return {
        name: item
        for name, hint in hints.items()
        for item in getattr(hint, "__metadata__", ())
        if isinstance(item, Quantity)
    }


def unit_of(result: type, name: str) -> str:
    """Return the unit of a field of a dataclass."""
    return quantities(result)[name].unit


def to_json(value: object) -> Json:
    """Return a result as JSON has it: a dataclass by its fields, null for NaN and infinity.

    A class whose keys are not its fields has a method `to_json` of its own.
    """
    own = getattr(value, "to_json", None)
    if own is not None:
        return to_json(own())
    if is_dataclass(value) and not isinstance(value, type):
        return by_fields(value)
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return to_json(value.tolist())
    if isinstance(value, Enum | PurePath):
        return str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Sequence):
        return [to_json(item) for item in value]
    raise TypeError(f"no JSON of {type(value).__name__}")


def by_fields(value: DataclassInstance) -> dict[str, Json]:
    """Return a dataclass as JSON by its fields, whether or not it has a `to_json` of its own."""
    return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}

"""Results as JSON without loss: arrays bit by bit, and objects by the names of their classes."""

from __future__ import annotations

import base64
import importlib
import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np

from roboaccord.description.parameters import Parameters

_PLAIN = (bool, int, float, str, type(None))


def encode(value: Any) -> Any:
    """Return a value as plain data for JSON, from which `decode` makes it again.

    Numbers, text, lists, tuples, sets, dictionaries, arrays, members of enumerations, dataclasses,
    parameters of robots, and functions and classes of modules by name. A partial function or a path
    is encoded only.

    Raises:
        TypeError: for anything else.
    """
    if type(value) in _PLAIN:
        return value
    if type(value) is list:
        return [encode(item) for item in value]
    return {_kind(value): _content(value)}


def _kind(value: Any) -> str:
    kinds: dict[str, Any] = {
        "tuple": tuple, "set": frozenset, "dict": Mapping, "array": (np.ndarray, np.generic),
        "enum": Enum, "partial": partial, "path": Path, "parameters": Parameters,
    }  # fmt: skip
    for name, types in kinds.items():
        if isinstance(value, types):
            return name
    if is_dataclass(value) and not isinstance(value, type):
        return "object"
    if callable(value) and "<" not in getattr(value, "__qualname__", "<"):
        return "name"
    raise TypeError(f"no JSON of {type(value).__name__}")


def _content(value: Any) -> Any:
    match _kind(value):
        case "tuple" | "list":
            return [encode(item) for item in value]
        case "set":
            return [encode(item) for item in sorted(value)]
        case "dict":
            return [[encode(key), encode(item)] for key, item in value.items()]
        case "array":
            array = np.ascontiguousarray(value)
            data = base64.b64encode(array.tobytes()).decode("ascii")
            return [array.dtype.str, list(np.shape(value)), data]
        case "enum":
            return [_name(type(value)), encode(value.value)]
        case "partial":
            return [encode(value.func), encode(value.args), encode(value.keywords)]
        case "path":
            return str(value)
        case "parameters":
            return [_name(type(value)), encode(value.as_dict())]
        case "object":
            content = {field.name: encode(getattr(value, field.name)) for field in fields(value)}
            return [_name(type(value)), content]
    return _name(value)


def _name(thing: Any) -> str:
    return f"{thing.__module__}:{thing.__qualname__}"


def decode(data: Any, packages: frozenset[str]) -> Any:
    """Return the value of plain data.

    Args:
        data: what `encode` returned.
        packages: whose classes and functions it may name, and no others: a file of somebody else
            shall not choose what is imported.

    Raises:
        ValueError: if it is nothing that `encode` returns, or names something else.
    """
    if type(data) in _PLAIN:
        return data
    if isinstance(data, list):
        return [decode(item, packages) for item in data]
    ((kind, content),) = data.items()
    match kind:
        case "tuple":
            return tuple(decode(item, packages) for item in content)
        case "set":
            return frozenset(decode(item, packages) for item in content)
        case "dict":
            return {decode(key, packages): decode(item, packages) for key, item in content}
        case "array":
            dtype, shape, text = content
            array = np.frombuffer(base64.b64decode(text), np.dtype(dtype)).reshape(shape).copy()
            return array if shape else array[()]
        case "enum":
            return _named(content[0], packages)(decode(content[1], packages))
        case "parameters":
            return _parameters(_named(content[0], packages), decode(content[1], packages))
        case "object":
            values = {name: decode(item, packages) for name, item in content[1].items()}
            return _made(_named(content[0], packages), values)
        case "name":
            return _named(content, packages)
    raise ValueError(f"unknown kind {kind}")


def _named(name: str, packages: frozenset[str]) -> Any:
    """Return a class or function of one of the packages."""
    module, _, path = name.partition(":")
    if module.partition(".")[0] not in packages:
        raise ValueError(f"{name} is of another package")
    found = reduce(getattr, path.split("."), importlib.import_module(module))
    if inspect.ismodule(found) or getattr(found, "__module__", None) != module:
        raise ValueError(f"{name} is defined elsewhere")
    return found


def _parameters(kind: Any, values: Mapping[str, float]) -> Parameters:
    if not (isinstance(kind, type) and issubclass(kind, Parameters)):
        raise ValueError(f"{kind} is no class of parameters")
    return kind(**values)


def _made(kind: Any, values: Mapping[str, Any]) -> Any:
    """Return an object of a dataclass with these fields."""
    if not (isinstance(kind, type) and is_dataclass(kind)):
        raise ValueError(f"{kind} is no dataclass")
    made = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made

"""Results as JSON without loss: arrays bit by bit, and objects by the names of their classes."""

from __future__ import annotations

import base64
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial, reduce
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.results import Json
from roboaccord.description.parameters import Parameters


def encode(value: object) -> Json:
    """Return a value as plain data for JSON, from which `decode` makes it again.

    Numbers, text, lists, tuples, sets, dictionaries, arrays, members of enumerations, dataclasses,
    parameters of robots, and functions and classes of modules by name. A partial function or a path
    is encoded only.

    Raises:
        TypeError: for anything else.
    """
    if isinstance(value, np.ndarray | np.generic):  # before float, of which numpy's is one
        return {"array": _array(value)}
    if isinstance(value, Enum):
        return {"enum": [_name(type(value)), encode(value.value)]}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, frozenset):
        return {"set": [encode(item) for item in sorted(value)]}
    if isinstance(value, Mapping):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, partial):
        return {"partial": [encode(value.func), encode(value.args), encode(value.keywords)]}
    if isinstance(value, Path):
        return {"path": str(value)}
    if isinstance(value, Parameters):
        return {"parameters": [_name(type(value)), encode(value.as_dict())]}
    if is_dataclass(value) and not isinstance(value, type):
        content = {field.name: encode(getattr(value, field.name)) for field in fields(value)}
        return {"object": [_name(type(value)), content]}
    if callable(value) and "<" not in getattr(value, "__qualname__", "<"):
        return {"name": _name(value)}
    raise TypeError(f"no JSON of {type(value).__name__}")


def _array(value: NDArray[np.generic] | np.generic) -> Json:
    array = np.ascontiguousarray(value)
    data = base64.b64encode(array.tobytes()).decode("ascii")
    return [array.dtype.str, list(np.shape(value)), data]


def _name(thing: Callable[..., object]) -> str:
    return f"{thing.__module__}:{thing.__qualname__}"


def decode(data: Json, packages: frozenset[str]) -> object:
    """Return the value of plain data.

    Args:
        data: what `encode` returned.
        packages: whose classes and functions it may name, and no others: a file of somebody else
            shall not choose what is imported.

    Raises:
        ValueError: if it is nothing that `encode` returns, or names something else.
    """
    if data is None or isinstance(data, bool | int | float | str):
        return data
    match data:
        case [*items]:
            return [decode(item, packages) for item in items]
        case {"tuple": [*items]}:
            return tuple(decode(item, packages) for item in items)
        case {"set": [*items]}:
            return frozenset(decode(item, packages) for item in items)
        case {"dict": [*items]}:
            return {decode(k, packages): decode(v, packages) for k, v in _pairs(items)}
        case {"array": [str(dtype), [*sizes], str(text)]}:
            return _values(dtype, sizes, text)
        case {"enum": [str(name), item]}:
            return _named(name, packages)(decode(item, packages))
        case {"parameters": [str(name), item]}:
            return _parameters(_named(name, packages), decode(item, packages))
        case {"object": [str(name), Mapping() as content]}:
            values = {str(key): decode(item, packages) for key, item in content.items()}
            return _made(_named(name, packages), values)
        case {"name": str(name)}:
            return _named(name, packages)
    raise ValueError(f"unknown kind {next(iter(data), '')}")


def _pairs(items: Sequence[Json]) -> Iterator[tuple[Json, Json]]:
    for item in items:
        match item:
            case [key, value]:
                yield key, value
            case _:
                raise ValueError(f"{item} is no pair")


def _values(dtype: str, sizes: Sequence[Json], text: str) -> NDArray[np.generic] | np.generic:
    shape = [size for size in sizes if isinstance(size, int)]
    array = np.frombuffer(base64.b64decode(text), np.dtype(dtype)).reshape(shape).copy()
    found: NDArray[np.generic] | np.generic = array if shape else array[()]
    return found


def _named(name: str, packages: frozenset[str]) -> Callable[..., object]:
    """Return a class or function of one of the packages."""
    module, _, path = name.partition(":")
    if module.partition(".")[0] not in packages:
        raise ValueError(f"{name} is of another package")
    found: Callable[..., object] = reduce(getattr, path.split("."), importlib.import_module(module))  # type: ignore[assignment]
    if inspect.ismodule(found) or getattr(found, "__module__", None) != module:
        raise ValueError(f"{name} is defined elsewhere")
    return found


def _parameters(kind: Callable[..., object], values: object) -> Parameters:
    if not (isinstance(kind, type) and issubclass(kind, Parameters) and isinstance(values, dict)):
        raise ValueError(f"{kind} is no class of parameters")
    return kind(**values)


def _made(kind: Callable[..., object], values: Mapping[str, object]) -> object:
    """Return an object of a dataclass with these fields."""
    if not (isinstance(kind, type) and is_dataclass(kind)):
        raise ValueError(f"{kind} is no dataclass")
    made = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made

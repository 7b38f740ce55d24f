"""File of the finished pieces of a study, from which an interrupted one resumes.

Results are kept without loss: arrays bit by bit, and objects by the names of their classes.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import importlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial, reduce
from pathlib import Path
from typing import TypeVar, TypeVarTuple

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import drafting, open_growing
from roboaccord.contract.results import Json
from roboaccord.description.parameters import Parameters
from roboaccord.run.versions import packages, software

R = TypeVar("R")
Ts = TypeVarTuple("Ts")
HEAD = 1_000_000  # characters of the first line at most


class ResultsFile:
    """Keep the results of pieces in a file of lines of JSON, each appended as it is finished.

    The first line identifies the study: the command, its parameters, and the software.
    A piece has a checksum, and is known by its function and arguments. `sort` at the end puts them
    into the order of the study, so that the file does not depend on who was faster.

    Args:
        path: of the file; a new one is made.
        command: that studies.
        parameters: of the study, all that its results depend on, as plain data.

    Attributes:
        held: number of pieces that the file held when it was opened.

    Raises:
        AccordError: if the file is of another study or other software, is in use, is damaged, or
            cannot be read or written.
    """

    def __init__(self, path: Path, command: str, parameters: Json) -> None:
        self.path = path
        self._packages = packages()
        self._lines, self._order = dict[str, str](), list[str]()
        self._head = {
            "study": command,
            "parameters": json.loads(json.dumps(parameters)),
            "software": software(),
        }
        try:
            self._file = open_growing(path)
            self._lock()
            self._read()
            self.held = len(self._lines)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not a study's file"
            raise AccordError(f"cannot use {path}: {reason}") from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def key(self, function: Callable[[*Ts], R], arguments: tuple[*Ts]) -> str:
        """Return the name of a piece, and take it into the order of the study."""
        text = json.dumps([encode(function), encode(arguments)])
        found = hashlib.sha256(text.encode()).hexdigest()[:32]
        self._order.append(found)
        return found

    def __contains__(self, key: str) -> bool:
        return key in self._lines

    def __getitem__(self, key: str) -> object:
        try:
            return decode(json.loads(self._lines[key])["result"], self._packages)
        except (
            ValueError, KeyError, TypeError, AttributeError, ImportError, RecursionError,
        ) as error:  # fmt: skip
            raise AccordError(f"{self.path}: piece {key} is damaged: {error}") from None

    def add(self, key: str, result: R) -> None:
        """Append the result of a piece.

        Raises:
            AccordError: if it cannot be written.
        """
        if key not in self._lines:
            line = {"piece": key, "result": encode(result)}
            self._lines[key] = json.dumps(line | {"check": _check_sum(line)})
            self._write(self._lines[key])

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AccordError(f"{self.path} is in use by another study") from None

    def _read(self) -> None:
        """Read head and pieces; a last line that was not finished is cut off."""
        self._file.seek(0)
        head = self._file.readline(HEAD)
        if not head:
            self._write(json.dumps(self._head))
            return
        self._check(head)
        good = len(head.encode())
        for number, line in enumerate(self._file, 2):
            if not line.endswith("\n"):
                break
            try:
                found = json.loads(line)
                if found.pop("check") != _check_sum(found):
                    raise ValueError(line)
                self._lines[found["piece"]] = line.rstrip("\n")
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise AccordError(f"{self.path} is damaged in line {number}") from None
            good += len(line.encode())
        self._file.truncate(good)

    def _check(self, line: str) -> None:
        """Refuse a file of another study, and name the first thing that differs."""
        try:
            head = json.loads(line)
            command, there = head["study"], head["parameters"] | head["software"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise AccordError(f"{self.path} is not a study's file: choose another file") from None
        here = self._head["parameters"] | self._head["software"]
        if command != self._head["study"]:
            raise AccordError(f"{self.path} is of another study, {command}: choose another file")
        for name in [*here, *there]:
            if there.get(name) != here.get(name):
                raise AccordError(
                    f"{self.path} is of another study, with {name} {_short(there.get(name))} and "
                    f"not {_short(here.get(name))}: choose another file"
                )

    def _write(self, line: str) -> None:
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError as error:
            raise AccordError(f"cannot write {self.path}: {error.strerror}") from None

    def sort(self) -> None:
        """Put the pieces into the order of the study, and behind them those of a larger one.

        Raises:
            AccordError: if it cannot be written.
        """
        keys = [key for key in dict.fromkeys([*self._order, *self._lines]) if key in self._lines]
        if keys == [*self._lines]:
            return
        lines = [json.dumps(self._head), *(self._lines[key] for key in keys)]
        try:
            with drafting(self.path) as draft:
                draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
        except OSError as error:
            raise AccordError(f"cannot write {self.path}: {error.strerror}") from None


def _check_sum(line: dict[str, Json]) -> str:
    """Return by what a changed digit is noticed."""
    return hashlib.sha256(json.dumps(line).encode()).hexdigest()[:16]


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


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


def _name(thing: Callable[..., R]) -> str:
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
        case {"dict": [*pairs]}:
            return dict(decode(pairs, packages))  # type: ignore[call-overload]
        case {"array": [str(dtype), [*shape], str(text)]}:
            array = np.frombuffer(base64.b64decode(text), np.dtype(dtype))
            array = array.reshape(shape).copy()  # type: ignore[arg-type]
            return array if shape else array[()]
        case {"name": str(name)}:
            return _named(name, packages)
        case (
            {"enum": [str(name), content]}
            | {"parameters": [str(name), content]}
            | {"object": [str(name), content]}
        ):
            return _made(_named(name, packages), content, packages)
    raise ValueError(f"unknown kind {next(iter(data), '')}")


def _named(name: str, packages: frozenset[str]) -> Callable[..., object]:
    """Return a class or function of one of the packages."""
    module, _, path = name.partition(":")
    if module.partition(".")[0] not in packages:
        raise ValueError(f"{name} is of another package")
    found: Callable[..., object] = reduce(getattr, path.split("."), importlib.import_module(module))  # type: ignore[assignment]
    if inspect.ismodule(found) or getattr(found, "__module__", None) != module:
        raise ValueError(f"{name} is defined elsewhere")
    return found


def _made(kind: Callable[..., object], content: Json, packages: frozenset[str]) -> object:
    """Return a member of an enumeration, parameters, or an object of a dataclass."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(decode(content, packages))
    if isinstance(kind, type) and issubclass(kind, Parameters):
        return kind(**decode(content, packages))  # type: ignore[arg-type]
    if not (isinstance(kind, type) and is_dataclass(kind) and isinstance(content, Mapping)):
        raise ValueError(f"{kind} is not a dataclass")
    made = object.__new__(kind)
    for name, value in content.items():
        object.__setattr__(made, name, decode(value, packages))
    return made

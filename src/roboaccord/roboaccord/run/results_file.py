"""File of the finished pieces of a study, from which one that was ended goes on."""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import drafting, open_growing
from roboaccord.contract.results import Json
from roboaccord.run.exact_json import decode, encode
from roboaccord.run.software import packages, software

R = TypeVar("R")
P = TypeVar("P")
HEAD = 1_000_000  # characters of the first line at most


class ResultsFile:
    """Keep the results of pieces in a file of lines of JSON, each appended as it is finished.

    The first line says of which study they are: the command, its parameters, and the software.
    A piece has a checksum, and is known by its function and arguments. On leaving without an error
    the pieces are put into the order of the study, so that the file does not depend on who was
    faster.

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
            reason = getattr(error, "strerror", None) or "it is no file of a study"
            raise AccordError(f"cannot use {path}: {reason}") from None

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if kind is None and [*self._lines] != self._ordered():
            self._sort()
        self._file.close()

    def key(self, function: Callable[..., R], arguments: tuple[object, ...]) -> str:
        """Return the name of a piece, and take it into the order of the study."""
        text = json.dumps([encode(function), encode(tuple(arguments))])
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
        """Append what a piece came to.

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
            raise AccordError(f"{self.path} is no file of a study: choose another file") from None
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

    def _ordered(self) -> list[str]:
        """Return the pieces in the order of the study, and behind them those of a larger one."""
        return [key for key in dict.fromkeys([*self._order, *self._lines]) if key in self._lines]

    def _sort(self) -> None:
        lines = [json.dumps(self._head), *(self._lines[key] for key in self._ordered())]
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

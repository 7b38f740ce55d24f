"""File of the finished pieces of a long study, from which an interrupted one resumes.

FILE, the name that docs/cluster.md gives, stays. A package's data class, enumeration or named tuple
may be read as it is; NUMPY, what pickles of arrays name, may be extended with NumPy only. Nothing
else must be let through `DataUnpickler`: a file of somebody else must run no code
(test_results_file).

The first line names the study: its command, its parameters and the software. Each other has a piece
by a digest of its function and arguments, and its result.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import io
import json
import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

from roboaccord.contract import AccordError, Json, open_growing
from roboaccord.run import packages, run_pieces, software

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

FILE = "study.jsonl"
NUMPY = {"_frombuffer", "_reconstruct", "dtype", "ndarray", "scalar"}
"""What pickles of arrays name."""


class ResultsFile:
    """Keep the results of pieces, each appended as it is finished.

    Args:
        path: of the file; a new one is made.
        study: its command and all that its results depend on, by name.

    Raises:
        AccordError: if the file is of another study or other software, is in use, or cannot be
            read or written.
    """

    def __init__(self, path: Path, study: Mapping[str, Json]) -> None:
        self.path, self._found = path, dict[str, str]()
        head = json.dumps({**study, "software": software()})
        try:
            self._file = open_growing(path)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file.seek(0)
            text = self._file.read()
            whole = text[: text.rfind("\n") + 1]  # a last line may be unfinished
            first, *lines = whole.splitlines() or [head]
            if first != head or not (whole or head.startswith(text)):
                raise AccordError(f"{path} is of another study, or of other software: name another")
            self._file.truncate(len(whole))
        except BlockingIOError:
            raise AccordError(f"{path} is in use by another study") from None
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not a study's file"
            raise AccordError(f"cannot use {path}: {reason}") from None
        self._found |= dict(line.split(" ", 1) for line in lines if " " in line)
        if not whole:
            self._write(head)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def run(
        self, function: Callable[[*Ts], T], arguments: Iterable[tuple[*Ts]], *,
        done: Callable[[T], None] = lambda result: None, **how: Any,
    ) -> list[T]:  # fmt: skip
        """Do what `run_pieces` does, but no piece that the file holds: `done` takes those first."""
        calls = [(key_of(function, call), call) for call in arguments]
        results = {key: self._kept(key) for key, _ in calls if key in self._found}
        for result in results.values():
            done(result)

        def keep(piece: tuple[str, T]) -> None:
            self._write(f"{piece[0]} {base64.b64encode(pickle.dumps(piece[1])).decode()}")
            done(piece[1])

        left = [(key, function, call) for key, call in calls if key not in results]
        results |= run_pieces(_named, left, done=keep, **how)
        return [results[key] for key, _ in calls]

    def _kept(self, key: str) -> Any:
        try:
            return DataUnpickler(io.BytesIO(base64.b64decode(self._found[key]))).load()
        except Exception as error:  # noqa: BLE001 - whatever bytes that were changed lead to
            raise AccordError(f"{self.path}: piece {key} is damaged: {error}") from None

    def _write(self, line: str) -> None:
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError as error:
            raise AccordError(f"cannot write {self.path}: {error.strerror}") from None


def key_of(function: Callable[..., object], arguments: tuple[Any, ...]) -> str:
    """Return the name of a piece."""
    named = getattr(function, "__qualname__", function)  # a partial function has no name
    return hashlib.sha256(pickle.dumps((named, arguments))).hexdigest()[:32]


def _named(key: str, function: Callable[[*Ts], T], call: tuple[*Ts]) -> tuple[str, T]:
    """Do a piece, and name it."""
    return key, function(*call)


class DataUnpickler(pickle.Unpickler):
    """Make data alone: a file of somebody else shall not choose what is imported and called."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class of data of an installed package, or what arrays are made with.

        Raises:
            ValueError: for anything else.
        """
        package = module.partition(".")[0]
        if (package == "numpy" and name in NUMPY) or (module, name) == ("builtins", "complex"):
            return super().find_class(module, name)
        found = super().find_class(module, name) if package in packages() else None
        if isinstance(found, type) and (is_dataclass(found) or issubclass(found, Enum | tuple)):
            return found
        raise ValueError(f"{module}.{name} is no data")

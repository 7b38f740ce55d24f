"""File with the finished pieces of a long study, from which an interrupted study resumes.

The first line names the study: its command, its parameters and the software. Each further line is
the result of one piece: its key, a digest of its function and arguments, and its pickled result.

Pickle can run code, and the file may come from somebody else, so `DataUnpickler` accepts data
alone: data classes, enumerations and named tuples of installed packages, and NumPy's arrays
(test_results_file). NUMPY may be extended with names of NumPy only. docs/cluster.md names FILE, so
it stays.
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

FILE = "study.jsonl"  # default name of the file
# Names of NumPy that occur in pickles of arrays.
NUMPY = {"_frombuffer", "_reconstruct", "dtype", "ndarray", "scalar"}
# Hexadecimal digits of a piece's key: 128 bits, with which a million pieces have equal keys by
# chance in 1 of 1e27 studies.
DIGEST_LENGTH = 32


class ResultsFile:
    """Results of the pieces of a study, each appended as it is finished.

    Args:
        path: of the file, which is made if it is missing.
        study: its command and everything that its results depend on, by name.

    Raises:
        AccordError: if the file is of another study or other software, is in use, or cannot be
            read or written.
    """

    def __init__(self, path: Path, study: Mapping[str, Json]) -> None:
        self.path = path
        self._stored = dict[str, str]()  # pickled results in the file, by the names of pieces
        head = json.dumps({**study, "software": software()})
        try:
            self._file = open_growing(path)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file.seek(0)
            text = self._file.read()
            complete = text[: text.rfind("\n") + 1]  # a last line may be unfinished
            first, *lines = complete.splitlines() or [head]  # a new file will begin with the head
            if first != head or not (complete or head.startswith(text)):
                raise AccordError(f"{path} is of another study, or of other software: name another")
            self._file.truncate(len(complete))
        except BlockingIOError:
            raise AccordError(f"{path} is in use by another study") from None
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not a study's file"
            raise AccordError(f"cannot use {path}: {reason}") from None
        self._stored |= dict(line.split(" ", 1) for line in lines if " " in line)
        if not complete:
            self._write(head)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def run(
        self,
        function: Callable[[*Ts], T],
        arguments: Iterable[tuple[*Ts]],
        *,
        done: Callable[[T], None] = lambda result: None,
        **options: Any,
    ) -> list[T]:
        """Run pieces as `run_pieces` does; those in the file are not run again, and come first.

        Args:
            function: computes a piece.
            arguments: arguments of each piece.
            done: called with each result.
            **options: of `run_pieces`.

        Returns:
            results in the order of the arguments.
        """
        calls = [(key_of(function, call), call) for call in arguments]
        results = {key: self._load(key) for key, _ in calls if key in self._stored}
        for result in results.values():
            done(result)

        def store(piece: tuple[str, T]) -> None:
            """Append the key and the result of a piece to the file."""
            key, result = piece
            self._write(f"{key} {base64.b64encode(pickle.dumps(result)).decode()}")
            done(result)

        missing = [(key, function, call) for key, call in calls if key not in results]
        results |= run_pieces(_with_key, missing, done=store, **options)
        return [results[key] for key, _ in calls]

    def _load(self, key: str) -> Any:
        """Return the result of a piece in the file.

        Raises:
            AccordError: if it is damaged.
        """
        try:
            return DataUnpickler(io.BytesIO(base64.b64decode(self._stored[key]))).load()
        except Exception as error:  # noqa: BLE001 - damaged bytes can raise anything
            raise AccordError(f"{self.path}: piece {key} is damaged: {error}") from None

    def _write(self, line: str) -> None:
        """Append a line.

        Raises:
            AccordError: if it cannot be written.
        """
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError as error:
            raise AccordError(f"cannot write {self.path}: {error.strerror}") from None


def key_of(function: Callable[..., object], arguments: tuple[Any, ...]) -> str:
    """Return the key of a piece, a digest of its function and arguments."""
    name = getattr(function, "__qualname__", function)  # a partial function has no name
    return hashlib.sha256(pickle.dumps((name, arguments))).hexdigest()[:DIGEST_LENGTH]


def _with_key(key: str, function: Callable[[*Ts], T], call: tuple[*Ts]) -> tuple[str, T]:
    """Run a piece, and return its key with its result."""
    return key, function(*call)


class DataUnpickler(pickle.Unpickler):
    """An unpickler of data alone: a file cannot choose what is imported and called."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class of data of an installed package, or one of NUMPY.

        Raises:
            ValueError: for anything else.
        """
        package = module.partition(".")[0]
        if (package == "numpy" and name in NUMPY) or (module, name) == ("builtins", "complex"):
            return super().find_class(module, name)
        kind = super().find_class(module, name) if package in packages() else None
        if isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, Enum | tuple)):
            return kind
        raise ValueError(f"{module}.{name} is no data")

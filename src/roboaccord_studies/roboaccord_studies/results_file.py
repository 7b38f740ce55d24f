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
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from roboaccord.cli import study_in_force
from roboaccord.contract import AccordError, Json, open_growing
from roboaccord.run import kept_in, packages, software

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

    def key(self, function: Callable[..., object], arguments: tuple[Any, ...]) -> str:
        """Return the name of a piece."""
        named = getattr(function, "__qualname__", function)  # a partial function has no name
        return hashlib.sha256(pickle.dumps((named, arguments))).hexdigest()[:32]

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def __getitem__(self, key: str) -> object:
        try:
            return DataUnpickler(io.BytesIO(base64.b64decode(self._found[key]))).load()
        except Exception as error:  # noqa: BLE001 - whatever bytes that were changed lead to
            raise AccordError(f"{self.path}: piece {key} is damaged: {error}") from None

    def add(self, key: str, result: object) -> None:
        """Append the result of a piece.

        Raises:
            AccordError: if it cannot be written.
        """
        if key not in self._found:
            self._found[key] = base64.b64encode(pickle.dumps(result)).decode()
            self._write(f"{key} {self._found[key]}")

    def _write(self, line: str) -> None:
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError as error:
            raise AccordError(f"cannot write {self.path}: {error.strerror}") from None


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


def kept(folder: Path) -> AbstractContextManager[None]:
    """Keep the pieces of the command that runs in its folder, and go on from those there."""
    return kept_in(ResultsFile(folder / FILE, study_in_force.get()))

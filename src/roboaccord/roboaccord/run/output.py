"""Output folders, and results as JSON."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array


def make_folder(path: Path) -> Path:
    """Make a folder to write in, and return it.

    Raises:
        AccordError: if it cannot be made or written.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except FileExistsError:
        raise AccordError(f"{path} is a file, not a folder") from None
    except OSError as error:
        raise AccordError(f"cannot write in {path}: {error.strerror}") from None
    return path


def fresh(path: Path) -> Path:
    """Return `path`, or the first of path_2, path_3, ... that does not exist."""
    number, found = 1, path
    while found.exists():
        number += 1
        found = path.with_name(f"{path.name}_{number}")
    return found


def plain(value: Any) -> Any:
    """Return nested data with arrays as lists, and null for nan and infinity, unknown to JSON."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    return value


def write_text(path: Path, text: str) -> None:
    """Write a file.

    Raises:
        AccordError: if it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AccordError(f"cannot write {path}: {error.strerror or error}") from None


def write_rows(path: Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table as CSV.

    Raises:
        AccordError: if it cannot be written.
    """
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(head)
            writer.writerows(rows)
    except OSError as error:
        raise AccordError(f"cannot write {path}: {error.strerror or error}") from None


def write_columns(path: Path, table: Mapping[str, Array]) -> None:
    """Write columns as CSV with every digit; empty for NaN."""
    rows = (
        ["" if math.isnan(value) else repr(float(value)) for value in row]
        for row in zip(*table.values(), strict=True)
    )
    write_rows(path, list(table), rows)

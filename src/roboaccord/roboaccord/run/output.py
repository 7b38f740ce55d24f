"""Output folders, and the writing of text files and CSV tables.

Every file that a command writes goes through these functions: they make the folder, refuse links
that lead out of it, and replace a file whole or not at all (by `writing` of contract/files.py, the
only function that opens a file to write; test_writers). `write_columns` must write all digits and
leave NaN empty, because commands and pages read the tables back.
"""

from __future__ import annotations

import csv
import math
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract import AccordError, Array, Json, check_inside, writing
from roboaccord.contract.errors import listed

# Beginnings of names, one of which is in each folder of results.
RESULTS = ("bag", "report", "summary", ".roboaccord")


def make_folder(top: Path, inside: Path | str = "") -> Path:
    """Make a folder to write in, and return it.

    Args:
        top: folder that the user chose, which may be a link.
        inside: path below it, which must not lead over links.

    Raises:
        AccordError: if it cannot be made or written.
    """
    path = top / inside
    try:
        check_inside(top, path)
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()  # fails where nothing can be written
    except FileExistsError:
        raise AccordError(f"{path} is a file, not a folder") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AccordError(f"cannot write in {path}: {reason}") from None
    return path


def fresh(path: Path) -> Path:
    """Return a path that does not exist yet: `path`, or the first free of path_2, path_3, ..."""
    number, candidate = 1, path
    while os.path.lexists(candidate):
        number += 1
        candidate = path.with_name(f"{path.name}_{number}")
    return candidate


def check_own(folder: Path) -> Path:
    """Return a folder for results, and refuse one that holds other things only."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if names and not any(name.startswith(RESULTS) for name in names):
        raise AccordError(f"{folder} holds {listed(names)}, not results: choose another folder")
    return folder


def write_text(path: Path, text: str, kind: str = "") -> None:
    """Write a file, whole or not at all.

    Args:
        path: of the file.
        text: content of the file.
        kind: ending of such files, such as ".csv"; by default that of `path`.

    Raises:
        AccordError: if it cannot be written, or there is a file of another kind.
    """
    with writing(path, kind) as draft:
        # A folder whose name is not UTF-8 appears in the text with surrogates, which are escaped.
        draft.write_text(text, encoding="utf-8", errors="backslashreplace")


def write_rows(path: Path, head: Sequence[str], rows: Iterable[Sequence[Json]]) -> None:
    """Write a table as CSV; errors as in `write_text`."""
    with writing(path, ".csv") as draft, draft.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)


def write_columns(path: Path, table: Mapping[str, Array | NDArray[np.int64]]) -> None:
    """Write columns of equal length as CSV, with every digit of each number; NaN is left empty."""
    rows = zip(*table.values(), strict=True)
    texts = (["" if math.isnan(v) else repr(v.item()) for v in row] for row in rows)
    write_rows(path, list(table), texts)

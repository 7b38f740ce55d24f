"""Rows of a campaign in a file of lines of JSON, from which a run that was ended goes on."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from roboaccord.contract.state import Array

T = TypeVar("T")


def campaign_parser(doc: str, out: str = "file, outside the repository") -> ArgumentParser:
    """Return a parser with the first line of a module's text and the option --out."""
    parser = ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help=out)
    return parser


def read(path: Path, kind: type[T]) -> list[T]:
    """Return the rows of a file, but one that was cut off; none where there is no file yet."""
    lines = path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []
    return [kind(**json.loads(line)) for line in lines if line.endswith("\n")]


def keep(path: Path, rows: Iterable[Any]) -> Iterator[Any]:
    """Yield rows as they come, each appended to a file first."""
    with path.open("a", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(asdict(row)) + "\n")
            file.flush()
            yield row


def kept(path: Path | None, make: Callable[[], Array]) -> Array:
    """Return the array of a file; where there is none yet, it is made and written there."""
    if path is None:
        return make()
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".part.npy")
        np.save(draft, make())
        draft.rename(path)
    return np.asarray(np.load(path))


def complete(
    path: Path,
    kind: type[T],
    work: Callable[[Any], T],
    calls: Sequence[tuple[Any, ...]],
    done: Callable[[T], object],
    processes: int,
) -> list[T]:
    """Return the rows of all calls in their order, after what is not in the file yet is done.

    Args:
        path: of the file.
        kind: of the rows, which have the arguments of their call as first fields.
        work: makes the row of a call.
        calls: all of them, each different.
        done: called with each new row.
        processes: at a time.
    """
    count = len(calls[0])

    def call_of(row: Any) -> tuple[Any, ...]:
        return tuple(getattr(row, field.name) for field in fields(row)[:count])

    rows = {call_of(row): row for row in read(path, kind)}
    waiting = [call for call in calls if call not in rows]
    with get_context("spawn").Pool(processes) as pool:
        for row in keep(path, pool.imap(work, waiting)):
            rows[call_of(row)] = row
            done(row)
    return [rows[call] for call in calls]

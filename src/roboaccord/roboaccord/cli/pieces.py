"""Commands whose work is done in pieces: the option `--cluster`, and what names a study.

Any command may be made to work in pieces: mark it by `@in_pieces()` and do its work by
`run_pieces`; its figures must not depend on the number of cores (test_cluster). Options that change
no number may be added to NO_FIGURE: a study goes on from a file only if all others are the same, so
a wrong entry there would mix studies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from enum import Enum
from pathlib import Path
from typing import Annotated, ParamSpec, TypeAlias, TypeVar

import typer

from roboaccord.cli.options import marked
from roboaccord.contract.results import Json, to_json
from roboaccord.run.pieces import on_cluster

R = TypeVar("R")
P = ParamSpec("P")
Value: TypeAlias = "bool | int | float | str | Path | Enum | Sequence[Value] | None"
"""Of an option."""

Cluster = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help="Work on a Dask cluster with this scheduler, tcp://HOST:PORT; default: on the cores "
        "of this machine.",
    ),
]
NO_FIGURE = {"cluster", "out", "folder", "force", "plot", "torques"}

study_in_force: ContextVar[Mapping[str, Json]] = ContextVar("study")
"""The command that runs and its parameters, by which a file of its pieces is known."""


@contextmanager
def running(command: str, given: Mapping[str, Value]) -> Iterator[None]:
    """Do the work of a command in pieces, which was given these values by its options."""
    study = {name: value for name, value in given.items() if name not in NO_FIGURE}
    token = study_in_force.set({"study": f"accord {command}", "parameters": to_json(study)})
    try:
        with on_cluster(str(cluster)) if (cluster := given["cluster"]) else nullcontext():
            yield
    finally:
        study_in_force.reset(token)


def in_pieces() -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Mark the function of a command whose work is done by `run_pieces`."""
    return marked("in_pieces", True)

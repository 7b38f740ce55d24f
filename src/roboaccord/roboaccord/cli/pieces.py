"""Commands whose work is done in pieces: the option `--cluster`, and studies that resume."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, ParamSpec, TypeAlias, TypeVar

import typer

from roboaccord.cli.options import marked
from roboaccord.contract.results import Json, to_json
from roboaccord.run.pieces import kept_in, on_cluster

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
FILE = "study.jsonl"
NO_FIGURE = {"cluster", "out", "folder", "force", "plot", "torques"}

_study: ContextVar[Mapping[str, Json]] = ContextVar("study")


@dataclass(frozen=True)
class Pieces:
    """Describe how a command's work may be cut.

    Args:
        grows: parameters of which a larger value goes on from a smaller one's pieces.
    """

    grows: tuple[str, ...] = ()

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The options, to be added to the command's."""
        kind = inspect.Parameter.KEYWORD_ONLY
        return [inspect.Parameter("cluster", kind, default="", annotation=Cluster)]

    @contextmanager
    def running(self, command: str, given: Mapping[str, Value]) -> Iterator[None]:
        """Do the work of a command that was given these values by its options."""
        apart = {*NO_FIGURE, *self.grows}
        study = {name: value for name, value in given.items() if name not in apart}
        token = _study.set({"study": f"accord {command}", "parameters": to_json(study)})
        try:
            with on_cluster(str(cluster)) if (cluster := given["cluster"]) else nullcontext():
                yield
        finally:
            _study.reset(token)


def in_pieces(*, grows: tuple[str, ...] = ()) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Mark the function of a command whose work is done by `run_pieces`."""
    return marked("pieces", Pieces(grows))


def kept(folder: Path) -> AbstractContextManager[None]:
    """Keep the pieces of the command that runs in its folder, and go on from those there."""
    from roboaccord.run.results_file import ResultsFile

    return kept_in(ResultsFile(folder / FILE, _study.get()))

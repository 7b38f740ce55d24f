"""Options of commands whose work is done in pieces: `--cluster` and `--resume`."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, ParamSpec, TypeAlias, TypeVar

import typer

from roboaccord.cli.options import marked
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import is_file
from roboaccord.contract.results import to_json
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
Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Keep each finished piece in FILE, and go on from those that it holds.",
    ),
]
FILE = "study.jsonl"
NO_FIGURE = {
    "cluster", "resume", "out", "folder", "force", "page", "report", "plot", "torques", "repair"
}  # fmt: skip

_study: ContextVar[tuple[str, Mapping[str, Value]]] = ContextVar("study")


@dataclass(frozen=True)
class Pieces:
    """Describe how a command's work may be cut.

    Args:
        own: whether it keeps pieces in its own folder, by `kept`; if not, it takes --resume.
        grows: parameters of which a larger value goes on from a smaller one's pieces.
    """

    own: bool = False
    grows: tuple[str, ...] = ()

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The options, to be added to the command's."""
        kind = inspect.Parameter.KEYWORD_ONLY
        found = [inspect.Parameter("cluster", kind, default="", annotation=Cluster)]
        if not self.own:
            found.append(inspect.Parameter("resume", kind, default=None, annotation=Resume))
        return found

    @contextmanager
    def running(self, command: str, given: Mapping[str, Value]) -> Iterator[None]:
        """Do the work of a command that was given these values by its options."""
        parameters = {
            name: _content(value)
            for name, value in given.items()
            if name not in {*NO_FIGURE, *self.grows}
        }
        with ExitStack() as stack:
            token = _study.set((f"accord {command}", parameters))
            stack.callback(_study.reset, token)
            if cluster := given["cluster"]:
                stack.enter_context(on_cluster(str(cluster)))
            path = given.get("resume")
            if isinstance(path, Path):
                if path.parent != Path() and not path.parent.is_dir():
                    raise AccordError(f"cannot use {path}: there is no folder {path.parent}")
                stack.enter_context(_kept(path))
            yield


def in_pieces(
    *, own: bool = False, grows: tuple[str, ...] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Mark the function of a command whose work is done by `run_pieces`."""
    return marked("pieces", Pieces(own, grows))


def kept(folder: Path) -> AbstractContextManager[None]:
    """Keep the pieces of the command that runs in its folder, and go on from those there."""
    return _kept(folder / FILE)


def _content(value: Value) -> Value:
    """Return a parameter as plain data; of a file, which may change, its digest too."""
    if not isinstance(value, str | Path) or not is_file(Path(value)):
        return str(value) if isinstance(value, Path) else value
    try:
        with Path(value).open("rb") as file:
            return f"{value} of SHA-256 {hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"
    except OSError as error:
        raise AccordError(f"cannot read {value}: {error.strerror}") from None


def _kept(path: Path) -> AbstractContextManager[None]:
    from roboaccord.run.results_file import ResultsFile

    command, parameters = _study.get()
    return kept_in(ResultsFile(path, command, to_json(parameters)))

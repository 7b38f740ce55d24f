"""Console output: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from roboaccord.contract.interfaces import Observer
from roboaccord.contract.state import Command, RobotState
from roboaccord.contract.trajectory import Event
from roboaccord.run.output import plain

COMPILING = "starting; the first time, kernels are compiled"

out = Console()
log = Console(stderr=True)


def print_json(data: Mapping[str, Any]) -> None:
    """Print data as JSON, and nothing else."""
    typer.echo(json.dumps(plain(dict(data)), allow_nan=False))


@contextmanager
def progress(quiet: bool) -> Iterator[Progress]:
    """Show a progress bar on stderr, where a person looks on."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
    )
    hidden = quiet or not log.is_terminal
    with Progress(*columns, console=log, transient=True, disable=hidden) as bar:
        yield bar


class ProgressObserver(Observer):
    """Show how much of a run is done, in simulated time.

    Args:
        bar: where to show it.
        label: what is run.
        duration: of the run [s].
    """

    def __init__(self, bar: Progress, label: str, duration: float) -> None:
        self._bar, self._label = bar, label
        self._task = bar.add_task(f"{label}: {COMPILING}", total=duration)
        self._next = 0.0

    def on_state(self, state: RobotState) -> None:
        """Move the bar, at most every 0.05 s of simulated time."""
        if state.time >= self._next:
            self._next = state.time + 0.05
            label = self._label if state.time > 0 else None
            self._bar.update(self._task, completed=state.time, description=label)

    def on_command(self, state: RobotState, command: Command) -> None:
        """Take no notice."""

    def on_event(self, event: Event) -> None:
        """Take no notice."""

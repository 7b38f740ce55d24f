"""Console output: results on stdout, everything else on stderr.

Widths, headings and bars may be changed; tables must fit 80 columns. Fixed: results go to `out`
(stdout) and all else to `log` (stderr); `--json` silences `note`, and not `warn`. Text of others is
printed by `Screen`, which lets no escape sequence through: test_control_characters.
"""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from roboaccord.contract.errors import CONTROLS, visible
from roboaccord.contract.interfaces import Observer
from roboaccord.contract.state import RobotState

COMPILING = "starting (compiles at first)"
STRIDE = 0.05  # s of simulated time between updates of a progress bar, which cost time


class Screen(Console):
    """A console for text that others wrote: nothing in it is markup, or steers the terminal."""

    def __init__(self, *, stderr: bool = False, file: IO[str] | None = None) -> None:
        super().__init__(stderr=stderr, file=file, markup=False, emoji=False, highlight=False)

    @property  # type: ignore[misc]  # there is nothing to set
    def file(self) -> IO[str]:
        """The stream itself, also where a progress bar replaces one that is guarded."""
        file = super().file
        return getattr(file, "rich_proxied_file", file)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return text to be laid out, as wide as it is shown."""
        return super().render_str(visible(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render anything; all text in it is `Text` or a string."""
        if isinstance(renderable, Text) and CONTROLS.search(renderable.plain):
            renderable = renderable.blank_copy(visible(renderable.plain))
        return super().render(renderable, options)


out = Screen()
log = Screen(stderr=True)


@dataclass(frozen=True)
class Call:
    """The command that runs: its name as typed, and whether `--json` hides all but the result."""

    name: str = ""
    quiet: bool = False


call: ContextVar[Call] = ContextVar("call", default=Call())  # noqa: B039 - it is frozen


def command_line() -> str:
    """Return the command as it was typed, to repeat it."""
    return shlex.join(["accord", *sys.argv[1:]])


def note(line: str) -> None:
    """Print a line on stderr that a person may want to see; `--json` hides it."""
    if not call.get().quiet:
        log.print(line, soft_wrap=True)


def warn(line: str) -> None:
    """Print a warning on stderr, with `--json` too."""
    log.print(f"accord: warning: {line}", soft_wrap=True)


@contextmanager
def progress() -> Iterator[Progress]:
    """Show a progress bar on stderr, if that is a terminal."""
    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"), TimeRemainingColumn(),
    )  # fmt: skip
    hidden = call.get().quiet or not log.is_terminal
    with Progress(*columns, console=log, transient=True, disable=hidden) as bar:
        yield bar


@contextmanager
def counted(total: int, doing: str) -> Iterator[Callable[..., None]]:
    """Show a progress bar; yield a function of how many more are done, and of what."""
    with progress() as bar:
        task = bar.add_task(COMPILING, total=total)
        yield lambda count, what=doing: bar.update(task, advance=count, description=what)


def make_table(
    *headings: str, title: str = "", words: Collection[str] = (), text: Collection[str] = ()
) -> Table:
    """Return a table without a frame, which fits a terminal of 80 columns.

    Args:
        headings: of the columns, with units in brackets; the first column is of words, the others
            of numbers, right-justified.
        title: above it.
        words: headings of further columns of words.
        text: headings of columns of sentences, the only ones that are wrapped.
    """
    table = Table(title=Text(title) if title else None, title_justify="left", box=None)
    table.pad_edge = False
    for i, heading in enumerate(headings):
        wraps = heading in text
        side: JustifyMethod = "left" if i == 0 or wraps or heading in words else "right"
        table.add_column(Text(heading), justify=side, no_wrap=not wraps, overflow="fold")
    return table


def figure_lines(rows: Mapping[str, tuple[str, str]]) -> list[str]:
    """Return figures with their units, one a line, aligned; long ones are wrapped."""
    width, lines = max(len(name) for name in rows) + 2, list[str]()
    whole = {"break_long_words": False, "break_on_hyphens": False}
    for name, (value, unit) in rows.items():
        start = {"initial_indent": f"{name:<{width}}", "subsequent_indent": " " * width}
        text = f"{value} {unit}".rstrip()
        lines.append(textwrap.fill(text, out.width, **start, **whole))  # type: ignore[arg-type]
    return lines


def file_line(files: Iterable[Path | str]) -> Text:
    """Return the line that names the files of a result, and their folder once if they share it."""
    paths = [Path(file) for file in files]
    if len({path.parent for path in paths}) > 1:
        return Text("files: " + ", ".join(map(str, paths)))
    return Text(f"files in {paths[0].parent}: " + ", ".join(path.name for path in paths))


class ProgressObserver(Observer):
    """Progress bar of a run, in simulated time.

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
        """Move the bar, at most every STRIDE of simulated time."""
        if state.time >= self._next:
            self._next = state.time + STRIDE
            label = self._label if state.time > 0 else None
            self._bar.update(self._task, completed=state.time, description=label)

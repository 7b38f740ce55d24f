"""Console output of all commands: results on stdout, everything else on stderr.

`out` writes to stdout and `log` to stderr; `note`, `warn` and the progress bars print on `log`.
Text that others wrote, such as names in a user's file, may contain escape sequences that would
steer the terminal; both are a `Screen`, which makes them visible instead (test_control_characters).
`call` tells which command runs and whether `--json` was given: then notes and bars are hidden, and
warnings are not. Tables must fit a terminal of 80 columns.
"""

from __future__ import annotations

import shlex
import sys
import textwrap
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from roboaccord.contract import Observer, RobotState
from roboaccord.contract.errors import CONTROLS, visible, wrapped
from roboaccord.numerics.jit import report_compiling

COMPILING = "starting (compiles at first)"  # label of a bar until the first step is done
# s of simulated time between updates of a progress bar. An update takes 20 us, and Rich redraws the
# bar ten times a second: any period from 0.01 to 0.1 s would do.
UPDATE_PERIOD = 0.05


class Screen(Console):
    """A console that prints all text literally: no markup, and no control characters."""

    def __init__(self, *, stderr: bool = False, file: IO[str] | None = None) -> None:
        super().__init__(stderr=stderr, file=file, markup=False, emoji=False, highlight=False)

    @property  # type: ignore[misc]  # the base class has a setter, which nobody needs here
    def file(self) -> IO[str]:
        """The stream itself, also while a progress bar has put its proxy in place of it."""
        file = super().file
        return getattr(file, "rich_proxied_file", file)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return text for the layout; control characters are replaced, so its width is right."""
        return super().render_str(visible(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render an object; control characters in its text are replaced by visible ones."""
        if isinstance(renderable, Text) and CONTROLS.search(renderable.plain):
            renderable = renderable.blank_copy(visible(renderable.plain))
        return super().render(renderable, options)


out = Screen()
log = Screen(stderr=True)


@dataclass(frozen=True)
class Call:
    """The command that runs: its full name, and whether `--json` hides notes and progress bars."""

    name: str = ""
    quiet: bool = False


call: ContextVar[Call] = ContextVar("call", default=Call())  # noqa: B039 - it is frozen


def command_line() -> str:
    """Return the command line as a shell takes it, so that a user can repeat it."""
    return shlex.join(["accord", *sys.argv[1:]])


def note(line: str) -> None:
    """Print a line on stderr that a person may want to see; `--json` hides it."""
    if not call.get().quiet:
        log.print(wrapped(line), soft_wrap=True)


def warn(line: str) -> None:
    """Print a warning on stderr, with `--json` too."""
    log.print(wrapped(f"accord: warning: {line}"), soft_wrap=True)


@contextmanager
def progress() -> Iterator[Progress]:
    """Show a progress bar on stderr, if that is a terminal, and a line if kernels compile."""
    label = TextColumn("{task.description}", markup=False)
    percentage = TextColumn("{task.percentage:>3.0f} %")
    columns = (label, BarColumn(), percentage, TimeRemainingColumn())
    is_hidden = call.get().quiet or not log.is_terminal
    stopped = threading.Event()
    if not call.get().quiet:
        threading.Thread(target=report_compiling, args=("accord", stopped), daemon=True).start()
    with ExitStack() as end:
        end.callback(stopped.set)
        bar = Progress(*columns, console=log, transient=True, disable=is_hidden)
        yield end.enter_context(bar)


@contextmanager
def counted(total: int, doing: str) -> Iterator[Callable[..., None]]:
    """Show a progress bar of `total` jobs.

    Yield a function `done(count, what)`, to be called when `count` more jobs are done; `what` is
    shown beside the bar, `doing` by default.
    """
    with progress() as bar:
        task = bar.add_task(COMPILING, total=total)
        yield lambda count, what=doing: bar.update(task, advance=count, description=what)


def make_table(
    *headings: str, title: str = "", words: Collection[str] = (), text: Collection[str] = ()
) -> Table:
    """Return a table without a frame, which fits a terminal of 80 columns.

    Args:
        headings: of the columns, with units in brackets. The first column is left-justified; the
            others hold numbers and are right-justified.
        title: printed above the table.
        words: headings of further columns that are left-justified, for names.
        text: headings of columns that are left-justified and wrapped, for sentences.
    """
    table = Table(title=Text(title) if title else None, title_justify="left", box=None)
    table.pad_edge = False
    for i, heading in enumerate(headings):
        wraps = heading in text
        alignment: JustifyMethod = "left" if i == 0 or wraps or heading in words else "right"
        table.add_column(Text(heading), justify=alignment, no_wrap=not wraps, overflow="fold")
    return table


def figure_lines(rows: Mapping[str, tuple[str, str]]) -> list[str]:
    """Return one aligned line for each figure, NAME  VALUE UNIT; long lines are wrapped.

    Args:
        rows: value and unit as texts, by name of the figure.
    """
    indent = max(len(name) for name in rows) + 2
    wrapper = textwrap.TextWrapper(out.width, break_long_words=False, break_on_hyphens=False)
    wrapper.subsequent_indent = " " * indent
    lines = []
    for name, (value, unit) in rows.items():
        wrapper.initial_indent = f"{name:<{indent}}"
        lines.append(wrapper.fill(f"{value} {unit}".rstrip()))
    return lines


def file_line(files: Iterable[Path | str]) -> Text:
    """Return the line that lists the files of a result; a folder that all share is named once."""
    paths = [Path(file) for file in files]
    if len({path.parent for path in paths}) > 1:
        return Text("files: " + ", ".join(map(str, paths)))
    return Text(f"files in {paths[0].parent}: " + ", ".join(path.name for path in paths))


class ProgressObserver(Observer):
    """Progress bar of a run, in simulated time.

    Args:
        bar: progress display to which a bar is added.
        label: shown beside the bar.
        duration: simulated time of the whole run [s].
    """

    def __init__(self, bar: Progress, label: str, duration: float) -> None:
        self._bar, self._label = bar, label
        self._task = bar.add_task(f"{label}: {COMPILING}", total=duration)
        self._next_update = 0.0

    def on_state(self, state: RobotState) -> None:
        """Move the bar, at most every UPDATE_PERIOD of simulated time."""
        if state.time >= self._next_update:
            self._next_update = state.time + UPDATE_PERIOD
            label = self._label if state.time > 0 else None
            self._bar.update(self._task, completed=state.time, description=label)

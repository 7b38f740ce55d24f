"""The command `accord`, and the one place where errors become a line and an exit status."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Annotated, Any, NoReturn

import typer

from roboaccord.cli.endings import WORDS
from roboaccord.cli.lazy import LazyGroup
from roboaccord.contract.errors import AccordError, Terminated
from roboaccord.contract.shown import guard
from roboaccord.contract.version import VERSION

INTERRUPTED = 128 + signal.SIGINT
GRACE = 2.0  # s that a process has to end
AGAIN = 0.01  # s until what was dropped is raised once more

app = typer.Typer(
    name="accord",
    cls=LazyGroup,
    help="Run the same robots in independent simulators, record, compare and explain.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Run the same robots in independent simulators, record, compare and explain."""
    if version:
        typer.echo(f"roboaccord {VERSION}")
        raise typer.Exit


def main() -> NoReturn:
    """Run the command line; exit with 0, 1 for a failed verdict, 2 for an error, 130 or 143."""
    guard()
    sys.warnoptions.append("ignore:resource_tracker")  # of pools that are ended, which it cleans up
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    status = INTERRUPTED
    with minded() as signals, suppress(KeyboardInterrupt):  # one that is raised as `run` ends
        status = run(sys.argv[1:])
    if status == INTERRUPTED or signals:
        number = signals[0] if signals else signal.SIGINT
        status = complain(WORDS[number], 128 + number)
        end_children()
        leave(status)
    sys.exit(status)


@contextmanager
def minded() -> Iterator[list[signal.Signals]]:
    """Let SIGTERM end a command as Ctrl-C does; yield the list that it is then in.

    The first signal counts: a second SIGTERM does not disturb what closes files.
    """
    told: list[signal.Signals] = []

    def end(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_IGN)
        told.append(signal.Signals(number))
        raise Terminated

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def again(dropped: Any) -> None:
        """Raise once more, in a moment, what Python drops since a destructor was running."""
        if not isinstance(dropped.exc_value, KeyboardInterrupt):
            before(dropped)
            return
        signal.signal(signal.SIGALRM, partial(_raise, dropped.exc_type))
        signal.setitimer(signal.ITIMER_REAL, AGAIN)

    signal.signal(signal.SIGTERM, end)
    before, sys.unraisablehook = sys.unraisablehook, again
    try:
        yield told
    finally:
        sys.unraisablehook = before
        for number in (*WORDS, signal.SIGALRM):  # what is left is the end of the interpreter
            signal.signal(number, signal.SIG_IGN)


def _raise(kind: type[KeyboardInterrupt], *_: object) -> NoReturn:
    raise kind


def end_children() -> None:
    """End the processes of this one that are still at work."""
    if "multiprocessing" not in sys.modules:
        return
    from multiprocessing import active_children

    children = active_children()
    for child in children:
        child.terminate()
    for child in children:
        child.join(GRACE)
        if child.is_alive():
            child.kill()
            child.join()


def leave(status: int) -> NoReturn:
    """End the process at once: pools that were interrupted are not waited for."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def run(words: list[str]) -> int:
    """Run the command line on words, and return the exit status."""
    try:
        status = app(words, standalone_mode=False, prog_name="accord")
    except AccordError as error:
        return complain(str(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return 0
    except MemoryError:
        return complain("there is not enough memory for this")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return complain(f"{where}{error.strerror or error}")
    except Exception as error:
        # Typer carries its own click, so a usage error is known by what it offers.
        if not hasattr(error, "format_message"):
            raise
        message = error.format_message()
        return complain(message) if message.strip() else 0  # without words: the help is shown
    return status if isinstance(status, int) else 0


def complain(message: str, status: int = 2) -> int:
    """Print one line on stderr, and return the exit status; a shell that completes sees none."""
    if "_ACCORD_COMPLETE" not in os.environ:
        print(f"accord: {' '.join(message.split())}", file=sys.stderr)  # noqa: T201
    return status


if __name__ == "__main__":
    main()

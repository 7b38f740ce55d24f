"""The command `accord`, and the one place where errors become a line and an exit status.

Commands are added in groups.py, errors are worded in failures.py, and signals are handled in
interrupts.py. The exit statuses are fixed: 0, 1 for a verdict, 2 for an error in one line, 130 and
143 for signals. No library may be imported at the top (test_start).
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import traceback
from contextlib import suppress
from typing import Annotated, NoReturn

import typer

from roboaccord.cli.failures import complain, hint_for_option, lack, line_of
from roboaccord.cli.groups import Group
from roboaccord.cli.interrupts import leave, minded
from roboaccord.cli.signals import RECEIVED, WORDS
from roboaccord.contract import errors
from roboaccord.scenario.user_code import DEBUG, shows_tracebacks

DEBUG_OPTION = "--debug"
INTERRUPTED = 128 + signal.SIGINT  # exit status, as shells have it


app = typer.Typer(
    name="accord", cls=Group, no_args_is_help=True, pretty_exceptions_enable=False,
    help="Run the same robots in independent simulators, record, compare and explain.",
)  # fmt: skip


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    _debug: Annotated[
        bool, typer.Option("--debug", envvar=DEBUG, help="Show tracebacks; for every command.")
    ] = False,
) -> None:
    """Run the same robots in independent simulators, record, compare and explain."""
    if version:
        from roboaccord.contract import VERSION

        typer.echo(f"roboaccord {VERSION}")
        raise typer.Exit


def main() -> NoReturn:
    """Run the command line; exit with 0, 1 for a failed verdict, 2 for an error, 130 or 143."""
    errors.guard()
    sys.warnoptions.append("ignore:resource_tracker")  # of pools that are ended, which it cleans up
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    status = INTERRUPTED
    with minded() as signals, suppress(KeyboardInterrupt):  # one that is raised as `run` ends
        status = run(sys.argv[1:])
    if status == INTERRUPTED or signals:
        number = next(iter(signals), signal.SIGINT)
        status = complain(WORDS[number], 128 + number)
        leave(status)
    sys.exit(status)


def run(words: list[str]) -> int:
    """Run the command line on words, and return the exit status."""
    before = os.environ.get(DEBUG, "")
    end = words.index("--") if "--" in words else len(words)
    if DEBUG_OPTION in words[:end]:
        words = [word for word in words[:end] if word != DEBUG_OPTION] + words[end:]
        os.environ[DEBUG] = "1"  # workers and nodes show theirs, too
    try:
        return _run(words)
    finally:
        os.environ[DEBUG] = before


def _run(words: list[str]) -> int:
    try:
        status = app(words, standalone_mode=False, prog_name="accord")
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return 0
    except (Exception, SystemExit) as error:
        if RECEIVED:
            return INTERRUPTED
        if isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError):
            return 0  # of rich and Typer, whose status would be that of a failed verdict
        message = lack(error) or hint_for_option(error, words) or line_of(error)
        if message is None:
            raise
        if shows_tracebacks():
            traceback.print_exception(error)
        return complain(message) if message.strip() else 0  # without words: the help is shown
    return status if isinstance(status, int) else 0


if __name__ == "__main__":
    main()

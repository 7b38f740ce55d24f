"""The command `accord`: runs a command line and turns its errors into an exit status.

`main` is the entry point of the process. It installs the handlers of signals (interrupts.py) and
calls `run`, which handles `--debug`. `_run` then calls the Typer application (Typer makes commands
of functions), whose commands are found by groups.py, and prints every error as one line, worded in
failures.py. A signal raises KeyboardInterrupt in the command; its number is kept in RECEIVED, and
`main` ends the process with the status that belongs to it.

The exit statuses must stay: 0, 1 for a failed verdict, 2 for an error, 130 for SIGINT and 143 for
SIGTERM. No library may be imported at the top, so that the command starts quickly (test_start).
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

from roboaccord.cli.failures import complain, exhausted_limit, hint_for_option, line_of
from roboaccord.cli.groups import Group
from roboaccord.cli.interrupts import leave, signals_handled
from roboaccord.cli.signals import RECEIVED, WORDS
from roboaccord.contract import errors
from roboaccord.scenario.user_code import DEBUG, shows_tracebacks

DEBUG_OPTION = "--debug"
SHORT = {"-h": "--help", "-o": "--out"}  # options that people know by a letter
INTERRUPTED = 128 + signal.SIGINT  # exit status of a process that SIGINT ended, as shells count it


app = typer.Typer(name="accord", cls=Group, no_args_is_help=True, pretty_exceptions_enable=False)
Version = Annotated[bool, typer.Option("--version", help="Print the version.")]
_debug_option = typer.Option(DEBUG_OPTION, envvar=DEBUG, help="Show tracebacks; for every command.")
Debug = Annotated[bool, _debug_option]


@app.callback(invoke_without_command=True)
def options(version: Version = False, _debug: Debug = False) -> None:
    """Run the same robots in independent simulators, record, compare and explain."""
    if version:
        from roboaccord.contract import VERSION

        typer.echo(f"roboaccord {VERSION}")
        raise typer.Exit


def main() -> NoReturn:
    """Run the command line; exit with 0, 1 for a failed verdict, 2 for an error, 130 or 143."""
    errors.guard()
    # Python's tracker of shared resources warns of process pools that were stopped, and cleans up.
    sys.warnoptions.append("ignore:resource_tracker")
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    status = INTERRUPTED
    # A KeyboardInterrupt may also be raised after `run` has returned.
    with signals_handled() as signals, suppress(KeyboardInterrupt):
        status = run(sys.argv[1:])
    # The first signal that arrived decides; without one, the interrupt came from the keyboard.
    if status == INTERRUPTED or signals:
        number = next(iter(signals), signal.SIGINT)
        status = complain(WORDS[number], 128 + number)
        leave(status)
    sys.exit(status)


def run(words: list[str]) -> int:
    """Run one command line, with `--debug` anywhere before `--`, and return the exit status."""
    debug_before = os.environ.get(DEBUG, "")
    end = words.index("--") if "--" in words else len(words)
    words = [SHORT.get(word, word) for word in words[:end]] + words[end:]
    if words[:1] == ["help"]:  # accord help [COMMAND]
        words = [*words[1:], "--help"]
    if DEBUG_OPTION in words[:end]:
        words = [word for word in words[:end] if word != DEBUG_OPTION] + words[end:]
        os.environ[DEBUG] = "1"  # the environment passes it on to worker processes and nodes
    try:
        return _run(words)
    finally:
        os.environ[DEBUG] = debug_before


def _run(words: list[str]) -> int:
    """Run the Typer application; print an error as one line, and return the exit status."""
    try:
        status = app(words, standalone_mode=False, prog_name="accord")
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return 0
    except (Exception, SystemExit) as error:
        if RECEIVED:  # a library made another error of the interrupt
            return INTERRUPTED
        if isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError):
            return 0  # rich and Typer exit with 1 here, which stands for a failed verdict
        message = exhausted_limit(error) or hint_for_option(error, words) or line_of(error)
        if message is None:
            raise
        if shows_tracebacks():
            traceback.print_exception(error)
        # An empty message: Typer has printed the help.
        return complain(message) if message.strip() else 0
    return status if isinstance(status, int) else 0


if __name__ == "__main__":
    main()

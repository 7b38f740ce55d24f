"""Errors as a user sees them: one line on stderr, and an exit status.

To word an error better, add a case to `line_of` or `lack`. An error for which `line_of` returns
None is a bug of this project, and keeps its traceback (test_cli_errors). Status 2 is fixed.
"""

from __future__ import annotations

import errno
import os
import sys

from roboaccord.cli.signals import NO_PROCESS
from roboaccord.contract import errors
from roboaccord.contract.plugins import lacking
from roboaccord.scenario.user_code import explain


def lack(error: BaseException | None) -> str:
    """Return in a line which limit of the process is behind an error, "" if none is."""
    while error:
        if "Too many open files" in str(error):  # also where a library is loaded
            return "too many open files: raise the limit with ulimit -n"
        if "can't start new thread" in str(error):
            return "no more threads can be started: raise the limit by ulimit -u, or ulimit -v"
        if isinstance(error, OSError) and not error.filename:
            if error.errno == errno.EAGAIN:
                return NO_PROCESS
            if error.errno == errno.ENOSPC:  # a semaphore, or memory that processes share
                return "no room for what processes share: enlarge /dev/shm, or clear it"
        error = error.__cause__ or error.__context__
    return ""


def hint_for_option(error: BaseException, words: list[str]) -> str:
    """Return the line for an option of a package, or a key of the scenario; "" for neither."""
    option, ctx = getattr(error, "option_name", ""), getattr(error, "ctx", None)
    key = option.removeprefix("--").replace("-", "_")
    if ctx is None:
        return ""
    command = ctx.command_path.split()[1:]
    if line := lacking("options", ".".join([*command, key]), " ".join([*command, option])):
        return line
    if not any("--set" in each.opts for each in ctx.command.params):
        return ""
    from roboaccord.scenario.files import data_keys

    if key not in data_keys():
        return ""
    given = " ".join(words).partition(option)[2].lstrip(" =").partition(" ")[0]
    return f"no option {option}: it is a key of the scenario; --set {key}={given or 'VALUE'}"


def line_of(error: BaseException) -> str | None:
    """Return an error in a line; None for one that is a bug of this project."""
    if isinstance(error, errors.AccordError):
        return str(error)
    if isinstance(error, MemoryError):
        return str(error) or "there is not enough memory for this"
    if line := explain(error) or errors.missing_behind(error):
        return line
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}"
    # Typer carries its own click, so a usage error is known by what it offers.
    return str(error.format_message()) if hasattr(error, "format_message") else None


def complain(message: str, status: int = 2) -> int:
    """Print one line on stderr, and return the exit status; a shell that completes sees none."""
    if "_ACCORD_COMPLETE" not in os.environ:
        print(f"accord: {' '.join(message.split())}", file=sys.stderr)  # noqa: T201
    return status

"""Turn an error into one line on stderr and an exit status.

main.py catches every error of a command and asks the functions here, in this order: is a limit of
the operating system behind it (`exhausted_limit`), was an option typed that another package or a
scenario has (`hint_for_option`), and can the error be worded in one line at all (`line_of`)? An
error that none of them words is a bug of this project and keeps its traceback (test_cli_errors). A
new wording is a new case in `exhausted_limit` or `line_of`; exit status 2 for errors must stay.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from typing import Any

from roboaccord.cli.signals import NO_PROCESS
from roboaccord.contract import errors, plugins
from roboaccord.scenario.user_code import explain


def exhausted_limit(error: BaseException | None) -> str:
    """Return one line that names the exhausted limit of the operating system behind an error.

    The error and those that led to it are searched; "" where none comes from such a limit.
    """
    while error:
        # Libraries report these two limits in errors of various classes: only the text is the same.
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
    """Return a line about a wrong command line, with the next step; "" for other errors.

    An option that the command does not have is one of a package that is not installed, a key of
    the scenario, which is given by `--set`, or a misspelt one. Where an argument is missing or one
    too many, the words are joined as they may be meant, or the first example of the help is shown.

    Args:
        error: that Typer raised; one about an option has `possibilities` and `ctx`.
        words: of the command line.
    """
    line = line_of(error) or ""
    ctx = getattr(error, "ctx", None)
    if hasattr(error, "possibilities"):
        return _about_unknown(ctx, str(getattr(error, "option_name", "")), words)
    if "argument" not in line and "one scenario" not in line:
        return ""
    typed = " ".join(["accord", *words])
    if (meant := errors.translated(typed, "commands")) != typed and "Missing" not in line:
        return f"{line}; did you mean {meant}?"
    example = re.search(r"^ *(accord .+)$", ctx.command.help or "", re.MULTILINE) if ctx else None
    return f"{line.rstrip('.')}; such as {example[1]}; see --help" if example else line


def _about_unknown(ctx: Any, option: str, words: list[str]) -> str:
    """Return the line about an option that a command does not have."""
    key = option.removeprefix("--").replace("-", "_")
    command = ctx.command_path.split()[1:]
    full_name = ".".join([*command, key])
    if advice := plugins.lacking("options", full_name, " ".join([*command, option])):
        return advice
    message = f"No such option: {option}"
    if (advised := errors.translated(message)) != message:
        return advised
    flags = [flag for parameter in ctx.command.params for flag in parameter.opts if flag[0] == "-"]
    # A key of the scenario, which only commands with --set take.
    if "--set" in flags:
        from roboaccord.scenario.files import data_keys

        near = [] if key in data_keys() else errors.nearest(option, flags)
        if not near and (meant := errors.nearest(key, data_keys())):
            # The value that was typed behind the option, if there is one.
            typed = " ".join(words).partition(option)[2].lstrip(" =").partition(" ")[0] or "VALUE"
            return f"no option {option}: it is a key of the scenario; --set {meant[0]}={typed}"
    return message + errors.did_you_mean(option, flags, "", f"{ctx.command_path} --help lists all")


def line_of(error: BaseException) -> str | None:
    """Return the error as one line, or None where it is a bug of this project."""
    if isinstance(error, errors.AccordError):
        return str(error)
    if isinstance(error, MemoryError):
        return str(error) or "there is not enough memory for this"
    if line := explain(error) or errors.missing_behind(error):
        return line
    if isinstance(error, OSError):
        file_prefix = f"{error.filename}: " if error.filename else ""
        return f"{file_prefix}{error.strerror or error}"
    # Typer has a copy of click of its own, so that a usage error cannot be told by its class.
    usage = getattr(error, "format_message", None)
    return errors.translated(usage()) if usage else None


def complain(message: str, status: int = 2) -> int:
    """Print a message as one line on stderr, and return the exit status.

    Nothing is printed while a shell asks for completions: it would appear in the user's input.
    """
    if "_ACCORD_COMPLETE" not in os.environ:
        print(f"accord: {' '.join(message.split())}", file=sys.stderr)  # noqa: T201
    return status

"""The command `accord`, and the one place where errors become a line and an exit status.

Commands may be added: an entry in MODULES, where the help wants it, and the extras that it needs
in NEEDS. To word an error better, add a case to `line_of` or `lack`. The exit statuses are fixed:
0, 1 for a verdict, 2 for an error in one line, 130 and 143 for signals. No library may be imported
at the top (test_start).
"""

from __future__ import annotations

import errno
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_command

from roboaccord.cli.signals import GRACE, NO_PROCESS, RECEIVED, WORDS
from roboaccord.contract import errors
from roboaccord.contract.plugins import added, entries, lacking, load
from roboaccord.scenario.user_code import DEBUG, explain, place_of, shows_tracebacks

if TYPE_CHECKING:
    from typer._click import Command, Context

    from roboaccord.cli.command import Result

MODULES = {
    "about": "list scenario doctor new-robot", "run": "run", "teleop": "teleop",
    "crosscheck": "crosscheck", "bags": "compare plot",
}  # fmt: skip
COMMANDS = {
    name: f"roboaccord.cli.{module}:{name.replace('-', '_')}_command"
    for module, names in MODULES.items()
    for name in names.split()
}
NEEDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("run", "teleop", "compare"), ("bag",)),
    "crosscheck": ("reference", "bag"),
    "plot": ("report", "bag"),
}
"""Extras without which a command of the core does nothing."""
DEBUG_OPTION = "--debug"
INTERRUPTED = 128 + signal.SIGINT
AGAIN = 0.01  # s until what was dropped is raised once more
LAST = GRACE + 0.4  # s; by then whoever minds this process has killed it, if it is there


class Group(TyperGroup):
    """Commands, each imported when it is asked for: what one needs may take seconds."""

    owner = ""  # the robot whose commands they are

    def load(self, name: str) -> Command | None:
        """Import a command of the core, or the group of a robot's commands; None for neither.

        Raises:
            AccordError: if libraries are missing that it needs.
        """
        if name in COMMANDS or name in entries("commands"):
            errors.need(f"accord {name} needs", *NEEDS.get(name, ()))
            core = COMMANDS.get(name)
            return command_at(name, core) if core else added_command(name)
        return robot_commands(name) if _is_robot(name) else None

    def list_commands(self, ctx: Context) -> list[str]:
        """Return the names, in the order of the help."""
        from roboaccord.scenario.installed import robot_names

        others = sorted(name for name in entries("commands") if "." not in name)
        return [*COMMANDS, *others, *robot_names()]

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Return a command for the help's list; of a robot's group the name is enough for that."""
        if words := errors.missing(*NEEDS.get(cmd_name, ())):
            return _group(TyperGroup, cmd_name, f"Needs {words.partition(':')[0]}.")
        if not _is_robot(cmd_name):
            return self.load(cmd_name)
        return _group(TyperGroup, cmd_name, f"Commands of the robot {cmd_name}.")

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        """Return the command to run.

        Raises:
            AccordError: for an unknown one, or a robot's that need a library that is missing.
        """
        name, *others = args
        if found := self.load(name):
            return name, found, others
        hint = errors.did_you_mean(name, self.list_commands(ctx))
        full = ".".join(filter(None, [self.owner, name]))
        line = lacking("commands", full, name) or lacking("robots", full.replace("-", "_"), name)
        raise errors.AccordError(line or f"No such command '{name}'{hint}")


def _is_robot(name: str) -> bool:
    from roboaccord.scenario.installed import robot_names

    return name.replace("-", "_") in robot_names()


def _group(kind: type[TyperGroup], name: str, words: str) -> Command:
    group = typer.Typer(cls=kind, help=words, no_args_is_help=True, add_completion=False)
    group.callback()(lambda: None)
    made = get_command(group)
    made.name = name
    return made


def command_at(name: str, place: str, robot: str = "") -> Command:
    """Import the function at `module:function`, and return it as a command."""
    module, _, function = place.partition(":")
    return _command(name, getattr(import_module(module), function), robot)


def added_command(full: str) -> Command:
    """Import a command that a package adds to `accord`, or to a robot's group, ROBOT.NAME."""
    robot, _, name = full.rpartition(".")
    return _command(name, load("commands", full), robot)


def _command(name: str, function: Callable[..., Result | None], robot: str) -> Command:
    from roboaccord.cli.command import add_command

    alone = typer.Typer(add_completion=False)
    add_command(alone, name, function, robot)
    return get_command(alone)


def robot_commands(name: str) -> Command:
    """Return the group of a robot's commands, of which only the one that is run is imported."""
    from roboaccord.scenario.setup import find_robot

    robot, robot_name = find_robot(name), name
    others = [other for other in added("commands", robot.name) if "." not in other]

    class RobotGroup(Group):
        owner = robot.name

        def load(self, name: str) -> Command | None:
            if name in others:
                return added_command(f"{robot.name}.{name}")
            try:
                place = robot.cli.get(name)
                return command_at(name, place, robot.name) if place else None
            except ImportError as error:
                needs = f"the commands of {robot_name} need {error.name}{place_of(error)}"
                raise errors.AccordError(f"{needs}: accord doctor reports what to do") from error

        def list_commands(self, ctx: Context) -> list[str]:
            return [*robot.cli, *sorted(others)]

        def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
            return self.load(cmd_name)

    return _group(RobotGroup, name, f"Commands of the robot {name}: {robot.summary}.")


app = typer.Typer(
    name="accord",
    cls=Group,
    help="Run the same robots in independent simulators, record, compare and explain.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


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


@contextmanager
def minded() -> Iterator[list[signal.Signals]]:
    """Let SIGTERM end a command as Ctrl-C does; yield the list that it is then in.

    The first signal counts: a second SIGTERM does not disturb what closes files. What a library
    makes of the exception, whose threads it stops, is not reported.
    """
    RECEIVED.clear()
    last = threading.Timer(LAST, lambda: leave(complain(WORDS[RECEIVED[0]], 128 + RECEIVED[0])))
    last.daemon = True  # a library may lose the exception

    def end(number: int, _: FrameType | None) -> None:
        RECEIVED.append(signal.Signals(number))
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        signal.signal(number, signal.SIG_IGN)
        with suppress(RuntimeError):  # no thread can be started
            last.start()
        raise errors.Terminated

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    before = sys.unraisablehook, threading.excepthook
    sys.unraisablehook, threading.excepthook = _in_a_callback, _in_a_thread
    try:
        yield RECEIVED
    finally:
        last.cancel()
        sys.unraisablehook, threading.excepthook = before
        for number in (*WORDS, signal.SIGALRM):  # what is left is the end of the interpreter
            signal.signal(number, signal.SIG_IGN)


def _in_a_callback(lost: sys.UnraisableHookArgs) -> None:
    """Raise once more, in a moment, an interrupt that Python drops in a callback or destructor."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        signal.signal(signal.SIGALRM, partial(_raise, lost.exc_type))
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
    elif not RECEIVED:
        sys.__unraisablehook__(lost)


def _raise(kind: type[BaseException], *_: int | FrameType | None) -> NoReturn:
    raise kind


def _in_a_thread(error: threading.ExceptHookArgs) -> None:
    if not RECEIVED:
        threading.__excepthook__(error)


def leave(status: int) -> NoReturn:
    """End the process at once: pools that were interrupted are not waited for."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


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


if __name__ == "__main__":
    main()

"""Groups of commands: those of `accord`, and those of each robot, imported only when they are used.

Importing a command may take seconds, because it imports numerical libraries. So `Group`, a Typer
group (a set of commands below one name), keeps the names of all commands and imports one when it is
run. Commands come from three places: COMMANDS lists the functions of the core's (`command_at`);
robots list theirs in their class, of which `robot_commands` makes a group; and other packages add
theirs by entry points (`added_command`).

Typer, the library that parses command lines, calls the methods of a group: `list_commands` and
`get_command` for the help, `resolve_command` to run a command.

A command of the core is added to MODULES, in the order of the help, and the optional libraries that
it needs to NEEDS. No library may be imported at the top of this module, so that help and completion
stay quick (test_start).
"""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name
from typing import TYPE_CHECKING

import typer
from typer.core import TyperGroup
from typer.main import get_command

from roboaccord.cli.flags import PlainFlags
from roboaccord.contract import errors, plugins
from roboaccord.scenario import commands_of, robot_names
from roboaccord.scenario.user_code import place_of

if TYPE_CHECKING:
    from typer._click import Command, Context

    from roboaccord.cli.result import Result

# Commands of the core, separated by blanks, by the module of this folder that has them, in the
# order of the help.
MODULES = {
    "about": "list scenario doctor new-robot",
    "run": "run",
    "teleop": "teleop",
    "crosscheck": "crosscheck",
    "bags": "compare plot",
}
# Function of each command, as module:function.
COMMANDS = commands_of("roboaccord", MODULES)
# Commands of robots that had the name of a scenario, or two names, and what they are called now.
RENAMED = {
    "packbot.collapse": "packbot fall",
    "packbot.identify": "identify packbot",
    "packbot.reach": "packbot reach-target",
    "roller_sphere.dribble": "roller-sphere dribble-map",
}
# Extras (groups of optional libraries) that a command of the core cannot do without.
NEEDS: dict[str, tuple[str, ...]] = {
    "run": ("bag",),
    "teleop": ("bag",),
    "compare": ("bag",),
    "crosscheck": ("reference", "bag"),
    "plot": ("report", "bag"),
}


class Group(PlainFlags, TyperGroup):
    """The group of all commands of `accord`; each is imported when it is run."""

    owner = ""  # name of the robot whose commands these are

    def load(self, name: str) -> Command | None:
        """Import a command, or the group of a robot's commands; None for an unknown name.

        Raises:
            AccordError: if libraries that it needs are not installed.
        """
        if name in COMMANDS or name in plugins.entries("commands"):
            errors.need(f"accord {name} needs", *NEEDS.get(name, ()))
            if name in COMMANDS:
                return command_at(name, COMMANDS[name])
            return added_command(name)
        return robot_commands(name) if _is_robot(name) else None

    def list_commands(self, ctx: Context) -> list[str]:
        """Return the names of all commands and robots, in the order of the help."""
        added_names = sorted(name for name in plugins.entries("commands") if "." not in name)
        return [*COMMANDS, *added_names, *robot_names()]

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Return a command for the list in the help.

        For a robot, and for a command whose libraries are missing, a placeholder with a line of
        help is enough: nothing is imported.
        """
        missing = errors.missing(*NEEDS.get(cmd_name, ()))
        if missing:
            return _group(TyperGroup, cmd_name, f"Needs {missing.partition(':')[0]}.")
        if not _is_robot(cmd_name):
            return self.load(cmd_name)
        return _group(TyperGroup, cmd_name, f"Commands of the robot {cmd_name}.")

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        """Return the name of the command to run, the command, and the remaining words.

        Raises:
            AccordError: for an unknown command, or one whose libraries are not installed.
        """
        name, *words = args
        if now := RENAMED.get(f"{self.owner}.{name}"):
            line = f"{ctx.command_path} {name} is now accord {now}"
            raise errors.AccordError(f"{line}; accord run {self.owner} {name} runs the scenario")
        if command := self.load(name):
            return name, command, words
        all_names = self.list_commands(ctx)
        hint = errors.did_you_mean(name, all_names, "", f"{ctx.command_path} --help lists all")
        if self.owner and name in COMMANDS:
            hint = f"; did you mean accord {name} {self.owner}?"
        full_name = ".".join(filter(None, [self.owner, name]))
        advice = plugins.lacking("commands", full_name, name)
        advice = advice or plugins.lacking("robots", full_name.replace("-", "_"), name)
        raise errors.AccordError(advice or f"No such command '{name}'{hint}")


def _is_robot(name: str) -> bool:
    """Return whether a word of the command line names a robot, with hyphens or underscores."""
    return name.replace("-", "_") in robot_names()


def _group(group_class: type[TyperGroup], name: str, help_line: str) -> Command:
    """Return an empty group of a class, with a line of help."""
    group = typer.Typer(cls=group_class, help=help_line, no_args_is_help=True, add_completion=False)
    group.callback()(lambda: None)  # Typer makes a group only of an application with a callback
    command = get_command(group)
    command.name = name
    return command


def command_at(name: str, path: str, robot: str = "") -> Command:
    """Import the function at `module:function`, and return it as a command."""
    return _as_command(name, resolve_name(path), robot)


def added_command(full_name: str) -> Command:
    """Import a command that a package adds: NAME to `accord`, ROBOT.NAME to a robot's group."""
    robot, _, name = full_name.rpartition(".")
    return _as_command(name, plugins.load("commands", full_name), robot)


def _as_command(name: str, function: Callable[..., Result | None], robot: str) -> Command:
    """Return a function as a command, of `accord` itself where `robot` is ""."""
    from roboaccord.cli.command import add_command

    single_app = typer.Typer(add_completion=False)
    add_command(single_app, name, function, robot)
    return get_command(single_app)


def robot_commands(name: str) -> Command:
    """Return the group of a robot's commands; a command is imported when it is run."""
    from roboaccord.scenario.setup import find_robot

    robot = find_robot(name)
    typed_name = name
    added_names = [other for other in plugins.added("commands", robot.name) if "." not in other]

    class RobotGroup(Group):
        """The robot's own commands, and those that packages add to them."""

        owner = robot.name

        def load(self, name: str) -> Command | None:
            """Import a command; None for an unknown name."""
            if name in added_names:
                return added_command(f"{robot.name}.{name}")
            try:
                path = robot.cli.get(name)
                return command_at(name, path, robot.name) if path else None
            except ImportError as error:
                needs = f"the commands of {typed_name} need {error.name}{place_of(error)}"
                raise errors.AccordError(f"{needs}: accord doctor reports what to do") from error

        def list_commands(self, ctx: Context) -> list[str]:
            """Return the names of the robot's commands, in the order of the help."""
            return [*robot.cli, *sorted(added_names)]

        def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
            """Return a command for the list in the help, with the first line of its own help."""
            return self.load(cmd_name)

    return _group(RobotGroup, name, f"Commands of the robot {name}: {robot.summary}.")

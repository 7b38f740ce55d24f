"""The commands of `accord`, each imported when it is asked for: what one needs may take seconds."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import typer
from typer.core import TyperGroup
from typer.main import get_command

from roboaccord.contract.errors import AccordError

if TYPE_CHECKING:
    from typer._click import Command, Context

    Resolved = tuple[str | None, Command | None, list[str]]

COMMANDS = {
    "list": "about:list_command",
    "scenario": "about:scenario_command",
    "doctor": "about:doctor_command",
    "new-robot": "new_robot:new_robot_command",
    "check": "check:check_command",
    "run": "run:run_command",
    "teleop": "teleop:teleop_command",
    "crosscheck": "crosscheck:crosscheck_command",
    "parity": "parity:parity_command",
    "sensitivity": "sensitivity:sensitivity_command",
    "sweep": "sweep:sweep_command",
    "compare": "bags:compare_command",
    "export": "bags:export_command",
    "view": "view:view_command",
    "recover": "bags:recover_command",
}


class LazyGroup(TyperGroup):
    """The core's commands, and a group for each robot that is installed."""

    def list_commands(self, ctx: Context) -> list[str]:
        """Return the names, in the order of the help."""
        from roboaccord.scenario.setup import robot_names

        return [*COMMANDS, *robot_names()]

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Return a command for the help's list; of a robot's group the name is enough for that."""
        if cmd_name in COMMANDS:
            return core_command(cmd_name)
        if cmd_name.replace("-", "_") not in self.list_commands(ctx):
            return None
        group = typer.Typer(name=cmd_name, help=f"Commands of the robot {cmd_name}.")
        group.callback()(lambda: None)
        return get_command(group)

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        """Return the command to run.

        Raises:
            AccordError: for an unknown one, or a robot's that need a library that is missing.
        """
        name, *others = args
        if name in COMMANDS:
            return name, core_command(name), others
        if name.replace("-", "_") in self.list_commands(ctx):
            return name, robot_commands(name), others
        from roboaccord.contract.errors import did_you_mean

        raise AccordError(f"No such command '{name}'{did_you_mean(name, self.list_commands(ctx))}")


def core_command(name: str) -> Command:
    """Import one of the core's commands."""
    return command_at(name, f"roboaccord.cli.{COMMANDS[name]}")


def command_at(name: str, place: str) -> Command:
    """Import the function at `module:function`, and return it as a command."""
    from roboaccord.cli.command import add_command

    module, _, function = place.partition(":")
    alone = typer.Typer(add_completion=False)
    add_command(alone, name, getattr(import_module(module), function))
    return get_command(alone)


def robot_commands(name: str) -> Command:
    """Return the group of a robot's commands, of which only the one that is run is imported."""
    from roboaccord.scenario.setup import find_robot

    robot = find_robot(name)

    class RobotGroup(TyperGroup):
        def list_commands(self, ctx: Context) -> list[str]:
            return list(robot.cli)

        def get_command(self, ctx: Context, cmd_name: str) -> Command:
            from roboaccord.scenario.user_code import place_of

            try:
                return command_at(cmd_name, robot.cli[cmd_name])
            except ImportError as error:
                raise AccordError(
                    f"the commands of {name} need {error.name}{place_of(error)}: "
                    "accord doctor says what to do"
                ) from error

        def resolve_command(
            self, ctx: Context, args: list[str]
        ) -> tuple[str | None, Command | None, list[str]]:
            word, *others = args
            if word not in robot.cli:
                from roboaccord.contract.errors import did_you_mean

                raise AccordError(f"No such command '{word}'{did_you_mean(word, robot.cli)}")
            return word, self.get_command(ctx, word), others

    words = f"Commands of the robot {name}: {robot.summary}."
    group = typer.Typer(cls=RobotGroup, help=words, no_args_is_help=True, add_completion=False)
    group.callback()(lambda: None)
    made = get_command(group)
    made.name = name
    return made

"""The commands of `accord`, each imported when it is asked for: what one needs may take seconds."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from roboaccord.contract.errors import AccordError

COMMANDS = {
    "list": "list_:list_command",
    "doctor": "doctor:doctor_command",
    "new-robot": "new_robot:new_robot_command",
    "check": "check:check_command",
    "run": "run:run_command",
    "crosscheck": "crosscheck:crosscheck_command",
    "sensitivity": "sensitivity:sensitivity_command",
    "sweep": "sweep:sweep_command",
    "compare": "bags:compare_command",
    "export": "bags:export_command",
    "view": "view:view_command",
    "recover": "bags:recover_command",
}


class LazyGroup(TyperGroup):
    """The core's commands, and a group for each robot that is installed."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, in the order of the help."""
        from roboaccord.scenario.setup import robot_names

        return [*COMMANDS, *robot_names()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command for the help's list; of a robot's group the name is enough for that."""
        if cmd_name in COMMANDS:
            return core_command(cmd_name)
        if cmd_name.replace("-", "_") not in self.list_commands(ctx):
            return None
        group = typer.Typer(name=cmd_name, help=f"Commands of the robot {cmd_name}.")
        group.callback()(lambda: None)
        return get_command(group)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
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


class RobotGroup(TyperGroup):
    """The commands of a robot."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command to run.

        Raises:
            AccordError: for an unknown one.
        """
        if args[0] not in self.commands:
            from roboaccord.contract.errors import did_you_mean

            raise AccordError(f"No such command '{args[0]}'{did_you_mean(args[0], self.commands)}")
        found: tuple[str | None, Any, list[str]] = super().resolve_command(ctx, args)
        return found


def core_command(name: str) -> Any:
    """Import one of the core's commands."""
    from roboaccord.cli.command import add_command

    module, _, function = COMMANDS[name].partition(":")
    alone = typer.Typer(add_completion=False)
    add_command(alone, name, getattr(import_module(f"roboaccord.cli.{module}"), function))
    return get_command(alone)


def robot_commands(name: str) -> Any:
    """Import the commands of a robot.

    Raises:
        AccordError: if these need a library that is missing.
    """
    from roboaccord.scenario.setup import find_robot

    path = find_robot(name).cli
    module, _, attribute = path.partition(":")
    group = typer.Typer(help=f"Commands of the robot {name}.", no_args_is_help=True)
    try:
        if path:
            group = getattr(import_module(module), attribute)
            group.info.cls = RobotGroup
    except ImportError as error:
        raise AccordError(
            f"the commands of {name} need {error.name}: accord doctor says what to do"
        ) from None
    made = get_command(group)
    made.name = name
    return made

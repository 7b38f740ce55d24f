"""The command `accord`, and the one place where errors become a line and an exit status."""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from typing import Annotated

import typer
from rich.table import Table

import roboaccord
from roboaccord.cli.bags import compare_command, export_command, recover_command
from roboaccord.cli.check import check_command
from roboaccord.cli.console import out, print_json
from roboaccord.cli.crosscheck import crosscheck_command
from roboaccord.cli.doctor import doctor_command
from roboaccord.cli.run import run_command
from roboaccord.cli.sensitivity import sensitivity_command
from roboaccord.cli.sweep import sweep_command
from roboaccord.cli.view import view_command
from roboaccord.contract.errors import AccordError
from roboaccord.description.resources import share
from roboaccord.description.yaml_files import read_yaml
from roboaccord.scenario.files import scenario_names
from roboaccord.scenario.setup import find_robot, robot_names

app = typer.Typer(
    name="accord",
    help="Run the same robots in independent simulators, record, compare and explain.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Run the same robots in independent simulators, record, compare and explain."""
    if version:
        typer.echo(f"roboaccord {roboaccord.__version__}")
        raise typer.Exit


@app.command("list")
def list_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """List robots, their scenarios and controllers.

    Example:

      accord list
    """
    rows = []
    for name in robot_names():
        robot = find_robot(name)
        for scenario in scenario_names(robot.package):
            path = share(robot.package) / "scenarios" / f"{scenario}.yaml"
            data = read_yaml(path)
            rows.append(
                {
                    "robot": name,
                    "summary": robot.summary,
                    "scenario": scenario,
                    "controller": data.get("controller", {}).get("name", "none"),
                    "description": data.get("description", ""),
                }
            )
    if as_json:
        print_json({"robots": robot_names(), "scenarios": rows})
        return
    table = Table("robot", "scenario", "controller", "what it is")
    for row in rows:
        table.add_row(row["robot"], row["scenario"], row["controller"], row["description"])
    out.print(table)


app.command("doctor")(doctor_command)
app.command("check")(check_command)
app.command("run")(run_command)
app.command("crosscheck")(crosscheck_command)
app.command("sensitivity")(sensitivity_command)
app.command("sweep")(sweep_command)
app.command("compare")(compare_command)
app.command("export")(export_command)
app.command("view")(view_command)
app.command("recover")(recover_command)


def add_robot_groups(words: list[str]) -> None:
    """Add each robot's own commands; only the robot that is asked for is imported.

    Raises:
        AccordError: if these need a library that is missing.
    """
    asked = words[0].replace("-", "_") if words else ""
    for name in robot_names():
        group = typer.Typer(help=f"Commands of the robot {name}.", no_args_is_help=True)
        if name == asked:
            robot = find_robot(name)
            if robot.cli:
                module, _, attribute = robot.cli.partition(":")
                try:
                    group = getattr(import_module(module), attribute)
                except ImportError as error:
                    raise AccordError(
                        f"the commands of {name} need {error.name}: accord doctor says what to do"
                    ) from None
        else:
            group.callback()(lambda: None)
        app.add_typer(group, name=name)
        if "_" in name:
            app.add_typer(group, name=name.replace("_", "-"), hidden=True)


def main() -> None:
    """Run the command line; exit with 0, 1 for a failed verdict, 2 for an error."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    try:
        add_robot_groups(sys.argv[1:])
    except AccordError as error:
        sys.exit(complain(str(error)))
    sys.exit(run(sys.argv[1:]))


def run(words: list[str]) -> int:
    """Run the command line on words, and return the exit status."""
    try:
        status = app(words, standalone_mode=False, prog_name="accord")
    except AccordError as error:
        return complain(str(error))
    except KeyboardInterrupt:
        return complain("interrupted", 130)
    except BrokenPipeError:
        return 0
    except Exception as error:
        # Typer carries its own click, so a usage error is known by what it offers.
        if not hasattr(error, "format_message"):
            raise
        return complain(error.format_message())
    return status if isinstance(status, int) else 0


def complain(message: str, status: int = 2) -> int:
    """Print one line on stderr, and return the exit status."""
    print(f"accord: {' '.join(message.split())}", file=sys.stderr)  # noqa: T201
    return status


if __name__ == "__main__":
    main()

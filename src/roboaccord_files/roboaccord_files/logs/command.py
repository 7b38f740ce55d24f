"""The command `accord crosscheck LOG`, a mode of `accord crosscheck`.

The options are parsed here, and passed to `crosscheck_log` in door.py. The docstring of
`check_log_command` is printed by `--help`. An option is a parameter here and there, and a word of
TAKES in door.py.
"""

from __future__ import annotations

from typing import Annotated

import typer
from roboaccord.cli import options
from roboaccord.cli.result import Result
from roboaccord.contract.modes import AddedMode

from roboaccord_files.logs.door import TAKES, crosscheck_log, is_log
from roboaccord_files.logs.shown import log_lines


def check_log_command(
    what: str,
    words: options.ScenarioIfAny = None,
    changes: options.Changes = None,
    base: options.Base = "",
    packages: options.Packages = None,
    of: str = "",
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="KEY=COLUMN",
            help="A LOG's column for time, q/JOINT, qd/JOINT or effort/JOINT, followed by [UNIT], "
            "and preceded by - if its sign is opposite or by FACTOR*; of a bag also /TOPIC[0]; may "
            "be repeated, or separated by commas.",
        ),
    ] = None,
    topic: Annotated[
        str, typer.Option(metavar="TOPIC", help="Joint states of a bag, where several have them.")
    ] = "",
    names: Annotated[
        str, typer.Option(metavar="PREFIX", help="Before the names of a LOG's joints: left_.")
    ] = "",
    run: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Which of a LOG's runs, else the last.")
    ] = None,
    passive: Annotated[
        bool, typer.Option("--passive", help="Nothing drives the robot: efforts are 0.")
    ] = False,
    effort: Annotated[
        str,
        typer.Option(metavar="KIND", help="What a LOG's efforts are: current, ..., or FILE.yaml."),
    ] = "",
    folder: options.Out = None,
) -> Result:
    """Of a LOG of your own simulator or robot, with joint positions and efforts.

    Windows of samples are compared with the equations of the robot's file: what differs (mass,
    friction, gear, delay, sign, ...), where, and by how much. Columns and units are recognised by
    their names.

    Examples:

      accord crosscheck log.csv --robot arm.urdf

      accord crosscheck log.npz --robot arm.urdf --map 'q/elbow=theta2[deg],effort/elbow=-u2'
    """
    _, arguments = options.one_scenario(words)
    report = crosscheck_log(
        what, robot=of or None, changes=changes or (), columns=mapped(columns), out=folder,
        packages=options.read_packages(packages or []), arguments=arguments, base=base,
        topic=topic, names=names, run=run or 0, passive=passive, effort=effort,
    )  # fmt: skip
    return Result(report, log_lines(report), ok=report.ok)


def mapped(texts: list[str] | None) -> dict[str, str]:
    """Return the columns by key of texts `KEY=COLUMN`, of which one may hold several after commas.

    Raises:
        AccordError: for a text without key, `=` or column.
    """
    items = [item.strip() for listed in texts or [] for item in listed.split(",")]
    return options.pairs_of(items, "--map takes KEY=COLUMN")


LOG = AddedMode(is_log, TAKES, check_log_command)

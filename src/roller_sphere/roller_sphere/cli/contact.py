"""`accord roller-sphere contact`: the ball's turning in engines against the model."""

from __future__ import annotations

from typing import Annotated

import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import progress
from roboaccord.cli.gathering import numbers
from roboaccord.cli.pieces import in_pieces
from roboaccord.cli.rendering import tables_of
from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import to_json
from roboaccord.engines import REFERENCE, engine_names, spec

from roller_sphere.source.contact_check import cases, check

COLUMNS = ("case", "alpha", "w_t_worst", "w_t_mean", "w_s_offset", "w_s_beyond", "passed")


@in_pieces()
def contact_command(
    engines: Annotated[str, typer.Option(help="Comma-separated.")] = "dart,mujoco",
    alphas: Annotated[
        str, typer.Option("--alpha-deg", help="Of the first roller; the second has minus it.")
    ] = "0 10 20 30",
) -> Result:
    """Drive the ball along 12 headings in engines, and compare its turning with the model.

    w_t, in the plane of both contacts, is to be the model's within 2 % in DART with its z axis
    along their normal e, and w_s, along e, within the interval between both rollers' lines. Exit
    status 1 if it is not. DART with its z axis up and MuJoCo are shown beside it.

    Examples:

      accord roller-sphere contact

      accord roller-sphere contact --engines dart --alpha-deg "10 30" --json
    """
    names = [name.strip() for name in engines.split(",")]
    known = [REFERENCE, *(n for n in engine_names() if "contact" not in spec(n).lacks)]
    for name in names:
        if name not in known:
            raise AccordError(f"unknown engine {name}; there is {', '.join(known)}")
    chosen = cases(names, numbers(alphas, "--alpha-deg"))
    with progress() as bar:
        task = bar.add_task("12 headings each", total=len(chosen))
        found = check(chosen, lambda finding: bar.advance(task))
    failed = any(finding.passed is False for finding in found)
    title = "the ball's turning against the model, steady parts of 12 headings"
    shown = tables_of(found, *COLUMNS, title=title)
    return Result({"findings": to_json(found)}, shown, ok=not failed)

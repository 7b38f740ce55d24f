"""`accord roller-sphere contact`: the ball's turning in engines against the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table, progress
from roboaccord.cli.gathering import numbers
from roboaccord.cli.pieces import in_pieces
from roboaccord.contract.errors import AccordError
from roboaccord.engines import REFERENCE, engine_names, spec

from roller_sphere.source.contact_check import ContactFinding, cases, check, data_of


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
    return Result({"findings": data_of(found)}, shown_of(found), ok=not failed)


def shown_of(found: Sequence[ContactFinding]) -> list[RenderableType]:
    """Return the findings for people."""
    table = make_table(
        "engine, friction", "alpha\n[deg]", "w_t, worst\n[%]", "w_t, mean\n[%]", "w_s off\n[rad/s]",
        "beyond\n[rad/s]", "ok",
        title="the ball's turning against the model, steady parts of 12 headings",
    )  # fmt: skip
    for f in found:
        place = f", z {'up' if f.axis == 'up' else 'along e'}" if f.axis else ""
        table.add_row(
            f"{f.engine} {f.law}{place}", f"{f.alpha:g}", f"{100 * f.w_t_worst:.3f}",
            f"{100 * f.w_t_mean:.3f}", f"{f.w_s_offset:.4f}", f"{f.w_s_beyond:.4f}",
            {True: "yes", False: "no", None: ""}[f.passed],
        )  # fmt: skip
    explained = (
        "w_t: turning in the plane of both contacts, off the model's by so much; w_s: along their "
        "normal e; beyond: outside of the interval of both rollers' lines"
    )
    return [table, Text(explained)]

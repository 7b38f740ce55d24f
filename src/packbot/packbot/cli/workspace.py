"""`accord packbot workspace`: what an arm with failed joints still reaches."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import RenderableType
from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table, progress
from roboaccord.cli.options import Changes, Seed, load_setup
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault, parse_fault

from packbot.failures.workspace import ANGLES, DENSE, POSES, Kept, angles_of, guard, kept


def workspace_command(
    faults: Annotated[
        list[str] | None,
        typer.Option(
            "--fault",
            metavar="JOINT=KIND",
            help="frozen:RAD or loose; frozen alone stands for angles over the joint's range, and "
            "the median over them. May be repeated.",
        ),
    ] = None,
    payload: Annotated[float, typer.Option(min=0.0, help="At the finger tips, in kg.")] = 0.0,
    poses: Annotated[int, typer.Option(min=100, help="Drawn of a failed arm.")] = POSES,
    angles: Annotated[int, typer.Option(min=1, help="At which a joint freezes.")] = ANGLES,
    keep: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Find the limits of the joint within which, wherever it freezes, this share is "
            "kept, and what they cost before.",
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the cells, as .svg or .png.")
    ] = None,
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Measure the share of its workspace that an arm with failed joints keeps.

    In the plane of the arm, in cells of 5 cm: those where a pose drawn at random has the finger
    tips, touches nothing and can be held, over those of the healthy arm, of which four times as
    many poses are drawn. Few poses miss cells; `dense` has 60,000.

    Examples:

      accord packbot workspace --fault elbow1=frozen

      accord packbot workspace --fault elbow2=loose --payload 5 --json

      accord packbot workspace --fault elbow1=frozen --keep 0.5

      accord packbot workspace --fault shoulder=frozen:1.2 --plot shoulder.svg
    """
    if not faults:
        raise AccordError("workspace takes a --fault")
    setup = load_setup("packbot", "collapse", changes)
    given = [parse_fault(text) for text in faults]
    setup.failing(given)
    cases: list[list[Fault]] = [[]]
    for fault in given:
        spread = fault.kind == "frozen" and fault.angle is None
        ones = angles_of(setup, fault, angles) if spread else [fault]
        cases = [[*case, one] for case in cases for one in ones]
    found, dense = list[Kept](), list[Kept]()
    with progress() as bar:
        task = bar.add_task("workspaces", total=2 * (len(cases) + 1))
        for into, count in ((found, poses), (dense, max(poses, DENSE))):
            for each in kept(setup, cases, payload=payload, poses=count, seed=seed):
                into.append(each)
                bar.advance(task)
    if plot:
        from packbot.failures.pictures import draw_workspace

        draw_workspace(dense, plot)
    data = figures_of(found, dense)
    if keep is not None:
        if len(given) != 1 or len(cases) < 2:
            raise AccordError("--keep takes one --fault JOINT=frozen")
        data["guard"] = asdict(guard(setup, given[0].joint, dense, keep, max(poses, DENSE)))
    return Result(data, shown_of(data))


def figures_of(found: list[Kept], dense: list[Kept]) -> dict[str, Any]:
    """Return the figures that `--json` prints; the first of both is the healthy arm."""
    values = np.array([each.retained for each in found[1:]])
    return {
        "retained": float(np.median(values)),
        "dense": float(np.median([each.retained for each in dense[1:]])),
        "cells": len(found[0].cells),
        "cases": [
            {
                "faults": list(map(str, each.faults)),
                "retained": each.retained,
                "dense": all_.retained,
            }
            for each, all_ in zip(found[1:], dense[1:], strict=True)
        ],
    }


def shown_of(data: dict[str, Any]) -> list[RenderableType]:
    """Return the figures for people."""
    table = make_table("failed", "kept", "dense", title="workspace kept in the arm's plane")
    for case in data["cases"]:
        name = ", ".join(case["faults"])
        table.add_row(name, f"{case['retained']:.3f}", f"{case['dense']:.3f}")
    table.add_row("median", f"{data['retained']:.3f}", f"{data['dense']:.3f}")
    lines: list[RenderableType] = [table]
    if limits := data.get("guard"):
        lines.append(
            f"limits {limits['lower']:.3f} to {limits['upper']:.3f} rad keep that; they cost "
            f"{100.0 * limits['cost']:.1f} % of the healthy workspace"
        )
    return lines

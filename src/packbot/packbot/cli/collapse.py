"""`accord packbot collapse` and `figures`: the report's experiment and its figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from roboaccord.cli import (
    Changes,
    Engine,
    Force,
    Out,
    ProgressObserver,
    Result,
    Seed,
    command_line,
    counted,
    file_line,
    in_pieces,
    progress,
    results,
    used_by,
)
from roboaccord.contract import Seconds, by_option, check_known
from roboaccord.report import render_plots
from roboaccord.run import made_with, run_pieces, write_text

from packbot.source.collapse import (
    CONTACTS,
    Collapse,
    Drawn,
    collapse_setup,
    draw_changes,
    run_collapse,
    run_draw,
)
from packbot.source.figures import write_figures

SOURCE = "GRRC Technical Report 2010-02 (Hall 2010)"


@by_option("perturb", "seed cluster", "", "engine contact duration set")
@in_pieces()
def collapse_command(
    engine: Engine = "reference",
    contact: Annotated[
        str,
        typer.Option(
            metavar="LAW",
            help="Contact model: normal; joint_clamp, the report's, in the reference alone; or "
            "none.",
        ),
    ] = "normal",
    duration: Annotated[Seconds, typer.Option(metavar="S", help="Duration of the fall.")] = 5.0,
    perturb: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Let N arms with randomly drawn parameters fall."),
    ] = 0,
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Let the arm fall from its drive pose, all joints without torque.

    Angles are over the horizontal, in degrees: link1 from shoulder to elbow 1, link2 from elbow 1
    to elbow 2, link3 from there on. The energy must not rise, for nothing drives the arm. With
    --perturb, lengths, radii and masses are drawn from their uncertainties in
    config/parameters.yaml, and shown is the spread.

    Examples:

      accord packbot collapse

      accord packbot collapse --engine mujoco --json

      accord packbot collapse --contact joint_clamp

      accord packbot collapse --perturb 100 --seed 1

      accord packbot collapse --set friction.restitution=0.3 --duration 8
    """
    check_known("unknown contact ", contact, CONTACTS)
    setup = collapse_setup(contact, duration, changes or ())
    with progress() as bar:
        watch = ProgressObserver(bar, f"collapse in {engine}", setup.scenario.duration)
        found = run_collapse(setup, engine, [watch])
        if perturb:
            task = bar.add_task("drawn arms", total=perturb)
            drawn = draw_changes(perturb, seed)  # what --set sets stays so, whatever is drawn
            calls = [([*each, *(changes or ())], engine, contact, duration) for each in drawn]
            draws = run_pieces(run_draw, calls, done=lambda draw: bar.advance(task))
            found = replace(found, perturbed=Drawn.of(draws, seed))
    used = used_by(setup, "physics_step") | ({} if perturb else {"perturb": None})
    return Result(found, used=used)


def figures_command(
    folder: Out = None,
    force: Force = False,
    duration: Annotated[
        Seconds, typer.Option(metavar="S", help="Duration of the collapses.")
    ] = 5.0,
) -> Result:
    """Draw the report's figures 1 to 3 and 5 to 10, and the energy of the arm.

    The arm falls three times: with contact along the normal, with the report's contact
    (joint_clamp) and with none. Writes index.html with all of it, each figure as SVG, and the
    curves as CSV.

    Examples:

      accord packbot figures --out packbot_figures

      accord packbot figures --duration 8 --json
    """
    setup = collapse_setup("normal", duration)
    runs: dict[str, Collapse] = {}
    with (
        results(folder, "packbot_figures", force=force) as place,
        counted(len(CONTACTS), "collapses") as advance,
    ):
        for contact in CONTACTS:
            runs[contact] = run_collapse(collapse_setup(contact, duration), "reference")
            advance(1)
        stills = write_figures(setup, runs, place)
        files = [place / "index.html", *(file for still in stills for file in still.files)]
        page = render_plots(
            "The Packbot's arm falls",
            f"The figures of {SOURCE}, done again.",
            stills,
            command=command_line(),
            facts={name: words_of(run) for name, run in runs.items()}
            | made_with("roboaccord-packbot", "pin", "coal"),
        )
        write_text(files[0], page)
    return Result(Figures(files, runs), [file_line(files)])


@dataclass(frozen=True)
class Figures:
    """Hold the files that were written, and the collapses by contact."""

    files: list[Path]
    collapses: Mapping[str, Collapse]


def words_of(found: Collapse) -> str:
    """Return the figures of a collapse as a sentence."""
    angles = ", ".join(f"{link} {angle:.2f}" for link, angle in found.absolute_deg.items())
    settled = found.settle_time
    rest = "not at rest" if settled is None else f"at rest after {settled:.2f} s"
    return (
        f"{angles} degrees; {rest}; energy rose by {found.energy_rise:.2g} J; "
        f"overlap at most {1e3 * found.worst_penetration:.2g} mm; {len(found.events)} events"
    )

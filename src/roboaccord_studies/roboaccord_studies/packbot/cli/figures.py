"""`accord packbot figures`: the report's figures, drawn from three collapses.

A collapse is a fall of the arm without torque. It is simulated with each contact law in CONTACTS of
`packbot.source.collapse`; `roboaccord_studies.packbot.figures` draws the figures, and a page shows
them with the command that made them.

Fields of `Figures` are keys of the JSON output and must stay (test_drawn).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from packbot.source.collapse import CONTACTS, Collapse, collapse_setup, run_collapse
from roboaccord.cli import Force, Out, Result, command_line, counted, file_line, results
from roboaccord.contract import Seconds
from roboaccord.report import render_plots
from roboaccord.run import made_with, write_text

from roboaccord_studies.packbot.figures import write_figures

# The report whose figures are drawn again.
SOURCE = "GRRC Technical Report 2010-02 (Hall 2010)"


Duration = Annotated[Seconds, typer.Option(metavar="S", help="Duration of the collapses.")]


def figures_command(folder: Out = None, force: Force = False, duration: Duration = 5.0) -> Result:
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
        results(folder, "packbot_figures", force=force) as out_folder,
        counted(len(CONTACTS), "collapses") as advance,
    ):
        for contact in CONTACTS:
            runs[contact] = run_collapse(collapse_setup(contact, duration), "reference")
            advance(1)
        stills = write_figures(setup, runs, out_folder)
        files = [out_folder / "index.html", *(file for still in stills for file in still.files)]
        title, lead = "The Packbot's arm falls", f"The figures of {SOURCE}, done again."
        facts = {contact: words_of(run) for contact, run in runs.items()}
        facts |= made_with("roboaccord-packbot", "pin", "coal")
        page = render_plots(title, lead, stills, command=command_line(), facts=facts)
        write_text(files[0], page)
    return Result(Figures(files, runs), [file_line(files)])


@dataclass(frozen=True)
class Figures:
    """The files that were written, and the collapses by contact."""

    files: list[Path]
    collapses: Mapping[str, Collapse]


def words_of(collapse: Collapse) -> str:
    """Return the figures of a collapse in words, as a fact on the page."""
    angles = ", ".join(f"{link} {angle:.2f}" for link, angle in collapse.absolute_deg.items())
    time = collapse.settle_time
    settled = "not at rest" if time is None else f"at rest after {time:.2f} s"
    return (
        f"{angles} degrees; {settled}; energy rose by {collapse.energy_rise:.2g} J; "
        f"overlap at most {1e3 * collapse.worst_penetration:.2g} mm; {len(collapse.events)} events"
    )

"""Write the paper's figures done again, its claims, and the builder's view: files and a page."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from roboaccord.contract.state import Array
from roboaccord.report.chart_plots import plot_of
from roboaccord.report.charts import Chart, Map, Scene
from roboaccord.report.pictures import draw
from roboaccord.report.plots import render_plots
from roboaccord.run.output import write_columns, write_rows, write_text

from roller_sphere.model.kinematics import Kinematics
from roller_sphere.source import builder, paper_figures
from roller_sphere.source.claims import Claim
from roller_sphere.source.paper import SOURCE
from roller_sphere.source.rig_scenes import pair_scene, roller_scene

Figure = Chart | Map | Scene


def rig_figures(kinematics: Kinematics, heading: float) -> list[Figure]:
    """Return the scenes of a rig that drives along a heading [rad]: figures 1 and 2.

    The second shows a motion without slip, where there is one: the lines meet.
    """
    scenes: list[Figure] = [
        roller_scene(kinematics, heading),
        pair_scene(kinematics, heading, "figure_2b", "Figure 2b: the lines miss each other"),
    ]
    if kinematics.rig.count == 2:
        meeting = slipless_heading(kinematics)
        name = "Figure 2a: the lines meet, and nothing slips"
        scenes.insert(1, pair_scene(kinematics, meeting, "figure_2a", name))
    return scenes


def slipless_heading(kinematics: Kinematics) -> float:
    """Return the heading along which two rollers drive without slip [rad].

    S_1 = -S_2 is linear in (w_x, w_y), so there is one, and its opposite; at alpha 0 all are.
    """
    row = (kinematics.slipping @ kinematics.driving)[0]
    # (w_x, w_y) along (row_y, -row_x); rounding at alpha 0, and x then.
    if math.hypot(*row) < 1e-12 * kinematics.rig.radius:
        return 0.0
    heading = math.atan2(-row[1], -row[0]) % math.pi
    return 0.0 if heading > math.pi - 1e-9 else heading


def write_figures(
    folder: Path,
    kinematics: Kinematics,
    heading: float,
    found: Sequence[Claim],
    points: int,
    *,
    command: str,
    facts: Mapping[str, str],
    done: Callable[[int], None] | None = None,
) -> list[Path]:
    """Write all figures with their data, the claims, and the page that shows them.

    Args:
        folder: to write in.
        kinematics: of the rig of figures 1 and 2, and of the builder's view.
        heading: of figure 2b [rad].
        found: the claims.
        points: rigs of each side of the builder's maps.
        command: that makes this again.
        facts: versions.
        done: told how many more rigs of the maps are done.

    Returns:
        the files.

    Raises:
        AccordError: if one cannot be written.
    """
    tables: dict[str, Mapping[str, Array]] = {}
    figures = rig_figures(kinematics, heading)
    for drawn, table in paper_figures.figures():
        figures.append(drawn)
        tables[drawn.name] = table
    more, data = builders_view(kinematics, points, done)
    figures, tables = figures + more, tables | data
    for figure in figures:
        draw(figure, folder / f"{figure.name}.svg")
    for name, table in tables.items():
        write_columns(folder / f"{name}.csv", table)
    write_claims(found, folder)
    page = render_plots(
        "A sphere driven by rollers",
        f"The figures of {SOURCE}, done again, and what they mean to a builder.",
        [plot_of(figure) for figure in figures],
        command=command,
        facts={claim.claim: words_of(claim) for claim in found} | dict(facts),
    )
    write_text(folder / "index.html", page)
    names = [f"{figure.name}.svg" for figure in figures] + [f"{name}.csv" for name in tables]
    return [folder / n for n in ("index.html", *names, "claims.csv", "claims.json")]


def builders_view(
    kinematics: Kinematics, points: int, done: Callable[[int], None] | None
) -> tuple[list[Figure], dict[str, Mapping[str, Array]]]:
    """Return the builder's figures for rigs with the azimuths of one, and their tables."""
    first, second = map(math.degrees, kinematics.rig.azimuth[:2])
    latitude = math.degrees(kinematics.rig.latitude[0])
    azimuth = (first, second)
    surveyed = builder.survey(azimuth, points, done=done)
    headings, alphas, speeds = builder.needed(azimuth, latitude, points)
    top = builder.top_speed_chart(azimuth, latitude)
    figures: list[Figure] = [
        *builder.maps(surveyed),
        builder.needed_map(headings, alphas, speeds, latitude),
        top,
    ]
    by_alpha = {f"alpha_{alpha:g}_deg": row for alpha, row in zip(alphas, speeds)}
    return figures, {
        "builder": builder.table(surveyed),
        "builder_headings": {"phi_deg": headings, **by_alpha},
        "top_speed": {"phi_deg": top.curves[0].x}
        | {f"{curve.name.replace(' ', '_')}_m_s": curve.y for curve in top.curves},
    }


def words_of(claim: Claim) -> str:
    """Return a claim's verdict, what is printed, and what was found."""
    verdict = "holds" if claim.holds else "DOES NOT HOLD"
    printed = "" if claim.printed == "sentence" else f"printed {claim.printed}, found "
    return f"{verdict}: {printed}{claim.found}"


def write_claims(found: Sequence[Claim], folder: Path) -> None:
    """Write the claims as CSV and as JSON."""
    rows = [asdict(claim) for claim in found]
    write_rows(folder / "claims.csv", list(rows[0]), (list(row.values()) for row in rows))
    write_text(folder / "claims.json", json.dumps(rows, indent=1) + "\n")

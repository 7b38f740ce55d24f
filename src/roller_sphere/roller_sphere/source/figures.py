"""Write the paper's figures done again, its claims, and the builder's view: files and a page."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from roboaccord.contract import Array
from roboaccord.report import Still, render_plots
from roboaccord.run import write_columns, write_table, write_text

from roller_sphere.model.kinematics import Kinematics
from roller_sphere.source import builder
from roller_sphere.source.claims import SOURCE, Claim
from roller_sphere.source.paper_figures import write_paper
from roller_sphere.source.rig_scenes import write_least, write_pair, write_planar, write_roller


def write_rig(kinematics: Kinematics, heading: float, folder: Path) -> list[Still]:
    """Write figures 1, 2, 4 and 5 of a rig that drives along a heading [rad].

    Those that say how two lines lie need two rollers: 2a, without slip, where they meet; 4 and 5.
    """
    stills = [write_roller(kinematics, heading, folder)]
    if kinematics.rig.count == 2:
        meeting = slipless_heading(kinematics)
        title = "Figure 2a: the lines meet, and nothing slips"
        stills.append(write_pair(kinematics, meeting, folder, "figure_2a", title))
    title = "Figure 2b: the lines miss each other"
    stills.append(write_pair(kinematics, heading, folder, "figure_2b", title))
    if kinematics.rig.count == 2:
        stills += write_least(kinematics, heading, folder)
        stills.append(write_planar(kinematics, heading, folder))
    return stills


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
    done: Callable[[int], None] = lambda count: None,
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
        the files: the page, and the others by name.

    Raises:
        AccordError: if one cannot be written.
    """
    stills = write_rig(kinematics, heading, folder) + write_paper(folder)
    stills.sort(key=lambda still: still.files[0])  # by the number of the figure
    more, tables = builders_view(kinematics, points, folder, done)
    stills += more
    for name, table in tables.items():
        write_columns(folder / f"{name}.csv", table)
    write_claims(found, folder)
    page = render_plots(
        "A sphere driven by rollers",
        f"The figures of {SOURCE}, done again, and what they mean to a builder.",
        stills,
        command=command,
        facts={claim.claim: words_of(claim) for claim in found} | dict(facts),
    )
    write_text(folder / "index.html", page)
    files = [file for still in stills for file in still.files]
    names = ["claims.csv", "claims.json", *(f"{name}.csv" for name in tables)]
    return [folder / "index.html", *sorted([*files, *(folder / name for name in names)])]


def builders_view(
    kinematics: Kinematics, points: int, folder: Path, done: Callable[[int], None]
) -> tuple[list[Still], dict[str, Mapping[str, Array]]]:
    """Write the builder's figures for rigs with the azimuths of one, and return their tables."""
    first, second = map(math.degrees, kinematics.rig.azimuth[:2])
    latitude = math.degrees(kinematics.rig.latitude[0])
    azimuth = (first, second)
    surveyed = builder.survey(azimuth, points, done=done)
    headings, alphas, speeds = builder.needed(azimuth, latitude, points)
    top, columns = builder.write_top_speed(azimuth, latitude, folder)
    stills = [
        *builder.write_maps(surveyed, folder),
        builder.write_needed(headings, alphas, speeds, latitude, folder),
        top,
    ]
    by_alpha = {f"alpha_{alpha:g}_deg": row for alpha, row in zip(alphas, speeds)}
    return stills, {
        "builder": surveyed.table,
        "builder_headings": {"phi_deg": headings, **by_alpha},
        "top_speed": columns,
    }


def words_of(claim: Claim) -> str:
    """Return a claim's verdict, what is printed, and what was found."""
    verdict = "holds" if claim.holds else "DOES NOT HOLD"
    printed = "" if claim.printed == "sentence" else f"printed {claim.printed}, found "
    return f"{verdict}: {printed}{claim.found}"


def write_claims(found: Sequence[Claim], folder: Path) -> None:
    """Write the claims as CSV and as JSON."""
    rows = [asdict(claim) for claim in found]
    write_table(folder / "claims.csv", found, "claim", "printed", "found", "holds")
    write_text(folder / "claims.json", json.dumps(rows, indent=1) + "\n")

"""The page of a run: its path on the ground, to turn, and its coordinates against time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from roboaccord.report.plots import Plot, render_plots
from roboaccord.run.output import write_text

from voxel_sphere.rolling.path import RolledPath
from voxel_sphere.source.path_figures import charts, surface_figure
from voxel_sphere.source.plan import write_plan
from voxel_sphere.terrain.workspace import Terrain


def write_run(
    path: RolledPath, terrain: Terrain, folder: Path, *, command: str, versions: Mapping[str, str]
) -> list[Path]:
    """Write a run into a folder: path.csv, path.svg, and index.html with both to look at.

    Args:
        path: the run.
        terrain: what it went over.
        folder: that exists.
        command: that makes this again.
        versions: by package.

    Returns:
        the files.

    Raises:
        AccordError: if one cannot be written.
    """
    files = [folder / name for name in ("path.csv", "path.svg", "index.html")]
    page = render_run(path, terrain, command=command, versions=versions)
    path.save(files[0])
    write_text(files[2], page)
    write_plan(path, terrain, files[1])
    return files


def render_run(
    path: RolledPath, terrain: Terrain, *, command: str, versions: Mapping[str, str]
) -> str:
    """Return the page of a run as HTML."""
    facts = {
        "status": path.status, "time": f"{path.time[-1]:.4g} s",
        "travel": f"{path.travel:.4g} voxels, {path.travel / path.radius:.4g} r",
        "radius r": f"{path.radius:.4g} voxels",
    }  # fmt: skip
    for number, event in enumerate(path.events, 1):
        facts[f"event {number}, at {event.time:.4g} s"] = f"{event.kind}: {event.detail}"
    return render_plots(
        f"The sphere on {terrain.name}", path.message, [
            Plot("Path", "Drag to turn it. Walls are cut off level with the sphere at its highest.",
                 surface_figure(path, terrain), height=680),
            *charts(path),
        ],
        command=command, facts=facts | dict(versions),
    )  # fmt: skip

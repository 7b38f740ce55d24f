"""Page of a run: its path over the terrain in 3-D, and its coordinates over time.

`write_run` writes three files: the samples (path.csv), a plan of the path over contours of the
ground (path.svg), and the page (index.html). The page has a figure in space (`surface_figure`), to
be turned with the mouse, and charts over time (`charts`, where another may be added). Figures and
charts are dictionaries in Plotly's format: curves are entries of "data", axes and labels of
"layout".

The contact is given in Montana's coordinates (rolling/montana.py, after Murray, Li and Sastry, A
Mathematical Introduction to Robotic Manipulation, 5.6): x and y on the ground, latitude u and
longitude v on the sphere, and the turn psi between both. The constants are looks and may be
changed. test_voxel_pages reads lines back out of page and plan and compares them with the samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from roboaccord import report
from roboaccord.contract import Array, Json
from roboaccord.run import write_text

from voxel_sphere.rolling.path import RolledPath
from voxel_sphere.source.relief import floor_heights, ground_and_walls, with_feet
from voxel_sphere.terrain.workspace import Terrain

LEVELS = 12  # approximate number of contours in a plan, by eye
FLAT = 0.1  # voxels; ground whose heights differ by less has no contours: they would show its noise
CONTACT = "#ff5fd2"  # colour of the contact's path: no height has it
WALL = "#8a97ab"  # colour of walls in space
SIDE = 150  # points; most along a side of the ground, so that a browser turns it smoothly
EYE: Json = {"x": 1.05, "y": -1.75, "z": 1.3}  # of the camera, in units of the scene's size; by eye
# Place of the legend: horizontal, under a chart and the label of its abscissa, by eye.
BELOW = {"orientation": "h", "y": -0.16, "yanchor": "top"}


def write_run(
    path: RolledPath, terrain: Terrain, folder: Path, *, command: str, versions: Mapping[str, str]
) -> list[Path]:
    """Write a run into a folder: path.csv, path.svg, and the page index.html that shows it.

    Args:
        path: the sphere's motion.
        terrain: ground and walls on which it rolled.
        folder: folder of the files, which must exist.
        command: command line that writes the same folder again, shown on the page.
        versions: versions of packages by name, shown on the page.

    Returns:
        paths of the files, path.csv first.

    Raises:
        AccordError: if one cannot be written.
    """
    # Facts for the table at the top of the page.
    files = [folder / name for name in ("path.csv", "path.svg", "index.html")]
    facts = {
        "status": path.status, "time": f"{path.time[-1]:.4g} s",
        "travel": f"{path.travel:.4g} voxels, {path.travel / path.radius:.4g} r",
        "radius r": f"{path.radius:.4g} voxels",
    }  # fmt: skip
    for number, event in enumerate(path.events, 1):
        facts[f"event {number}, at {event.time:.4g} s"] = f"{event.kind}: {event.detail}"
    ground, walls = ground_and_walls(path, terrain)
    caption = "Drag to turn it. Walls are cut off level with the sphere at its highest."
    page = report.render_plots(
        f"The sphere on {terrain.name}", path.message,
        [report.Plot("Path", caption, surface_figure(path, terrain, ground, walls), height=680),
         *charts(path)],
        command=command, facts=facts | dict(versions),
    )  # fmt: skip
    path.save(files[0])
    write_text(files[2], page)
    write_plan(path, ground, walls, files[1])
    return files


def write_plan(path: RolledPath, heights: Array, walls: Array, file: Path) -> None:
    """Write a plan as SVG: the paths of centre and contact over contours of the ground.

    Args:
        path: the sphere's motion.
        heights: of the ground at the middles of the voxels (n, n) [voxels].
        walls: heights of walls (n, n) [voxels], NaN where there are none.
        file: to be written.

    Raises:
        AccordError: if the file cannot be written.
    """
    n = len(heights)
    middles = np.arange(float(n)) + 0.5  # of the voxels
    with report.picture(file, report.SQUARE) as axes:
        report.heat_map(axes, middles, middles, heights, "height [voxels]")
        if np.nanmax(heights) - np.nanmin(heights) >= FLAT:
            axes.contour(middles, middles, heights.T, LEVELS, colors=report.INK, linewidths=0.5)
            axes.plot([], [], color=report.INK, lw=0.8, label="contours")
        # Paths, then the start (light) and the end (red), then the events as small dots.
        axes.plot(*path.contact[:, :2].T, color=CONTACT, ls="--", label="contact")
        axes.plot(*path.centre[:, :2].T, color=report.RED, lw=1.8, label="centre")
        if not np.isnan(walls).all():
            axes.fill([], [], color=report.EMPTY, label="walls")
        start, end = path.centre[0], path.centre[-1]
        for point, fill, edge in ((start, report.PAGE, report.INK), (end, report.RED, report.PAGE)):
            axes.plot(*point[:2], "o", color=fill, mec=edge, ms=7.5, clip_on=False)
        dots = [(float(event.centre[0]), float(event.centre[1])) for event in path.events]
        for x, y in dots:
            axes.plot(x, y, "o", color=report.PAGE, mec=report.INK, ms=4.5, clip_on=False)
        axes.set(xlabel="x [voxels]", ylabel="y [voxels]", xlim=(0, n), ylim=(0, n))
        axes.set_aspect("equal")
        report.legend(axes)
        labels = [f"{event.kind}, {event.time:.3g} s" for event in path.events]
        report.label_dots(axes, dots, labels)


def surface_figure(
    path: RolledPath, terrain: Terrain, heights: Array, walls: Array
) -> dict[str, Json]:
    """Return the Plotly figure in space: ground, walls, paths of centre and contact, events.

    Args:
        path: the sphere's motion.
        terrain: gives the floor on which walls stand.
        heights, walls: of ground and walls over the plan (n, n) [voxels], NaN where there are none.
    """
    bar: dict[str, Json] = {"title": {"text": "height [voxels]", "side": "right"}, "len": 0.6}
    data = [_surface("ground", heights, {"colorscale": "Viridis", "colorbar": bar})]
    if not np.isnan(walls).all():
        pale: Json = [[0, WALL], [1, WALL]]
        floor = floor_heights(terrain.surface, smoothed=not terrain.grey)
        look: dict[str, Json] = {"colorscale": pale, "showscale": False, "opacity": 0.3}
        data.append(_surface("walls", with_feet(walls, floor), look))
    paths = ("centre", path.centre, report.RED), ("contact", path.contact, CONTACT)
    for name, points, colour in paths:
        line: dict[str, Json] = {"line": {"color": colour, "width": 5}}
        data.append(_scatter("lines", name, points[:: report.stride(len(points))], line))
    data.append(_labelled_points("start", path.centre[:1], ["start"]))
    if path.events:
        labels = [f"{event.kind}, {event.time:.4g} s" for event in path.events]
        centres = np.array([event.centre for event in path.events])
        data.append(_labelled_points("events", centres, labels))
    scene: dict[str, Json] = {f"{name}axis": report.axis(f"{name} [voxels]") for name in "xyz"}
    scene |= {"camera": {"eye": EYE}, "aspectmode": "data"}
    legend: Json = {"orientation": "h", "y": 1.0, "yanchor": "bottom"}
    return {"data": data, "layout": {"scene": scene, "legend": legend}}


def charts(path: RolledPath) -> list[report.Plot]:
    """Return plots of Montana's coordinates and the heights against time."""
    montana, chart = path.montana
    step = report.stride(len(path.time))
    drawn = montana[::step]
    angles = np.degrees(with_gaps(drawn[:, 2:], chart[::step]))
    used = ", ".join(str(number) for number in np.unique(chart))
    colours = report.RED, report.BLUE, report.GREEN
    return [
        _chart(
            path, "Contact on the ground", "Montana's x and y.", "x, y [voxels]",
            {"x": (drawn[:, 0], colours[0]), "y": (drawn[:, 1], colours[1])},
        ),
        _chart(
            path, "Contact on the sphere, and the turn",
            "Montana's latitude u, longitude v and turn psi. A gap is where an angle comes round, "
            f"or where the chart of the sphere changes (used: {used}).",
            "u, v, psi [degrees]",
            {name: (values, colour)
             for name, values, colour in zip(("u", "v", "psi"), angles.T, colours)},
        ),
        _chart(
            path, "Height", "Of the sphere's centre, and of where it touches the ground.",
            "z [voxels]",
            {"centre": (path.centre[::step, 2], colours[0]),
             "contact": (path.contact[::step, 2], report.SOFT)},
        ),
    ]  # fmt: skip


def with_gaps(angles: Array, chart: Array) -> Array:
    """Return angles (k, m) [rad] with NaN at each jump, so that no line is drawn across it.

    An angle jumps where it wraps from pi to -pi, or where the sphere's coordinates change to
    another chart, whose number is in `chart` (k,).
    """
    jumps = np.abs(np.diff(angles, axis=0)) > np.pi
    jumps |= (np.diff(chart) != 0)[:, None]
    return np.where(np.vstack([np.zeros((1, angles.shape[1]), bool), jumps]), np.nan, angles)


def _chart(
    path: RolledPath, title: str, caption: str, unit: str, curves: Mapping[str, tuple[Array, str]]
) -> report.Plot:
    """Return a plot of curves over time, with a labelled line at each event."""
    time = report.plain(path.time[:: report.stride(len(path.time))])
    data = [
        {"type": "scatter", "mode": "lines", "name": name, "x": time, "y": report.plain(values),
         "line": {"color": colour, "width": 2}}
        for name, (values, colour) in curves.items()
    ]  # fmt: skip
    shapes = [
        {"type": "line", "xref": "x", "yref": "paper", "x0": event.time, "x1": event.time,
         "y0": 0, "y1": 1, "line": {"color": report.SOFT, "width": 1, "dash": "dot"}}
        for event in path.events
    ]  # fmt: skip
    annotations = [
        {"x": event.time, "y": 1, "yref": "paper", "text": event.kind, "showarrow": False,
         "textangle": -90, "xanchor": "right", "yanchor": "top"}
        for event in path.events
    ]  # fmt: skip
    layout = {
        "xaxis": report.axis("time [s]"), "yaxis": report.axis(unit), "legend": BELOW,
        "shapes": shapes, "annotations": annotations,
    }  # fmt: skip
    return report.Plot(title, caption, {"data": data, "layout": layout}, 380)


def _surface(name: str, heights: Array, look: dict[str, Json]) -> dict[str, Json]:
    """Return heights (n, n) [voxels] as a Plotly surface, thinned to at most SIDE points a side."""
    # Rounded up, so that no side has more points.
    step = -(-len(heights) // SIDE)
    middles = report.plain((np.arange(len(heights)) + 0.5)[::step])
    rows = [report.plain(row, 5) for row in heights[::step, ::step].T]
    return {
        "type": "surface", "name": name, "hoverinfo": "skip", "x": middles, "y": middles, "z": rows,
        **look,
    }  # fmt: skip


def _labelled_points(name: str, points: Array, labels: list[str]) -> dict[str, Json]:
    """Return points (k, 3) [voxels] as Plotly markers with labels above them."""
    return _scatter("markers+text", name, points, {
        "text": labels, "textposition": "top center", "showlegend": False,
        "marker": {"color": report.INK, "size": 4},
    })  # fmt: skip


def _scatter(mode: str, name: str, points: Array, look: dict[str, Json]) -> dict[str, Json]:
    """Return points (k, 3) [voxels] as a Plotly trace of a mode, such as lines or markers."""
    coordinates = {key: report.plain(values) for key, values in zip("xyz", points.T)}
    return {"type": "scatter3d", "mode": mode, "name": name, **look, **coordinates}

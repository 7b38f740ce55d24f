"""Files and page of a run: the path of a sphere over its terrain, in 3-D and over time.

`write_run` takes a path (rolling/path.py) and its terrain and writes three files into a folder: the
samples (path.csv), a plan of the path over contours of the ground (path.svg), and a page
(index.html). The command `accord voxel-sphere roll --out FOLDER` calls it. The page has a figure in
space (`surface_figure`), which the mouse turns, and charts over time (`charts`). Figures and charts
are dictionaries in Plotly's format: curves are entries of "data", axes and labels of "layout".

The contact between sphere and ground is given in Montana's coordinates (rolling/montana.py, after
Murray, Li and Sastry, A Mathematical Introduction to Robotic Manipulation, 5.6): x and y on the
ground, latitude u and longitude v on the sphere, and the angle psi between both. The constants are
looks and may be changed. test_voxel_pages reads lines back out of page and plan and compares them
with the samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from roboaccord import report
from roboaccord.contract import Array, Json
from roboaccord.run import write_text

from voxel_sphere.rolling.path import RolledPath
from voxel_sphere.source.relief import floor_heights, ground_and_walls, walls_with_feet
from voxel_sphere.terrain.workspace import Terrain

CONTOURS = 12  # approximate number of contours in a plan, by eye
# voxels; ground whose heights differ by less has no contours, which would show its noise: pieces of
# the surface are off by some 0.1 voxel (TOUCH_MARGIN of rolling/contacts.py).
MIN_RELIEF = 0.1
CONTACT_COLOUR = "#ff5fd2"  # of the contact's path: the colour scale of heights does not have it
WALL_COLOUR = "#8a97ab"  # of walls in space
MAX_SIDE = 150  # points along a side of the ground, so that a browser turns it smoothly
EYE: Json = {"x": 1.05, "y": -1.75, "z": 1.3}  # of the camera, in units of the scene's size; by eye
# Position of the legend: horizontal, under a chart and the label of its abscissa, by eye.
BELOW_CHART = {"orientation": "h", "y": -0.16, "yanchor": "top"}
# Colours of the curves in charts, by their names.
COLOURS = {"x": report.RED, "y": report.BLUE, "centre": report.RED, "contact": report.SOFT}
COLOURS |= {"u": report.RED, "v": report.BLUE, "psi": report.GREEN}
# Marks of an event in a chart: a dotted line over its whole height, an upright label at its top.
EVENT_LINE = {"color": report.SOFT, "width": 1, "dash": "dot"}
EVENT_LABEL = {"showarrow": False, "textangle": -90, "xanchor": "right", "yanchor": "top"}
# pixels, by eye: two charts, or the path in space, fill a screen of some 800
CHART_HEIGHT, SPACE_HEIGHT = 380, 680


def write_run(
    path: RolledPath, terrain: Terrain, folder: Path, *, command: str, versions: Mapping[str, str]
) -> list[Path]:
    """Write a run into a folder: path.csv, path.svg, and the page index.html that shows it.

    Args:
        path: motion of the sphere.
        terrain: ground and walls on which it rolled.
        folder: folder of the files, which must exist.
        command: command line that writes the same folder again, shown on the page.
        versions: versions of packages by name, shown on the page.

    Returns:
        paths of the files, path.csv first.

    Raises:
        AccordError: if one cannot be written.
    """
    files = [folder / name for name in ("path.csv", "path.svg", "index.html")]
    # Facts for the table at the top of the page.
    facts = {
        "status": path.status,
        "time": f"{path.time[-1]:.4g} s",
        "travel": f"{path.travel:.4g} voxels, {path.travel / path.radius:.4g} r",
        "radius r": f"{path.radius:.4g} voxels",
    }
    for number, event in enumerate(path.events, 1):
        facts[f"event {number}, at {event.time:.4g} s"] = f"{event.kind}: {event.detail}"
    ground, walls = ground_and_walls(path, terrain)
    caption = "Drag to turn it. Walls are cut off level with the sphere at its highest."
    figure = surface_figure(path, terrain, ground, walls)
    plots = [report.Plot("Path", caption, figure, SPACE_HEIGHT), *charts(path)]
    title, facts = f"The sphere on {terrain.name}", facts | dict(versions)
    page = report.render_plots(title, path.message, plots, command=command, facts=facts)
    path.save(files[0])
    write_text(files[2], page)
    write_plan(path, ground, walls, files[1])
    return files


def write_plan(path: RolledPath, heights: Array, walls: Array, file: Path) -> None:
    """Write a plan as SVG: the paths of centre and contact over contours of the ground.

    Args:
        path: motion of the sphere.
        heights: height of the ground at the middles of the voxels (n, n) [voxels].
        walls: height of walls (n, n) [voxels], NaN where there are none.
        file: to be written.

    Raises:
        AccordError: if the file cannot be written.
    """
    n = len(heights)
    middles = np.arange(float(n)) + 0.5  # of the voxels
    with report.picture(file, report.SQUARE) as axes:
        report.heat_map(axes, middles, middles, heights, "height [voxels]")
        if np.nanmax(heights) - np.nanmin(heights) >= MIN_RELIEF:
            axes.contour(middles, middles, heights.T, CONTOURS, colors=report.INK, linewidths=0.5)
            axes.plot([], [], color=report.INK, lw=0.8, label="contours")
        # Paths, then the start (light) and the end (red), then the events as small dots.
        axes.plot(*path.contact[:, :2].T, color=CONTACT_COLOUR, ls="--", label="contact")
        axes.plot(*path.centre[:, :2].T, color=report.RED, lw=1.8, label="centre")
        if not np.isnan(walls).all():
            axes.fill([], [], color=report.EMPTY, label="walls")
        dot = {"marker": "o", "ls": "none", "ms": 7.5, "clip_on": False}
        axes.plot(*path.centre[0, :2], color=report.PAGE, mec=report.INK, **dot)
        axes.plot(*path.centre[-1, :2], color=report.RED, mec=report.PAGE, **dot)
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
        path: motion of the sphere.
        terrain: ground and walls, of which the floor under the walls is taken.
        heights, walls: heights of ground and walls over the plan (n, n) [voxels], NaN where there
            are none.
    """
    bar: dict[str, Json] = {"title": {"text": "height [voxels]", "side": "right"}, "len": 0.6}
    data = [_surface("ground", heights, {"colorscale": "Viridis", "colorbar": bar})]
    if not np.isnan(walls).all():
        one_colour: Json = [[0, WALL_COLOUR], [1, WALL_COLOUR]]
        floor = floor_heights(terrain.surface, smoothed=not terrain.grey)
        look: dict[str, Json] = {"colorscale": one_colour, "showscale": False, "opacity": 0.3}
        data.append(_surface("walls", walls_with_feet(walls, floor), look))
    paths = ("centre", path.centre, report.RED), ("contact", path.contact, CONTACT_COLOUR)
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
    """Return plots of Montana's coordinates and of heights against time."""
    coordinates, chart = path.montana
    step = report.stride(len(path.time))
    x, y = coordinates[::step, :2].T
    u, v, psi = np.degrees(with_gaps(coordinates[::step, 2:], chart[::step])).T
    used = ", ".join(str(number) for number in np.unique(chart))
    angles = (
        "Montana's latitude u, longitude v and turn psi. A gap is where an angle comes round, "
        f"or where the chart of the sphere changes (used: {used})."
    )
    heights = "Of the sphere's centre, and of where it touches the ground."
    centre, contact = path.centre[::step, 2], path.contact[::step, 2]
    on_ground, on_sphere = "Contact on the ground", "Contact on the sphere, and the turn"
    by_angle = {"u": u, "v": v, "psi": psi}
    return [
        _chart(path, on_ground, "Montana's x and y.", "x, y [voxels]", {"x": x, "y": y}),
        _chart(path, on_sphere, angles, "u, v, psi [degrees]", by_angle),
        _chart(path, "Height", heights, "z [voxels]", {"centre": centre, "contact": contact}),
    ]


def with_gaps(angles: Array, chart: Array) -> Array:
    """Return angles (k, m) [rad] with NaN at each jump, so that no line is drawn across it.

    An angle jumps where it wraps from pi to -pi, or where the sphere's coordinates change to
    another chart, whose number is in `chart` (k,).
    """
    jumps = np.abs(np.diff(angles, axis=0)) > np.pi
    jumps |= (np.diff(chart) != 0)[:, None]
    return np.where(np.vstack([np.zeros((1, angles.shape[1]), bool), jumps]), np.nan, angles)


def _chart(
    path: RolledPath, title: str, caption: str, unit: str, curves: Mapping[str, Array]
) -> report.Plot:
    """Return a plot of curves over time, with a labelled line at each event.

    Args:
        path: motion of the sphere.
        title, caption: texts above the plot.
        unit: label of the ordinate.
        curves: values at the drawn samples, by the name of the curve, a key of COLOURS.
    """
    time = report.plain(path.time[:: report.stride(len(path.time))])
    data = []
    for name, values in curves.items():
        curve = {"type": "scatter", "mode": "lines", "name": name, "x": time}
        line = {"color": COLOURS[name], "width": 2}
        data.append(curve | {"y": report.plain(values), "line": line})
    shapes, labels = [], []
    for event in path.events:
        upright = {"type": "line", "xref": "x", "yref": "paper", "x0": event.time, "x1": event.time}
        shapes.append(upright | {"y0": 0, "y1": 1, "line": EVENT_LINE})
        labels.append({"x": event.time, "y": 1, "yref": "paper", "text": event.kind} | EVENT_LABEL)
    axes = {"xaxis": report.axis("time [s]"), "yaxis": report.axis(unit), "legend": BELOW_CHART}
    layout = {**axes, "shapes": shapes, "annotations": labels}
    return report.Plot(title, caption, {"data": data, "layout": layout}, CHART_HEIGHT)


def _surface(name: str, heights: Array, look: dict[str, Json]) -> dict[str, Json]:
    """Return heights (n, n) [voxels] as a Plotly surface of at most MAX_SIDE points a side."""
    step = -(-len(heights) // MAX_SIDE)  # rounded up
    middles = report.plain((np.arange(len(heights)) + 0.5)[::step])
    rows = [report.plain(row, 5) for row in heights[::step, ::step].T]
    surface = {"type": "surface", "name": name, "hoverinfo": "skip", "x": middles, "y": middles}
    return {**surface, "z": rows, **look}


def _labelled_points(name: str, points: Array, labels: list[str]) -> dict[str, Json]:
    """Return points (k, 3) [voxels] as Plotly markers with labels above them."""
    look: dict[str, Json] = {"text": labels, "textposition": "top center", "showlegend": False}
    look["marker"] = {"color": report.INK, "size": 4}
    return _scatter("markers+text", name, points, look)


def _scatter(mode: str, name: str, points: Array, look: dict[str, Json]) -> dict[str, Json]:
    """Return points (k, 3) [voxels] as a Plotly trace of a mode, such as lines or markers."""
    coordinates = {key: report.plain(values) for key, values in zip("xyz", points.T)}
    return {"type": "scatter3d", "mode": mode, "name": name, **look, **coordinates}

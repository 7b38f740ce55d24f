"""What the page of a run shows: the path on the ground in space, and coordinates against time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from roboaccord.contract.results import Json
from roboaccord.contract.state import Array
from roboaccord.report.colours import BLUE, GREEN, INK, RED, SOFT
from roboaccord.report.curves import axis, plain, stride
from roboaccord.report.plots import Plot

from voxel_sphere.rolling.path import RolledPath
from voxel_sphere.source.plan import CONTACT
from voxel_sphere.source.relief import floor_heights, ground_and_walls, with_feet
from voxel_sphere.terrain.workspace import Terrain

WALL = "#8a97ab"
SIDE = 150  # points of a side of the ground, at most: the browser has to turn them
EYE: Json = {"x": 1.05, "y": -1.75, "z": 1.3}
BELOW = {"orientation": "h", "y": -0.16, "yanchor": "top"}


def surface_figure(path: RolledPath, terrain: Terrain) -> dict[str, Json]:
    """Return the ground with the paths of centre and contact and the events, in space."""
    heights, walls = ground_and_walls(path, terrain)
    bar: dict[str, Json] = {"title": {"text": "height [voxels]", "side": "right"}, "len": 0.6}
    data = [_surface("ground", heights, {"colorscale": "Viridis", "colorbar": bar})]
    if not np.isnan(walls).all():
        pale: dict[str, Json] = {
            "colorscale": [[0, WALL], [1, WALL]],
            "showscale": False,
            "opacity": 0.3,
        }
        floor = floor_heights(terrain.surface, smoothed=not terrain.grey)
        data.append(_surface("walls", with_feet(walls, floor), pale))
    data += [_line("centre", path.centre, RED), _line("contact", path.contact, CONTACT)]
    data.append(_dots("start", path.centre[:1], ["start"], INK))
    if path.events:
        words = [f"{event.kind}, {event.time:.4g} s" for event in path.events]
        centres = np.array([event.centre for event in path.events])
        data.append(_dots("events", centres, words, INK))
    scene: dict[str, Json] = {f"{name}axis": axis(f"{name} [voxels]") for name in "xyz"}
    scene |= {"camera": {"eye": EYE}, "aspectmode": "data"}
    legend: Json = {"orientation": "h", "y": 1.0, "yanchor": "bottom"}
    return {"data": data, "layout": {"scene": scene, "legend": legend}}


def charts(path: RolledPath) -> list[Plot]:
    """Return Montana's coordinates and the heights against time, a line at every event."""
    montana, chart = path.montana
    every = stride(len(path.time))
    rows = montana[::every]
    angles = np.degrees(broken(rows[:, 2:], chart[::every]))
    used = ", ".join(str(number) for number in np.unique(chart))
    return [
        _chart(
            path, "Contact on the ground", "Montana's x and y.", "x, y [voxels]",
            {"x": (rows[:, 0], RED), "y": (rows[:, 1], BLUE)},
        ),
        _chart(
            path, "Contact on the sphere, and the turn",
            "Montana's latitude u, longitude v and turn psi. A gap is where an angle comes round, "
            f"or where the chart of the sphere changes (used: {used}).",
            "u, v, psi [degrees]",
            {name: (values, colour)
             for name, values, colour in zip(("u", "v", "psi"), angles.T, (RED, BLUE, GREEN))},
        ),
        _chart(
            path, "Height", "Of the sphere's centre, and of where it touches the ground.",
            "z [voxels]",
            {"centre": (path.centre[::every, 2], RED), "contact": (path.contact[::every, 2], SOFT)},
        ),
    ]  # fmt: skip


def broken(angles: Array, chart: Array) -> Array:
    """Return angles (k, m) [rad] with nan where a jump is no motion: past pi, or another chart."""
    jumps = np.abs(np.diff(angles, axis=0)) > np.pi
    jumps |= (np.diff(chart) != 0)[:, None]
    return np.where(np.vstack([np.zeros((1, angles.shape[1]), bool), jumps]), np.nan, angles)


def _chart(
    path: RolledPath, title: str, caption: str, unit: str, curves: Mapping[str, tuple[Array, str]]
) -> Plot:
    """Return curves over time as a plot, with a line and a word at every event."""
    time = plain(path.time[:: stride(len(path.time))])
    data = [
        {"type": "scatter", "mode": "lines", "name": name, "x": time, "y": plain(values),
         "line": {"color": colour, "width": 2}}
        for name, (values, colour) in curves.items()
    ]  # fmt: skip
    shapes = [
        {"type": "line", "xref": "x", "yref": "paper", "x0": event.time, "x1": event.time,
         "y0": 0, "y1": 1, "line": {"color": SOFT, "width": 1, "dash": "dot"}}
        for event in path.events
    ]  # fmt: skip
    annotations = [
        {"x": event.time, "y": 1, "yref": "paper", "text": event.kind, "showarrow": False,
         "textangle": -90, "xanchor": "right", "yanchor": "top"}
        for event in path.events
    ]  # fmt: skip
    layout = {
        "xaxis": axis("time [s]"), "yaxis": axis(unit), "legend": BELOW,
        "shapes": shapes, "annotations": annotations,
    }  # fmt: skip
    return Plot(title, caption, {"data": data, "layout": layout}, 380)


def _surface(name: str, heights: Array, look: dict[str, Json]) -> dict[str, Json]:
    every = -(-len(heights) // SIDE)
    places = plain((np.arange(len(heights)) + 0.5)[::every])
    rows = [plain(row, 5) for row in heights[::every, ::every].T]
    return {
        "type": "surface", "name": name, "hoverinfo": "skip", "x": places, "y": places, "z": rows,
        **look,
    }  # fmt: skip


def _line(name: str, points: Array, colour: str) -> dict[str, Json]:
    every = stride(len(points))
    return {
        "type": "scatter3d", "mode": "lines", "name": name, "line": {"color": colour, "width": 5},
        **{key: plain(values[::every]) for key, values in zip("xyz", points.T)},
    }  # fmt: skip


def _dots(name: str, points: Array, words: list[str], colour: str) -> dict[str, Json]:
    return {
        "type": "scatter3d", "mode": "markers+text", "name": name, "text": words,
        "textposition": "top center", "showlegend": False, "marker": {"color": colour, "size": 4},
        **{key: plain(values) for key, values in zip("xyz", points.T)},
    }  # fmt: skip

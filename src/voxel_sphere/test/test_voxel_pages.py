"""The page and the picture of a run show what its table holds, over the ground that was asked for.

The ramp of the generator, lengths in radii r: 2 below, 1.5 of rise as half a cosine over the middle
6 of 10, walls from 3 on both sides of the middle line on.
"""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest
from drawn_figures import keep_figures
from voxel_sphere.rolling.path import RolledPath
from voxel_sphere.source.relief import floor_heights, ground_and_walls
from voxel_sphere.terrain.workspace import open_workspace

N, R = 50, 5.0


@pytest.fixture
def shown(monkeypatch):
    """Return figures by the name of their file, as they are written."""
    return keep_figures(monkeypatch)


@pytest.fixture
def run(figures, tmp_path, shown):
    """Return what the command prints, the columns of the table, and the page's figures."""
    figures(f"make ramp --n {N} --out terrains")
    data = figures("roll terrains --omega 6 3 --start 9 25 --time 3 --after reflected --out run")
    with (tmp_path / "run/path.csv").open(encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    table = dict(zip(head, np.array(rows, dtype=float).T, strict=True))
    page = (tmp_path / "run/index.html").read_text(encoding="utf-8")
    (found,) = re.findall(r"^const figures = (.*);$", page, re.MULTILINE)
    assert data["path"] == "run/path.csv"
    assert data["files"] == ["run/path.csv", "run/path.svg", "run/index.html"]
    return data, table, json.loads(found), page


def floats(values) -> np.ndarray:
    """Return numbers of the page, nan for null."""
    return np.array(values, dtype=float)


def test_the_page_has_the_path_on_the_ground(run):
    """Lines are the table's columns; the ground is the ramp; the contact lies on it."""
    _, table, (solid, *_), page = run
    traces = {trace["name"]: trace for trace in solid["data"]}
    for name, prefix in (("centre", ""), ("contact", "contact_")):
        for axis in "xyz":
            shown = floats(traces[name][axis])
            assert shown == pytest.approx(table[f"{prefix}{axis}"], rel=1e-5)
    x, y = floats(traces["ground"]["x"]), floats(traces["ground"]["y"])
    assert x.tolist() == [0.5 + k for k in range(N)]
    share = np.clip((x / R - 2.0) / 6.0, 0.0, 1.0)
    ramp = R * (2.0 + 0.75 * (1.0 - np.cos(np.pi * share)))
    heights, walls = floats(traces["ground"]["z"]), floats(traces["walls"]["z"])
    between = abs(y - N / 2) < 3.0 * R
    # A voxel's edge may be a tenth wrong where the ground is oblique in it.
    assert np.abs(heights[between] - ramp).max() < 0.1
    assert np.isnan(heights[~between]).all()
    assert np.nanmax(walls) == pytest.approx(table["z"].max() + R, rel=1e-4)
    below = np.interp(table["contact_x"], x, ramp)
    assert np.abs(table["contact_z"] - below).max() < 0.05 * R
    assert "the sphere left the workspace" in page


def test_the_page_has_events_and_coordinates_against_time(run):
    """Angles in degrees, with gaps only where one jumps; a line at every event."""
    data, table, (_, position, angles, height), page = run
    kinds = [event["kind"] for event in data["events"]]
    assert kinds.count("wall") >= 3 and kinds[-1] == "left"
    for figure in (position, angles, height):
        layout = figure["layout"]
        for shape, event in zip(layout["shapes"], data["events"], strict=True):
            assert shape["x0"] == shape["x1"] == event["time"]
        assert [note["text"] for note in layout["annotations"]] == kinds
    assert all(event["detail"] in page for event in data["events"])
    for trace in position["data"]:
        assert floats(trace["y"]) == pytest.approx(table[f"montana_{trace['name']}"], rel=1e-5)
    for trace in angles["data"]:
        wanted = np.degrees(table[f"montana_{trace['name']}_rad"])
        shown = floats(trace["y"])
        gaps = np.isnan(shown)
        assert shown[~gaps] == pytest.approx(wanted[~gaps], rel=1e-5, abs=1e-4)
        jump = abs(np.diff(wanted, prepend=wanted[0])) > 180.0
        jump |= np.diff(table["chart"], prepend=table["chart"][0]) != 0
        assert (gaps == jump).all()
    assert floats(height["data"][0]["y"]) == pytest.approx(table["z"], rel=1e-5)


def test_the_plan_has_the_path_where_its_axes_say(run, shown):
    """Lines are the table's columns over 0 to n, and there is a word at every event."""
    data, table, _, _ = run
    axes = shown["path"].axes[0]
    assert axes.get_xlim() == axes.get_ylim() == (0.0, N)
    (ground,) = axes.images  # of the ramp, which rises from 2 r to 3.5 r
    heights = ground.get_array()
    assert [heights.min(), heights.max()] == pytest.approx([2.0 * R, 3.5 * R], abs=0.1)
    lines = {line.get_label(): line.get_xydata() for line in axes.lines}
    for name, prefix in (("centre", ""), ("contact", "contact_")):
        wanted = np.column_stack([table[f"{prefix}x"], table[f"{prefix}y"]])
        assert lines[name] == pytest.approx(wanted, rel=1e-5)
    message = {text.get_text() for text in axes.texts}
    assert {f"{event['kind']}, {event['time']:.3g} s" for event in data["events"]} <= message


def test_heights_end_at_the_first_gap():
    """A partly filled voxel counts as it is filled; what hangs above does not."""
    solid = np.zeros((2, 2, 8), dtype=np.uint8)
    solid[:, :, :3] = 255
    solid[0, 0, 3] = 51
    solid[1, 0, 6:] = 255
    solid[1, 1] = 255
    assert floor_heights(solid, smoothed=False).tolist() == [[3.2, 3.0], [3.0, 8.0]]


def test_a_tunnel_shows_its_floor(figures, tmp_path):
    """Its walls close above the middle: R = 3 r, and the floor is 2 r high."""
    figures("make tunnel --n 40 --out terrains")
    terrain = open_workspace(tmp_path / "terrains").terrain()
    r = 4.0
    rest = np.array([[20.0, 20.0, 3.0 * r]])
    path = RolledPath(
        radius=r, time=np.zeros(1), centre=rest, normal=np.array([[0.0, 0.0, 1.0]]),
        orientation=np.array([[0.0, 0.0, 0.0, 1.0]]), omega=np.zeros((1, 3)),
    )  # fmt: skip
    ground, walls = ground_and_walls(path, terrain)
    across = np.arange(40) + 0.5 - 20.0
    floor = r * 5.0 - np.sqrt(np.maximum((3.0 * r) ** 2 - across**2, 0.0))
    gentle = abs(across) < 1.5 * r
    assert np.abs(ground[20, gentle] - floor[gentle]).max() < 0.1
    assert np.isnan(walls[20, gentle]).all()
    assert (walls[20, abs(across) > 3.2 * r] == 4.0 * r).all()


def test_a_folder_that_cannot_be_made_is_said_before_the_work(complaint, tmp_path):
    (tmp_path / "taken").touch()
    assert "taken is a file, not a folder" in complaint("roll nowhere --omega 0 1 --out taken")

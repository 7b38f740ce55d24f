"""Landscapes: what they hold, that threads change nothing, and what is written of them."""

from __future__ import annotations

import base64
import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from drawn_figures import keep_figures
from matplotlib.colors import to_hex
from monkeybot.gaits.gait import ENSEMBLE, evaluate, horizontal
from monkeybot.gaits.landscape import BLOCK, LIMIT, Landscape, landscape
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.source.landscapes import CUT, MARKED, root_of_error, write_map, write_surface
from PIL import Image
from roboaccord.description.parameters import load_parameters
from roboaccord.report.curves import EMPTY
from roboaccord.run import pieces

HREF = "{http://www.w3.org/1999/xlink}href"
GAIT = horizontal(2.0, limit=LIMIT)
FIELDS = ("error", "switch_time", "motor_time")


@pytest.fixture(scope="module")
def parameters():
    """Return the report's robot."""
    return load_parameters(MonkeyBotParameters, "monkeybot", {})


@pytest.fixture(scope="module")
def field(parameters):
    """Return a landscape about the report's, of more gaits than one block."""
    found = landscape(GAIT, parameters, np.linspace(0.0, 3.0, 41), np.linspace(8.0, 14.0, 61))
    assert found.error.size > BLOCK
    return found


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_change_no_bit(parameters, field, threads, monkeypatch):
    """Blocks are the same whoever works at them, and each gait stands alone."""
    monkeypatch.setattr(pieces, "cores", lambda: threads)
    again = landscape(GAIT, parameters, field.w1, field.w2)
    for name in FIELDS:
        assert getattr(again, name).tobytes() == getattr(field, name).tobytes()


def test_entries_are_single_evaluations(parameters, field):
    """w1 goes along the first axis, w2 along the second; what was NaN stays NaN."""
    rng = np.random.default_rng(4)
    i, j = rng.integers(0, 41, ENSEMBLE), rng.integers(0, 61, ENSEMBLE)
    some = evaluate(GAIT, parameters, np.column_stack([field.w1[i], field.w2[j]]))
    for name in FIELDS:
        assert np.array_equal(getattr(field, name)[i, j], getattr(some, name), equal_nan=True)


def test_starts_below_the_least_energy_of_the_line_have_no_error(parameters, field):
    """The centres hang r1 + L + r2 below the hand in all, and r1 + L - r2 folded, hand on hand.

    That is the lowest place on the line, so a start with less than 2 m g r2 cannot reach it.
    """
    p = parameters
    m, r1, r2, length = p.mass_a, p.centre_a, p.centre_b, p.length_a
    m22 = p.inertia_b + m * r2**2
    m12 = m22 + m * length * r2
    m11 = p.inertia_a + m * r1**2 + m * length**2 + m22 + 2.0 * m * length * r2
    w1, w2 = np.meshgrid(field.w1, field.w2, indexing="ij")
    kinetic = 0.5 * (m11 * w1**2 + 2.0 * m12 * w1 * w2 + m22 * w2**2)
    too_little = kinetic < 2.0 * m * r2 * p.gravity
    assert too_little.sum() > 20
    assert np.isnan(field.error[too_little]).all() and np.isfinite(field.error).any()


def test_progress_counts_every_gait(parameters):
    """The bar gets to its end."""
    counts: list[int] = []
    landscape(GAIT, parameters, np.linspace(0, 1, 60), np.linspace(11, 12, 70), done=counts.append)
    assert sum(counts) == 60 * 70 and len(counts) > 1


def test_minima_are_inside_sorted_and_beside_gaps_too():
    """A bowl, a second one beside starts that miss, and a slope that ends at the edge."""
    w = np.arange(9.0)
    x, y = np.meshgrid(w, w, indexing="ij")
    error = np.minimum((x - 2) ** 2 + (y - 2) ** 2 + 1.0, (x - 6) ** 2 + (y - 5) ** 2 + 0.5)
    error[7:, :] = np.nan
    field = Landscape(w, w, error, error, error)
    assert field.minima.tolist() == [[6.0, 5.0, 0.5], [2.0, 2.0, 1.0]]
    assert field.lowest.tolist() == [6.0, 5.0, 0.5]
    slope = Landscape(w, w, x + y, x, x)
    assert slope.minima.shape == (0, 3) and slope.lowest.tolist() == [0.0, 0.0, 0.0]


def test_map_has_a_cell_for_each_gait(field, tmp_path, monkeypatch):
    """High w2 is on top, starts without an error are grey, and the lowest point is marked."""
    shown = keep_figures(monkeypatch)
    write_map(field, tmp_path / "map.svg")
    axes = shown["map"].axes[0]
    (image,) = axes.images
    assert np.array_equal(image.get_array().filled(np.nan), np.sqrt(field.error).T, equal_nan=True)
    assert (image.origin, image.get_clim()) == ("lower", (0.0, CUT))
    assert to_hex(image.cmap(np.nan)) == EMPTY
    left, right, bottom, top = image.get_extent()
    half = 0.5 * (field.w1[1] - field.w1[0])
    assert (left, right) == pytest.approx((field.w1[0] - half, field.w1[-1] + half))
    assert bottom < field.w2[0] and top > field.w2[-1]
    minima, lowest = axes.lines
    assert len(minima.get_xdata()) == min(len(field.minima), MARKED)
    assert [lowest.get_xdata()[0], lowest.get_ydata()[0]] == field.lowest[:2].tolist()
    # In the file every gait is a pixel.
    page = ET.parse(tmp_path / "map.svg").getroot()
    picture = next(page.iter("{http://www.w3.org/2000/svg}image"))
    data = re.sub(r"^data:image/png;base64,\s*", "", picture.attrib[HREF])
    assert Image.open(io.BytesIO(base64.b64decode(data))).size == (41, 61)


def test_surface_is_cut_and_has_the_lowest_point(field, tmp_path, monkeypatch):
    """The height is the root of the error, cut off above."""
    shown = keep_figures(monkeypatch)
    write_surface(field, tmp_path / "surface.svg")
    axes = shown["surface"].axes[0]
    assert axes.get_zlim() == (0.0, CUT)
    assert np.nanmax(root_of_error(field)) <= CUT
    w1, w2, height = axes.lines[-1].get_data_3d()
    assert (w1[0], w2[0]) == tuple(field.lowest[:2])
    assert height[0] == pytest.approx(np.sqrt(field.lowest[2]), abs=0.1)

"""Landscapes: what they hold, that threads change nothing, and what is written of them."""

from __future__ import annotations

import base64
import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from monkeybot.cli.landscape import landscape_command
from monkeybot.gaits.gait import evaluate, horizontal
from monkeybot.gaits.landscape import BLOCK, LIMIT, Landscape, landscape, span
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.stability.maps import CUT, MARKED, write_map, write_surface
from PIL import Image
from roboaccord.contract.errors import AccordError
from roboaccord.description.parameters import load_parameters
from roboaccord.report.axes import ticks
from roboaccord.report.colours import EMPTY, colours, rgb

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
def test_threads_change_no_bit(parameters, field, threads):
    """Blocks are the same whoever works at them, and each gait stands alone."""
    again = landscape(GAIT, parameters, field.w1, field.w2, threads=threads)
    for name in FIELDS:
        assert getattr(again, name).tobytes() == getattr(field, name).tobytes()


def test_entries_are_single_evaluations(parameters, field):
    """w1 goes along the first axis, w2 along the second; what was NaN stays NaN."""
    rng = np.random.default_rng(4)
    for i, j in zip(rng.integers(0, 41, 20), rng.integers(0, 61, 20), strict=True):
        one = evaluate(GAIT, parameters, np.array([field.w1[i], field.w2[j]]))
        for name in FIELDS:
            assert np.array_equal(getattr(field, name)[i, j], getattr(one, name)[0], equal_nan=True)


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
    assert np.isnan(field.error[too_little]).all()
    assert np.isfinite(field.error).any()


def test_progress_counts_every_gait(parameters):
    """The bar gets to its end."""
    counts: list[int] = []
    landscape(GAIT, parameters, np.linspace(0, 1, 60), np.linspace(11, 12, 70), done=counts.append)
    assert sum(counts) == 60 * 70
    assert len(counts) > 1


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
    assert slope.minima.shape == (0, 3)
    assert slope.lowest.tolist() == [0.0, 0.0, 0.0]


def test_map_has_a_pixel_for_each_gait(field, tmp_path):
    """High w2 is on top, starts without an error are grey, and the lowest point is marked."""
    write_map(field, tmp_path / "map.svg")
    root = ET.parse(tmp_path / "map.svg").getroot()
    picture = next(root.iter("{http://www.w3.org/2000/svg}image"))
    data = base64.b64decode(re.sub("^data:image/png;base64,", "", picture.attrib["href"]))
    pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=float)
    assert pixels.shape == (61, 41, 3)
    wanted = colours(np.minimum(np.sqrt(field.error), CUT) / CUT).transpose(1, 0, 2)[::-1]
    # The scale changes by up to 650 in a channel over its length, so by 3.4 from one of the
    # palette's 192 colours to the next; these are not evenly spaced.
    assert abs(pixels - wanted).max() <= 3 * 3.4
    marks = list(root.iter("{http://www.w3.org/2000/svg}circle"))
    assert len(marks) == min(len(field.minima), MARKED) + 1


def test_surface_is_drawn(field, tmp_path):
    """It shows dark and bright colours, and nothing leaves the page."""
    write_surface(field, tmp_path / "surface.svg")
    root = ET.parse(tmp_path / "surface.svg").getroot()
    _, _, width, height = (float(n) for n in root.attrib["viewBox"].split())
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        assert 0 < float(text.attrib["x"]) < width
        assert 0 < float(text.attrib["y"]) < height


def test_colours_and_ticks():
    """The ends of the scale, no value, and round numbers."""
    assert colours(np.array([0.0, 1.0, 2.0])).tolist() == [
        [68, 1, 84],
        [253, 231, 37],
        [253, 231, 37],
    ]
    assert tuple(colours(np.array(np.nan))) == rgb(EMPTY)
    assert ticks(0.0, 3.0).tolist() == pytest.approx([0, 0.5, 1, 1.5, 2, 2.5, 3])
    assert ticks(14.0, 25.0).tolist() == pytest.approx([14, 16, 18, 20, 22, 24])


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"w1": (0.0, 3.0, 1)}, "needs 2 at least"),
        ({"w1": (3.0, 0.0, 5)}, "must rise"),
        ({"w2": (8.0, 8.0, 5)}, "must rise"),
        ({"w2": (8.0, float("nan"), 5)}, "must rise"),
        ({"torque": 0.0}, "torque is 0"),
        ({"limit": 0.0}, "must be positive"),
        ({"w1": (0.0, 3.0, 10_000), "w2": (8.0, 14.0, 10_000)}, "more than"),
        ({"w2": (0.0, 1.0, 4)}, "no start of this grid"),
        ({"folder": Path("/proc/none")}, "cannot write in"),
    ],
)
def test_what_makes_no_landscape_gives_one_line(wrong, line, tmp_path):
    """Errors of the user are one line, before the work where that can be."""
    small = {"w1": (0.5, 1.5, 4), "w2": (11.0, 12.0, 4), "folder": tmp_path}
    with pytest.raises((AccordError, ValueError), match=line) as caught:
        landscape_command(**{**small, **wrong})
    assert "\n" not in str(caught.value)


def test_files_hold_what_they_say(tmp_path, capsys):
    """The data reads back, with the torque, the parameters and versions that made it."""
    landscape_command(w1=(0.5, 1.5, 6), w2=(11.0, 12.0, 5), folder=tmp_path, as_json=True)
    assert '"gaits": 30' in capsys.readouterr().out
    with np.load(tmp_path / "landscape.npz") as data:
        assert data["error"].shape == data["switch_time"].shape == (6, 5)
        assert data["w1"].tolist() == span(0.5, 1.5, 6, "w1").tolist()
        assert data["torque"] == 2.0
        named = dict(zip(data["parameter_names"], data["parameters"], strict=True))
        assert named["length_a"] == 0.61
        assert "numpy" in data["versions"][:, 0]
    page = (tmp_path / "landscape.html").read_text()
    assert "Plotly.react" in page
    assert "http" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)

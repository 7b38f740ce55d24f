"""The report's figures: pictures that show what the data beside them holds."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from monkeybot.cli.figures import figures_command
from monkeybot.gaits.repeat import repeat
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.source.figures import BOX, PLOTS, SECOND, STEPS
from roboaccord.description.parameters import load_parameters
from roboaccord.report.axes import Axes
from roboaccord.report.svg import Drawing

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder of the figures, on coarse grids, and what the command prints."""
    folder = tmp_path_factory.mktemp("figures")
    with pytest.MonkeyPatch.context() as patch:
        printed: list[str] = []
        patch.setattr("typer.echo", printed.append)
        figures_command(folder=folder, count=31, as_json=True)
    return folder, json.loads(printed[0])


def test_every_figure_is_there_and_stays_on_its_page(made):
    """Figures 3 to 10; no word leaves its picture."""
    folder, data = made
    for number in range(3, 11):
        path = folder / f"figure_{number}.svg"
        assert str(path) in data["files"]
        root = ET.parse(path).getroot()
        _, _, width, height = (float(n) for n in root.attrib["viewBox"].split())
        words = list(root.iter(f"{SVG}text"))
        assert len(words) > 10
        for text in words:
            assert 0 < float(text.attrib["x"]) < width
            assert 0 < float(text.attrib["y"]) < height


def test_tables_hold_the_repetitions(made):
    """Every digit, and nothing where a gait never hung straight down."""
    folder, _ = made
    parameters = load_parameters(MonkeyBotParameters, "monkeybot", {})
    with (folder / "figure_8.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["gait"]) for row in rows] == list(range(1, STEPS + 1))
    for clock in ("reset", "pure"):
        run = repeat(parameters, np.array(SECOND), 2.0, steps=STEPS, clock=clock)
        read = [float(row[f"{clock}_error"] or "nan") for row in rows]
        assert np.array_equal(read, run.error, equal_nan=True)


def test_curves_show_the_tables(made):
    """Each gait that has a value has its dot, at the value's height."""
    folder, _ = made
    plot = PLOTS[-1]
    with (folder / "figure_8.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = "reset_error", "pure_error", "sampled_error"
    values = [float(row[name]) for name in columns for row in rows if row[name]]
    root = ET.parse(folder / f"{plot.name}.svg").getroot()
    dots = [c for c in root.iter(f"{SVG}circle") if float(c.attrib["r"]) == 3.2]
    assert len(dots) == len(values)
    heights = np.array([float(dot.attrib["cy"]) for dot in dots])
    low, high = np.floor(np.log10(min(values))), np.ceil(np.log10(max(values)))
    up = (np.log10(values) - low) / (high - low)
    assert heights == pytest.approx(BOX[1] + BOX[3] * (1.0 - up), abs=0.06)


def test_a_point_is_where_the_axes_say():
    """Linear and logarithmic, with y upwards."""
    linear = Axes(Drawing((100, 100)), (10, 20, 50, 40), (0, 5), (-1, 1), ("x", "y"))
    assert linear.at(np.array([(0, -1), (5, 1)])).tolist() == [[10, 60], [60, 20]]
    log = Axes(Drawing((100, 100)), (10, 20, 50, 40), (0, 5), (1e-2, 1e2), ("x", "y"), log=True)
    assert log.at(np.array([(2.5, 1.0)])).tolist() == [[35, 40]]

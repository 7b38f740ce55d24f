"""The report's figures: pictures that show what the data beside them holds."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from drawn_figures import keep_figures
from monkeybot.cli.figures import figures_command
from monkeybot.gaits.gait import evaluate, horizontal
from monkeybot.gaits.repetition import repeat
from monkeybot.model.hybrid import TOLERANCE
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.source.diagrams import POSE, skeleton, stages
from monkeybot.source.figures import FIRST_MINIMUM, SECOND_MINIMUM, STEPS
from monkeybots import REPORT
from roboaccord.description.parameters import load_parameters
from roboaccord.report.curves import RED

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return folder and figures, on coarse grids, and what the command finds."""
    folder = tmp_path_factory.mktemp("figures")
    with pytest.MonkeyPatch.context() as patch:
        shown = keep_figures(patch)
        found = figures_command(folder=folder, count=31).data
    return folder, shown, found


@pytest.mark.slow
def test_every_figure_is_there(made):
    """Figures 1 to 10, with words that stay words."""
    folder, _, data = made
    for number in range(1, 11):
        path = folder / f"figure_{number}.svg"
        assert path in data.files
        assert len(list(ET.parse(path).getroot().iter(f"{SVG}text"))) > 8


@pytest.mark.slow
def test_tables_hold_the_repetitions(made):
    """Every digit, and nothing where a gait never hung straight down."""
    folder, _, _ = made
    parameters = load_parameters(MonkeyBotParameters, "monkeybot", {})
    with (folder / "figure_8.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["gait"]) for row in rows] == list(range(1, STEPS + 1))
    for clock in ("reset", "pure"):
        run = repeat(parameters, np.array(SECOND_MINIMUM), 2.0, steps=STEPS, clock=clock)
        read = [float(row[f"{clock}_error"] or "nan") for row in rows]
        assert np.array_equal(read, run.error, equal_nan=True)


def test_curves_show_the_tables(made):
    """Each gait that has a value has its dot, at that height; where it has none is a gap."""
    folder, shown, _ = made
    with (folder / "figure_8.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    (axes,) = shown["figure_8"].axes
    for number, scale in ((5, "log"), (6, "linear"), (7, "linear"), (8, "log")):
        assert shown[f"figure_{number}"].axes[0].get_yscale() == scale
    for line, clock in zip(axes.lines, ("reset", "pure", "sampled"), strict=True):
        values = [float(row[f"{clock}_error"] or "nan") for row in rows]
        assert line.get_marker() == "o"
        assert line.get_xdata().tolist() == list(range(1, STEPS + 1))
        assert np.array_equal(line.get_ydata(), values, equal_nan=True)


def test_angles_are_drawn_from_straight_down_and_from_the_line_of_link_a(made):
    """With the sign that their words state: th1 < 0 clockwise, th2 > 0 counterclockwise."""
    _, shown, _ = made
    (axes,) = shown["figure_1"].axes
    red = [np.array(line.get_xydata()) for line in axes.lines if line.get_color() == RED]
    first, second = (line for line in red if len(line) > 9)  # the others are arrows
    hand, elbow, _ = skeleton(REPORT, np.array([*POSE, 0, 0, 0, 0, 0, 0]))
    for arc, at, along, sign in (
        (first, hand, np.array([0.0, -1.0]), -1.0), (second, elbow, elbow - hand, 1.0),
    ):  # fmt: skip
        rays = (arc - at) @ np.array([1.0, 1.0j])
        turned = np.angle(rays / complex(*along))
        assert turned[0] == pytest.approx(0.0, abs=1e-12)
        assert (np.diff(sign * turned) > 0.0).all()
    assert "th1 < 0" in {text.get_text() for text in axes.texts}


def test_stages_are_those_of_the_gait():
    """Links keep their lengths, the hand that holds rests, and a change of hands is level.

    Times are those of the gait, whose integrator has a tolerance of `TOLERANCE` a step.
    """
    p = load_parameters(MonkeyBotParameters, "monkeybot", {})
    found = stages(p, np.array(FIRST_MINIMUM), 2.0)
    assert [held for _, held in found] == [0, 0, 0, 1, 1]
    for poses, held in found:
        lengths = np.linalg.norm(np.diff(poses, axis=1), axis=2)
        assert lengths == pytest.approx(np.tile([p.length_a, p.length_b], (len(poses), 1)))
        assert np.ptp(poses[:, 2 * held], axis=0) == pytest.approx(np.zeros(2), abs=1e-12)
    (start, _), _, (level, _), _, (end, _) = found
    assert start[0] == pytest.approx(np.array([[0.0, 0.0], [0.0, -0.61], [0.0, -1.22]]))
    assert level[-1, 2, 1] == pytest.approx(level[-1, 0, 1], abs=10 * TOLERANCE)
    hang = end[-1, 1] - end[-1, 2]
    assert hang == pytest.approx(np.array([0.0, -p.length_b]), abs=10 * TOLERANCE)
    # Of the error th2^2 is a part, so the free link nearly hangs straight, too.
    error = evaluate(horizontal(2.0), p, np.array(FIRST_MINIMUM)).error[0]
    assert abs(end[-1, 0, 0] - end[-1, 1, 0]) <= p.length_a * np.sqrt(error)


def test_a_skeleton_turns_with_its_angles():
    """Link A to the right at th1 = 90 degrees, link B upwards from there."""
    p = load_parameters(MonkeyBotParameters, "monkeybot", {"length_b": 0.5})
    quarter = 0.5 * np.pi
    points = skeleton(p, np.array([quarter, quarter, 0, 0, 1.0, 2.0, 0, 0]))
    assert points == pytest.approx(np.array([[1.0, 2.0], [1.61, 2.0], [1.61, 2.5]]))


def test_lengths_of_the_model_are_drawn_to_scale(made):
    """Between two bars each, beside their words."""
    _, shown, _ = made
    p = load_parameters(MonkeyBotParameters, "monkeybot", {})
    (axes,) = shown["figure_1"].axes
    looks = [getattr(text, "arrowprops", None) or {} for text in axes.texts]
    bars = [t for t, look in zip(axes.texts, looks) if "|-|" in look.get("arrowstyle", "")]
    drawn = [np.linalg.norm(np.subtract(bar.xy, bar.xyann)) for bar in bars]
    assert drawn == pytest.approx([p.length_a, p.centre_a, p.length_b, p.centre_b])
    words = {text.get_text() for text in axes.texts}
    assert {f"L1 = {p.length_a:g} m", f"L2 = {p.length_b:g} m"} <= words

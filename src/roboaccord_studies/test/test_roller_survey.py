"""Surveys of rigs, and the paper's claims: pictures and tables show the model."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from drawn_figures import keep_figures
from roboaccord.cli.main import run
from roboaccord_studies.roller_sphere.claims import claims
from robot_commands import commands_of
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.rig import Rig

pytestmark = pytest.mark.slow  # the figures are drawn once, for all tests here

POINTS = 9
figures, _ = commands_of("roller-sphere", quiet=True)
# facts/roller_sphere.md: what does not follow from the paper's own model.
FALSE = {
    "3c: |nu1| grows with alpha for all phi", "3c: |nu2| grows with alpha for all phi",
    "3c: |nu| at phi 90 and 270, alpha 20", "3c: |nu| at phi 90 and 270, alpha 30",
    "3d: largest |S1| and |S2|, alpha 20", "3d: largest |S1| and |S2|, alpha 30",
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder of a survey, with coarse maps, what is printed, and the figures."""
    folder, printed = tmp_path_factory.mktemp("figures") / "made", io.StringIO()
    words = ["roller-sphere", "survey", "--points", str(POINTS), "--out", str(folder), "--json"]
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        shown = keep_figures(patch)
        assert run(words) == 0
    return folder, json.loads(printed.getvalue()), shown


def columns(path: Path) -> dict[str, np.ndarray]:
    """Return the columns of a CSV file, NaN where one is empty."""
    with path.open(encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    values = np.array([[float(value or "nan") for value in row] for row in rows]).T
    return dict(zip(head, values, strict=True))


def test_the_builders_table_is_that_of_each_rig(made):
    """Largest slip and roller speed of every rig, from a sample of headings."""
    folder, _, _ = made
    table = columns(folder / "builder.csv")
    assert len(table["alpha_deg"]) == POINTS**2
    headings = np.radians(np.arange(0.0, 360.0, 0.25))
    for k in range(0, POINTS**2, 5):
        alpha, latitude = table["alpha_deg"][k], table["latitude_deg"][k]
        kinematics = Kinematics(Rig.degrees(1.0, (215, 325), (latitude, latitude), (alpha, -alpha)))
        found = kinematics.inverse(1.0, headings)
        fastest = np.abs(found.nu).max(axis=1)
        assert table["roller_speed_over_speed"][k] == pytest.approx(fastest.max(), rel=1e-4)
        slip = np.abs(found.slip).max()
        assert table["slip_over_speed"][k] == pytest.approx(slip, rel=1e-4, abs=1e-12)
        assert table["share_blocked"][k] == pytest.approx(np.mean(fastest > 2.0), abs=0.01)


def test_the_least_sum_of_squares_is_halfway_between_the_lines(made):
    """Figure 4: Q0 has k0/2 to each line, and w is there; 5: w_t is on both lines; 1: the foot."""
    _, _, shown = made
    kinematics = Kinematics(Rig.degrees(1.0, (215, 325), (60, 60), (20, -20)))
    motion = kinematics.inverse(1.0, np.radians(60.0))
    points, directions = kinematics.lines(motion.nu)
    normal = np.cross(*directions)
    least = abs(normal @ (points[1] - points[0])) / np.linalg.norm(normal)
    off = motion.omega - points
    distances = np.linalg.norm(np.cross(off, directions), axis=1)
    assert distances == pytest.approx(0.5 * least)
    border, circle, nearest, other = shown["figure_4b"].axes[0].lines
    assert border.get_xydata() == pytest.approx(np.array([[0.0, least], [least, 0.0]]))
    assert (circle.get_xydata() ** 2).sum(axis=1) == pytest.approx(0.5 * least**2)
    assert nearest.get_xydata()[0] == pytest.approx(distances)
    assert other.get_xydata().sum() > least
    five, one = (shown[f"figure_{number}"].axes[0].lines for number in (5, 1))
    foot = next(line for line in one if line.get_label() == "(nu/r) eta")
    for lines, meeting in ((five, five[-1]), (one, foot)):
        x, y = meeting.get_xydata()[-1]
        for line in lines:
            if line.get_label() in ("line 1", "line 2"):
                (a, b), (c, d) = line.get_xydata()
                assert (c - a) * (y - b) == pytest.approx((d - b) * (x - a))


def test_rigs_of_three_rollers_and_antipodal_azimuths_are_drawn(figures):
    """Figure 2a needs two rollers; the survey leaves out the latitude at which N = 0."""
    rollers = "--roller 0 45 40 --roller 180 45 -40 --roller 240 45 90"
    data = figures(f"survey {rollers} --points 3 --out three")
    names = {Path(file).name for file in data["files"]}
    assert "figure_2b.svg" in names
    assert not {"figure_2a.svg", "figure_4a.svg", "figure_5.svg"} & names


def test_claims(figures):
    """Those that hold and those that do not."""
    table = figures("claims")["table"]
    assert {row["claim"] for row in table if not row["holds"]} == FALSE
    assert len(table) == len(claims()) == 23
    found = {row["claim"]: row["found"] for row in table}
    assert found["3c: |nu| at phi 90 and 270, alpha 30"] == "1.053406"
    assert found["3d: largest |S1| and |S2|, alpha 20"] == "0.332041"


def test_all_files_are_there(made):
    folder, data, shown = made
    assert {Path(file).name for file in data["files"]} == {p.name for p in folder.glob("[!.]*")}
    assert {p.stem for p in folder.glob("*.svg")} == set(shown)
    assert len(shown) == 11
    page = (folder / "index.html").read_text(encoding="utf-8")
    for words in ("Figure 1", "Figure 2b", "Blocked headings"):
        assert words in page


def test_curves_and_maps_show_the_tables(made):
    """Every curve is a column; rows of a map are those of the table, the lowest at the bottom."""
    folder, _, shown = made
    head, *rest = columns(folder / "top_speed.csv").values()
    lines = shown["top_speed"].axes[0].lines
    assert len(lines) == len(rest) == 4
    drawn = [line.get_ydata().tolist() for line in lines]
    assert all(np.array_equal(line.get_xdata(), head) for line in lines)
    assert all(column.tolist() in drawn for column in rest)
    table = columns(folder / "builder.csv")
    (image,) = shown["builder_slip"].axes[0].images
    values = np.ma.filled(image.get_array(), np.nan)
    assert image.origin == "lower"
    assert np.array_equal(values.ravel(), table["slip_over_speed"], equal_nan=True)

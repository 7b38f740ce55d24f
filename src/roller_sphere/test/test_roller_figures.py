"""The paper's figures 3a to 3d: pictures and tables show the model."""

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
from roller_sphere.model.rig import Rig

pytestmark = pytest.mark.slow  # the figures are drawn once, for all tests here


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder of the figures, what is printed, and the figures."""
    folder, printed = tmp_path_factory.mktemp("figures") / "made", io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        shown = keep_figures(patch)
        assert run(["roller-sphere", "figures", "--out", str(folder), "--json"]) == 0
    return folder, json.loads(printed.getvalue()), shown


def columns(path: Path) -> dict[str, np.ndarray]:
    """Return the columns of a CSV file."""
    with path.open(encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, np.array(rows, dtype=float).T, strict=True))


def test_all_files_are_there(made):
    folder, data, shown = made
    assert {Path(file).name for file in data["files"]} == {p.name for p in folder.glob("[!.]*")}
    assert {p.stem for p in folder.glob("*.svg")} == set(shown)
    assert len(shown) == 4
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert all(f"Figure 3{letter}" in page for letter in "abcd")


def test_tables_are_the_papers_formulas(made):
    """(22) along (15) with (18), written out here, at every heading and roller angle."""
    folder, _, _ = made
    tables = {name: columns(folder / f"figure_{name}.csv") for name in ("3a", "3b", "3c", "3d")}
    phi = np.radians(tables["3a"]["phi_deg"])
    assert len(phi) == 361
    for alpha in (0, 10, 20, 30):
        rig = Rig.degrees(1.0, (215, 325), (60, 60), (alpha, -alpha))
        c, s, e = np.cos(rig.alpha), np.sin(rig.alpha), rig.pole
        span = np.linalg.norm(np.cross(*rig.contacts))
        x = -c[1] / span * rig.contacts[0] + 0.5 * s[1] * e
        y = c[0] / span * rig.contacts[1] + 0.5 * s[0] * e
        n = np.cross(x, y)
        rho = np.arctan((n[0] * np.sin(phi) - n[1] * np.cos(phi)) / n[2])
        omega = np.column_stack([-np.sin(phi), np.cos(phi), np.tan(rho)])
        for k, name in enumerate(("wx", "wy", "wz")):
            column = tables["3a"][f"{name}_alpha_{alpha}_rad_s"]
            assert column == pytest.approx(omega[:, k], abs=1e-9)
        assert tables["3b"][f"rho_alpha_{alpha}_deg"] == pytest.approx(np.degrees(rho), abs=1e-9)
        for i in (0, 1):
            nu = -(np.cross(omega, rig.contacts[i]) @ e) / c[i]
            assert tables["3c"][f"nu{i + 1}_alpha_{alpha}_m_s"] == pytest.approx(nu, abs=1e-9)
            slip = omega @ e - nu * s[i]
            assert tables["3d"][f"S{i + 1}_alpha_{alpha}_m_s"] == pytest.approx(slip, abs=1e-9)


def test_curves_show_the_tables(made):
    """Every curve is a column."""
    folder, _, shown = made
    for name, of_each in {"figure_3b": 1, "figure_3c": 2, "figure_3d": 2}.items():
        head, *rest = columns(folder / f"{name}.csv").values()
        lines = shown[name].axes[0].lines
        assert len(lines) == len(rest) == 4 * of_each
        drawn = [line.get_ydata().tolist() for line in lines]
        assert all(np.array_equal(line.get_xdata(), head) for line in lines)
        assert all(column.tolist() in drawn for column in rest)
    turns = shown["figure_3a"].axes[0]
    titles = turns.get_xlabel(), turns.get_ylabel(), turns.get_zlabel()
    assert titles == ("wx [rad/s]", "wy [rad/s]", "wz [rad/s]")

"""Figures of studies: lines of a level, scenes in space, the page of a sweep."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from drawn_figures import keep_figures
from roboaccord.description import box
from roboaccord.report import picture
from roboaccord.run import Cell
from roboaccord_studies import drawing
from roboaccord_studies.sweep.page import dots_figure, render_sweep
from roboaccord_studies.sweep.study import Study


def test_a_contour_lies_on_the_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a plane it is exact."""
    x, y = np.arange(3.0), np.arange(10.0, 14.0)
    shown = keep_figures(monkeypatch)
    with picture(tmp_path / "a.svg") as axes:
        drawing.contour(axes, x, y, x[:, None] + 2.0 * y, 24.5, color="#ffffff", label="border")
    (lines,) = shown["a"].axes[0].collections
    ((line,),) = lines.allsegs
    assert line[:, 0] + 2.0 * line[:, 1] == pytest.approx(24.5)


def test_a_scene_shows_the_faces_turned_to_the_eye(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three of a cube's; the view is a rotation, the eye to the right of -y and above."""
    turn = drawing.VIEW @ drawing.VIEW.T
    assert turn == pytest.approx(np.eye(3))
    assert np.linalg.det(drawing.VIEW) == pytest.approx(1.0)
    assert drawing.EYE[0] > 0.0 > drawing.EYE[1] and drawing.EYE[2] > 0.0
    shown = keep_figures(monkeypatch)
    with picture(tmp_path / "cube.svg") as axes:
        drawing.draw_solids(axes, [drawing.DrawnSolid(*box(np.ones(3)), "#808080")])
    ((faces,),) = [figure.axes[0].collections for figure in shown.values()]
    assert len(faces.get_paths()) == 3


def test_the_page_of_a_sweep_stands_alone_and_names_runs_without_a_value() -> None:
    result = Study(
        robot="arm", scenario="swing", figure="travel_per_cycle", unit="m", seeds=3,
        cells=[Cell("dart", 5e-4, {0: 0.2, 2: 0.3}, {1: "dart diverged </script>"})],
        scenario_data={}, versions={"python": "3"}, command="accord sweep arm swing",
    )  # fmt: skip
    page = render_sweep(result)
    assert "seed 1: dart diverged &lt;/script&gt;" in page
    assert "src=" not in page.split("<script>")[0]
    dots = dots_figure(result)["data"][0]
    assert dots["y"] == [0.2, 0.3] and dots["text"] == ["seed 0", "seed 2"]

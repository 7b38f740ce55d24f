"""Static figures: the same bytes every time, words that are read, maps that are not upside down."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from drawn_figures import hidden, keep_figures
from matplotlib.figure import Figure
from roboaccord.contract.errors import AccordError
from roboaccord.description.solids import box, cylinder, facets, sphere
from roboaccord.report import drawing
from roboaccord.report.plots import Still, render_plots
from roboaccord.scenario.installed import robot_names

GRID = np.arange(3.0), np.arange(10.0, 14.0)
PLANE = GRID[0][:, None] + 2.0 * GRID[1]


def draw(path: Path) -> None:
    with drawing.picture(path) as axes:
        drawing.heat_map(axes, *GRID, PLANE, "unit", cut=25.0)
        axes.plot([0, 2], [10, 13], label="outline")
        drawing.legend(axes)


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_same_figure_has_the_same_bytes(tmp_path: Path, ending: str) -> None:
    files = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for file in files:
        draw(file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_style_ends_with_its_figure(tmp_path: Path) -> None:
    """Who draws with matplotlib, too, keeps the own settings."""
    from matplotlib import rcParams

    before = dict(rcParams)
    draw(tmp_path / "a.svg")
    assert dict(rcParams) == before


def test_a_map_is_upright(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells are about the grid's points."""
    shown = keep_figures(monkeypatch)
    draw(tmp_path / "a.svg")
    axes, bar = shown["a"].axes
    (image,) = axes.images
    assert image.get_array().tolist() == PLANE.T.tolist()
    assert (image.origin, image.get_extent()) == ("lower", [-0.5, 2.5, 9.5, 13.5])
    assert (axes.get_xlim(), axes.get_ylim()) == ((0.0, 2.0), (10.0, 13.0))
    assert bar.get_ylabel() == "unit"
    (words,) = shown["a"].legends
    assert {text.get_text() for text in words.get_texts()} == {"outline"}


def test_words_keep_away_from_each_other_and_from_the_edge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dots in a corner and on one place have their words; what has no place is left out."""
    shown = keep_figures(monkeypatch)
    with drawing.picture(tmp_path / "dots.svg") as axes:
        axes.set(xlim=(0, 1), ylim=(0, 1))
        drawing.label_dots(axes, [(0, 0), (1, 1), (0.5, 0.5), (0.5, 0.5)], list("abcd"))
        drawing.label_dots(axes, 30 * [(0.2, 0.8)], [f"word {k}" for k in range(30)])
    with drawing.picture(tmp_path / "line.svg") as axes:
        axes.plot([0, 1], [0, 1])
        drawing.label_dots(axes, [(0.5, 0.5)], ["beside"])
    (word,), (line,) = (getattr(shown["line"].axes[0], of) for of in ("texts", "lines"))
    outline = line.get_transform().transform_path(line.get_path())
    assert not outline.intersects_bbox(word.get_window_extent(), filled=False)
    words = [text.get_text() for text in shown["dots"].axes[0].texts]
    assert words[:4] == list("abcd")
    assert 1 < len(words) - 4 < 30


def test_what_hides_a_word_is_seen() -> None:
    """The check that every drawn figure passes can fail: turned words count as they lie."""
    figure = Figure()
    figure.text(0.5, 0.5, "one")
    figure.text(0.505, 0.5, "two")
    figure.text(0.95, 0.2, "far beyond")
    figure.text(0.2, 0.2, "a long and slanting word", rotation=45)
    figure.text(0.2, 0.4, "another", rotation=45)
    axes = figure.add_axes((0.1, 0.5, 0.2, 0.2))
    axes.plot(0.0, 0.0, "s", label="square")
    axes.set_axis_off()
    key = figure.legend(loc="upper left")
    figure.draw_without_rendering()
    ((x0, y0), (x1, y1)) = key.legend_handles[0].get_window_extent().get_points()
    figure.text(0.5 * (x0 + x1), 0.5 * (y0 + y1), "no", transform=None)
    assert hidden(figure) == ["far beyond leaves the frame", "one and two", "no and mark of square"]


def test_files_that_cannot_be_are_one_line(tmp_path: Path) -> None:
    for path, line in (
        (tmp_path / "a.pdf", "a.pdf must end in .svg or .png"),
        (tmp_path / "none" / "a.svg", "cannot write .*there is no folder"),
    ):
        with pytest.raises(AccordError, match=line):
            draw(path)


def test_a_page_of_stills_holds_them(tmp_path: Path) -> None:
    """It needs no other file, and no plotly."""
    draw(tmp_path / "a.svg")
    still = Still(tmp_path / "a.svg", "A plane", "It rises.")
    page = render_plots("Page", "", [still], command="accord", facts={})
    assert 'src="data:image/svg+xml;base64,' in page and "Plotly" not in page


def test_commands_that_draw_nothing_do_not_wait_for_matplotlib() -> None:
    code = (
        "import sys; from roboaccord.cli.groups import robot_commands; "
        "[robot_commands(n) for n in sys.argv[1:]]; sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, *robot_names()], check=False).returncode == 0


@pytest.mark.parametrize("solid", [box(np.array([1.0, 2, 3])), cylinder(1, 2), sphere(1)])
def test_faces_look_outwards(solid: tuple[np.ndarray, tuple[tuple[int, ...], ...]]) -> None:
    vertices, faces = solid
    for face in faces:
        ring = vertices[list(face)]
        normal = np.cross(ring, np.roll(ring, -1, axis=0)).sum(axis=0)
        assert normal @ ring.mean(axis=0) > 0


def test_triangles_in_a_plane_are_one_facet() -> None:
    vertices, faces = box(np.array([1.0, 2.0, 3.0]))
    halves = np.array([half for a, b, c, d in faces for half in ((a, b, c), (a, c, d))])
    found = facets(vertices, halves)
    assert {frozenset(face) for face in found} == {frozenset(face) for face in faces}
    for face in found:
        a, b, c, _ = vertices[list(face)]
        assert np.cross(b - a, c - b) @ a > 0.0  # counterclockwise from outside

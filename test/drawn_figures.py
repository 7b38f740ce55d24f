"""Figures as they are drawn: kept for tests, and every word of them looked at."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path as File
from typing import Any
from unittest import mock

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.text import Text
from roboaccord.report import drawing


def keep_figures(patch: pytest.MonkeyPatch) -> dict[str, Figure]:
    """Return figures by the name of their file, from now on filled with each one that is written.

    In each of them no words or marks of a legend hide others or leave the frame.
    """
    kept: dict[str, Figure] = {}
    save = drawing.save

    def keep(figure: Figure, path: File) -> None:
        save(figure, path)
        assert not hidden(figure), f"{path.name}: {hidden(figure)}"
        kept[path.stem] = figure

    patch.setattr(drawing, "save", keep)
    return kept


def hidden(figure: Figure) -> list[str]:
    """Return what leaves the frame, and pairs of which one hides the other.

    That is of the words and of the marks in legends.
    """
    drawn = words(figure)
    drawn += marks(figure)  # where the drawing of the words has put them
    width, height = figure.canvas.get_width_height()
    wrong = [
        f"{word} leaves the frame"
        for word, box in drawn
        if (box.vertices < -0.5).any() or (box.vertices > np.array([width, height]) + 0.5).any()
    ]
    return wrong + [
        f"{one} and {other}"
        for (one, box), (other, second) in combinations(drawn, 2)
        if box.intersects_path(second, filled=True)
    ]


def words(figure: Figure) -> list[tuple[str, Path]]:
    """Return each word that is drawn, with the rectangle that it fills [pixels].

    The layout stays as in the file: a second one would move axes again.
    """
    texts: list[tuple[str, Path]] = []
    draw = Text.draw

    def note(text: Text, renderer: Any, *rest: Any, **more: Any) -> None:
        if text.get_visible() and text.get_text().strip():
            texts.append((text.get_text(), rectangle(text, renderer)))
        draw(text, renderer, *rest, **more)

    figure.set_layout_engine("none")
    with mock.patch.object(Text, "draw", note):
        FigureCanvasAgg(figure).draw()
    return texts


def marks(figure: Figure) -> list[tuple[str, Path]]:
    """Return each mark of the legends of a drawn figure, with the rectangle about it [pixels]."""
    legends = [*figure.legends, *filter(None, (axes.get_legend() for axes in figure.axes))]
    outlines: list[tuple[str, Path]] = []
    for legend in legends:
        for mark, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            assert mark is not None
            if isinstance(mark, PathCollection):  # of dots, which has no extent of its own
                middle = mark.get_offset_transform().transform(mark.get_offsets())
                half = 0.5 * np.sqrt(mark.get_sizes().max()) * figure.dpi / 72.0
                (x0, y0), (x1, y1) = middle.min(axis=0) - half, middle.max(axis=0) + half
            else:
                (x0, y0), (x1, y1) = mark.get_window_extent().get_points()
            corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]
            outlines.append((f"mark of {text.get_text()}", Path(corners, closed=True)))
    return outlines


def rectangle(text: Text, renderer: Any) -> Path:
    """Return the rectangle that words fill, turned as they are."""
    box, turn = text.get_window_extent(renderer), np.radians(text.get_rotation())
    middle = np.array([0.5 * (box.x0 + box.x1), 0.5 * (box.y0 + box.y1)])
    text.set_rotation(0.0)
    flat = text.get_window_extent(renderer)
    text.set_rotation(np.degrees(turn))
    along = 0.5 * flat.width * np.array([np.cos(turn), np.sin(turn)])
    up = 0.5 * flat.height * np.array([-np.sin(turn), np.cos(turn)])
    corners = [middle + along + up, middle - along + up, middle - along - up, middle + along - up]
    return Path(np.array([*corners, corners[0]]), closed=True)

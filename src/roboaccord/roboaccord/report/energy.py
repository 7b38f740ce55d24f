"""The energy of a report: the book of each simulator as a table and over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.report.colours import BLUE, GREEN, RED, SOFT
from roboaccord.report.curves import SPARE, axis, floats, line, plain, stride

ITEMS = {
    "net_work": ("work", BLUE),
    "kinetic": ("kinetic", GREEN),
    "potential": ("potential", SPARE[1]),
    "friction": ("friction", SPARE[0]),
    "damping": ("damping", SPARE[3]),
    "stops": ("stops", RED),
    "impacts": ("impacts", "#c264b8"),
    "rest": ("rest", SOFT),
}
"""By key of a book, the item's name and colour."""
ROW = 210  # px: height of the axes of one simulator
FAINT = 1e-9  # part of what went in: less is round-off

Book = Mapping[str, Any]


def book_rows(books: Mapping[str, Book]) -> list[tuple[str, list[str], str]]:
    """Return for each simulator its items at the end, and how they were obtained.

    In brackets is the share of what went in: work, and energy that was there and fell. Where a
    channel was not measured there is a dash, and the rest has it.
    """
    rows: list[tuple[str, list[str], str]] = []
    for engine, book in books.items():
        if "time" not in book:
            rows.append((engine, [], book["reason"]))
            continue
        at_end = {key: float(changes(book, key)[-1]) for key in ITEMS}
        stored = (at_end["kinetic"], at_end["potential"])
        put_in = max(at_end["net_work"], 0.0) - sum(min(value, 0.0) for value in stored)
        cells = [
            "–" if book["how"].get(key) == "not measured" else _cell(value, put_in)
            for key, value in at_end.items()
        ]
        rows.append((engine, cells, _how(book)))
    return rows


def changes(book: Book, key: str) -> Array:
    """Return an item over time (k,) [J]; a book has the kinetic energy itself, not its change."""
    values = floats(book[key])
    return values - values[0] if key == "kinetic" else values


def book_figure(books: Mapping[str, Book]) -> dict[str, Any]:
    """Draw the items of each simulator's book over time, one simulator above the other."""
    kept = {engine: book for engine, book in books.items() if "time" in book}
    shown = [
        key for key in ITEMS if any(np.abs(changes(book, key)).max() > 0 for book in kept.values())
    ]
    layout: dict[str, Any] = {"xaxis": {**axis("time [s]"), "anchor": f"y{len(kept)}"}}
    data = []
    for row, (engine, book) in enumerate(kept.items()):
        number = str(row + 1) if row else ""
        top = 1.0 - row / len(kept)
        low = top - 0.85 / len(kept)
        layout[f"yaxis{number}"] = {**axis(f"{engine} [J]"), "domain": [max(low, 0.0), top]}
        step = stride(len(book["time"]))
        for key in shown:
            name, colour = ITEMS[key]
            style = {"color": colour, "width": 1.8, "dash": "dot" if key == "rest" else "solid"}
            data.append({
                "type": "scatter", "mode": "lines", "name": name, "legendgroup": name,
                "showlegend": row == 0, "yaxis": f"y{number}", "line": style,
                "x": plain(floats(book["time"])[::step]), "y": plain(changes(book, key)[::step]),
            })  # fmt: skip
    if len(kept) == 1:
        layout["xaxis"]["anchor"] = "y"
    return {"data": data, "layout": layout, "height": 90 + ROW * len(kept)}


def energy_figure(energies: Mapping[str, Book], engines: Sequence[str]) -> dict[str, Any]:
    """Draw kinetic energy over the net work of the efforts, one above the other."""
    data = []
    for engine, energy in energies.items():
        if "time" not in energy:
            continue
        step = stride(len(energy["time"]))
        time = floats(energy["time"])[::step]
        data.append(line(engine, engines, time, floats(energy["kinetic"])[::step]))
        work = line(engine, engines, time, floats(energy["net_work"])[::step])
        data.append({**work, "yaxis": "y2", "showlegend": False})
    layout = {
        "xaxis": {**axis("time [s]"), "anchor": "y2"},
        "yaxis": {**axis("kinetic energy [J]"), "domain": [0.55, 1]},
        "yaxis2": {**axis("net work [J]"), "domain": [0, 0.45]},
    }
    return {"data": data, "layout": layout, "height": 480}


def _cell(value: float, put_in: float) -> str:
    if abs(value) <= FAINT * put_in:
        return "0"
    if not put_in:
        return f"{value:.4g}"
    share = 100 * value / put_in
    return f"{value:.4g} ({share:{'.0f' if abs(share) >= 10 else '.2g'}} %)"


def _how(book: Book) -> str:
    """Return how the items were obtained, as one text."""
    by_way: dict[str, list[str]] = {}
    for channel, way in book["how"].items():
        by_way.setdefault(way, []).append(channel)
    text = "; ".join(f"{', '.join(channels)}: {way}" for way, channels in by_way.items())
    return f"{text}. {book['reason']}" if book.get("reason") else text

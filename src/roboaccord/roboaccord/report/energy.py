"""Energy in a report: each simulator's energy book as a table and as curves over time.

An energy book (run/energy_book.py) lists where the energy of a run went: net work of the efforts,
kinetic and potential energy, friction, damping, stops, impacts, and the rest that none of these
explains. `book_rows` makes the table, `book_figure` the curves of all items, and `energy_figure`
those of kinetic energy and work alone, as Plotly figures.

A new item is a new field of `EnergyBook`, whose `meaning` is the name shown, and a colour in
COLOURS, which also gives the order of the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from roboaccord.contract.results import quantities, unit_of
from roboaccord.contract.state import Array
from roboaccord.report import curves
from roboaccord.run.energy_book import UNMEASURED, EnergyBook, NoBook

# Colours of the items of an energy book, in the order of the table: those of curves.py, by eye.
COLOURS = {
    "net_work": curves.BLUE, "kinetic": curves.GREEN, "potential": curves.SPARE_COLOURS[1],
    "friction": curves.SPARE_COLOURS[0], "damping": curves.SPARE_COLOURS[3], "stops": curves.RED,
    "impacts": "#c264b8", "rest": curves.SOFT,
}  # fmt: skip
# Name and colour of each item, by its field in `EnergyBook`.
ITEMS = {key: (quantities(EnergyBook)[key].meaning, colour) for key, colour in COLOURS.items()}
JOULE = unit_of(EnergyBook, "kinetic")
TIME = curves.axis(f"time [{unit_of(EnergyBook, 'time')}]")
ROW_HEIGHT = 210  # height of one simulator's axes [px]: three fit a screen of 720
# Item relative to the energy put in up to which it is shown as 0: above the round-off of sums over
# a run, and far below the digits that are shown.
ROUND_OFF = 1e-9

Books = Mapping[str, EnergyBook]


def book_rows(books: Mapping[str, EnergyBook | NoBook]) -> list[tuple[str, list[str], str]]:
    """Return a row for each simulator: its name, a cell for each item, and a remark.

    A cell has the energy at the end of the run [J] and, in brackets, its share of the energy put
    in, which is the net work plus the stored energy that was released. An item that was not
    measured has a dash; its energy is part of the rest. The remark tells how items were obtained.
    """
    rows: list[tuple[str, list[str], str]] = []
    for engine, book in books.items():
        if isinstance(book, NoBook):
            rows.append((engine, [], book.reason))
            continue
        at_end = {key: float(changes(book, key)[-1]) for key in ITEMS}
        stored = (at_end["kinetic"], at_end["potential"])
        put_in = max(at_end["net_work"], 0.0) - sum(min(value, 0.0) for value in stored)
        unmeasured = {key for key in ITEMS if book.how.get(key) == UNMEASURED}
        cells = ["–" if key in unmeasured else _energy_cell(at_end[key], put_in) for key in ITEMS]
        rows.append((engine, cells, _sources_text(book)))
    return rows


def changes(book: EnergyBook, key: str) -> Array:
    """Return an item over time (k,) [J]; for kinetic energy its change since the start."""
    values: Array = getattr(book, key)
    return values - values[0] if key == "kinetic" else values


def book_figure(books: Books) -> curves.Figure:
    """Return the figure of all items over time, with axes for each simulator, one above another."""
    keys = [key for key in ITEMS if any(np.abs(changes(b, key)).max() > 0 for b in books.values())]
    # Plotly names its axes yaxis, yaxis2, yaxis3, ...; the time axis belongs to the lowest.
    last = str(len(books)) if len(books) > 1 else ""
    layout: curves.Figure = {"xaxis": {**TIME, "anchor": f"y{last}"}}
    data: list[curves.Figure] = []
    for row, (engine, book) in enumerate(books.items()):
        number = str(row + 1) if row else ""
        # Vertical range of the axes, as shares of the figure: 85 % of a row, from its top.
        top = 1.0 - row / len(books)
        domain = [max(top - 0.85 / len(books), 0.0), top]
        layout[f"yaxis{number}"] = {**curves.axis(f"{engine} [{JOULE}]"), "domain": domain}
        step = curves.stride(len(book.time))
        for key in keys:
            name, colour = ITEMS[key]
            dash = "dot" if key == "rest" else "solid"
            style: curves.Figure = {"color": colour, "width": 1.8, "dash": dash}
            curve: curves.Figure = {"type": "scatter", "mode": "lines", "name": name}
            curve |= {"legendgroup": name, "showlegend": row == 0, "yaxis": f"y{number}"}
            x, y = book.time[::step], changes(book, key)[::step]
            data.append({**curve, "line": style, "x": curves.plain(x), "y": curves.plain(y)})
    return {"data": data, "layout": layout, "height": 90 + ROW_HEIGHT * len(books)}


def energy_figure(books: Books, engines: Sequence[str]) -> curves.Figure:
    """Return the figure of kinetic energy, above that of the net work of the efforts."""
    data: list[curves.Figure] = []
    for engine, book in books.items():
        step = curves.stride(len(book.time))
        time = book.time[::step]
        data.append(curves.engine_curve(engine, engines, time, book.kinetic[::step]))
        work = curves.engine_curve(engine, engines, time, book.net_work[::step])
        data.append({**work, "yaxis": "y2", "showlegend": False})
    layout = {
        "xaxis": {**TIME, "anchor": "y2"},
        "yaxis": {**curves.axis(f"kinetic energy [{JOULE}]"), "domain": [0.55, 1]},
        "yaxis2": {**curves.axis(f"net work [{JOULE}]"), "domain": [0, 0.45]},
    }
    return {"data": data, "layout": layout, "height": 480}


def _energy_cell(value: float, put_in: float) -> str:
    """Return an energy [J] as text, with its share of the energy put in [J]."""
    if abs(value) <= ROUND_OFF * put_in:
        return "0"
    if not put_in:
        return f"{value:.4g}"
    percent = 100 * value / put_in
    form = ".0f" if abs(percent) >= 10 else ".2g"
    return f"{value:.4g} ({percent:{form}} %)"


def _sources_text(book: EnergyBook) -> str:
    """Return the remark of a row: which items were measured, computed, or not known."""
    sources: dict[str, list[str]] = {}
    for channel, source in book.how.items():
        sources.setdefault(source, []).append(channel)
    text = "; ".join(f"{', '.join(channels)}: {source}" for source, channels in sources.items())
    return f"{text}. {book.reason}" if book.reason else text

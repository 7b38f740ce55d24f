"""Monte Carlo of the collapse over the uncertainties of the parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.description.parameters import parameter_file
from roboaccord.run.pieces import run_pieces

from packbot.source.collapse import LINKS, Collapse, collapse_setup, run_collapse


@dataclass(frozen=True)
class Draw:
    """Hold one collapse with drawn parameters: its angles [degrees], or why it did not start."""

    angles: tuple[float, ...]
    settle_time: float | None
    refused: str = ""


def uncertain() -> dict[str, tuple[float, float]]:
    """Return value and half width of every parameter whose uncertainty is a number above 0."""
    entries = parameter_file("packbot").items()
    known = {n: e for n, e in entries if isinstance(e["uncertainty"], (int, float))}
    return {n: (e["value"], float(e["uncertainty"])) for n, e in known.items() if e["uncertainty"]}


def draw_changes(count: int, seed: int) -> list[list[str]]:
    """Return changes of the scenario for each draw, every parameter uniform in its half width."""
    rng = np.random.default_rng(seed)
    ranges = uncertain()
    return [
        [f"parameters.{n}={v + w * rng.uniform(-1.0, 1.0)!r}" for n, (v, w) in ranges.items()]
        for _ in range(count)
    ]


def run_draws(
    count: int,
    seed: int,
    *,
    engine: str,
    contact: str,
    duration: float,
    changes: Sequence[str],
    done: Callable[[Draw], None],
) -> list[Draw]:
    """Let the arm fall once with each draw, in pieces; `done` is told of each.

    What `changes` set stays as they set it, whatever is drawn.
    """
    tasks = (([*drawn, *changes], engine, contact, duration) for drawn in draw_changes(count, seed))
    return run_pieces(_run, tasks, done=done)


def _run(changes: Sequence[str], engine: str, contact: str, duration: float) -> Draw:
    try:
        found: Collapse = run_collapse(collapse_setup(contact, duration, changes), engine)
    except AccordError as error:
        return Draw((), None, str(error))
    return Draw(tuple(found.absolute_deg[link] for link in LINKS), found.settle_time)


def spread(draws: Sequence[Draw]) -> dict[str, dict[str, float]]:
    """Return mean, standard deviation and extremes of each link's angle [degrees]."""
    rows = np.array([draw.angles for draw in draws if draw.angles])
    if not len(rows):
        raise AccordError(f"no draw could start: {draws[0].refused}")
    return {
        link: {
            "mean": float(column.mean()),
            "std": float(column.std(ddof=1)) if len(column) > 1 else 0.0,
            "min": float(column.min()),
            "max": float(column.max()),
        }
        for link, column in zip(LINKS, rows.T, strict=True)
    }

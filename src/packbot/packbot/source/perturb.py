"""Monte Carlo of the collapse over the uncertainties of the parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import Quantity
from roboaccord.description.parameters import parameter_file
from roboaccord.run.pieces import run_pieces

from packbot.source.collapse import LINKS, collapse_setup, run_collapse


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
        found = run_collapse(collapse_setup(contact, duration, changes), engine)
    except AccordError as error:
        return Draw((), None, str(error))
    return Draw(tuple(found.absolute_deg[link] for link in LINKS), found.settle_time)


@dataclass(frozen=True)
class Drawn:
    """Hold the figures of drawn arms: of each link's angle mean, deviation and extremes."""

    count: int
    seed: int
    absolute_deg: Annotated[Mapping[str, Mapping[str, float]], Quantity("deg")]
    at_rest: int
    refused: list[str]

    @classmethod
    def of(cls, draws: Sequence[Draw], seed: int) -> Drawn:
        """Count them.

        Raises:
            AccordError: if none could start.
        """
        rows = np.array([draw.angles for draw in draws if draw.angles])
        if not len(rows):
            raise AccordError(f"no draw could start: {draws[0].refused}")
        angles = {
            link: {
                "mean": float(column.mean()),
                "std": float(column.std(ddof=1)) if len(column) > 1 else 0.0,
                "min": float(column.min()),
                "max": float(column.max()),
            }
            for link, column in zip(LINKS, rows.T, strict=True)
        }
        at_rest = sum(draw.settle_time is not None for draw in draws)
        return cls(len(draws), seed, angles, at_rest, [d.refused for d in draws if d.refused])

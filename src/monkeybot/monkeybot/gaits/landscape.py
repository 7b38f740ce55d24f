"""Landscapes, the error of a gait over a grid of rates at its start, as in the report's 4.2.

`landscape` evaluates blocks of starts in threads, and a `Landscape` knows its lowest point and its
local minima. Ranges and colours of the report's figures are in source/.

BLOCK and MOST_GAITS may be tuned, speed and memory; threads change no bit (test_landscape).
LIMIT decides which starts count as missed, so it changes pictures. The definition of a minimum is
tested, too. Fields of Landscape stay: they are names of arrays in saved files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from roboaccord.contract import AccordError, Array, Quantity, writing
from roboaccord.run import run_pieces

from monkeybot.gaits.gait import Gait, evaluate
from monkeybot.model.hybrid import TOLERANCE
from monkeybot.model.parameters import MonkeyBotParameters

BLOCK = 2048  # gaits that a thread takes at once: some 0.1 s of work
MOST_GAITS = 25_000_000  # of a landscape: 2 GB of starts and results
LIMIT = 1.0  # s: a first swing that reaches the line takes about 0.5 s; later ones are given up
NEIGHBOURS = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]

Done = Callable[[int], None]


@dataclass(frozen=True)
class Lowest:
    """Lowest error of a landscape, and where it is."""

    rates: Annotated[Array, Quantity("rad/s")]
    error: Annotated[float, Quantity("rad^2, rad^2/s^2")]


@dataclass(frozen=True)
class Landscape:
    """Error of a gait over a grid of rates; NaN where a start misses an event.

    Args:
        w1, w2: rates of th1 (n1,) and of th2 (n2,) at the start [rad/s].
        error: of the gait (n1, n2).
        switch_time: until the magnets first change [s] (n1, n2).
        motor_time: with torque on the elbow [s] (n1, n2).
    """

    w1: Array
    w2: Array
    error: Array
    switch_time: Array
    motor_time: Array

    @property
    def arrays(self) -> dict[str, Array]:
        """The fields, and the minima."""
        return {**vars(self), "minima": self.minima}

    @property
    def missed(self) -> int:
        """Number of starts that miss an event."""
        return int(np.isnan(self.error).sum())

    @property
    def lowest(self) -> Array:
        """The point with the smallest error: w1, w2, error (3,).

        Raises:
            AccordError: if no start gets to the end.
        """
        if not np.isfinite(self.error).any():
            raise AccordError("no start of this grid gets to the end of the gait: ask for more w2")
        i, j = np.unravel_index(int(np.nanargmin(self.error)), self.error.shape)
        return np.array([self.w1[i], self.w2[j], self.error[i, j]])

    @property
    def minimum(self) -> Lowest:
        """That point as a result; errors as of `lowest`."""
        return Lowest(self.lowest[:2], self.lowest[2])

    @property
    def minima(self) -> Array:
        """The points below all of their eight neighbours: rows w1, w2, error, lowest first (m, 3).

        A start that misses an event is not a rival of its neighbours. A point at the edge of the
        grid is not a minimum: what lies beyond is unknown.
        """
        height = np.where(np.isfinite(self.error), self.error, np.inf)
        inner = height[1:-1, 1:-1]
        n1, n2 = inner.shape
        around = [height[1 + i : 1 + i + n1, 1 + j : 1 + j + n2] for i, j in NEIGHBOURS]
        i, j = np.nonzero((inner < np.min(around, axis=0)) & np.isfinite(inner))
        rows = np.column_stack([self.w1[i + 1], self.w2[j + 1], inner[i, j]])
        return rows[np.argsort(rows[:, 2], kind="stable")]


def landscape(
    gait: Gait, parameters: MonkeyBotParameters, w1: Array, w2: Array, *,
    tolerance: float = TOLERANCE, done: Done | None = None,
) -> Landscape:  # fmt: skip
    """Evaluate a gait over a grid of rates at th1 = th2 = 0.

    The result does not depend on the number of cores.

    Args:
        gait: any; give its phases a `LIMIT`, or starts that miss an event take long.
        parameters: of the robot.
        w1, w2: rates of th1 (n1,) and of th2 (n2,) [rad/s].
        tolerance: of each step of the integrator.
        done: called with the number of gaits that a block has added.

    Raises:
        AccordError: for more gaits than the memory holds.
    """
    if len(w1) * len(w2) > MOST_GAITS:
        raise AccordError(f"a grid of {len(w1)} x {len(w2)} has more than {MOST_GAITS:g} gaits")
    starts = np.stack(np.meshgrid(w1, w2, indexing="ij"), axis=-1).reshape(-1, 2)
    blocks = np.array_split(starts, -(-len(starts) // BLOCK))
    pieces = run_pieces(
        _evaluate,
        ((gait, parameters, block, tolerance) for block in blocks),
        threads=True,
        done=lambda piece: done(piece.shape[1]) if done else None,
    )
    fields = np.concatenate(pieces, axis=1).reshape(3, len(w1), len(w2))
    return Landscape(np.asarray(w1, dtype=float), np.asarray(w2, dtype=float), *fields)


def _evaluate(
    gait: Gait, parameters: MonkeyBotParameters, starts: Array, tolerance: float
) -> Array:
    """Return error, time of the first switch and of the motor of k starts (3, k)."""
    evaluation = evaluate(gait, parameters, starts, tolerance=tolerance)
    return np.array([evaluation.error, evaluation.switch_time, evaluation.motor_time])


def save_map(
    fields: Mapping[str, Array], path: Path, parameters: MonkeyBotParameters,
    versions: Mapping[str, str],
) -> None:  # fmt: skip
    """Save the arrays of a map for numpy, with what made it; text as rows of name and value.

    Raises:
        AccordError: if the file cannot be written.
    """
    values = parameters.as_dict()
    provenance = {
        "parameter_names": np.array(list(values)),
        "parameters": np.array(list(values.values())),
        "versions": np.array([list(pair) for pair in versions.items()]),
    }
    with writing(path, ".npz") as draft:
        np.savez_compressed(draft, **{**fields, **provenance})  # type: ignore[arg-type]

"""Landscapes: the error of a gait over a grid of rates at its start, as in the report's 4.2.

Every point of the grid is a pair of rates (w1, w2) with which the robot hangs straight down at the
start. `landscape` evaluates the gait from all of them, in blocks that threads work on; the number
of threads changes no result. A `Landscape` finds its lowest point and its local minima, where gaits
that nearly repeat may be searched.

BLOCK and MOST_GAITS may be tuned. LIMIT decides which starts count as missed, so it changes
pictures. The fields of Landscape stay, for they are names of arrays in saved files.
"""

import math
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

# Gaits of a block, the work of a thread at a time: some 0.1 s, which is the lag of progress bar and
# Ctrl-C. From 256 to 16,384 would do: many times ENSEMBLE, and still several blocks a core.
BLOCK = 2048
MOST_GAITS = 25_000_000  # of a landscape: starts and results of 80 bytes each need 2 GB
LIMIT = 1.0  # s: longest phase; a first swing up to the line takes about 0.5 s
# Steps from a point of the grid to its eight neighbours.
NEIGHBOURS = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]

Done = Callable[[int], None]  # called after each block with its number of gaits
Versions = Mapping[str, str]  # of the software that computed a landscape, by its name


@dataclass(frozen=True)
class Lowest:
    """The lowest error of a landscape, and the rates of its point."""

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
        """The fields and the minima by name, as they are saved."""
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
        # The row of w1 and the column of w2.
        i, j = np.unravel_index(int(np.nanargmin(self.error)), self.error.shape)
        return np.array([self.w1[i], self.w2[j], self.error[i, j]])

    @property
    def minimum(self) -> Lowest:
        """The point `lowest` in the form that commands print."""
        return Lowest(self.lowest[:2], self.lowest[2])

    @property
    def minima(self) -> Array:
        """The local minima: rows w1, w2, error of points lower than their neighbours (m, 3).

        The lowest comes first. A neighbour that misses an event counts as higher. A point at the
        edge of the grid is not a minimum, since the error beyond the edge is unknown.
        """
        errors = np.where(np.isfinite(self.error), self.error, np.inf)
        # Each inner point is compared with the grid shifted by one point, in eight directions.
        inner = errors[1:-1, 1:-1]
        n1, n2 = inner.shape
        neighbours = [errors[1 + i : 1 + i + n1, 1 + j : 1 + j + n2] for i, j in NEIGHBOURS]
        i, j = np.nonzero((inner < np.min(neighbours, axis=0)) & np.isfinite(inner))
        rows = np.column_stack([self.w1[i + 1], self.w2[j + 1], inner[i, j]])
        return rows[np.argsort(rows[:, 2], kind="stable")]


def landscape(
    gait: Gait,
    parameters: MonkeyBotParameters,
    w1: Array,
    w2: Array,
    *,
    tolerance: float = TOLERANCE,
    done: Done | None = None,
) -> Landscape:
    """Evaluate a gait over a grid of rates at th1 = th2 = 0.

    The result does not depend on the number of cores.

    Args:
        gait: any gait; its phases should have the duration LIMIT, since starts that miss an event
            are simulated for that long.
        parameters: of the robot.
        w1, w2: rates of th1 (n1,) and of th2 (n2,) [rad/s].
        tolerance: of each step of the integrator.
        done: called after each block with its number of gaits.

    Raises:
        AccordError: for more than MOST_GAITS.
    """
    if len(w1) * len(w2) > MOST_GAITS:
        raise AccordError(f"a grid of {len(w1)} x {len(w2)} has more than {MOST_GAITS:g} gaits")
    starts = np.stack(np.meshgrid(w1, w2, indexing="ij"), axis=-1).reshape(-1, 2)
    blocks = np.array_split(starts, math.ceil(len(starts) / BLOCK))
    calls = ((gait, parameters, block, tolerance) for block in blocks)

    def report(results: Array) -> None:
        """Report a block that is done, with its results (3, k)."""
        if done:
            done(results.shape[1])

    results = run_pieces(_figures, calls, threads=True, done=report)
    grids = np.concatenate(results, axis=1).reshape(3, len(w1), len(w2))
    return Landscape(np.asarray(w1, dtype=float), np.asarray(w2, dtype=float), *grids)


def _figures(gait: Gait, parameters: MonkeyBotParameters, starts: Array, tolerance: float) -> Array:
    """Return error, time until the first switch and time of the motor for k starts (3, k)."""
    evaluation = evaluate(gait, parameters, starts, tolerance=tolerance)
    return np.array([evaluation.error, evaluation.switch_time, evaluation.motor_time])


def save_map(
    fields: Mapping[str, Array], path: Path, parameters: MonkeyBotParameters, versions: Versions
) -> None:
    """Save the arrays of a landscape as an .npz file, with parameters and versions of the software.

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

"""Gaits of one to three short pulses of the MonkeyBot's motor: which of them are stable?

A schedule has a period and pulses after the change of hands, in whole ms, as a controller of 1 ms
plays them, with torques of any sign. Starts come in blocks of BLOCK: the first RANDOM blocks of a
number of pulses are drawn anywhere, later ones beside the most stable gait that each cell of the
map, of period and time with the motor on, has so far. Newton's method leads from a start to a
horizontal gait, or nowhere. A run goes on from its file, and its rows depend on nothing but their
seed, the number of pulses and of the block.

    nice python -m benchmarks.campaigns.pulses --out FILE --figure pulses.svg
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.campaigns.rows import campaign_parser, keep, read
from monkeybot import MonkeyBotParameters
from numpy.typing import NDArray
from roboaccord import load_parameters
from roboaccord.contract import Array
from roboaccord.report import PAGE, heat_map, picture
from roboaccord_studies.drawing import contour
from roboaccord_studies.monkeybot.find import MIN_STRIDE, RATE_RANGES
from roboaccord_studies.monkeybot.kinds import PULSES
from roboaccord_studies.monkeybot.orbits import Orbit, find_orbit
from roboaccord_studies.monkeybot.pulses import CLOSED, close, phases_of, spectral_radii

MS = 1e-3  # s
BLOCK = 20_000  # starts
PERIODS = (700, 1300)  # ms
LONGEST = 50  # ms of a pulse: of three together the .15 s of the study
GAP = 10  # ms between pulses at least: less is one longer pulse
LARGEST = 10.0  # N m
WIDTH, HEIGHT = 10, 5  # ms: a cell of the map, of the period and of the time with the motor on
# Standard deviations of what is drawn beside a gait: ms of its period and of the edges of pulses,
# N m; all times a factor that is drawn from 0.03 to 1, so that steps are long and short.
SPREADS, FACTORS = (8.0, 10.0, 1.0), (0.03, 1.0)
RADIUS_CUT = 2.0  # at which the colour scale ends, as in `accord monkeybot stability`


@dataclass(frozen=True)
class Row:
    """Hold a block: its starts, the gaits found and the stable ones, and the best of some cells.

    Args:
        gaits: spectral radius, period [ms], start [ms], stop [ms] and torque [N m] of each pulse,
            then th1, w1 and w2 [rad, rad/s] right after the change of hands.
    """

    pulses: int
    seed: int
    block: int
    starts: int
    found: int
    stable: int
    gaits: list[list[float]]


def drawn_anywhere(rng: np.random.Generator, count: int) -> Array:
    """Return random gaits (k, 4 + 3 n) as those of a row, without the radius."""
    period = rng.integers(PERIODS[0], PERIODS[1], BLOCK, endpoint=True)
    lengths = rng.integers(1, LONGEST, (BLOCK, count), endpoint=True)
    off = period - lengths.sum(axis=1) - (count - 1) * GAP
    before = off[:, None] * np.sort(rng.uniform(size=(BLOCK, count)))  # of each pulse in all
    starts = np.round(before) + np.cumsum(lengths, axis=1) - lengths + GAP * np.arange(count)
    torques = rng.uniform(-LARGEST, LARGEST, (BLOCK, count))
    pulses = np.stack([starts, starts + lengths, torques], axis=-1)
    th1 = rng.uniform(-0.5 * math.pi, 0.0, BLOCK)
    rates = [rng.uniform(low, high, BLOCK) for low, high in RATE_RANGES]
    return np.column_stack([period, pulses.reshape(BLOCK, -1), th1, *rates])


def drawn_beside(rng: np.random.Generator, gaits: Array) -> Array:
    """Return gaits (k, 4 + 3 n) beside given ones (m, 4 + 3 n)."""
    drawn = np.array(gaits[rng.integers(len(gaits), size=BLOCK)])
    low, high = np.log(FACTORS)
    factor = np.exp(rng.uniform(low, high, (BLOCK, 1)))
    of_pulses = np.tile([SPREADS[1], SPREADS[1], SPREADS[2]], (gaits.shape[1] - 4) // 3)
    spread = np.array([SPREADS[0], *of_pulses])
    drawn[:, :-3] += factor * spread * rng.normal(size=(BLOCK, len(spread)))
    times = [column for column in range(len(spread)) if column % 3 != 0 or column == 0]
    drawn[:, times] = np.round(drawn[:, times])
    return drawn


def allowed(gaits: Array) -> NDArray[np.bool_]:
    """Return which gaits (k, 4 + 3 n) have pulses as they should be (k,)."""
    period, pulses = gaits[:, 0], gaits[:, 1:-3].reshape(len(gaits), -1, 3)
    lengths = pulses[:, :, 1] - pulses[:, :, 0]  # ms
    fine: NDArray[np.bool_] = (period >= PERIODS[0]) & (period <= PERIODS[1])
    fine &= pulses[:, -1, 1] <= period
    fine &= ((lengths >= 1) & (lengths <= LONGEST)).all(axis=1) & (pulses[:, 0, 0] >= 0)
    fine &= (pulses[:, 1:, 0] - pulses[:, :-1, 1] >= GAP).all(axis=1)
    return fine & (np.abs(pulses[:, :, 2]) <= LARGEST).all(axis=1)


def closed(robot: MonkeyBotParameters, gaits: Array) -> Array:
    """Return the gaits (k, 5 + 3 n) to which guesses (m, 4 + 3 n) lead, with their radii first."""
    pulses = gaits[:, 1:-3].reshape(len(gaits), -1, 3) * [MS, MS, 1.0]
    phases = phases_of(MS * gaits[:, 0], pulses)
    guesses = np.column_stack([gaits[:, -3:], np.ones(len(gaits))])
    unknowns, residuals, strides = close(robot, phases, guesses)
    gaits = np.array(gaits)
    gaits[:, 3:-3:3] *= unknowns[:, 3:]
    gaits[:, -3:] = unknowns[:, :3]
    there = (residuals < CLOSED) & (np.abs(strides) > MIN_STRIDE) & allowed(gaits)
    radii = spectral_radii(robot, phases[there], unknowns[there])
    return np.column_stack([radii, gaits[there]])[np.isfinite(radii)]


def cell_of(gait: Iterable[float]) -> tuple[int, int]:
    """Return the cell of the map in which a gait of a row is."""
    _, period, *numbers = gait
    pulses = np.reshape(numbers[:-3], (-1, 3))
    on = float((pulses[:, 1] - pulses[:, 0]).sum())
    return int((min(period, PERIODS[1] - 1) - PERIODS[0]) // WIDTH), int((on - 1) // HEIGHT)


class Archive(dict[tuple[int, int], list[float]]):
    """The most stable gait of each cell of the map."""

    def take(self, gaits: Iterable[list[float]]) -> list[list[float]]:
        """Take the gaits that are more stable than the cell's so far; return what remained."""
        better = dict[tuple[int, int], list[float]]()
        for gait in gaits:
            cell = cell_of(gait)
            if gait[0] < self.get(cell, [math.inf])[0]:
                self[cell] = better[cell] = gait
        return list(better.values())

    @property
    def best(self) -> list[float]:
        """The most stable gait of all."""
        return min(self.values())

    def radii(self, count: int) -> tuple[Array, Array, Array]:
        """Return centres of the cells [s] (n,), (m,) and the radii (n, m) of `count` pulses."""
        shape = (PERIODS[1] - PERIODS[0]) // WIDTH, count * LONGEST // HEIGHT
        radii: Array = np.full(shape, np.nan)
        for (i, j), gait in self.items():
            radii[i, j] = gait[0]
        x = PERIODS[0] + WIDTH * (np.arange(shape[0]) + 0.5)
        y = HEIGHT * (np.arange(shape[1]) + 0.5)
        return np.asarray(MS * x), np.asarray(MS * y), radii


def blocks(
    robot: MonkeyBotParameters, archive: Archive, count: int, seed: int, numbers: range, random: int
) -> Iterator[Row]:
    """Yield the rows of blocks, with the archive of those before."""
    for block in numbers:
        rng = np.random.default_rng((seed, count, block))
        if block < random:
            guesses = drawn_anywhere(rng, count)
        else:
            cells = sorted(archive)
            guesses = drawn_beside(rng, np.array([archive[cell][1:] for cell in cells]))
        gaits = closed(robot, guesses)
        stable = int((gaits[:, 0] < 1.0).sum())
        better = archive.take(gaits.tolist())
        yield Row(count, seed, block, BLOCK, len(gaits), stable, better)


def exact(robot: MonkeyBotParameters, gait: list[float]) -> Orbit:
    """Return the gait of a row made exact, with its multipliers."""
    _, period, *numbers = gait
    end = MS * period
    pulses = [[MS * start, MS * stop, u] for start, stop, u in np.reshape(numbers[:-3], (-1, 3))]
    pulses += [[end, end, 0.0]] * (3 - len(pulses))
    values = np.round([end, *np.ravel(pulses)], 9).tolist()
    controls = dict(zip(PULSES.controls, values, strict=True))
    th1, *rates = numbers[-3:]
    start = np.array([th1, -math.pi - 2.0 * th1, *rates])
    return find_orbit(PULSES, robot, controls, start)


def draw(archives: dict[int, Archive], path: Path) -> None:
    """Draw the maps side by side."""
    with picture(path, (9.0, 3.2), ncols=len(archives), squeeze=False) as axes:
        for ax, (count, archive) in zip(axes[0], archives.items(), strict=True):
            x, y, radii = archive.radii(count)
            heat_map(ax, x, y, radii, "least spectral radius", cut=RADIUS_CUT)
            contour(ax, x, y, radii, 1.0, color=PAGE)
            name = f"{count} pulse" + "s" * (count > 1)
            ax.set(xlabel="period [s]", ylabel="motor on [s]", title=name)


def main() -> None:
    """Run what is not in the file yet, then print the best gaits and draw the maps."""
    parser = campaign_parser(__doc__)
    parser.add_argument("--figure", type=Path, help="to draw")
    parser.add_argument("--pulses", type=int, nargs="+", default=[1, 2, 3], help="numbers of them")
    parser.add_argument("--blocks", type=int, default=30, help="of each number of pulses")
    parser.add_argument("--random", type=int, default=10, help="of them, drawn anywhere")
    parser.add_argument("--seed", type=int, default=0, help="of the starts")
    asked = parser.parse_args()
    robot = load_parameters(MonkeyBotParameters, "monkeybot", {})
    archives = dict[int, Archive]()
    for count in asked.pulses:
        archive = archives[count] = Archive()
        rows = [r for r in read(asked.out, Row) if (r.pulses, r.seed) == (count, asked.seed)]
        for row in rows:
            archive.take(row.gaits)
        rest = range(len(rows), asked.blocks)
        todo = blocks(robot, archive, count, asked.seed, rest, asked.random)
        for row in keep(asked.out, todo):
            rows.append(row)
            print(
                count, row.block, row.found, row.stable, len(archive), archive.best[0], flush=True
            )
        starts, found, stable = (
            sum(getattr(row, name) for row in rows) for name in ("starts", "found", "stable")
        )
        print(f"{count} pulses: {starts} starts, {found} gaits, {stable} stable; the best:")
        orbit = exact(robot, archive.best)
        print(json.dumps({**orbit.to_json(), "residual": orbit.residual}))
    if asked.figure:
        draw(archives, asked.figure)


if __name__ == "__main__":
    main()

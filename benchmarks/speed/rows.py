"""Rows of the table of speed: this project and a peer on one problem, measured in turns.

A module of this folder has a function `rows() -> Iterator[Row]`, and is found by its name. A row
is built when it is reached, so models are made in `rows`; the first pass of each does not count, so
compilation belongs there. A peer that is not installed is `peer=None`, and `peer_name` states why.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median, quantiles

SMALL = "ROBOACCORD_SMALL_ROWS"  # environment variable: each row is to show that it runs, no more
SHARE = 20  # by which counts are less then: the smallest counts are then a few

Pass = Callable[[], float]


@dataclass(frozen=True)
class Row:
    """Describe one problem.

    Args:
        name: of the problem, as the table has it.
        unit: of the rates, e.g. `gaits/s`.
        ours, peer: one timed pass each, of 0.1 s to 2 s; they return the rate (more is better).
        peer_name: with its version; without a peer, why there is none.
        target: rate to reach.
        target_ratio: ratio to the peer to reach.
    """

    name: str
    unit: str
    ours: Pass
    peer: Pass | None
    peer_name: str
    target: float | None = None
    target_ratio: float | None = None


@dataclass(frozen=True)
class Measured:
    """Hold the rates of a row, pass by pass; each pass of ours has the peer's next to it.

    A row that failed has none, and the reason.
    """

    row: Row
    ours: list[float] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)
    failure: str = ""

    @property
    def ratios(self) -> list[float]:
        """Ours over the peer's, pair by pair."""
        return [a / b for a, b in zip(self.ours, self.peer, strict=True)] if self.peer else []

    @property
    def reached(self) -> bool | None:
        """Whether the medians reach the targets; None without one."""
        row, found = self.row, []
        if self.failure:
            return False
        if row.target is not None:
            found.append(median(self.ours) >= row.target)
        if row.target_ratio is not None and self.peer:
            found.append(median(self.ratios) >= row.target_ratio)
        return all(found) if found else None


def measure(row: Row, repeats: int) -> Measured:
    """Run a row's passes in turns, after one of each that does not count; one may fail."""
    measured = Measured(row)
    for i in range(-1, repeats):
        try:
            ours = row.ours()
            peer = row.peer() if row.peer else None
        except (Exception, SystemExit) as error:  # noqa: BLE001
            words = getattr(error, "stderr", None) or str(error) or type(error).__name__
            return Measured(row, failure=words.strip().splitlines()[-1])
        if i >= 0 or not repeats:
            measured.ours.append(ours)
            if peer is not None:
                measured.peer.append(peer)
    return measured


def sized(count: int) -> int:
    """Return a count of a row, less of it where the row is only to show that it runs."""
    return max(count // SHARE, 1) if os.environ.get(SMALL) else count


def spread(values: list[float]) -> tuple[float, float, float]:
    """Return lower quartile, median and upper quartile."""
    if len(values) < 2:
        return (values[0],) * 3
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return low, middle, high


def rate(work: Callable[[], object], count: float) -> float:
    """Do some work; return `count` over its processor time, of all threads [1/s]."""
    began = time.process_time()
    work()
    return count / (time.process_time() - began)

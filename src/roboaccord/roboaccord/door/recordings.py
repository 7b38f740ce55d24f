"""Recorded runs: read, and compared."""

from __future__ import annotations

from collections.abc import Sequence

from roboaccord.bag import compare as bags
from roboaccord.bag.compare import Comparison
from roboaccord.bag.reader import BagRun, read_run
from roboaccord.door.arguments import Recording, bag_of


def read_bag(recording: Recording) -> BagRun:
    """Read a run from its bag; errors as of `bag.reader.read_run`."""
    return read_run(bag_of(recording))


def compare(
    a: Recording,
    *others: Recording,
    signals: Sequence[str] = (),
    start: float | None = None,
    stop: float | None = None,
    tolerance: float | None = None,
) -> Comparison:
    """Compare runs with the first one, signal by signal, as `accord compare` does.

    Args:
        a: run to compare with.
        others: runs to compare.
        signals, start, stop, tolerance: as of `bag.compare.compare`.

    Raises:
        AccordError: as `bag.compare.compare`.
    """
    return bags.compare(
        bag_of(a), [bag_of(other) for other in others], signals=signals, start=start, stop=stop,
        tolerance=tolerance,
    )  # fmt: skip

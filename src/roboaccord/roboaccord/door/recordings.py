"""Recorded runs: read, and compared."""

from __future__ import annotations

from collections.abc import Sequence

from roboaccord import report
from roboaccord.bag.reader import BagRun, read_run
from roboaccord.door.arguments import Recording, bag_of
from roboaccord.report.comparison import Comparison
from roboaccord.report.signals import find_bag


def read_bag(recording: Recording) -> BagRun:
    """Read a run from its folder or bag; errors as of `bag.reader.read_run`."""
    return read_run(find_bag(bag_of(recording)))


def compare(
    *runs: Recording,
    signals: Sequence[str] = (),
    start: float | None = None,
    stop: float | None = None,
    tolerance: float | None = None,
) -> Comparison:
    """Show what changed from the first run to the others, as `accord compare` does.

    Args:
        runs: recorded; without any, the last two under runs/.
        signals, start, stop, tolerance: as of `report.compare`.

    Raises:
        AccordError: as `report.compare`.
    """
    return report.compare(
        *map(bag_of, runs), signals=signals, start=start, stop=stop, tolerance=tolerance
    )

"""Bags in folders of runs: the bag of a run, and the newest ones.

Which folders count is documented in docs/cli.md and stays. A run folder holds its bag as `bag`.
"""

from __future__ import annotations

from pathlib import Path

from roboaccord.bag.folder import is_storage
from roboaccord.contract.errors import AccordError

RUNS = Path("runs")


def find_bag(run: Path) -> Path:
    """Return the newest bag in a run folder; a bag itself is returned as it is."""
    if run.is_dir() and not any(map(is_storage, run.iterdir())):
        return max(_bags_in(run, "*"), key=_written, default=run)
    return run


def last_runs(count: int, folder: Path = RUNS) -> list[Path]:
    """Return the newest bags in a folder of runs, the older first, without those of cross-checks.

    Raises:
        AccordError: if there are fewer.
    """
    inside = [bag for bag in _bags_in(folder, "*/*") if bag.name == "bag"]
    bags = sorted({*_bags_in(folder, "*"), *inside}, key=_written)
    if len(bags) < count:
        have = f"{len(bags)} recorded runs" if bags else "no recorded run"
        raise AccordError(f"{folder} holds {have}: name {count}, or record one with accord run")
    return bags[-count:]


def _bags_in(folder: Path, depth: str) -> list[Path]:
    return [*{file.parent for file in folder.glob(f"{depth}/*") if is_storage(file)}]


def _written(bag: Path) -> tuple[int, str]:
    return max(file.stat().st_mtime_ns for file in bag.iterdir() if is_storage(file)), str(bag)

"""Comparison of bags by their paths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from roboaccord.bag import compare as by_signal
from roboaccord.bag import read_run


def compare(reference: Path, others: Sequence[Path], **how: Any) -> by_signal.SignalComparison:
    """Read bags, and compare them with the first."""
    runs = [(path, read_run(path)) for path in (reference, *others)]
    return by_signal.compare(runs[0], runs[1:], **how)

"""The result of the check of a log: causes with their intervals, residuals, and the verdict.

The fields are the keys of summary.json and of `--json`, in this order: one may be added, and those
there stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from roboaccord.contract.outcome import Cause, Levels, Verdict
from roboaccord.contract.results import Shown


@dataclass(frozen=True)
class LogReport(Shown):
    """Hold the result of the check of a log.

    Args:
        verdict, levels: of `one_step`, in windows.
        causes: what explains the residuals together.
        instead: of each other hypothesis that cannot be distinguished from the first cause, its
            causes.
        most: what explains most where nothing explains enough.
        window: steps of a window.
        noise, share, left: of what the efforts do in a window, where it is most: noise, residuals
            beside the scheme's, and what the causes leave of them.
        scheme: that fits, "" where it is unknown.
        columns, notes: what was read, and how.
    """

    verdict: Verdict | None
    levels: Levels
    causes: Sequence[Cause] = ()
    instead: Sequence[Sequence[Cause]] = ()
    most: Sequence[Cause] = ()
    window: int = 0
    noise: float = np.nan
    share: float = np.nan
    left: float = np.nan
    scheme: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def ok(self) -> bool:
        """True if the log is within."""
        return self.verdict == "pass"

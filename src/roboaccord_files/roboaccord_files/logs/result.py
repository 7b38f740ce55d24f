"""The result of the check of a log: causes with their intervals, residuals, and the verdict.

The fields are the keys of summary.json and of `--json`, in this order: one may be added, and those
there stay. How a cause is written, in `LogCause.__str__`, may change: it is shown, and in the
reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from roboaccord.contract.outcome import Levels, Verdict
from roboaccord.contract.results import Shown

EXCHANGED = "times"  # unit of columns whose sign or order is wrong


@dataclass(frozen=True)
class LogCause:
    """Hold a difference of the log from the robot's file.

    Args:
        quantity, where: its name, and link or joint.
        value, low, high: by how much, and its interval of 95 %; parts of it where the unit is 1.
        unit: of these.
        axis: along or about which, or component; "" where it has none.
    """

    quantity: str
    where: str
    value: float
    low: float
    high: float
    unit: str
    axis: str = ""

    def __str__(self) -> str:
        if self.unit == EXCHANGED:
            kind, _, columns = self.quantity.partition(" of ")
            joints = self.where.replace(", ", " and ")
            return f"{columns} of {joints} {'reversed' if kind == 'sign' else 'interchanged'}"
        factor, unit = (100.0, "%") if self.unit == "1" else (1.0, self.unit)
        size, low, high = (f"{factor * x:+.4g}" for x in (self.value, self.low, self.high))
        name = " ".join(filter(None, [self.quantity, self.where and f"of {self.where}", self.axis]))
        return f"{name} {size} {unit} [{low}, {high}]"


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
    causes: Sequence[LogCause] = ()
    instead: Sequence[Sequence[LogCause]] = ()
    most: Sequence[LogCause] = ()
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

"""Level `repeat`: the same run again must be equal bit for bit.

The engine has simulated the scenario twice, from the same start and under the same controller. If
the recorded motions differ, the engine has hidden state (such as a warm start of its solver, or a
race between threads), and none of its other checks could be repeated. No difference is allowed.
Fields of `RepeatCheck` are keys of summary.json and stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from roboaccord.contract import Quantity, Seconds, Trajectory
from roboaccord.contract.outcome import Code, Finding, because
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.columns import column_names
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.numerics.ranking import first_largest
from roboaccord.scenario.scenario import Tolerances


@dataclass(frozen=True)
class RepeatCheck:
    """First difference between a run and its repetition.

    Args:
        apart: largest difference in the first sample that differs, in the unit of the coordinate;
            0 for equal runs.
        quantity, where: the coordinate, and its joint or link; "" for equal runs.
        time: of that sample [s]; None for equal runs.
    """

    apart: Annotated[float, Quantity("", "difference from the same run again")] = 0.0
    quantity: str = ""
    where: str = ""
    time: Seconds | None = None


def check_repeat(run: Trajectory, again: Trajectory) -> RepeatCheck:
    """Return the first difference between a run and its repetition."""
    names = ("q", "qd", "position", "orientation", "twist")
    differences = [np.abs(getattr(again, name) - getattr(run, name)) for name in names]
    # Of the orientation, three numbers: those of a unit quaternion give the fourth.
    differences[3] = differences[3][:, :3]
    columns = np.column_stack(differences)
    differing_samples = np.flatnonzero(columns.any(axis=1))
    if not differing_samples.size:
        return RepeatCheck()
    sample = int(differing_samples[0])
    column = first_largest(columns[sample])
    quantity, where = column_names(run.joints)[column]
    return RepeatCheck(float(columns[sample, column]), quantity, where, float(run.time[sample]))


class RepeatLevel(Level[RepeatCheck]):
    """Judge any difference as outside."""

    name = "repeat"
    title = "Repeat: the same run again"
    of_motion = False

    def measure(self, case: CheckCase) -> RepeatCheck:
        """Compare the run with a second one from the same start."""
        return check_repeat(case.run, case.again)

    def judge(self, check: RepeatCheck, tolerances: Tolerances) -> Finding:
        """Return `outside` if any number of the two runs differs."""
        if check.time is None:
            return Finding.within()
        why = because(Code.NOT_REPEATED, **vars(check))
        return Finding.outside(why, where=check.where, size=check.apart)

    def rows(self, check: RepeatCheck) -> Rows:
        """Return the largest difference, and where and when the runs first differ."""
        first = f"{check.quantity} of {check.where}" if check.where else "nothing"
        return {
            "largest difference": Entry(check.apart, "SI", ".2g"),
            "first in": Entry(first),
            "from t =": Entry(check.time, "s", "g"),
        }

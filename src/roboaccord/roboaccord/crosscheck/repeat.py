"""Level `repeat`: an engine's run and the same run again, which are to be equal bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from roboaccord.contract.outcome import Finding, outside
from roboaccord.contract.results import Quantity, Seconds
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.runs import Job, Runs
from roboaccord.crosscheck.ticks import names


@dataclass(frozen=True)
class RepeatCheck:
    """Hold where a run and the same run again part first.

    Args:
        apart: largest difference there, in the unit of the coordinate; 0 where they are equal.
        quantity, where: the coordinate, and its joint or link; "" where they are equal.
        time: of the state; None likewise.
    """

    apart: Annotated[float, Quantity("", "difference from the same run again")] = 0.0
    quantity: str = ""
    where: str = ""
    time: Seconds | None = None


def check_repeat(runs: Runs, engine: str) -> RepeatCheck:
    """Compare the run at the scenario's step with its repetition."""
    return compare_runs(runs.shown(engine), runs.found[Job(engine, runs.steps[0], again=True)])


def compare_runs(run: Trajectory, again: Trajectory) -> RepeatCheck:
    """Return where two runs part first, and by how much."""
    parts = [
        np.abs(getattr(again, name) - getattr(run, name))
        for name in ("q", "qd", "position", "orientation", "twist")
    ]
    parts[3] = parts[3][:, :3]  # of a quaternion, whose fourth number follows
    apart = np.column_stack(parts)
    first = np.flatnonzero(apart.any(axis=1))
    if not first.size:
        return RepeatCheck()
    at = int(first[0])
    column = int(np.argmax(apart[at]))
    found = names(run.joints)[column]
    return RepeatCheck(float(apart[at, column]), *found, float(run.time[at]))


def judge_repeat(engine: str, check: RepeatCheck) -> Finding:
    """Judge: what is not equal is outside."""
    if check.time is None:
        return Finding("repeat", engine, "within")
    text = (
        f"the same run again differs by {check.apart:.2g} from t = {check.time:g} s on, first in "
        f"{check.quantity} of {check.where}"
    )
    return outside("repeat", engine, text, where=check.where)

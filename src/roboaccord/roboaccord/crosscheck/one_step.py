"""Level 2: put the reference in every recorded state, and predict the next sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from roboaccord.interfaces import Simulator
from roboaccord.state import Array
from roboaccord.trajectory import Trajectory


@dataclass(frozen=True)
class OneStepCheck:
    """Hold the errors of predicted joint velocities over one control period [rad/s].

    Args:
        rms, max: over all joints and samples.
        relative: rms over the rms change of the velocities in a period.
        time, error: largest error of each sample (k,).
        base: largest error of the base's position [m].
        order: by which rms falls with the engine's physics step; None where there is one step.
    """

    rms: float
    max: float
    relative: float
    base: float
    time: Array
    error: Array
    order: float | None = None


def check_one_step(reference: Simulator, trajectory: Trajectory) -> OneStepCheck:
    """Predict every sample of a trajectory from the one before it, as it was commanded."""
    count = len(trajectory) - 1
    errors = np.empty((count, len(trajectory.joints)))
    base = 0.0
    for i in range(count):
        before, after = trajectory.state(i), trajectory.state(i + 1)
        reference.reset(before)
        predicted = reference.step(trajectory.command(i), _period(trajectory, i))
        errors[i] = predicted.qd - after.qd
        base = max(base, float(np.abs(predicted.position - after.position).max()))
    reference.take_events()
    change = float(np.sqrt(np.mean(np.diff(trajectory.qd, axis=0) ** 2)))
    rms = float(np.sqrt(np.mean(errors**2)))
    return OneStepCheck(
        rms=rms,
        max=float(np.abs(errors).max()),
        relative=rms / change if change else 0.0,
        base=base,
        time=trajectory.time[1:],
        error=np.abs(errors).max(axis=1),
    )


def check_one_steps(reference: Simulator, runs: Mapping[float, Trajectory]) -> OneStepCheck:
    """Check the run at the largest physics step, and how its error falls with smaller ones.

    Over a fixed control period an engine of order p errs by O(dt^p) in the velocities; an error
    that does not fall is no matter of time stepping.
    """
    checks = {dt: check_one_step(reference, run) for dt, run in runs.items()}
    largest = checks[max(checks)]
    rms = [checks[dt].rms for dt in checks]
    if len(checks) < 2 or min(rms) <= 0:
        return largest
    return replace(largest, order=float(np.polyfit(np.log(list(checks)), np.log(rms), 1)[0]))


def _period(trajectory: Trajectory, index: int) -> float:
    """Return the control period [s], free of the rounding of time stamps."""
    return float(round(trajectory.time[index + 1] - trajectory.time[index], 9))

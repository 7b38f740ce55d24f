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

    Where there are no joints, they are of the base's angular velocity.

    Args:
        rms, max: over all joints and samples.
        relative: rms over the rms change of the velocities in a period.
        time, error: largest error of each sample (k,).
        base: largest error of the base's position [m].
        spin: as rms, of the base's angular velocity [rad/s].
        spin_relative: as relative, of the base's angular velocity.
        order: by which rms falls with the engine's physics step; None where there is one step.
        spin_order: by which spin falls, likewise.
    """

    rms: float
    max: float
    relative: float
    base: float
    time: Array
    error: Array
    spin: float = 0.0
    spin_relative: float = 0.0
    order: float | None = None
    spin_order: float | None = None


def check_one_step(reference: Simulator, trajectory: Trajectory) -> OneStepCheck:
    """Predict every sample of a trajectory from the one before it, as it was commanded."""
    count = len(trajectory) - 1
    errors, spins = np.empty((count, len(trajectory.joints))), np.empty((count, 3))
    base = 0.0
    for i in range(count):
        before, after = trajectory.state(i), trajectory.state(i + 1)
        reference.reset(before)
        predicted = reference.step(trajectory.command(i), _period(trajectory, i))
        errors[i] = predicted.qd - after.qd
        spins[i] = predicted.twist[3:] - after.twist[3:]
        base = max(base, float(np.abs(predicted.position - after.position).max()))
    reference.take_events()
    change, turned = (_rms(np.diff(v, axis=0)) for v in (trajectory.qd, trajectory.twist[:, 3:]))
    if not trajectory.joints:
        errors = spins
    rms, spin = _rms(errors), _rms(spins)
    return OneStepCheck(
        rms=rms,
        max=float(np.abs(errors).max()),
        relative=rms / change if change else 0.0,
        spin=spin,
        spin_relative=spin / turned if turned else 0.0,
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
    rms, spin = ({dt: getattr(c, name) for dt, c in checks.items()} for name in ("rms", "spin"))
    return replace(largest, order=_order(rms), spin_order=_order(spin))


def _order(errors: Mapping[float, float]) -> float | None:
    """Return by which order errors fall with the step; None where that cannot be told."""
    if len(errors) < 2 or min(errors.values()) <= 0:
        return None
    return float(np.polyfit(np.log(list(errors)), np.log(list(errors.values())), 1)[0])


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if values.size else 0.0


def _period(trajectory: Trajectory, index: int) -> float:
    """Return the control period [s], free of the rounding of time stamps."""
    return float(round(trajectory.time[index + 1] - trajectory.time[index], 9))

"""From the figures to a verdict that names what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from roboaccord.crosscheck.acceleration import AccelerationCheck, MassCheck
from roboaccord.crosscheck.chaotic import StatisticsCheck, judge_statistics
from roboaccord.crosscheck.convergence import ConvergenceCheck
from roboaccord.crosscheck.one_step import OneStepCheck
from roboaccord.scenario import Tolerances


@dataclass(frozen=True)
class Finding:
    """Hold the judgement on one figure of one engine; `reason` is empty where it is within."""

    level: str
    engine: str
    reason: str = ""


def judge(
    tolerances: Tolerances,
    masses: Mapping[str, MassCheck],
    acceleration: Mapping[str, AccelerationCheck],
    one_step: Mapping[str, OneStepCheck],
    trajectory: Mapping[str, ConvergenceCheck],
    statistics: Mapping[str, StatisticsCheck],
) -> list[Finding]:
    """Return a finding for every figure that can be judged."""
    return [
        *(Finding("masses", e, judge_mass(tolerances, c)) for e, c in masses.items()),
        *_accelerations(tolerances, acceleration),
        *(Finding("one_step", e, judge_step(tolerances, c)) for e, c in one_step.items()),
        *_trajectories(tolerances, trajectory),
        *(Finding("statistics", e, judge_statistics(c)) for e, c in statistics.items()),
    ]


def judge_mass(tolerances: Tolerances, mass: MassCheck) -> str:
    """Return why the masses are out of tolerance, or nothing."""
    if abs(mass.worst_ratio - 1.0) <= tolerances.mass:
        return ""
    who = "every link" if mass.alike else mass.worst_link
    return (
        f"mass of {who} is {100 * (mass.worst_ratio - 1):+.2g} % off; "
        f"the whole weighs {mass.total:.4g} kg, the reference {mass.reference:.4g} kg"
    )


def judge_step(tolerances: Tolerances, step: OneStepCheck) -> str:
    """Return why the one-step errors are no matter of time stepping, or nothing."""
    rates = {
        "joints'": (step.relative, step.order),
        "base's": (step.spin_relative, step.spin_order),
    }
    for what, (relative, order) in rates.items():
        falls = order is None or order >= 1.0 - tolerances.one_step_order
        if relative > tolerances.one_step and not falls:
            return (
                f"one step from the same state differs by {100 * relative:.2g} % of the change of "
                f"the {what} rates, and the error falls with order {order:.2f} only"
            )
    return ""


def _accelerations(
    tolerances: Tolerances, checks: Mapping[str, AccelerationCheck]
) -> Iterator[Finding]:
    for engine, check in checks.items():
        if check.max is None:
            continue
        within = check.max <= tolerances.acceleration
        text = f"accelerations differ by {check.max:.2g} relative, "
        text += f"allowed {tolerances.acceleration:.0e}"
        yield Finding("acceleration", engine, "" if within else text)


def _trajectories(
    tolerances: Tolerances, checks: Mapping[str, ConvergenceCheck]
) -> Iterator[Finding]:
    for engine, runs in checks.items():
        limit = tolerances.trajectory.get(engine)
        if limit is not None:
            text = f"{1e3 * runs.error[0]:.3g} mm from the reference at {runs.dt[0]:g} s, "
            text += f"allowed {1e3 * limit:g} mm"
            yield Finding("trajectory", engine, "" if runs.error[0] <= limit else text)
        elif runs.order is not None and runs.expected_order == 1:
            within = abs(runs.order - 1.0) <= tolerances.order
            text = (
                f"converges with order {runs.order:.2f}, expected 1 within {tolerances.order:g}; "
            )
            text += f"{1e3 * runs.error[-1]:.3g} mm are left at {runs.dt[-1]:g} s"
            yield Finding("trajectory", engine, "" if within else text)

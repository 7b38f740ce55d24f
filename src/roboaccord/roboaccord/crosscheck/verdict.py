"""From the figures to a verdict that names what is wrong."""

from __future__ import annotations

from collections.abc import Mapping

from roboaccord.crosscheck.acceleration import AccelerationCheck, MassCheck
from roboaccord.crosscheck.convergence import ConvergenceCheck
from roboaccord.crosscheck.one_step import OneStepCheck
from roboaccord.scenario import Tolerances


def reasons_to_fail(
    tolerances: Tolerances,
    acceleration: Mapping[str, AccelerationCheck],
    masses: Mapping[str, MassCheck],
    one_step: Mapping[str, OneStepCheck],
    trajectory: Mapping[str, ConvergenceCheck],
) -> list[str]:
    """Return one line for each figure out of tolerance; none means that all agree."""
    reasons = []
    for engine, mass in masses.items():
        if abs(mass.worst_ratio - 1.0) > tolerances.mass:
            who = "every link" if mass.alike else mass.worst_link
            reasons.append(
                f"{engine}: mass of {who} is {100 * (mass.worst_ratio - 1):+.2g} % off; "
                f"the whole weighs {mass.total:.4g} kg, the reference {mass.reference:.4g} kg"
            )
    for engine, check in acceleration.items():
        if check.max is not None and not check.max <= tolerances.acceleration:
            reasons.append(
                f"{engine}: accelerations differ by {check.max:.2g} relative, "
                f"allowed {tolerances.acceleration:.0e}"
            )
    for engine, step in one_step.items():
        falls = step.order is None or step.order >= 1.0 - tolerances.one_step_order
        if step.relative > tolerances.one_step and not falls:
            reasons.append(
                f"{engine}: one step from the same state differs by {100 * step.relative:.2g} % of "
                f"the change, and the error falls with order {step.order:.2f} only"
            )
    for engine, runs in trajectory.items():
        reasons += _convergence_reasons(tolerances, engine, runs)
    return reasons


def _convergence_reasons(
    tolerances: Tolerances, engine: str, runs: ConvergenceCheck
) -> list[str]:
    limit = tolerances.trajectory.get(engine)
    if limit is not None:
        if runs.error[0] <= limit:
            return []
        return [
            f"{engine}: {1e3 * runs.error[0]:.3g} mm from the reference at {runs.dt[0]:g} s, "
            f"allowed {1e3 * limit:g} mm"
        ]
    if runs.order is None or runs.expected_order != 1 or len(runs.dt) < 2:
        return []
    if abs(runs.order - 1.0) <= tolerances.order:
        return []
    return [
        f"{engine}: converges with order {runs.order:.2f}, expected 1 within {tolerances.order:g}; "
        f"{1e3 * runs.error[-1]:.3g} mm are left at {runs.dt[-1]:g} s"
    ]

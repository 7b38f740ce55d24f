"""`accord roller-sphere reach`: where a rig can drive its ball, and how fast."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli.command import Result
from roboaccord.cli.gathering import gathers
from roboaccord.contract.results import IF_ANY, INLINE, Degrees, MetresPerSecond, Quantity, Ratio
from roboaccord.contract.state import Array

from roller_sphere.cli.options import PAPER, RigOptions, Rollers, used_rig
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.reach import blocked, fastest_heading, gains, slip_gains, top_speed
from roller_sphere.model.rig import RigError


@gathers("--roller", "--nu")
def reach_command(
    rig: RigOptions = PAPER,
    limit: Annotated[
        MetresPerSecond, typer.Option(min=1e-9, help="Largest peripheral speed of a roller.")
    ] = 2.0,
    speed: Annotated[
        MetresPerSecond, typer.Option(min=0.0, help="Of the ball, for the blocked headings.")
    ] = 1.0,
    rollers: Rollers = None,
) -> Result:
    """Say along which headings the ball can be driven, and how fast with limited rollers.

    A rig whose headings are limited by its geometry is no error here: the remaining ones are named.

    Examples:

      accord roller-sphere reach --limit 1.5 --speed 1

      accord roller-sphere reach --alpha-deg 38.9566 -38.9566 --json
    """
    if not np.isfinite([limit, speed]).all():
        raise RigError("limit and speed must be finite numbers")
    kinematics = rig.kinematics(rollers)
    found = reach_of(kinematics, speed, limit)
    return Result(found, lines_of(found, speed, limit), used=used_rig(rollers))


@dataclass(frozen=True, kw_only=True)
class Driving:
    """Hold how a rig drives that reaches every heading."""

    roller_speed_over_speed: Annotated[Array, Quantity("1")]
    slip_over_speed: Annotated[Array, Quantity("1")]
    speed_everywhere: MetresPerSecond
    speed_best: MetresPerSecond
    heading_best_deg: Degrees
    blocked_deg: Annotated[list[tuple[float, float]], Quantity("deg")]


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Hold where a rig can drive its ball: the headings that remain, or None where all do."""

    condition: Ratio
    remaining_deg: Annotated[list[float] | None, Quantity("deg")] = None
    driving: Driving | None = field(default=None, metadata=IF_ANY | INLINE)


def reach_of(kinematics: Kinematics, speed: float, limit: float) -> Reach:
    """Return what is to be said of a rig."""
    remaining = kinematics.remaining
    if remaining is not None:
        left = [float(np.degrees(phi)) for phi in remaining]
        return Reach(condition=kinematics.condition, remaining_deg=left)
    fastest = fastest_heading(kinematics)
    spans = blocked(kinematics, speed, limit)
    driving = Driving(
        roller_speed_over_speed=gains(kinematics),
        slip_over_speed=slip_gains(kinematics),
        speed_everywhere=limit / gains(kinematics).max(),
        speed_best=float(top_speed(kinematics, fastest, limit)),
        heading_best_deg=np.degrees(fastest),
        blocked_deg=[(float(np.degrees(a)), float(np.degrees(b))) for a, b in spans],
    )
    return Reach(condition=kinematics.condition, driving=driving)


def lines_of(found: Reach, speed: float, limit: float) -> list[str]:
    """Return the result for people."""
    lines = [f"condition number {found.condition:.4g}"]
    driving = found.driving
    if driving is None:
        words = " and ".join(f"{phi:.4f}" for phi in found.remaining_deg or ())
        return [*lines, f"headings that remain: {words or 'none'}{' degrees' if words else ''}"]
    spans = ", ".join(f"{a:.2f} to {b % 360:.2f}" for a, b in driving.blocked_deg)
    best = driving.heading_best_deg
    return [
        *lines,
        "every heading can be reached",
        f"roller speed over ball speed, at most: {words_of(driving.roller_speed_over_speed)}",
        f"slip over ball speed, at most: {words_of(driving.slip_over_speed)}",
        f"with rollers of at most {limit:g} m/s",
        f"  in every direction: {driving.speed_everywhere:.6f} m/s",
        f"  along {best:.2f} and {best + 180:.2f} degrees: {driving.speed_best:.6f} m/s",
        f"  blocked at {speed:g} m/s: {spans + ' degrees' if spans else 'no heading'}",
    ]


def words_of(values: Array) -> str:
    """Return numbers as words."""
    return ", ".join(f"{value:.6f}" for value in values)

"""`accord roller-sphere reach`: where a rig can drive its ball, and how fast."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer
from roboaccord.cli.command import Result
from roboaccord.cli.gathering import gathers
from roboaccord.contract.results import MetresPerSecond

from roller_sphere.cli.options import (
    ALPHA,
    AZIMUTH,
    LATITUDE,
    Alpha,
    Azimuth,
    Latitude,
    Radius,
    Rollers,
    kinematics_of,
    used_rig,
)
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.reach import blocked, fastest_heading, gains, slip_gains, top_speed
from roller_sphere.model.rig import RigError


@gathers("--roller", "--nu")
def reach_command(
    radius: Radius = 1.0,
    azimuth: Azimuth = AZIMUTH,
    latitude: Latitude = LATITUDE,
    alpha: Alpha = ALPHA,
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
    kinematics = kinematics_of(radius, azimuth, latitude, alpha, rollers)
    found = figures(kinematics, speed, limit)
    return Result(found, lines_of(found, speed, limit), used=used_rig(rollers))


def figures(kinematics: Kinematics, speed: float, limit: float) -> dict[str, Any]:
    """Return what is to be said of a rig."""
    remaining = kinematics.remaining
    found: dict[str, Any] = {"condition": kinematics.condition, "remaining_deg": None}
    if remaining is not None:
        return {**found, "remaining_deg": [float(np.degrees(phi)) for phi in remaining]}
    fastest = fastest_heading(kinematics)
    spans = blocked(kinematics, speed, limit)
    return {
        **found,
        "roller_speed_over_speed": gains(kinematics),
        "slip_over_speed": slip_gains(kinematics),
        "speed_everywhere": limit / gains(kinematics).max(),
        "speed_best": float(top_speed(kinematics, fastest, limit)),
        "heading_best_deg": np.degrees(fastest),
        "blocked_deg": [(float(np.degrees(a)), float(np.degrees(b))) for a, b in spans],
    }


def lines_of(found: dict[str, Any], speed: float, limit: float) -> list[str]:
    """Return the result for people."""
    lines = [f"condition number {found['condition']:.4g}"]
    if found["remaining_deg"] is not None:
        words = " and ".join(f"{phi:.4f}" for phi in found["remaining_deg"])
        lines.append(f"headings that remain: {words or 'none'}{' degrees' if words else ''}")
    else:
        spans = ", ".join(f"{a:.2f} to {b % 360:.2f}" for a, b in found["blocked_deg"])
        best = found["heading_best_deg"]
        lines += [
            "every heading can be reached",
            "roller speed over ball speed, at most: " + words_of(found["roller_speed_over_speed"]),
            "slip over ball speed, at most: " + words_of(found["slip_over_speed"]),
            f"with rollers of at most {limit:g} m/s",
            f"  in every direction: {found['speed_everywhere']:.6f} m/s",
            f"  along {best:.2f} and {best + 180:.2f} degrees: {found['speed_best']:.6f} m/s",
            f"  blocked at {speed:g} m/s: {spans + ' degrees' if spans else 'no heading'}",
        ]
    return lines


def words_of(values: Any) -> str:
    """Return numbers as words."""
    return ", ".join(f"{value:.6f}" for value in values)

"""`accord roller-sphere inverse`, `forward` and `reach`: what a rig does with its ball."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import typer
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table
from roboaccord.cli.gathering import gathers, numbers
from roboaccord.contract.results import (
    IF_ANY,
    INLINE,
    Degrees,
    MetresPerSecond,
    Quantity,
    RadiansPerSecond,
    Ratio,
)
from roboaccord.contract.state import Array

from roller_sphere.cli.options import PAPER, RigOptions, Rollers, used_rig
from roller_sphere.model.kinematics import Kinematics, RollerMotion
from roller_sphere.model.reach import blocked, fastest_heading, gains, slip_gains, top_speed
from roller_sphere.model.rig import RigError


@dataclass(frozen=True)
class Turning:
    """Hold the ball's turning, and the slip of each roller along X."""

    rho_deg: Degrees
    omega: Annotated[Array, Quantity("rad/s")]
    slip: Annotated[Array, Quantity("m/s")]


@dataclass(frozen=True)
class Slips:
    """Hold the sizes of the whole slips, and the condition number."""

    slip_speed: Annotated[Array, Quantity("m/s")]
    condition: Ratio


def parts_of(kinematics: Kinematics, motion: RollerMotion) -> tuple[Turning, Slips]:
    """Return what both commands say of a motion."""
    sizes = np.linalg.norm(kinematics.zeta(motion.nu), axis=-1)
    turning = Turning(float(np.degrees(motion.rho)), motion.omega, motion.slip)
    return turning, Slips(sizes, kinematics.condition)


@dataclass(frozen=True)
class Line:
    """Hold a line of all w without slip at a roller."""

    point: Annotated[Array, Quantity("rad/s")]
    direction: Array


@dataclass(frozen=True, kw_only=True)
class Inverse:
    """Hold the roller speeds for a velocity, and the motion with them."""

    nu: Annotated[Array, Quantity("m/s")]
    turning: Turning = field(metadata=INLINE)
    lines: list[Line]
    rig: Slips = field(metadata=INLINE)


@dataclass(frozen=True, kw_only=True)
class Forward:
    """Hold the motion of the ball at roller speeds."""

    speed: Annotated[Array, Quantity("m/s")]
    heading_deg: Annotated[Array, Quantity("deg")]
    turning: Turning = field(metadata=INLINE)
    rig: Slips = field(metadata=INLINE)


@gathers("--roller", "--nu")
def inverse_command(
    rig: RigOptions = PAPER,
    speed: Annotated[MetresPerSecond, typer.Option(help="|V| of the ball.")] = 1.0,
    heading: Annotated[Degrees, typer.Option("--heading-deg", help="Of V, about z from x.")] = 0.0,
    spin: Annotated[
        RadiansPerSecond | None, typer.Option(help="w_z of the ball; three rollers or more.")
    ] = None,
    rollers: Rollers = None,
) -> Result:
    """Find the roller speeds for a velocity of the ball, with the slip that comes with them.

    Without options the rig is the paper's, with alpha 10 and -10 degrees.

    Two rollers leave no choice; more are driven with the least sum of squared slips.

    Examples:

      accord roller-sphere inverse --heading-deg 90

      accord roller-sphere inverse --radius 0.11 --alpha-deg 0 0 --speed 0.5 --json

      accord roller-sphere inverse --roller 0 45 40 --roller 120 45 -40 --roller 240 45 90 --spin 2
    """
    kinematics = rig.kinematics(rollers)
    motion = kinematics.inverse(speed, np.radians(heading), spin=spin)
    turning, slips = parts_of(kinematics, motion)
    lines = [Line(*each) for each in zip(*kinematics.lines(motion.nu), strict=True)]
    found = Inverse(nu=motion.nu, turning=turning, lines=lines, rig=slips)
    return Result(found, shown_of(kinematics, motion, slips), used=used_rig(rollers))


@gathers("--roller", "--nu")
def forward_command(
    nu: Annotated[
        str,
        Quantity("m/s"),
        typer.Option("--nu", metavar="N1 N2 ...", help="Speeds of the rollers."),
    ],
    rig: RigOptions = PAPER,
    rollers: Rollers = None,
) -> Result:
    """Find the motion of the ball at given roller speeds, and the slip.

    Examples:

      accord roller-sphere forward --nu -0.93 -0.93

      accord roller-sphere forward --azimuth-deg 150 210 --alpha-deg 5 -5 --nu 0.4 -0.2 --json
    """
    kinematics = rig.kinematics(rollers)
    motion = kinematics.forward(numbers(nu, "--nu"))
    turning, slips = parts_of(kinematics, motion)
    heading = np.degrees(motion.heading)
    found = Forward(speed=motion.speed, heading_deg=heading, turning=turning, rig=slips)
    return Result(found, shown_of(kinematics, motion, slips), used=used_rig(rollers))


def shown_of(kinematics: Kinematics, motion: RollerMotion, slips: Slips) -> list[RenderableType]:
    """Return a motion for people."""
    table = make_table(
        "roller", "speed nu\n[m/s]", "slip S\n[m/s]", "slip |zeta|\n[m/s]", "line through\n[rad/s]"
    )
    points, _ = kinematics.lines(motion.nu)
    rows = zip(motion.nu, motion.slip, slips.slip_speed, points, strict=True)
    for number, (*row, point) in enumerate(rows, 1):
        line = ", ".join(f"{x:.3f}" for x in point)
        table.add_row(f"{number}", *map(six, row), line)
    ball = make_table("ball", "", "unit", words=["", "unit"])
    ball.add_row("speed |V|", f"{float(motion.speed):.6f}", "m/s")
    ball.add_row("heading phi", f"{np.degrees(motion.heading):.4f}", "degrees")
    ball.add_row("axis rho", f"{np.degrees(motion.rho):.4f}", "degrees above the x-y plane")
    ball.add_row("turning w", ", ".join(map(six, motion.omega)), "rad/s")
    ball.add_row("condition", f"{slips.condition:.4g}", "of the inverse")
    words = (
        "nu: peripheral speed; S: slip along the tangent X of the contact; |zeta|: size of the "
        "whole slip; line: all w without slip at this roller, along the contact's normal"
    )
    return [table, Text(words), "", ball]


def six(value: float) -> str:
    """Return a number with six decimals, and no sign before 0."""
    return f"{round(float(value), 6) + 0.0:.6f}"


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
    found = Reach.of(kinematics, speed, limit)
    return Result(found, lines_of(found, speed, limit), used=used_rig(rollers))


@dataclass(frozen=True, kw_only=True)
class Driving:
    """Hold how a rig drives that reaches every heading."""

    roller_speed_over_speed: Annotated[Array, Quantity("1")]
    slip_over_speed: Annotated[Array, Quantity("1")]
    speed_everywhere: MetresPerSecond
    speed_best: MetresPerSecond
    heading_best_deg: Degrees
    blocked_deg: Annotated[list[list[float]], Quantity("deg")]


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Hold where a rig can drive its ball: the headings that remain, or None where all do."""

    condition: Ratio
    remaining_deg: Annotated[list[float] | None, Quantity("deg")] = None
    driving: Driving | None = field(default=None, metadata=IF_ANY | INLINE)

    @classmethod
    def of(cls, kinematics: Kinematics, speed: float, limit: float) -> Reach:
        """Return what is to be said of a rig."""
        remaining = kinematics.remaining
        if remaining is not None:
            return cls(condition=kinematics.condition, remaining_deg=np.degrees(remaining).tolist())
        fastest = fastest_heading(kinematics)
        driving = Driving(
            roller_speed_over_speed=gains(kinematics),
            slip_over_speed=slip_gains(kinematics),
            speed_everywhere=limit / gains(kinematics).max(),
            speed_best=float(top_speed(kinematics, fastest, limit)),
            heading_best_deg=np.degrees(fastest),
            blocked_deg=np.degrees(blocked(kinematics, speed, limit)).tolist(),
        )
        return cls(condition=kinematics.condition, driving=driving)


def lines_of(found: Reach, speed: float, limit: float) -> list[str]:
    """Return the result for people."""
    condition, driving = f"condition number {found.condition:.4g}", found.driving
    if driving is None:
        words = " and ".join(f"{phi:.4f}" for phi in found.remaining_deg or ())
        return [condition, f"headings that remain: {words or 'none'}{' degrees' if words else ''}"]
    spans = ", ".join(f"{a:.2f} to {b % 360:.2f}" for a, b in driving.blocked_deg)
    best = driving.heading_best_deg
    rates, slips = (
        ", ".join(map(six, values))
        for values in (driving.roller_speed_over_speed, driving.slip_over_speed)
    )
    return [
        condition,
        "every heading can be reached",
        f"roller speed over ball speed, at most: {rates}",
        f"slip over ball speed, at most: {slips}",
        f"with rollers of at most {limit:g} m/s",
        f"  in every direction: {driving.speed_everywhere:.6f} m/s",
        f"  along {best:.2f} and {best + 180:.2f} degrees: {driving.speed_best:.6f} m/s",
        f"  blocked at {speed:g} m/s: {spans + ' degrees' if spans else 'no heading'}",
    ]

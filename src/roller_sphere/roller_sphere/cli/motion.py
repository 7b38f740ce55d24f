"""`accord roller-sphere inverse` and `forward`: roller speeds from a velocity, and back."""

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


@dataclass(frozen=True)
class Turning:
    """Hold the ball's turning, and the slip of each roller along X."""

    rho_deg: Degrees
    omega: Annotated[Array, Quantity("rad/s")]
    slip: Annotated[Array, Quantity("m/s")]

    @classmethod
    def of(cls, motion: RollerMotion) -> Turning:
        """Return that of a motion."""
        return cls(float(np.degrees(motion.rho)), motion.omega, motion.slip)


@dataclass(frozen=True)
class Slips:
    """Hold the sizes of the whole slips, and the condition number."""

    slip_speed: Annotated[Array, Quantity("m/s")]
    condition: Ratio

    @classmethod
    def of(cls, kinematics: Kinematics, motion: RollerMotion) -> Slips:
        """Return those of a motion."""
        sizes = np.linalg.norm(kinematics.zeta(motion.nu), axis=-1)
        return cls(sizes, kinematics.condition)


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
    found = Inverse(
        nu=motion.nu,
        turning=Turning.of(motion),
        lines=[Line(*each) for each in zip(*kinematics.lines(motion.nu), strict=True)],
        rig=Slips.of(kinematics, motion),
    )
    return Result(found, tables_of(kinematics, motion), used=used_rig(rollers))


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
    found = Forward(
        speed=motion.speed,
        heading_deg=np.degrees(motion.heading),
        turning=Turning.of(motion),
        rig=Slips.of(kinematics, motion),
    )
    return Result(found, tables_of(kinematics, motion), used=used_rig(rollers))


def tables_of(kinematics: Kinematics, motion: RollerMotion) -> list[RenderableType]:
    """Return a motion for people."""
    table = make_table(
        "roller", "speed nu\n[m/s]", "slip S\n[m/s]", "slip |zeta|\n[m/s]", "line through\n[rad/s]"
    )
    sizes = Slips.of(kinematics, motion).slip_speed
    points, _ = kinematics.lines(motion.nu)
    for number, row in enumerate(zip(motion.nu, motion.slip, sizes), 1):
        table.add_row(
            f"{number}",
            *(six(value) for value in row),
            ", ".join(f"{x:.3f}" for x in points[number - 1]),
        )
    ball = make_table("ball", "", "unit", words=["", "unit"])
    ball.add_row("speed |V|", f"{float(motion.speed):.6f}", "m/s")
    ball.add_row("heading phi", f"{np.degrees(motion.heading):.4f}", "degrees")
    ball.add_row("axis rho", f"{np.degrees(motion.rho):.4f}", "degrees above the x-y plane")
    ball.add_row("turning w", ", ".join(six(value) for value in motion.omega), "rad/s")
    ball.add_row("condition", f"{kinematics.condition:.4g}", "of the inverse")
    words = (
        "nu: peripheral speed; S: slip along the tangent X of the contact; |zeta|: size of the "
        "whole slip; line: all w without slip at this roller, along the contact's normal"
    )
    return [table, Text(words), "", ball]


def six(value: float) -> str:
    """Return a number with six decimals, and no sign before 0."""
    return f"{round(float(value), 6) + 0.0:.6f}"

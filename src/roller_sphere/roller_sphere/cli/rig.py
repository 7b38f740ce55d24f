"""Commands `accord roller-sphere inverse`, `forward` and `figures`: a rig and its ball.

Options describe a rig, by default the paper's (model/rig.py). `inverse` prints the roller speeds
for a motion of the ball, `forward` the motion for given speeds, and `figures` draws figures of the
paper. A quantity of a motion is a field of Motion with its unit, filled in `Motion.of`. Keys and
units stay (test_roller_cli); so do RigOptions, Rollers and PAPER, which other packages use.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
from roboaccord import cli
from roboaccord.contract import Array, Quantity, by_option
from roboaccord.contract import results as si
from roboaccord.run import made_with
from typer import Option

from roller_sphere.model.kinematics import Kinematics, RollerMotion
from roller_sphere.model.rig import Rig, RigError
from roller_sphere.source.figures import AZIMUTHS, LATITUDES, write_figures

# degrees: the second of the paper's four angles, the smallest at which the rollers slip
ALPHA = (10.0, -10.0)

Pair = tuple[float, float]
Angles = Annotated[Pair, Quantity("deg")]
AZIMUTH_HELP = "Azimuths of the contacts, about z from x."
LATITUDE_HELP = "Latitudes of the contacts, from the equator up."
ALPHA_HELP = "Angles of the rollers' axes, from the plane through the centre and both contacts."
SPIN_HELP = "Turn rate w_z of the ball; for three rollers or more."
HEADING_HELP = "Heading of V, about z from x."
NU_HELP = "Speeds of the rollers."
ROLLER_HELP = "A roller, instead of the three pairs; repeat for two or more."
Azimuths = Annotated[Angles, Option("--azimuth-deg", metavar="A1 A2", help=AZIMUTH_HELP)]
Latitudes = Annotated[Angles, Option("--latitude-deg", metavar="B1 B2", help=LATITUDE_HELP)]
Alphas = Annotated[Angles, Option("--alpha-deg", metavar="C1 C2", help=ALPHA_HELP)]
Roller = Option("--roller", metavar="AZ LAT ALPHA", help=ROLLER_HELP)
Rollers = Annotated[list[str] | None, Quantity("deg"), Roller]


@dataclass(frozen=True)
class RigOptions:
    """A rig of two rollers, by pairs of angles."""

    radius: Annotated[si.Metres, Option(help="Radius of the ball.")] = 1.0
    azimuth: Azimuths = AZIMUTHS
    latitude: Latitudes = LATITUDES
    alpha: Alphas = ALPHA

    def kinematics(self, rollers: list[str] | None) -> Kinematics:
        """Return the kinematics of the rig, or of rollers; warn on stderr if it is nearly singular.

        Raises:
            RigError: for angles that make no rig.
        """
        # All azimuths, all latitudes, and all alphas; --roller has the three of one roller.
        angles = [self.azimuth, self.latitude, self.alpha]
        if rollers:
            triples = [cli.numbers(text, "--roller") for text in rollers]
            for text, triple in zip(rollers, triples):
                if len(triple) != 3:
                    raise RigError(f"--roller takes azimuth, latitude and alpha, not {text!r}")
            angles = list(zip(*triples))  # transposed
        kinematics = Kinematics(Rig.degrees(self.radius, *angles))
        if kinematics.warning:
            cli.warn(kinematics.warning)
        return kinematics


PAPER = RigOptions()
PAIRS = "azimuth-deg latitude-deg alpha-deg"  # options of a rig that --roller replaces
Condition = Annotated[float, Quantity("1", "condition number of the inverse", form=".4g")]


@dataclass(frozen=True)
class Line:
    """A line of all w without slip at a roller."""

    point: Annotated[Array, Quantity("rad/s", "on the line", form=".3f")]
    direction: Annotated[Array, Quantity("1", "of the contact's normal", form=".3f")]


# Quantities of a motion, as commands print them.
NU = Quantity("m/s", "peripheral speeds of the rollers", form=".6f")
SPEED = Quantity("m/s", "|V| of the ball", form=".6f")
HEADING = Quantity("deg", "phi of V, about z from x", "heading", ".4f")
SLIP = Quantity("m/s", "S of each roller, along the tangent X of its contact", form=".6f")
LINES = Quantity("", "lines of all w without slip at a roller, each in turn")
SLIP_SPEED = Quantity("m/s", "|zeta|, size of each roller's whole slip", form=".6f")


@dataclass(frozen=True, kw_only=True)
class Motion:
    """A motion of the ball: its velocity at given roller speeds, or vice versa."""

    nu: Annotated[Array | None, NU] = field(default=None, metadata=si.IF_ANY)
    speed: Annotated[float | None, SPEED] = field(default=None, metadata=si.IF_ANY)
    heading_deg: Annotated[float | None, HEADING] = field(default=None, metadata=si.IF_ANY)
    rho_deg: Annotated[float, Quantity("deg", "of the axis of w above the x-y plane", "rho", ".4f")]
    omega: Annotated[Array, Quantity("rad/s", "w of the ball", form=".6f")]
    slip: Annotated[Array, SLIP]
    lines: Annotated[list[Line] | None, LINES] = field(default=None, metadata=si.IF_ANY)
    slip_speed: Annotated[Array, SLIP_SPEED]
    condition: Condition

    @classmethod
    def of(cls, kinematics: Kinematics, motion: RollerMotion, *, given_speeds: bool) -> Motion:
        """Return a motion: the ball's velocity for given roller speeds, or else the speeds."""
        nu, lines = motion.nu, zip(*kinematics.lines(motion.nu), strict=True)
        return cls(
            nu=None if given_speeds else nu,
            speed=float(motion.speed) if given_speeds else None,
            heading_deg=float(np.degrees(motion.heading)) if given_speeds else None,
            rho_deg=float(np.degrees(motion.rho)),
            omega=motion.omega,
            slip=motion.slip,
            lines=None if given_speeds else [Line(*line) for line in lines],
            slip_speed=np.linalg.norm(kinematics.zeta(nu), axis=-1),
            condition=kinematics.condition,
        )


@by_option("roller", "", PAIRS, "radius speed heading-deg spin")
@cli.gathers("--roller", "--nu")
def inverse_command(
    rig: RigOptions = PAPER,
    speed: Annotated[si.MetresPerSecond, Option(help="Speed |V| of the ball.")] = 1.0,
    heading: Annotated[si.Degrees, Option("--heading-deg", help=HEADING_HELP)] = 0.0,
    spin: Annotated[si.RadiansPerSecond | None, Option(help=SPIN_HELP)] = None,
    rollers: Rollers = None,
) -> cli.Result:
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
    return cli.Result(Motion.of(kinematics, motion, given_speeds=False))


@by_option("roller", "", PAIRS, "nu radius")
@cli.gathers("--roller", "--nu")
def forward_command(
    nu: Annotated[str, Quantity("m/s"), Option("--nu", metavar="N1 N2 ...", help=NU_HELP)],
    rig: RigOptions = PAPER,
    rollers: Rollers = None,
) -> cli.Result:
    """Find the motion of the ball at given roller speeds, and the slip.

    Examples:

      accord roller-sphere forward --nu -0.93 -0.93

      accord roller-sphere forward --roller 0 45 40 --roller 120 45 -40 --nu 0.4 -0.2

      accord roller-sphere forward --azimuth-deg 150 210 --alpha-deg 5 -5 --nu 0.4 -0.2 --json
    """
    kinematics = rig.kinematics(rollers)
    motion = kinematics.forward(cli.numbers(nu, "--nu"))
    return cli.Result(Motion.of(kinematics, motion, given_speeds=True))


@dataclass(frozen=True)
class Figures:
    """Files that were written."""

    files: list[Path]


def figures_command(folder: cli.Out = None, force: cli.Force = False) -> cli.Result:
    """Draw figures 3a to 3d of the paper, for its rig at four roller angles.

    Writes index.html with all of them, each as SVG, and its numbers as CSV.

    Example:

      accord roller-sphere figures --out roller_figures
    """
    with cli.results(folder, "roller_sphere_figures", force=force) as out_folder:
        versions = made_with("roboaccord-roller_sphere")
        return cli.Result(Figures(write_figures(out_folder, cli.command_line(), versions)))

"""Options that the roller sphere's commands share: the rig, in degrees as on a drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from roboaccord.cli.console import warn
from roboaccord.cli.gathering import numbers
from roboaccord.contract.results import Metres, Quantity

from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.rig import Rig, RigError

# The paper's rig at its second angle.
AZIMUTH, LATITUDE, ALPHA = (215.0, 325.0), (60.0, 60.0), (10.0, -10.0)

Pair = tuple[float, float]
Angles = Annotated[Pair, Quantity("deg")]


@dataclass(frozen=True)
class RigOptions:
    """Describe a rig of two rollers by pairs of angles."""

    radius: Annotated[Metres, typer.Option(help="Of the ball.")] = 1.0
    azimuth: Annotated[
        Angles,
        typer.Option("--azimuth-deg", metavar="A1 A2", help="Of the contacts, about z from x."),
    ] = AZIMUTH
    latitude: Annotated[
        Angles,
        typer.Option(
            "--latitude-deg", metavar="B1 B2", help="Of the contacts, from the equator up."
        ),
    ] = LATITUDE
    alpha: Annotated[
        Angles,
        typer.Option(
            "--alpha-deg",
            metavar="C1 C2",
            help="Of the rollers' axes, from the plane through the centre and both contacts.",
        ),
    ] = ALPHA

    def kinematics(self, rollers: list[str] | None) -> Kinematics:
        """Return the kinematics of the rig, or of rollers, with a warning on stderr.

        Raises:
            RigError: for what makes no rig.
        """
        triples = [numbers(words, "--roller") for words in rollers or ()]
        for words, triple in zip(rollers or (), triples):
            if len(triple) != 3:
                raise RigError(f"--roller takes azimuth, latitude and alpha, not {words!r}")
        angles = list(zip(*triples)) if triples else [self.azimuth, self.latitude, self.alpha]
        found = Kinematics(Rig.degrees(self.radius, *angles))
        if found.warning:
            warn(found.warning)
        return found


def used_rig(rollers: list[str] | None) -> dict[str, None]:
    """Return the options that play no part: the three pairs, where rollers are given."""
    return dict.fromkeys(("azimuth_deg", "latitude_deg", "alpha_deg")) if rollers else {}


Rollers = Annotated[
    list[str] | None,
    Quantity("deg"),
    typer.Option(
        "--roller",
        metavar="AZ LAT ALPHA",
        help="A roller, instead of the three pairs; once for each of two or more.",
    ),
]
PAPER = RigOptions()

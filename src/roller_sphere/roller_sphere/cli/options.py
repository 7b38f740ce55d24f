"""Options that the roller sphere's commands share: the rig, in degrees as on a drawing."""

from __future__ import annotations

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
Radius = Annotated[Metres, typer.Option(help="Of the ball.")]
Azimuth = Annotated[
    Pair,
    Quantity("deg"),
    typer.Option("--azimuth-deg", metavar="A1 A2", help="Of the contacts, about z from x."),
]
Latitude = Annotated[
    Pair,
    Quantity("deg"),
    typer.Option("--latitude-deg", metavar="B1 B2", help="Of the contacts, from the equator up."),
]
Alpha = Annotated[
    Pair,
    Quantity("deg"),
    typer.Option(
        "--alpha-deg",
        metavar="C1 C2",
        help="Of the rollers' axes, from the plane through the centre and both contacts.",
    ),
]
Rollers = Annotated[
    list[str] | None,
    typer.Option(
        "--roller",
        metavar="AZ LAT ALPHA",
        help="A roller in degrees, instead of the three pairs; once for each of two or more.",
    ),
]


def kinematics_of(
    radius: float, azimuth: Pair, latitude: Pair, alpha: Pair, rollers: list[str] | None
) -> Kinematics:
    """Return the kinematics of the rig that options describe, with a warning on stderr.

    Raises:
        RigError: for what makes no rig.
    """
    triples = [numbers(words, "--roller") for words in rollers or ()]
    for words, triple in zip(rollers or (), triples):
        if len(triple) != 3:
            raise RigError(f"--roller takes azimuth, latitude and alpha, not {words!r}")
    angles = list(zip(*triples)) if triples else [azimuth, latitude, alpha]
    kinematics = Kinematics(Rig.degrees(radius, *angles))
    if kinematics.warning:
        warn(kinematics.warning)
    return kinematics


def used_rig(rollers: list[str] | None) -> dict[str, None]:
    """Return the options that play no part: the three pairs, where rollers are given."""
    return dict.fromkeys(("azimuth_deg", "latitude_deg", "alpha_deg")) if rollers else {}

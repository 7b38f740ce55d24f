"""Command `accord monkeybot find`: gaits of a kind, from random starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated

import typer
from monkeybot.cli.options import Changes, robot_parameters
from monkeybot.gaits.orbits import Orbit
from roboaccord.cli import Result, Seed, counted, in_pieces, tables_of
from roboaccord.contract import INLINE, Quantity, Seconds

from roboaccord_studies.monkeybot.find import find_gaits
from roboaccord_studies.monkeybot.options import Controls, KindName, Rise, controls_of, kind_of
from roboaccord_studies.monkeybot.symmetry import asymmetry

FIGURES = ("orbit.spectral_radius", "orbit.settings", "orbit.stride", "orbit.drop")
STATES = ("orbit.start", "orbit.work", "asymmetry", "straight")


@dataclass(frozen=True)
class Found:
    """Hold a gait, how far a swing is from its mirror image, and how near it hangs straight."""

    orbit: Orbit = field(metadata=INLINE)
    asymmetry: Annotated[
        float | None, Quantity("rad", "how far a swing is from its mirror image in time", "", ".2g")
    ] = None
    straight: Annotated[
        float | None, Quantity("rad", "how near it comes to hanging straight", "", ".2g")
    ] = None


@dataclass(frozen=True)
class Search:
    """Hold the gaits that were found, and from what."""

    kind: str
    samples: int
    seed: int
    gaits: list[Found]


@in_pieces()
def find_command(
    kind: KindName = "clocked",
    period: Annotated[Seconds | None, typer.Option(help="Short for --at period=VALUE.")] = None,
    controls: Controls = None,
    rise: Rise = 0.0,
    samples: Annotated[int, typer.Option(min=1, help="Random starts.")] = 1000,
    seed: Seed = 0,
    anywhere: Annotated[
        bool,
        typer.Option(
            "--anywhere",
            help="Start with the elbow on either side and rates up to 10 rad/s, to find also "
            "gaits that do not pass through the vertical.",
        ),
    ] = False,
    changes: Changes = None,
) -> Result:
    """Find gaits of a kind that repeat, by Newton's method from random starts.

    The same seed gives the same gaits. The most stable is first; a gait that walks to the left is
    the mirror image of one to the right. What a kind solves for (usually the torque) starts from
    0.5 to 1.5 times the given value.

    Examples:

      accord monkeybot find --kind clocked --period 0.935 --samples 1000 --seed 1

      accord monkeybot find --kind flying --at flight=0.012 --samples 500 --json

      accord monkeybot find --kind passive --at period=0.9 --anywhere
    """
    which = kind_of(kind)
    given = [*([f"period={period!r}"] if period is not None else []), *(controls or ())]
    parameters, values = robot_parameters(changes), controls_of(which, given)
    with counted(samples, "random starts") as done:
        found = find_gaits(
            which, parameters, values, samples=samples, seed=seed, rise=rise, anywhere=anywhere,
            done=done,
        )  # fmt: skip
    rows = []
    for orbit in found:
        apart = asymmetry(orbit, parameters)
        rows.append(Found(orbit, apart.mirror, apart.straight) if apart else Found(orbit))
    numbers = [str(number) for number, _ in enumerate(rows, 1)]
    shown = [tables_of(rows, *names, labels=numbers) for names in (FIGURES, STATES) if rows]
    return Result(
        Search(kind, samples, seed, rows),
        [f"{len(found)} gaits from {samples} starts", *chain(*shown)],
        used={"at": [f"{name}={value:g}" for name, value in values.items()], "period": None},
    )

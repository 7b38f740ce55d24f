"""`accord monkeybot find`: gaits of a kind from random starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.command import Result
from roboaccord.cli.console import COMPILING, make_table, progress
from roboaccord.cli.options import Seed
from roboaccord.cli.pieces import in_pieces
from roboaccord.contract.results import INLINE, Quantity, Seconds

from monkeybot.cli.options import (
    Changes,
    Controls,
    KindName,
    OrbitRow,
    Rise,
    controls_of,
    kind_of,
    robot_parameters,
)
from monkeybot.gaits.find import Asymmetry, asymmetry, find_gaits
from monkeybot.gaits.orbits import Orbit


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
            help="Starts with the elbow on either side and rates up to 10 rad/s: also gaits that "
            "do not pass through the vertical.",
        ),
    ] = False,
    changes: Changes = None,
) -> Result:
    """Find gaits of a kind that repeat, by Newton's method from random starts.

    The same seed gives the same gaits. The most stable is first; a gait that walks to the left is
    the mirror image of one to the right. What a kind solves for (the torque, as a rule) starts
    from half to one and a half of what is given.

    Examples:

      accord monkeybot find --kind clocked --period 0.935 --samples 1000 --seed 1

      accord monkeybot find --kind flying --at flight=0.012 --samples 500 --json

      accord monkeybot find --kind passive --at period=0.9 --anywhere
    """
    which = kind_of(kind)
    given = [*([f"period={period!r}"] if period is not None else []), *(controls or ())]
    parameters, values = robot_parameters(changes), controls_of(which, given)
    with progress() as bar:
        task = bar.add_task(COMPILING, total=samples)

        def done(count: int) -> None:
            bar.update(task, advance=count, description="random starts")

        found = find_gaits(
            which, parameters, values, samples=samples, seed=seed, rise=rise, anywhere=anywhere,
            done=done,
        )  # fmt: skip
    from_symmetry = [asymmetry(orbit, parameters) for orbit in found]
    rows = [
        Found(
            OrbitRow.of(orbit),
            asymmetry=apart.mirror if apart else None,
            straight=apart.straight if apart else None,
        )
        for orbit, apart in zip(found, from_symmetry, strict=True)
    ]
    return Result(
        Search(kind, samples, seed, rows),
        [f"{len(found)} gaits from {samples} starts", *_tables(found, from_symmetry)],
        used={"at": [f"{name}={value:g}" for name, value in values.items()], "period": None},
    )


@dataclass(frozen=True)
class Found:
    """Hold a gait, how far a swing is from its mirror image, and how near it hangs straight."""

    orbit: OrbitRow = field(metadata=INLINE)
    asymmetry: Annotated[float | None, Quantity("rad")]
    straight: Annotated[float | None, Quantity("rad")]


@dataclass(frozen=True)
class Search:
    """Hold the gaits that were found, and from what."""

    kind: str
    samples: int
    seed: int
    gaits: list[Found]


def _tables(found: list[Orbit], from_symmetry: Sequence[Asymmetry | None]) -> list[RenderableType]:
    """Return the gaits in two tables that fit 80 columns: their figures, and their states."""
    if not found:
        return []
    controls = list(found[0].controls)
    figures = make_table("gait", "radius", *controls, "stride\n[m]", "drop\n[mm]", "work\n[J]")
    states = make_table(
        "gait", "th1\n[rad]", "th2\n[rad]", "w1\n[rad/s]", "w2\n[rad/s]",
        "asymmetry\n[rad]", "straight\n[rad]",
    )  # fmt: skip
    for number, (orbit, apart) in enumerate(zip(found, from_symmetry, strict=True), 1):
        figures.add_row(
            str(number),
            f"{orbit.spectral_radius:.5g}",
            *(f"{orbit.controls[name]:.6g}" for name in controls),
            f"{orbit.stride:.4f}",
            f"{round(1e3 * orbit.drop, 3) + 0.0:.3f}",
            f"{orbit.work:.3f}",
        )
        sizes = (apart.mirror, apart.straight) if apart else ()
        states.add_row(
            str(number),
            *(f"{value:.5f}" for value in orbit.start),
            *(f"{size:.2g}" for size in sizes),
        )
    explained = (
        "radius: spectral radius of the multipliers, stable below 1; stride, drop and work: of a "
        "cycle; times in s, torques in N m; below the state just after the change of hands; "
        "asymmetry: how far a swing is from its mirror image in time; straight: how near it comes "
        "to hanging straight"
    )
    return [figures, Text(explained), states]

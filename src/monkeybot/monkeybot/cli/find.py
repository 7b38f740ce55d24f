"""`accord monkeybot find`: gaits of a kind from random starts."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from roboaccord.cli.console import COMPILING, out, print_json, progress

from monkeybot.cli.kinds import Controls, KindName, Rise, controls_of, kind_of, orbit_row
from monkeybot.cli.options import Changes, Json, robot_parameters
from monkeybot.gaits.find import find_gaits
from monkeybot.gaits.orbits import Orbit


def find_command(
    kind: KindName = "clocked",
    period: Annotated[float | None, typer.Option(help="Short for --at period=VALUE, in s.")] = None,
    controls: Controls = None,
    rise: Rise = 0.0,
    samples: Annotated[int, typer.Option(min=1, help="Random starts.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the random numbers.")] = 0,
    changes: Changes = None,
    as_json: Json = False,
) -> None:
    """Find gaits of a kind that repeat, by Newton's method from random starts.

    The same seed gives the same gaits. The most stable is first; a gait that walks to the left is
    the mirror image of one to the right. What a kind solves for (the torque, as a rule) starts
    from half to one and a half of what is given.

    Examples:

      accord monkeybot find --kind clocked --period 0.935 --samples 1000 --seed 1

      accord monkeybot find --kind flying --at flight=0.012 --samples 500 --json
    """
    which = kind_of(kind)
    given = [*([f"period={period!r}"] if period is not None else []), *(controls or ())]
    parameters, values = robot_parameters(changes), controls_of(which, given)
    with progress(as_json) as bar:
        task = bar.add_task(COMPILING, total=samples)

        def done(count: int) -> None:
            bar.update(task, advance=count, description="random starts")

        found = find_gaits(
            which, parameters, values, samples=samples, seed=seed, rise=rise, done=done
        )
    if as_json:
        rows = [orbit_row(orbit) for orbit in found]
        print_json({"kind": kind, "samples": samples, "seed": seed, "gaits": rows})
        return
    out.print(f"{len(found)} gaits from {samples} starts", highlight=False)
    out.print(_table(found))


def _table(found: list[Orbit]) -> Table:
    table = Table("radius", "controls", "th1, th2, w1, w2", "stride, m", "drop, mm", "work, J")
    for orbit in found:
        table.add_row(
            f"{orbit.spectral_radius:.5g}",
            ", ".join(f"{name} {value:.6g}" for name, value in orbit.controls.items()),
            ", ".join(f"{value:.5f}" for value in orbit.start),
            f"{orbit.stride:.4f}",
            f"{1e3 * orbit.drop:.3f}",
            f"{orbit.work:.3f}",
        )
    return table

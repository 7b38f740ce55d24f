"""`accord monkeybot stable` and `gaits`: gaits that repeat, and whether disturbances fade."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table
from roboaccord.cli.console import out, print_json

from monkeybot.cli.options import Changes, Json, print_figures, robot_parameters
from monkeybot.cli.periodic import as_pairs
from monkeybot.orbits import Orbit
from monkeybot.parameters import MonkeyBotParameters
from monkeybot.shipped import clocked_gait, shipped_data, shipped_gait


def stable_command(
    period: Annotated[float, typer.Option(help="From one change of hands to the next, in s.")],
    changes: Changes = None,
    as_json: Json = False,
) -> None:
    """Find the horizontal gait of constant torque whose hands change by a clock.

    It is stable if its spectral radius, the size of its largest multiplier, is below 1.

    Examples:

      accord monkeybot stable --period 0.943

      accord monkeybot stable --period 0.93 --json
    """
    found = clocked_gait(robot_parameters(changes), period)
    if as_json:
        print_json(
            {
                "period": found.period,
                "torque": found.controls["torque"],
                "post_impact": found.start,
                "multipliers": as_pairs(found.multipliers),
                "spectral_radius": found.spectral_radius,
                "stride": found.stride,
                "work": found.work,
                "drop": found.drop,
            }
        )
        return
    values = ", ".join(f"{v:.5f}" for v in found.start)
    print_figures(
        {
            "period": (f"{found.period:.6f}", "s"),
            "torque": (f"{found.controls['torque']:.6f}", "N m"),
            "post-impact th1, th2, w1, w2": (values, "rad, rad/s"),
            "multipliers": (multipliers_text(found), ""),
            "spectral radius": (f"{found.spectral_radius:.5f}", verdict(found)),
            "stride": (f"{found.stride:.6f}", "m"),
            "work": (f"{found.work:.5f}", "J a step"),
            "drop": (f"{found.drop:.2g}", "m a step"),
        }
    )


def gaits_command(changes: Changes = None, as_json: Json = False) -> None:
    """List the gaits that are shipped, with their figures for this robot.

    Examples:

      accord monkeybot gaits

      accord monkeybot gaits --set viscous_elbow=0.01
    """
    parameters = robot_parameters(changes)
    found = {name: shipped_gait(name, parameters) for name in shipped_data()}
    if as_json:
        print_json({"gaits": [figures(n, orbit, parameters) for n, orbit in found.items()]})
        return
    table = Table(
        "gait", "period, s", "stride, m", "drop, mm", "work, J", "cost", "radius", "what it is"
    )
    for name, orbit in found.items():
        table.add_row(
            name, f"{orbit.period:.4f}", f"{orbit.stride:.4f}", f"{1e3 * orbit.drop + 0.0:.2f}",
            f"{orbit.work:.4g}", f"{orbit.cost_of_transport(parameters):.3g}",
            f"{orbit.spectral_radius:.4f}", shipped_data()[name]["description"],
        )  # fmt: skip
    out.print(table)
    out.print(
        "stride, drop and work: of a change of hands; cost of transport: work over weight and "
        "stride; radius: of the multipliers, stable below 1"
    )


def figures(name: str, orbit: Orbit, parameters: MonkeyBotParameters) -> dict[str, Any]:
    """Return what is to be said of a gait, s, m, J, rad."""
    return {
        "name": name,
        "description": shipped_data()[name]["description"],
        "kind": orbit.kind.name,
        "controls": dict(orbit.controls),
        "post_impact": orbit.start,
        "period": orbit.period,
        "multipliers": as_pairs(orbit.multipliers),
        "spectral_radius": orbit.spectral_radius,
        "stride": orbit.stride,
        "work": orbit.work,
        "cost_of_transport": orbit.cost_of_transport(parameters),
        "drop": orbit.drop,
    }


def verdict(orbit: Orbit) -> str:
    """Return in a word whether disturbances fade."""
    return "stable" if orbit.spectral_radius < 1.0 else "unstable"


def multipliers_text(orbit: Orbit) -> str:
    """Return the multipliers, to be read."""
    return ", ".join(
        f"{v.real:.5f}{f'{v.imag:+.5f}i' if v.imag else ''}" for v in orbit.multipliers
    )

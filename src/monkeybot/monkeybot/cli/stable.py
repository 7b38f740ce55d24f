"""`accord monkeybot stable` and `gaits`: gaits that repeat, and whether disturbances fade."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer
from rich.text import Text
from roboaccord.cli.command import Result
from roboaccord.cli.console import COMPILING, figure_lines, make_table, progress
from roboaccord.cli.pieces import in_pieces

from monkeybot.cli.options import Changes, robot_parameters
from monkeybot.cli.periodic import as_pairs, multipliers_text
from monkeybot.gaits.kinds import clocked_gait, shipped_data
from monkeybot.gaits.orbits import Orbit
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.stability.basin import Draws, basin
from monkeybot.stability.lqr import held_gait, held_multipliers

SD_ANGLE, SD_RATE, STEPS = 0.02, 0.1, 100  # of the starts of the basin, rad, rad/s
HEADINGS = (
    "gait", "period\n[s]", "stride\n[m]", "drop\n[mm]", "work\n[J]", "cost", "radius", "basin\n[%]"
)  # fmt: skip


def stable_command(
    period: Annotated[float, typer.Option(help="From one change of hands to the next, in s.")],
    changes: Changes = None,
) -> Result:
    """Find the horizontal gait of constant torque whose hands change by a clock.

    It is stable if its spectral radius, the size of its largest multiplier, is below 1.

    Examples:

      accord monkeybot stable --period 0.943

      accord monkeybot stable --period 0.93 --json
    """
    found = clocked_gait(robot_parameters(changes), period)
    data = {
        "period": found.period,
        "torque": found.controls["torque"],
        "post_impact": found.start,
        "multipliers": as_pairs(found.multipliers),
        "spectral_radius": found.spectral_radius,
        "stride": found.stride,
        "work": found.work,
        "drop": found.drop,
    }
    values = ", ".join(f"{v:.5f}" for v in found.start)
    rows = {
        "period": (f"{found.period:.6f}", "s"),
        "torque": (f"{found.controls['torque']:.6f}", "N m"),
        "post-impact th1, th2, w1, w2": (values, "rad, rad/s"),
        "multipliers": (multipliers_text(found.multipliers), ""),
        "spectral radius": (f"{found.spectral_radius:.5f}", verdict(found)),
        "stride": (f"{found.stride:.6f}", "m"),
        "work": (f"{found.work:.5f}", "J a step"),
        "drop": (f"{found.drop:.2g}", "m a step"),
    }
    return Result(data, figure_lines(rows))


@in_pieces()
def gaits_command(
    samples: Annotated[
        int, typer.Option(min=0, help="Walks of each gait for its basin; 0 leaves it out.")
    ] = 200,
    changes: Changes = None,
) -> Result:
    """List the gaits that are shipped, with their figures for this robot.

    The basin is the share of starts that walk 100 steps, normally distributed about the orbit with
    0.02 rad and 0.1 rad/s; accord monkeybot basin has its limits of confidence. The radius of
    report_lqr is that of the gait with its feedback.

    Examples:

      accord monkeybot gaits

      accord monkeybot gaits --set viscous_elbow=0.01
    """
    parameters, names = robot_parameters(changes), list(shipped_data())
    found = []
    with progress() as bar:
        task = bar.add_task(COMPILING, total=len(names))
        for name in names:
            found.append(figures(name, parameters, samples))
            bar.update(task, advance=1, description=name)
    table, what = make_table(*HEADINGS), make_table("gait", "what it is", text=["what it is"])
    for gait in found:
        share = f"{100 * gait['basin']['survived']:.0f}" if samples else "-"
        table.add_row(
            gait["name"], f"{gait['period']:.4f}", f"{gait['stride']:.4f}",
            f"{round(1e3 * gait['drop'], 2) + 0.0:.2f}", f"{gait['work']:.4g}",
            f"{gait['cost_of_transport']:.3g}", f"{gait['spectral_radius']:.4f}", share,
        )  # fmt: skip
        what.add_row(gait["name"], gait["description"])
    explained = Text(
        "stride, drop and work: of a change of hands; cost: of transport, work over weight and "
        "stride; radius: of the multipliers, stable below 1; basin: share of disturbed starts that "
        "walk 100 steps"
    )
    return Result({"gaits": found}, [table, explained, "", what])


def figures(name: str, parameters: MonkeyBotParameters, samples: int) -> dict[str, Any]:
    """Return what is to be said of a shipped gait, s, m, J, rad."""
    orbit, feedback = held_gait(name, parameters)
    values = orbit.multipliers
    if feedback:
        values = held_multipliers(orbit, parameters)
    found: dict[str, Any] = {
        "name": name,
        "description": shipped_data()[name]["description"],
        "kind": orbit.kind.name,
        "controls": dict(orbit.controls),
        "post_impact": orbit.start,
        "period": orbit.period,
        "multipliers": as_pairs(values),
        "spectral_radius": float(np.abs(values).max()),
        "stride": orbit.stride,
        "work": orbit.work,
        "cost_of_transport": orbit.cost_of_transport(parameters),
        "drop": orbit.drop,
    }
    if samples:
        share = basin(
            orbit, parameters, sd_angle=SD_ANGLE, sd_rate=SD_RATE, draws=Draws(samples, STEPS),
            feedback=feedback,
        )  # fmt: skip
        found["basin"] = {
            "survived": share.survived, "low": share.low, "high": share.high,
            "sd_angle": SD_ANGLE, "sd_rate": SD_RATE, "samples": samples, "steps": STEPS,
        }  # fmt: skip
    return found


def verdict(orbit: Orbit) -> str:
    """Return in a word whether disturbances fade."""
    return "stable" if orbit.spectral_radius < 1.0 else "unstable"

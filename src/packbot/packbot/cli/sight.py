"""`accord packbot sight`: line of sight from the camera to a target, and its obstacles."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Annotated

import typer
from roboaccord.cli.command import Result
from roboaccord.cli.gathering import gathers
from roboaccord.cli.options import Changes, load_setup
from roboaccord.contract.results import Degrees, Metres, Quantity

from packbot.cli.options import Angles, ScenarioName, angles_of, point
from packbot.planning.sight import Sight, View


@gathers("--q", "--target")
def sight_command(
    target: Annotated[
        str, Quantity("m"), typer.Option("--target", metavar="X Y Z", help="In the world.")
    ],
    q: Angles = None,
    scenario: ScenarioName = "collapse",
    width: Annotated[Metres, typer.Option(min=0.0, help="Of the target.")] = 0.0,
    view: Annotated[
        Degrees,
        typer.Option(
            "--view-deg", min=0.0, max=180.0,
            help="Angle of the cone that the camera sees; by default all that is ahead of it.",
        ),
    ] = 180.0,
    changes: Changes = None,
) -> Result:  # fmt: skip
    """Tell whether the camera sees a target, and if not, which hulls are in the way.

    All of the lens, 10 mm wide, must see all of the target. Hulls in the way are named in order,
    the nearest first. A target on a surface is not hidden by it.

    Examples:

      accord packbot sight --target 1.5 0 0

      accord packbot sight --target 0.9 0 0.61 --scenario shelf --json

      accord packbot sight --target 0 -1 0 --q 0 1.2 -0.5 0.3 0.4 -1.5 0 --view-deg 60
    """
    setup = load_setup("packbot", scenario, changes)
    found = Sight.of(setup, math.radians(view), width).look(angles_of(setup, q), point(target))
    return Result(asdict(found), lines_of(found))


def lines_of(view: View) -> list[str]:
    """Return what the camera sees for people."""
    words = "visible" if view.visible else "not visible"
    if view.blocked_by:
        words += f"; in the way: {', '.join(view.blocked_by)}"
    where = f"{view.distance:.3f} m away, {math.degrees(view.off_axis):.1f} degrees off the axis"
    return [words, where]

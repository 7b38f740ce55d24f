"""`accord packbot plan`: a collision-free trajectory from pose to pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import RenderableType
from roboaccord.cli.command import Result
from roboaccord.cli.console import log, make_table
from roboaccord.cli.gathering import gathers
from roboaccord.cli.options import Changes, Seed, load_setup
from roboaccord.contract.results import Metres, Quantity, Ratio, Seconds
from roboaccord.contract.state import Array
from roboaccord.scenario.setup import Setup

from packbot.cli.options import Pitch, ScenarioName, Target, point
from packbot.model.parameters import JOINTS, pose
from packbot.planning.reaching import MARGIN, Goal


@gathers("--target")
def plan_command(
    to: Annotated[str, typer.Option(metavar="NAME", help="Pose to go to.")] = "",
    target: Target = "",
    pitch: Pitch = None,
    start: Annotated[
        str, typer.Option("--from", metavar="NAME", help="Pose to start at; else the scenario's.")
    ] = "",
    scenario: ScenarioName = "reach",
    margin: Annotated[Metres, typer.Option(min=1e-4, help="Kept from touching.")] = MARGIN,
    speed: Annotated[Ratio, typer.Option(min=0.01, max=1.0, help="Part of the limits.")] = 0.8,
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Plan a way through the scenario's terrain, within the limits of speed and effort.

    The corners of the way are joined by straight lines in joint space. Between them, too, all pairs
    stay half the margin apart: the lines are checked at angles near enough for that.

    Examples:

      accord packbot plan --to ready

      accord packbot plan --target 1.2 0.3 0.15 --from stowed --json

      accord packbot plan --scenario shelf --target 1.05 0 0.55 --pitch 0 --seed 1
    """
    words = list(point(target)) if target else None
    goal = Goal.read(words, to, pitch)
    setup = load_setup("packbot", scenario, changes)
    begin = pose(start) if start else setup.initial.q
    with log.status("looking for a way"):
        found = plan(setup, goal, begin, margin, speed, seed)
    return Result(found, shown_of(found))


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Hold the corners of a path, when it is there, and how close the arm comes to anything."""

    joints: Sequence[str] = JOINTS
    corners: Annotated[Array, Quantity("rad")]
    times: Annotated[Array, Quantity("s")]
    duration: Seconds
    margin: Metres
    clearance: Metres


def plan(setup: Setup, goal: Goal, start: Array, margin: float, speed: float, seed: int) -> Plan:
    """Plan a path to a goal."""
    from packbot.planning.rrt import Planner
    from packbot.planning.trajectories import in_time

    planner = Planner(setup, margin=margin)
    corners = planner.plan(
        start, goal.angles(setup, planner.clearance, planner.margin, start), seed
    )
    path = in_time(setup, corners, speed)
    return Plan(
        corners=path.corners,
        times=path.times,
        duration=path.duration,
        margin=margin,
        clearance=min(planner.clearance.closest(path.at(t)[0])[1] for t in path.sampled(200)),
    )


def shown_of(found: Plan) -> list[RenderableType]:
    """Return a path for people."""
    table = make_table("time", *JOINTS, title="corners of the way, s and rad")
    for time, q in zip(found.times, found.corners, strict=True):
        table.add_row(f"{time:.3f}", *(f"{angle + 0.0:.4f}" for angle in q))
    apart = f"the closest pair is {1e3 * found.clearance:.1f} mm apart"
    return [table, f"{found.duration:.3f} s; {apart}"]

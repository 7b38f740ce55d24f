"""`accord packbot plan` and `reach`: a collision-free path, and a reach whose joints may fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import RenderableType
from roboaccord.cli.command import Result, used_by
from roboaccord.cli.console import ProgressObserver, log, make_table, progress
from roboaccord.cli.gathering import gathers
from roboaccord.cli.options import Changes, Engine, Faults, Seed, load_setup
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.results import Metres, Quantity, Ratio, Seconds
from roboaccord.contract.state import Array
from roboaccord.scenario.setup import Setup

from packbot.cli.options import Pitch, ScenarioName, Target, point, rounded
from packbot.model.parameters import JOINTS, pose
from packbot.planning.reaching import MARGIN, Goal
from packbot.planning.rrt import Planner
from packbot.planning.trajectories import in_time
from packbot.source.reaching import LONGEST, Reach, clear_start, run_reach

CONTROLLERS = ("recover", "ignore")


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
    table = make_table("time", *JOINTS, title="corners of the way, s and rad")
    for time, q in zip(found.times, found.corners, strict=True):
        table.add_row(*rounded(3, time), *rounded(4, *q))
    apart = f"the closest pair is {1e3 * found.clearance:.1f} mm apart"
    return Result(found, [table, f"{found.duration:.3f} s; {apart}"])


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


@gathers("--target")
def reach_command(
    target: Target,
    faults: Faults = None,
    engine: Engine = "reference",
    controller: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="recover; or ignore, the healthy arm's, which knows nothing of failures.",
        ),
    ] = "recover",
    scenario: ScenarioName = "reach",
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Reach for a target, and when joints fail, with those that are left.

    The controller finds failures by itself, from joint states and its efforts. It stops, swaps the
    model and plans a new way: free of collision, within the limits of effort, loose joints hanging
    or lying on something. Where there is none it says why, and goes to the nearest point that has
    one. A start that a frozen joint brings into collision gives way to the nearest that is clear.

    Examples:

      accord packbot reach --target 0.9 0 0.6 --fault elbow1=frozen:0.4

      accord packbot reach --target 1.2 0.3 0.15 --fault elbow2=loose@1.5 --engine dart

      accord packbot reach --target 1.2 0.3 0.15 --fault shoulder=frozen@2 --controller ignore
    """
    if controller not in CONTROLLERS:
        raise AccordError(f"unknown controller {controller}{did_you_mean(controller, CONTROLLERS)}")
    given = load_setup("packbot", scenario, [*(changes or []), f"seed={seed}"], faults)
    aim, setup = point(target), clear_start(given)
    with progress() as bar:
        watch = ProgressObserver(bar, f"reach in {engine}", LONGEST)
        found = run_reach(setup, aim, engine, ignore=controller == "ignore", observers=[watch])
    return Result(found, shown_of(found), used=used_by(setup, "control_period", "physics_step"))


def shown_of(found: Reach) -> list[RenderableType]:
    """Return a reach for people."""
    words = "reached" if found.reached else f"not reached: {found.reason}"
    lines: list[RenderableType] = [
        f"{words}; the finger tips ended {1e3 * found.error:.1f} mm from the target, "
        f"after {found.duration:.2f} s"
    ]
    if not found.reached and found.nearest is not None:
        nearest = ", ".join(f"{x:.3f}" for x in found.nearest)
        lines.append(f"nearest point with a way: {nearest} m")
    lines += [
        f"detected: {each.joint} {each.kind}, after {each.delay:.2f} s" for each in found.failures
    ]
    lines.append(f"greatest effort over its limit: {found.load:.2f}")
    lines.append(f"the camera sees {100.0 * found.seen:.0f} % of the target")
    lines += [f"touched: {a} and {b}" for a, b in found.touched]
    return lines

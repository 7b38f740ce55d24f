"""`accord packbot plan` and `reach-target`: paths, also of failed arms.

`plan` computes a path of the healthy arm, by the modules in planning/. `reach-target` runs the arm
in an engine, with a controller that reacts to failures or ignores them (controllers/trial.py).

Fields of Plan, and of Reach in controllers/trial.py, are keys of `--json` and must stay
(test_packbot_kinematics, test_packbot_recovery).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from roboaccord import cli
from roboaccord.contract import Array, Metres, Quantity, Ratio, Seconds, by_option, check_known
from typer import Option

from packbot.cli.options import Pitch, ScenarioName, Target, point
from packbot.controllers.trial import MAX_DURATION, clear_start, run_reach
from packbot.model.parameters import JOINTS, pose
from packbot.planning.inverse import check_reach
from packbot.planning.reaching import MARGIN, Goal
from packbot.planning.rrt import Planner
from packbot.planning.trajectories import in_time

CONTROLLERS = ("recover", "ignore")  # values of --controller
CONTROLLER_HELP = "Controller: recover; or ignore, the healthy arm's, which ignores failures."
START_HELP = "Pose to start at. Default: the scenario's."
StartPose = Annotated[str, Option("--from", metavar="NAME", help=START_HELP)]
Margin = Annotated[Metres, Option(min=1e-4, help="Clearance to keep.")]
Speed = Annotated[Ratio, Option(min=0.01, max=1.0, help="Fraction of the speed limits.")]
# Number of poses along a path at which its clearance is measured: in a path of 5 s the tips then
# move by some 20 mm, the margin, from one to the next.
SAMPLES = 200


# Options that are taken without --to alone, and with or without it.
@by_option(
    "to",
    options_with="",
    options_without="target pitch",
    options_always="from scenario margin speed seed set",
)
@cli.gathers("--target")
def plan_command(
    to: Annotated[str, Option(metavar="NAME", help="Pose to go to.")] = "",
    target: Target = "",
    pitch: Pitch = None,
    start: StartPose = "",
    scenario: ScenarioName = "reach",
    margin: Margin = MARGIN,
    speed: Speed = 0.8,
    seed: cli.Seed = 0,
    changes: cli.Changes = None,
) -> cli.Result:
    """Plan a path through the scenario's terrain, within the limits of speed and effort.

    The corners of the path are joined by straight lines in joint space. Between them, too, all
    pairs stay half the margin apart: the lines are checked at angles near enough for that.

    Examples:

      accord packbot plan --to ready

      accord packbot plan --target 1.2 0.3 0.15 --from stowed --json

      accord packbot plan --scenario shelf --target 1.05 0 0.55 --pitch 0 --seed 1
    """
    goal = Goal(list(point(target)) if target else None, to, pitch)
    setup = cli.load_setup("packbot", scenario, changes)
    begin = pose(start) if start else setup.initial.q
    with cli.log.status("looking for a path"):
        planner = Planner(setup, margin=margin)
        end = goal.angles(setup, planner.clearance, planner.margin, begin)
        path = in_time(setup, planner.plan(begin, end, seed), speed)
        times = np.linspace(0.0, path.duration, SAMPLES)
        gap = min(planner.clearance.closest(path.at(time)[0])[1] for time in times)
    planned = Plan(
        corners=path.corners, times=path.times, duration=path.duration, margin=margin, clearance=gap
    )
    rows = {f"{time:.3f}": q for time, q in zip(path.times, path.corners, strict=True)}
    title = "corners of the path, s and rad"
    table = cli.grid_of(("time", *JOINTS), rows, Quantity("rad", form=".4f"), title)
    return cli.Result(planned, [table, *cli.lines_of(planned)])


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Corners of a path, the times at which it reaches them, and its smallest distance."""

    joints: Sequence[str] = JOINTS
    corners: Array
    times: Array
    duration: Seconds
    margin: Metres
    clearance: Annotated[float, Quantity("m", "of the closest pair", shown="mm")]


@cli.gathers("--target")
def reach_target_command(
    target: Target,
    faults: cli.Faults = None,
    engine: cli.Engine = "reference",
    controller: Annotated[str, Option(metavar="NAME", help=CONTROLLER_HELP)] = "recover",
    scenario: ScenarioName = "reach",
    seed: cli.Seed = 0,
    changes: cli.Changes = None,
) -> cli.Result:
    """Reach for a target, with the remaining joints when some fail.

    The controller finds failures by itself, from joint states and its efforts. It stops, swaps the
    model and plans a new path: free of collision, within the limits of effort, with loose joints
    hanging or resting on something. If there is no path, it reports why, and goes to the nearest
    point to which there is one; a target farther than the links are long is refused. A start that a
    frozen joint brings into collision is replaced by the nearest clear one.

    Examples:

      accord packbot reach-target --target 0.9 0 0.6 --fault elbow1=frozen:0.4

      accord packbot reach-target --target 1.2 0.3 0.15 --fault elbow2=loose@1.5 --engine dart

      accord packbot reach-target --target 1.2 0.3 0.15 --fault turret=frozen@2 --controller ignore
    """
    check_known("unknown controller ", controller, CONTROLLERS)
    keys = [*(changes or []), f"seed={seed}"]
    aim = point(target)
    setup = cli.load_setup("packbot", scenario, keys, faults, endless=True)
    check_reach(setup.parameters, aim)
    setup = clear_start(setup)
    with cli.progress() as bar:
        watch = cli.ProgressObserver(bar, f"reach in {engine}", MAX_DURATION)
        reach = run_reach(setup, aim, engine, ignore=controller == "ignore", observers=[watch])
    return cli.Result(reach, used=cli.used_by(setup, "control_period", "physics_step"))

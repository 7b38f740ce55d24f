"""`accord packbot plan`, `reach`, `recover` and `equilibria`: paths, also of failed arms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from roboaccord.bag import read_run
from roboaccord.cli import (
    Changes,
    Engine,
    Faults,
    Force,
    Out,
    ProgressObserver,
    Result,
    Seed,
    counted,
    gathers,
    grid_of,
    in_pieces,
    kept,
    lines_of,
    load_setup,
    log,
    progress,
    results,
    tables_of,
    used_by,
)
from roboaccord.contract import (
    AccordError,
    Array,
    Metres,
    Quantity,
    Ratio,
    Seconds,
    by_option,
    check_known,
    check_target,
    to_json,
)

from packbot.cli.poses import Pitch, ScenarioName, Target, draws, point
from packbot.detection.uncertainty import LARGEST
from packbot.model import compiled
from packbot.model.parameters import JOINTS, pose
from packbot.planning.failed_arm import FailedArm
from packbot.planning.inverse import check_reach
from packbot.planning.reaching import MARGIN, Goal
from packbot.planning.rrt import Planner
from packbot.planning.trajectories import in_time
from packbot.source.equilibria import (
    KINDS,
    draw_equilibria,
    draw_map,
    find_equilibria,
    map_equilibria,
)
from packbot.source.reaching import LONGEST, clear_start, run_reach

CONTROLLERS = ("recover", "ignore")
COUNTS = ("targets", "reachable", "recovered", "baseline", "disputed")


@by_option("to", "", "target pitch", "from scenario margin speed seed set")
@gathers("--target")
def plan_command(
    to: Annotated[str, typer.Option(metavar="NAME", help="Pose to go to.")] = "",
    target: Target = "",
    pitch: Pitch = None,
    start: Annotated[
        str,
        typer.Option("--from", metavar="NAME", help="Pose to start at. Default: the scenario's."),
    ] = "",
    scenario: ScenarioName = "reach",
    margin: Annotated[Metres, typer.Option(min=1e-4, help="Clearance to keep.")] = MARGIN,
    speed: Annotated[
        Ratio, typer.Option(min=0.01, max=1.0, help="Fraction of the speed limits.")
    ] = 0.8,
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Plan a path through the scenario's terrain, within the limits of speed and effort.

    The corners of the path are joined by straight lines in joint space. Between them, too, all
    pairs stay half the margin apart: the lines are checked at angles near enough for that.

    Examples:

      accord packbot plan --to ready

      accord packbot plan --target 1.2 0.3 0.15 --from stowed --json

      accord packbot plan --scenario shelf --target 1.05 0 0.55 --pitch 0 --seed 1
    """
    words = list(point(target)) if target else None
    goal = Goal.read(words, to, pitch)
    setup = load_setup("packbot", scenario, changes)
    begin = pose(start) if start else setup.initial.q
    with log.status("looking for a path"):
        planner = Planner(setup, margin=margin)
        end = goal.angles(setup, planner.clearance, planner.margin, begin)
        path = in_time(setup, planner.plan(begin, end, seed), speed)
        closest = min(
            planner.clearance.closest(path.at(t)[0])[1]
            for t in np.linspace(0.0, path.duration, 200)
        )
    found = Plan(
        corners=path.corners,
        times=path.times,
        duration=path.duration,
        margin=margin,
        clearance=closest,
    )
    rows = {f"{time:.3f}": q for time, q in zip(path.times, path.corners, strict=True)}
    title = "corners of the path, s and rad"
    table = grid_of(("time", *JOINTS), rows, Quantity("rad", form=".4f"), title)
    return Result(found, [table, *lines_of(found)])


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Hold the corners of a path, when it is there, and how close the arm comes to anything."""

    joints: Sequence[str] = JOINTS
    corners: Array
    times: Array
    duration: Seconds
    margin: Metres
    clearance: Annotated[float, Quantity("m", "of the closest pair", shown="mm")]


@gathers("--target")
def reach_command(
    target: Target,
    faults: Faults = None,
    engine: Engine = "reference",
    controller: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Controller: recover; or ignore, the healthy arm's, which ignores failures.",
        ),
    ] = "recover",
    scenario: ScenarioName = "reach",
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Reach for a target, with the remaining joints when some fail.

    The controller finds failures by itself, from joint states and its efforts. It stops, swaps the
    model and plans a new path: free of collision, within the limits of effort, with loose joints
    hanging or resting on something. If there is no path, it reports why, and goes to the nearest
    point to which there is one; a target farther than the links are long is refused. A start that a
    frozen joint brings into collision is replaced by the nearest clear one.

    Examples:

      accord packbot reach --target 0.9 0 0.6 --fault elbow1=frozen:0.4

      accord packbot reach --target 1.2 0.3 0.15 --fault elbow2=loose@1.5 --engine dart

      accord packbot reach --target 1.2 0.3 0.15 --fault shoulder=frozen@2 --controller ignore
    """
    check_known("unknown controller ", controller, CONTROLLERS)
    given = load_setup(
        "packbot", scenario, [*(changes or []), f"seed={seed}"], faults, endless=True
    )
    aim = point(target)
    check_reach(given.parameters, aim)
    setup = clear_start(given)
    with progress() as bar:
        watch = ProgressObserver(bar, f"reach in {engine}", LONGEST)
        found = run_reach(setup, aim, engine, ignore=controller == "ignore", observers=[watch])
    return Result(found, used=used_by(setup, "control_period", "physics_step"))


@in_pieces(grows=("targets",))
def recover_command(
    faults: Faults = None,
    targets: Annotated[int, typer.Option(min=1, help="Number of targets.")] = 200,
    engine: Engine = "reference",
    seed: Seed = 0,
    model_error: Annotated[
        Ratio | None,
        typer.Option(
            metavar="SCALE",
            min=0.0,
            max=LARGEST,
            help="Draw the arms within this multiple of the stated uncertainties. Default: exact "
            "arms.",
        ),
    ] = None,
    plot: Annotated[Path | None, draws("the counts")] = None,
    changes: Changes = None,
    folder: Out = None,
    force: Force = False,
) -> Result:
    """Reach for random targets with failed joints, and count.

    The targets are the finger tips of random clear poses of the healthy arm; with a failed turret
    they lie in the plane to which it confines the arm. A target is reachable if there is a path to
    it; each is then reached for in the engine, also by the controller that ignores failures
    (baseline). Without --fault a whole study runs: each joint loose and frozen at three angles, and
    five pairs; an interrupted one resumes in the same --out. With --model-error each target has an
    arm that differs from its model, and the study includes healthy arms: for these the distance
    from where the plain controller ends is shown.

    Examples:

      accord packbot recover --fault elbow1=frozen:0.4 --targets 20

      accord packbot recover --fault elbow2=loose --targets 200 --engine mujoco --seed 1 --json

      accord packbot recover --targets 200 --engine dart --out study --plot study.svg

      accord packbot recover --model-error 1 --targets 20 --engine mujoco --out drawn
    """
    with compiled("accord packbot recover"):
        from packbot.source.recovery import all_cases, counts, draw_recovery, study
    check_target(plot)
    setups = [load_setup("packbot", "reach", changes, faults)]
    if not faults:
        cases = all_cases(setups[0])
        cases = cases if model_error is None else [(), *cases]
        setups = [load_setup("packbot", "reach", changes, [*case]) for case in cases]
    with (
        results(folder, "packbot_recovery", force=force) as place,
        kept(place),
        counted(targets * len(setups), f"targets in {engine}") as advance,
    ):
        done = study(setups, targets, engine, seed, lambda attempt: advance(1), model_error)
    found = [counts(setup.faults, tried) for setup, tried in zip(setups, done, strict=True)]
    if plot:
        draw_recovery(found, plot)
    more = () if model_error is None else ("worst_measured", "worst_apart")
    table = tables_of(found, "faults", *COUNTS, "refused", *more, title="targets reached")
    if faults:
        return Result(found[0], table)
    refused = sum((Counter(case.refused) for case in found), Counter[str]())
    total = {key: sum(getattr(case, key) for case in found) for key in COUNTS}
    return Result({**total, "refused": refused, "cases": to_json(found)}, table)


@by_option("over", "cells bag", "poses seed", "fault plot scenario set")
def equilibria_command(
    faults: Faults = None,
    count: Annotated[int, typer.Option("--poses", min=1, help="Number of random poses.")] = 100,
    plot: Annotated[Path | None, draws("them")] = None,
    over: Annotated[
        str,
        typer.Option(
            metavar="JOINT [JOINT]",
            help="Active joints over which to map the equilibria of one loose joint.",
        ),
    ] = "",
    cells: Annotated[
        int, typer.Option(min=3, help="Grid points of the map for each of them.")
    ] = 25,
    bag: Annotated[
        Path | None, typer.Option("--bag", help="Recorded run to draw in the map.")
    ] = None,
    scenario: ScenarioName = "reach",
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Find equilibria of an arm with loose joints, and those that it can reach.

    Counts, among random poses, the stable equilibria in which loose joints hang, the unstable ones,
    and those in which they lean on something. Linked are those to which quasi-static motions of the
    active joints lead from the start. With --over: all equilibria of one loose joint over a grid of
    the angles of active ones, the folds at which pairs of them vanish, and the sets of stable
    equilibria that quasi-static paths join.

    Examples:

      accord packbot equilibria --fault elbow2=loose

      accord packbot equilibria --fault elbow1=loose --poses 50 --plot elbow1.svg

      accord packbot equilibria --scenario transition --over "shoulder elbow1" --plot map.svg
    """
    setup = load_setup("packbot", scenario, changes, faults)
    check_target(plot)
    arm = FailedArm(setup, setup.faults)
    if not len(arm.loose):
        raise AccordError("equilibria takes a --fault JOINT=loose")
    if over:
        return _map(arm, setup.initial.q, over.replace(",", " ").split(), cells, plot, bag)
    with log.status("looking for equilibria"):
        found = find_equilibria(arm, setup.initial.q, count, seed)
    if plot:
        draw_equilibria(arm, found, plot)
    data = {kind: len(getattr(found, kind)) for kind in KINDS} | {"linked": found.linked}
    words = ", ".join(f"{number} {kind}" for kind, number in data.items())
    return Result(data, [f"equilibria: {words}"])


def _map(
    arm: FailedArm, q: Array, over: Sequence[str], cells: int, plot: Path | None, bag: Path | None
) -> Result:
    """Map the equilibria of a loose joint, and draw them."""
    run = None if bag is None else read_run(bag).trajectory.q
    with counted(cells ** len(over), "cells") as advance:
        found = map_equilibria(arm, q, over, cells, advance)
    if plot:
        draw_map(found, plot, run)
    kinds = Counter(each.kind for cell in found.found for each in cell)
    data = {
        "joint": found.joint,
        "over": to_json(found.over),
        "axes": to_json(found.axes),
        "kinds": to_json(kinds),
        "parts": to_json(found.parts),
        "folds": to_json([fold.angles for fold in found.folds]),
        "equilibria": to_json(found.found),
    }
    words = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    lines = [
        f"equilibria: {words}; {len(found.folds)} folds",
        *(f"part: well {p.well}, {p.rests} stable equilibria" for p in found.parts),
    ]
    return Result(data, lines)

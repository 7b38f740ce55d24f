"""`accord packbot recover`: how many targets an arm with failed joints still reaches."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from packbot.model import compiled
from roboaccord.cli import (
    Changes,
    Engine,
    Faults,
    Force,
    Out,
    Result,
    Seed,
    counted,
    in_pieces,
    load_setup,
    results,
    tables_of,
)
from roboaccord.contract import Ratio, check_target, to_json

from roboaccord_studies.packbot.cli.options import draws
from roboaccord_studies.packbot.detection.uncertainty import LARGEST
from roboaccord_studies.results_file import kept

COUNTS = ("targets", "reachable", "recovered", "baseline", "disputed")


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
        from roboaccord_studies.packbot.recovery.study import (
            all_cases,
            counts,
            draw_recovery,
            study,
        )
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

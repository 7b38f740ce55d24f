"""`accord packbot detect`: failed joints of a recorded run, and a study of the detector."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from roboaccord.bag import read_run
from roboaccord.cli import (
    Engine,
    Force,
    Out,
    Result,
    Seed,
    counted,
    file_line,
    in_pieces,
    results,
    tables_of,
)
from roboaccord.contract import (
    AccordError,
    Kilograms,
    Quantity,
    Ratio,
    by_option,
    to_json,
)
from roboaccord.engines import REFERENCE, check_engine
from roboaccord.run import write_text

from roboaccord_studies.packbot.detection.detected import findings
from roboaccord_studies.packbot.detection.study import (
    RESULTS,
    WATCHERS,
    DetectionStudy,
    DetectionTask,
    Found,
    draw_delays,
)
from roboaccord_studies.packbot.detection.uncertainty import LARGEST
from roboaccord_studies.results_file import kept


@by_option("study", "minutes model-error engine seed out force cluster", "bag payload", "")
@in_pieces()
def detect_command(
    bag: Annotated[
        Path | None, typer.Argument(metavar="BAG", help="Bag of a run of the Packbot.")
    ] = None,
    payload: Annotated[Kilograms, typer.Option(min=0.0, help="Payload at the finger tips.")] = 0.0,
    study: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Let N joints fail at random, and measure the detection."
        ),
    ] = 0,
    minutes: Annotated[
        float,
        Quantity("min"),
        typer.Option(min=0.0, help="Duration of the motion without failure in the study."),
    ] = 10.0,
    model_error: Annotated[
        Ratio,
        typer.Option(
            metavar="SCALE", min=0.0, max=LARGEST, help="Factor on the stated uncertainties."
        ),
    ] = 1.0,
    engine: Engine = REFERENCE,
    seed: Seed = 0,
    folder: Out = None,
    force: Force = False,
) -> Result:
    """Find frozen and loose joints from joint states and commanded efforts alone.

    For a bag: which joints failed, how, when that was detected, and how long after the failure, at
    its recorded time or else its estimated one. What cannot be distinguished at the end is named,
    with the small safe motion that would tell the cases apart. With --study: failures of arms that
    differ from their model, drawn within the stated uncertainties: how many are named correctly,
    how late, and the false alarms, compared with a momentum observer and with an oracle that knows
    friction and payload. Counts are of failures that move the finger tips by 50 mm within 3 s. An
    interrupted study resumes in the same --out.

    Examples:

      accord packbot detect runs/reach/bag --json

      accord packbot detect --study 60 --seed 2000 --engine mujoco --out detection
    """
    if bag is None and not study:
        raise AccordError("detect takes a bag, or --study N")
    if bag is not None:
        return Result(findings(read_run(bag), payload))
    check_engine(engine)
    task = DetectionTask(study, 60.0 * minutes, model_error, engine, seed)
    with (
        results(folder, "packbot_detection", force=force) as place,
        kept(place),
        counted(task.arms, "arms") as advance,
    ):
        outcomes = task.run(lambda _: advance(1))
        found = {name: Found.of_all(each) for name, each in outcomes.items()}
        data = DetectionStudy.of(task, found)
        write_text(place / "detection.json", json.dumps(to_json(data), indent=1))
        draw_delays(outcomes, place / "detection.svg")
    names = (*RESULTS, "delay", "false_alarms", "hours", "per_hour_95")
    title = f"{study} failures; counts of those that move the tips"
    table = tables_of([*found.values()], *names, title=title, labels=WATCHERS)
    return Result(data, [*table, file_line([place / "detection.svg"])])

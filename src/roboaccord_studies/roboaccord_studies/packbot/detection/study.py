"""Command `accord packbot detect`: failed joints of a recorded run, and a study of detectors.

The study has arms that differ from their model (`bench`); what watchers make of it is counted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import scipy
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
from roboaccord.contract import AccordError, Kilograms, Quantity, Ratio, by_option, to_json
from roboaccord.engines import REFERENCE, check_engine
from roboaccord.report import BLUE, RED, SOFT, legend, picture
from roboaccord.run import run_pieces, write_text

from roboaccord_studies.packbot.detection.bench import KINDS, Outcome, judge_arm
from roboaccord_studies.packbot.detection.detected import findings
from roboaccord_studies.packbot.detection.uncertainty import LARGEST
from roboaccord_studies.results_file import kept

RESULTS = ("right", "undetermined", "missed", "wrong")
WATCHERS = ("detector", "baseline", "oracle")
FAILURES = 3  # of one arm
COLOURS = dict(zip(WATCHERS, (BLUE, RED, SOFT), strict=True))


@dataclass(frozen=True)
class DetectionCounts:
    """Count the failures by what was made of them, and give the delay of their names."""

    right: Annotated[int, Quantity("")]
    undetermined: Annotated[int, Quantity("")]
    missed: Annotated[int, Quantity("")]
    wrong: Annotated[int, Quantity("")]
    delay: Annotated[float, Quantity("s", "median", form=".2f")]


@dataclass(frozen=True)
class Alarms:
    """Count the names of sound joints.

    Args:
        false_alarms: how many.
        hours: of motion without failure.
        per_hour_95: upper bound of the rate with 95 % confidence.
    """

    false_alarms: Annotated[int, Quantity("")]
    hours: Annotated[float, Quantity("h", form=".2f")]
    per_hour_95: Annotated[float, Quantity("1/h", "upper bound, 95 %", form=".2f")]


def counts_of(outcomes: Sequence[Outcome]) -> DetectionCounts:
    """Return the counts of failures."""
    counts = {r: sum(o.result == r for o in outcomes) for r in RESULTS}
    delays = [o.delay for o in outcomes if not math.isnan(o.delay)]
    return DetectionCounts(**counts, delay=float(np.median(delays)) if delays else math.nan)


def alarms_of(outcomes: Sequence[Outcome]) -> Alarms:
    """Return the false alarms of all outcomes, their rate bounded by the Poisson distribution."""
    count = sum(o.false_alarms for o in outcomes)
    hours = sum(o.time for o in outcomes) / 3600.0
    most = 0.5 * float(scipy.stats.chi2.ppf(0.95, 2 * (count + 1)))
    return Alarms(count, hours, most / hours if hours else math.nan)


@dataclass(frozen=True, kw_only=True)
class Found(DetectionCounts, Alarms):
    """Hold counts of a watcher: of failures that move the tips, and false alarms.

    Args:
        all: of all failures.
        kinds: of all failures, by kind.
    """

    all: DetectionCounts
    kinds: dict[str, DetectionCounts]

    @classmethod
    def of_all(cls, outcomes: Sequence[Outcome]) -> Found:
        """Return those of outcomes."""
        failed = [o for o in outcomes if o.joint]
        kinds = {str(kind): counts_of([o for o in failed if o.kind == kind]) for kind in KINDS}
        tips = counts_of([o for o in failed if o.tips])
        return cls(**vars(tips), **vars(alarms_of(outcomes)), all=counts_of(failed), kinds=kinds)


@dataclass(frozen=True, kw_only=True)
class DetectionStudy(Found):
    """Hold what the detector made of a study, and what the others did."""

    seeds: list[int]
    model_error: float
    engine: str
    baseline: Found
    oracle: Found


def outcomes_of(
    seed: int, failures: Sequence[int], nominal: float, engine: str, scale: float,
    done: Callable[[object], None],
) -> dict[str, list[Outcome]]:  # fmt: skip
    """Return all outcomes by `WATCHERS`; `done` is called with those of each arm.

    Args:
        seed: of the first arm.
        failures: number of joints to fail of each arm.
        nominal: time of motion without failure of each arm [s].
        engine: that simulates them.
        scale: of the stated uncertainties, within which arms are drawn.
        done: as above.
    """
    calls = [(seed + i, n, nominal, engine, scale) for i, n in enumerate(failures)]
    judged = run_pieces(judge_arm, calls, done=done)
    return {name: [o for arm in judged for o in arm[name]] for name in WATCHERS}


def draw_delays(outcomes: Mapping[str, Sequence[Outcome]], path: Path) -> None:
    """Draw the share of failures that move the tips which are named, over the time since then."""
    with picture(path) as axes:
        for name, each in outcomes.items():
            failed = [o for o in each if o.tips]
            delays = sorted(o.delay for o in failed if not math.isnan(o.delay))
            shares = 100.0 * np.arange(1, len(delays) + 1) / max(len(failed), 1)
            axes.step(delays, shares, where="post", color=COLOURS[name], label=name)
        axes.set(xlabel="time since the failure [s]", ylabel="failures named [%]", ylim=(0, 100))
        legend(axes)


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
    arms = math.ceil(study / FAILURES)
    shares = np.diff(np.linspace(0, study, arms + 1).round()).astype(int).tolist()
    with (
        results(folder, "packbot_detection", force=force) as place,
        kept(place),
        counted(arms, "arms") as advance,
    ):
        nominal = 60.0 * minutes / arms
        outcomes = outcomes_of(seed, shares, nominal, engine, model_error, lambda _: advance(1))
        found = {name: Found.of_all(each) for name, each in outcomes.items()}
        data = DetectionStudy(
            **vars(found["detector"]), seeds=[seed, seed + arms - 1], model_error=model_error,
            engine=engine, baseline=found["baseline"], oracle=found["oracle"],
        )  # fmt: skip
        write_text(place / "detection.json", json.dumps(to_json(data), indent=1))
        draw_delays(outcomes, place / "detection.svg")
    names = (*RESULTS, "delay", "false_alarms", "hours", "per_hour_95")
    title = f"{study} failures; counts of those that move the tips"
    table = tables_of([*found.values()], *names, title=title, labels=WATCHERS)
    return Result(data, [*table, file_line([place / "detection.svg"])])

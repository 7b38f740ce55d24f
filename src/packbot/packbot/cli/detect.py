"""`accord packbot detect`: failed joints in a recorded motion, and the study of how they show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from roboaccord.bag.reader import BagRun, read_run
from roboaccord.cli.command import Result
from roboaccord.cli.console import counted, file_line
from roboaccord.cli.folder import results
from roboaccord.cli.options import Force, Out, Seed
from roboaccord.cli.pieces import in_pieces, kept
from roboaccord.cli.rendering import tables_of
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import fault_of
from roboaccord.contract.results import Kilograms, Minutes, Quantity, to_json
from roboaccord.contract.state import Array
from roboaccord.report.colours import BLUE, RED
from roboaccord.report.drawing import label_dots, legend, picture
from roboaccord.run.output import write_text
from roboaccord.run.pieces import run_pieces
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup

from packbot.detection.detector import Detection, Detector, detections
from packbot.detection.probing import Doubt, Prober
from packbot.source.detection import RESULTS, Summary, judge_arm, summary

COLUMNS = ("threshold", *RESULTS, "delay.p50", "delay.p95", "alarms")
FAILURES = 10  # of one arm
THRESHOLDS = (8.0, 12.0, 20.0, 30.0, 50.0)


@in_pieces(own=True)
def detect_command(
    bag: Annotated[Path | None, typer.Argument(metavar="BAG", help="Of a Packbot's run.")] = None,
    payload: Annotated[Kilograms, typer.Option(min=0.0, help="At the finger tips.")] = 0.0,
    study: Annotated[
        int, typer.Option(metavar="N", min=0, help="Let N joints fail at random, and measure.")
    ] = 0,
    minutes: Annotated[
        Minutes, typer.Option(min=0.5, help="Of motion without failure in the study.")
    ] = 10.0,
    seed: Seed = 0,
    folder: Out = None,
    force: Force = False,
) -> Result:
    """Find frozen and loose joints from joint states and commanded efforts alone.

    Of a bag: which joints failed, how, when that was noticed, and how long after the failure: the
    recorded one, or else as estimated. What cannot be told apart at the end is named, with the
    small safe motion that would tell. With --study: random failures of arms with noise, load and
    errors of friction and payload; how late they are found, which are missed, and false alarms,
    over the threshold. A study that was ended goes on in the same --out.

    Examples:

      accord packbot detect runs/reach/bag --json

      accord packbot detect --study 500 --seed 2000 --out detection
    """
    if (bag is None) == (not study):
        raise AccordError("detect takes a bag, or --study N")
    if bag is None:
        return _study(study, minutes, seed, folder, force=force)
    return _of_bag(read_run(bag), payload)


def _study(count: int, minutes: float, seed: int, folder: Path | None, *, force: bool) -> Result:
    """Run the study of detection, or what is left of it, and draw its figure."""
    arms = max(1, round(count / FAILURES))
    with (
        results(folder, "packbot_detection", force=force) as place,
        kept(place),
        counted(arms, "arms") as advance,
    ):
        nominal, share = 60.0 * minutes / arms, np.diff(np.linspace(0, count, arms + 1).round())
        calls = [(seed + i, int(n), nominal, THRESHOLDS) for i, n in enumerate(share)]
        judged = run_pieces(judge_arm, calls, done=lambda _: advance(1))
        rows = [
            summary([outcome for arm in judged for outcome in arm[k]], threshold)
            for k, threshold in enumerate(THRESHOLDS)
        ]
        data = Study([seed, seed + arms - 1], rows)
        write_text(place / "detection.json", json.dumps(to_json(data), indent=1))
        _draw(rows, place / "detection.svg")
    table = tables_of(rows, *COLUMNS, title=f"{count} failures")
    return Result(data, [*table, file_line([place / "detection.svg"])])


@dataclass(frozen=True)
class Study:
    """Hold the first and last seed, and a row of each threshold."""

    seeds: list[int]
    thresholds: list[Summary]


def _draw(rows: Sequence[Summary], path: Path) -> None:
    """Draw delays against false alarms, one dot a threshold."""
    alarms = [row.alarms for row in rows]
    with picture(path) as axes:
        for part, colour in ((50, BLUE), (95, RED)):
            delays = [1e3 * getattr(row.delay, f"p{part}") for row in rows]
            axes.plot(alarms, delays, "o-", color=colour, label=f"{part} % of the failures")
        label_dots(
            axes, [*zip(alarms, delays)], [f"{row.threshold:g}" for row in rows]
        )  # fmt: skip
        axes.set(
            xlabel="false alarms [1/h]", ylabel="delay after 0.05 rad of missing motion [ms]",
        )  # fmt: skip
        legend(axes)


def _of_bag(run: BagRun, payload: float) -> Result:
    if run.robot != "packbot" or not run.scenario:
        raise AccordError("the bag is of no run of the Packbot")
    setup = Setup.of(make_scenario(run.scenario))
    motion, detector = run.trajectory, Detector(setup, payload)
    efforts = efforts_in_force(run)
    found = detections(detector, motion.time, motion.q, motion.qd, efforts)
    recorded = {f.joint: f.time for f in map(fault_of, motion.events) if f}
    last = {each.joint: each for each in found}.values()
    began = {each.joint: recorded.get(each.joint, each.time - each.delay) for each in last}
    faults = [replace(each, delay=each.time - began[each.joint]) for each in last]
    doubts = Prober(setup, payload).doubts(motion.q[-1], detector.open_explanations())
    return Result(Findings(faults, doubts))


@dataclass(frozen=True)
class Findings:
    """Hold the failed joints of a motion, and what cannot be told apart."""

    faults: Annotated[list[Detection], Quantity("", "failed joints")]
    undetermined: Annotated[list[Doubt], Quantity("", "joints that cannot be told apart")]


def efforts_in_force(run: BagRun) -> Array:
    """Return the effort commanded up to each state (k, 7) [N m], 0 before the first command.

    Raises:
        AccordError: if the bag has no commands.
    """
    time, effort = run.commands
    if not len(time):
        raise AccordError("the bag holds no commands, without which nothing can be missing")
    last = np.searchsorted(time, run.trajectory.time - 1e-7) - 1
    return np.where((last >= 0)[:, None], effort[np.maximum(last, 0)], 0.0)

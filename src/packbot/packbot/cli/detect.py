"""`accord packbot detect`: failed joints in a recorded motion, and the study of how they show."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from roboaccord.bag.reader import BagRun, read_run
from roboaccord.cli.command import Result
from roboaccord.cli.console import file_line, make_table, progress
from roboaccord.cli.folder import results
from roboaccord.cli.options import Force, Out, Seed
from roboaccord.cli.pieces import in_pieces, kept
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import fault_of
from roboaccord.contract.results import Json, Kilograms, Minutes, Quantity, to_json
from roboaccord.contract.state import Array
from roboaccord.report.colours import BLUE, RED
from roboaccord.report.drawing import label_dots, legend, picture
from roboaccord.run.output import write_text
from roboaccord.run.pieces import run_pieces
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup

from packbot.model import compiled

if TYPE_CHECKING:
    from packbot.detection.detector import Detection
    from packbot.detection.probing import Doubt, Probe

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
    with compiled("accord packbot detect"):
        if bag is None:
            return _study(study, minutes, seed, folder, force=force)
        return _of_bag(read_run(bag), payload)


def _study(count: int, minutes: float, seed: int, folder: Path | None, *, force: bool) -> Result:
    """Run the study of detection, or what is left of it, and draw its figure."""
    from packbot.source.detection import RESULTS, judge_arm, summary

    arms = max(1, round(count / FAILURES))
    with results(folder, "packbot_detection", force=force) as place, kept(place), progress() as bar:
        task = bar.add_task("arms", total=arms)
        nominal, share = 60.0 * minutes / arms, np.diff(np.linspace(0, count, arms + 1).round())
        calls = [(seed + i, int(n), nominal, THRESHOLDS) for i, n in enumerate(share)]
        judged = run_pieces(judge_arm, calls, done=lambda arm: bar.advance(task))
        rows = [
            Row.of(threshold, summary([outcome for arm in judged for outcome in arm[k]]))
            for k, threshold in enumerate(THRESHOLDS)
        ]
        data = Study([seed, seed + arms - 1], rows)
        write_text(place / "detection.json", json.dumps(to_json(data), indent=1))
        _draw(rows, place / "detection.svg")
    table = make_table(
        "threshold", "found", "undetermined", "missed", "wrong", "delay 50 %\n[s]",
        "delay 95 %\n[s]", "false alarms\n[1/h]", title=f"{count} failures",
    )  # fmt: skip
    for row in rows:
        table.add_row(
            f"{row.threshold:g}", *(str(row.found[name]) for name in RESULTS),
            f"{row.late['p50']:.3f}", f"{row.late['p95']:.3f}", f"{row.alarms:.1f}",
        )  # fmt: skip
    say = "delay: after the first 0.05 rad of missing motion of the joint that failed"
    return Result(data, [table, say, file_line([place / "detection.svg"])])


@dataclass(frozen=True)
class Row:
    """Hold the counts of a threshold, the delays by percentile, and false alarms."""

    threshold: float
    found: Mapping[str, Json]
    late: Annotated[Mapping[str, float], Quantity("s")]
    alarms: Annotated[float, Quantity("1/h")]

    @classmethod
    def of(cls, threshold: float, found: Mapping[str, Any]) -> Row:
        """Return the row of a summary."""
        return cls(threshold, found, found["delay"], found["false_alarms"] / found["hours"])

    def to_json(self) -> dict[str, Json]:
        """Return the counts, the threshold first."""
        return {"threshold": self.threshold, **self.found}


@dataclass(frozen=True)
class Study:
    """Hold the first and last seed, and a row of each threshold."""

    seeds: list[int]
    thresholds: list[Row]


def _draw(rows: list[Row], path: Path) -> None:
    """Draw delays against false alarms, one dot a threshold."""
    alarms = [row.alarms for row in rows]
    with picture(path) as axes:
        for part, colour in (("p50", BLUE), ("p95", RED)):
            delays = [1e3 * row.late[part] for row in rows]
            axes.plot(alarms, delays, "o-", color=colour, label=f"{part[1:]} % of the failures")
        label_dots(
            axes, [(a, 1e3 * r.late["p95"]) for a, r in zip(alarms, rows)],
            [f"{row.threshold:g}" for row in rows],
        )  # fmt: skip
        axes.set(
            xlabel="false alarms [1/h]", ylabel="delay after 0.05 rad of missing motion [ms]",
        )  # fmt: skip
        legend(axes)


def _of_bag(run: BagRun, payload: float) -> Result:
    from packbot.detection.detector import Detector, detections
    from packbot.detection.probing import Prober

    if run.robot != "packbot" or not run.scenario:
        raise AccordError("the bag is of no run of the Packbot")
    setup = Setup.of(make_scenario(run.scenario))
    motion, detector = run.trajectory, Detector(setup, payload)
    efforts = efforts_in_force(run)
    found = detections(detector, motion.time, motion.q, motion.qd, efforts)
    recorded = {f.joint: f.time for f in map(fault_of, motion.events) if f}
    faults: dict[str, Detection] = {}
    for each in found:
        since = each.time - recorded.get(each.joint, each.time - each.delay)
        faults[each.joint] = replace(each, delay=since)
    doubts = Prober(setup, payload).doubts(motion.q[-1], detector.open_explanations())
    data = Findings([*faults.values()], doubts)
    table = make_table("joint", "time\n[s]", "delay\n[s]", words=("kind",), title="failed joints")
    for fault in faults.values():
        table.add_row(fault.joint, f"{fault.time:.2f}", f"{fault.delay:.2f}", fault.kind)
    lines = [f"{d.joint}: {' or '.join(d.explanations)}; {_words(d.probe)}" for d in doubts]
    shown = [table] if faults else ["no joint was found failed"]
    return Result(data, [*shown, *lines])


@dataclass(frozen=True)
class Findings:
    """Hold the failed joints of a motion, and what cannot be told apart."""

    faults: list[Detection]
    undetermined: Sequence[Doubt]


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


def _words(probe: Probe | None) -> str:
    if probe is None:
        return "no small safe motion would tell"
    return f"turn {probe.joint} by {probe.direction * probe.size:+g} rad to tell"

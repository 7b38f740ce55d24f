"""What the Packbot's detector and the baseline find over their thresholds, and over model error.

Each of 20 arms, drawn as by `make detection`, moves for a minute without failure and
three times with one, in MuJoCo. Detectors at several thresholds see the same motions: failures
found over false alarms. Then 10 arms are drawn within other multiples of the uncertainties.

    nice python -m benchmarks.campaigns.detector_roc --out FILE --figure docs/images/packbot_roc.svg
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.campaigns.detection import alarms_of, counts_of
from benchmarks.campaigns.failing_arms import Bench, Outcome, judge
from benchmarks.campaigns.momentum_observer import FACTOR, MomentumObserver
from benchmarks.campaigns.rows import campaign_parser, keep, read
from roboaccord.report import BLUE, RED, legend, picture
from roboaccord_studies.packbot.detection.detected import Watcher
from roboaccord_studies.packbot.detection.detector import THRESHOLD
from roboaccord_studies.packbot.detection.diagnosis import Diagnosis
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty

# The first 20 of the 40 arms of docs/packbot_failures.md, for half of the time.
SEEDS = range(3000, 3020)
FAILURES, NOMINAL = 3, 60.0  # of each arm, and s without one, as in detection.py
# Of the uncertainties, beside 1: half, twice and three times what the detector assumes.
SCALES = (0.5, 2.0, 3.0)
FEWER = SEEDS[:10]  # of these arms
# A quarter and twice the detector's; for the baseline a quarter and half of its own.
THRESHOLDS = {"detector": (10.0, THRESHOLD, 80.0), "baseline": (1.0, 2.0, FACTOR)}
WATCHERS: dict[str, Callable[..., Watcher]] = {
    "detector": Diagnosis,
    "baseline": MomentumObserver,
}


@dataclass(frozen=True)
class Row:
    """Hold what a detector with a threshold made of one arm's motions."""

    seed: int
    scale: float
    watcher: str
    threshold: float
    outcomes: list[dict[str, Any]]


def carry_out(call: tuple[int, float]) -> list[Row]:
    """Move an arm, and let the detectors look: at a scale of 1 with each threshold."""
    seed, scale = call
    bench = Bench(seed, "mujoco", Uncertainty().scaled(scale))
    runs = [*(bench.failure() for _ in range(FAILURES)), (None, False, bench.nominal(NOMINAL))]
    rows = []
    for name, thresholds in THRESHOLDS.items():
        usual = thresholds if scale == 1.0 else (max(THRESHOLDS[name], key=usually),)
        for threshold in usual:
            watcher = WATCHERS[name](bench.setup, threshold=threshold)
            outcomes = [asdict(judge(watcher, *run)) for run in runs]
            rows.append(Row(seed, scale, name, threshold, outcomes))
    return rows


def usually(threshold: float) -> bool:
    """Return whether a threshold is a default."""
    return threshold in (THRESHOLD, FACTOR)


def found(rows: list[Row], watcher: str, threshold: float, scale: float) -> list[Outcome]:
    """Return the outcomes of all arms."""
    which = (watcher, threshold, scale)
    chosen = [row for row in rows if (row.watcher, row.threshold, row.scale) == which]
    return [Outcome(**each) for row in chosen for each in row.outcomes]


def draw(rows: list[Row], path: Path) -> None:
    """Draw failures found over false alarms, and these and their delay over model error."""
    with picture(path, (9.0, 3.4), mosaic="abc") as axes:
        for name, colour in (("detector", BLUE), ("baseline", RED)):
            points = [shares(found(rows, name, t, 1.0)) for t in THRESHOLDS[name]]
            axes["a"].plot(
                *zip(*[(p["per_hour"], p["found"]) for p in points]), "o-", color=colour, label=name
            )
            usual = max(THRESHOLDS[name], key=usually)
            scales = sorted((1.0, *SCALES))
            errors = [shares(found(rows, name, usual, scale)) for scale in scales]
            axes["b"].plot(scales, [p["found"] for p in errors], "o-", color=colour, label=name)
            axes["c"].plot(scales, [p["delay"] for p in errors], "o-", color=colour, label=name)
        axes["a"].set(xlabel="false alarms [1/h]", ylabel="failures found [%]", ylim=(0, 101))
        axes["b"].set(ylabel="failures found [%]", ylim=(0, 101))
        axes["c"].set(ylabel="delay, median [s]", yscale="log")
        for each in (axes["b"], axes["c"]):
            each.set(xlabel="model error over the stated one", xscale="log")
            each.set_xticks(scales, [f"{scale:g}" for scale in scales], minor=False)
            each.minorticks_off()
        legend(axes["a"], 2)


def shares(outcomes: list[Outcome]) -> dict[str, float]:
    """Return the failures that move the tips and are found [%], wrong ones, delay, alarms."""
    tips = counts_of([o for o in outcomes if o.joint and o.tips])
    alarms = alarms_of(outcomes)
    whole = tips.right + tips.undetermined + tips.missed + tips.wrong
    return {
        "failures": whole,
        "found": 100.0 * (tips.right + tips.undetermined) / max(whole, 1),
        "right": tips.right,
        "missed": tips.missed,
        "wrong": tips.wrong,
        "delay": tips.delay,
        "alarms": alarms.false_alarms,
        "per_hour": alarms.false_alarms / alarms.hours if alarms.hours else math.nan,
    }


def table(rows: list[Row]) -> Iterator[str]:
    """Yield a line for each detector, threshold and scale."""
    for name, thresholds in THRESHOLDS.items():
        for threshold in thresholds:
            for scale in sorted((1.0, *SCALES)):
                if outcomes := found(rows, name, threshold, scale):
                    yield f"{name} {threshold:g} scale {scale:g} {json.dumps(shares(outcomes))}"


def main() -> None:
    """Run what is not in the file yet, then count and draw."""
    parser = campaign_parser(__doc__)
    parser.add_argument("--figure", type=Path, help="to draw")
    parser.add_argument("--jobs", type=int, default=2, help="arms at a time")
    asked = parser.parse_args()
    rows = read(asked.out, Row)
    done = {(row.seed, row.scale) for row in rows}
    calls = [(seed, 1.0) for seed in SEEDS]
    calls += [(seed, scale) for scale in SCALES for seed in FEWER]
    left = [call for call in calls if call not in done]
    with get_context("spawn").Pool(asked.jobs) as pool:
        for each in pool.imap_unordered(carry_out, left):
            rows += keep(asked.out, each)
            print(each[0].seed, each[0].scale, flush=True)
    print(*table(rows), sep="\n")
    if asked.figure:
        draw(rows, asked.figure)


if __name__ == "__main__":
    main()

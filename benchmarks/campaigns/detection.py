"""Failed joints of the Packbot that its detector names, and false alarms, over drawn arms.

Each arm differs from its model (`failing_arms`), moves without failure, and has up to three that
fail. The detector is beside a momentum observer and an oracle that knows friction and payload.
Counts are of failures that move the finger tips by 50 mm within 3 s. A run that was ended goes on
from its file, and one with the same arms and more of them, too.

    make detection DETECTION="--out FILE --figure docs/images/packbot_detection.svg"
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from benchmarks.campaigns.failing_arms import KINDS, Outcome, judge_arm
from benchmarks.campaigns.rows import campaign_parser, complete
from roboaccord.contract import to_json
from roboaccord.report import BLUE, RED, SOFT, legend, picture

RESULTS = ("right", "undetermined", "missed", "wrong")
WATCHERS = ("detector", "baseline", "oracle")
FAILURES = 3  # of one arm, so that a healthy minute weighs as much as they
COLOURS = dict(zip(WATCHERS, (BLUE, RED, SOFT), strict=True))


@dataclass(frozen=True)
class DetectionCounts:
    """Count the failures by what was made of them, and give the delay of their names."""

    right: int
    undetermined: int
    missed: int
    wrong: int
    delay: float


@dataclass(frozen=True)
class Alarms:
    """Count the names of sound joints.

    Args:
        false_alarms: how many.
        hours: of motion without failure.
        per_hour_95: upper bound of the rate with 95 % confidence.
    """

    false_alarms: int
    hours: float
    per_hour_95: float


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


@dataclass(frozen=True)
class Row:
    """Hold what watchers made of one arm's motions."""

    seed: int
    failures: int
    nominal: float
    engine: str
    scale: float
    outcomes: dict[str, list[dict[str, Any]]]


def carry_out(call: tuple[int, int, float, str, float]) -> Row:
    """Move an arm, and let the watchers look."""
    judged = judge_arm(*call)
    return Row(*call, {name: [asdict(each) for each in judged[name]] for name in WATCHERS})


def main() -> None:
    """Run what is not in the file yet, then count and draw."""
    parser = campaign_parser(__doc__)
    parser.add_argument("--figure", type=Path, help="to draw")
    parser.add_argument("--failures", type=int, default=120, help="joints that fail")
    parser.add_argument("--minutes", type=float, default=40.0, help="of motion without failure")
    parser.add_argument("--model-error", type=float, default=1.0, help="of the uncertainties")
    parser.add_argument("--engine", default="mujoco", help="that simulates the arms")
    parser.add_argument("--seed", type=int, default=3040, help="of the first arm")
    parser.add_argument("--jobs", type=int, default=2, help="arms at a time")
    asked = parser.parse_args()
    arms = math.ceil(asked.failures / FAILURES)
    shares = np.diff(np.linspace(0, asked.failures, arms + 1).round()).astype(int).tolist()
    more = (60.0 * asked.minutes / arms, asked.engine, asked.model_error)
    calls = [(asked.seed + i, count, *more) for i, count in enumerate(shares)]
    rows = complete(asked.out, Row, carry_out, calls, lambda row: print(row.seed), asked.jobs)
    outcomes = {
        name: [Outcome(**each) for row in rows for each in row.outcomes[name]] for name in WATCHERS
    }
    found = {name: Found.of_all(each) for name, each in outcomes.items()}
    data = DetectionStudy(
        **vars(found["detector"]), seeds=[asked.seed, asked.seed + arms - 1],
        model_error=asked.model_error, engine=asked.engine, baseline=found["baseline"],
        oracle=found["oracle"],
    )  # fmt: skip
    print(json.dumps(to_json(data), indent=1))
    if asked.figure:
        draw_delays(outcomes, asked.figure)


if __name__ == "__main__":
    main()

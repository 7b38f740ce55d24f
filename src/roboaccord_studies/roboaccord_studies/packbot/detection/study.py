"""How detectors perform on arms that differ from their model (`bench`).

What is named where nothing fails is a false alarm; what is made of failures is counted. An oracle
knows the arm's friction and payload: how well any detector could do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import scipy
from roboaccord.contract import Array, Fault, Quantity
from roboaccord.report import BLUE, RED, SOFT, legend, picture
from roboaccord.run import run_pieces
from roboaccord.scenario import Setup, load_scenario

from roboaccord_studies.packbot.detection.bench import KINDS, Bench
from roboaccord_studies.packbot.detection.detected import Watcher, detections
from roboaccord_studies.packbot.detection.detector import Detector
from roboaccord_studies.packbot.detection.diagnosis import Diagnosis
from roboaccord_studies.packbot.detection.observer import MomentumObserver
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty
from roboaccord_studies.packbot.identification.unknowns import Draw, with_friction

KNOWN = 0.5  # part of the uncertainty of dry friction that is left to the oracle
WEIGHED = 0.01  # kg: to which the oracle knows the payload
RESULTS = ("right", "undetermined", "missed", "wrong")
WATCHERS = ("detector", "baseline", "oracle")
FAILURES = 3  # of one arm
COLOURS = dict(zip(WATCHERS, (BLUE, RED, SOFT), strict=True))


@dataclass(frozen=True)
class Outcome:
    """Hold what a detector made of a run.

    Args:
        joint, kind: of the failure; "" for none.
        tips: whether it moved the finger tips by `MOVED` in time.
        result: of `RESULTS`; "" where nothing failed.
        delay: of the joint's first name since the failure [s]; nan if there is none.
        false_alarms: names of sound joints before any failed.
        time: of motion without failure [s].
    """

    joint: str
    kind: str
    tips: bool
    result: str
    delay: float
    false_alarms: int
    time: float


def judge_arm(
    seed: int,
    failures: int,
    nominal: float,
    engine: str,
    scale: float,
) -> dict[str, list[Outcome]]:
    """Return the outcomes of one arm's runs, by `WATCHERS`.

    Args:
        seed: of the arm.
        failures: to let happen, each in a motion of its own.
        nominal: time of motion without failure [s].
        engine: that simulates the arm.
        scale: of the stated uncertainties, within which the arm is drawn.
    """
    bench = Bench(seed, engine, Uncertainty().scaled(scale))
    watchers: dict[str, Watcher] = {
        "detector": Diagnosis(bench.setup),
        "baseline": MomentumObserver(bench.setup),
        "oracle": oracle(bench.draw),
    }
    runs: list[tuple[Fault | None, bool, Array]] = [bench.failure() for _ in range(failures)]
    if nominal:
        runs.append((None, False, bench.nominal(nominal)))
    return {name: [judge(watcher, *run) for run in runs] for name, watcher in watchers.items()}


def oracle(draw: Draw) -> Detector:
    """Return a detector that knows an arm's friction and payload, but not where that hangs."""
    nominal = load_scenario("packbot", "packbot", "reach")
    setup = Setup.of(with_friction(draw, nominal))
    u = Uncertainty()
    beside = draw.payload * u.payload_offset / WEIGHED  # the moment is what matters
    known = replace(
        u, viscous=0.0, coulomb=KNOWN * u.coulomb, payload=WEIGHED, payload_offset=beside
    )
    return Detector(setup, draw.payload, uncertainty=known)


def judge(watcher: Watcher, fault: Fault | None, tips: bool, rows: Array) -> Outcome:
    """Return what a detector makes of a run."""
    watcher.reset()
    time, q, qd, effort = np.split(rows, (1, 8, 15), axis=1)
    found = detections(watcher, time.ravel(), q, qd, effort)
    named = [d for d in found if d.kind not in ("healthy", "unexplained")]
    end = float(time[-1, 0])
    if fault is None:
        return Outcome("", "", tips, "", math.nan, len(named), end)
    early = [d for d in named if d.time <= fault.time]
    last: Mapping[str, str] = {d.joint: d.kind for d in found if d.time > fault.time}
    last = {joint: kind for joint, kind in last.items() if kind not in ("healthy", "unexplained")}
    result = "wrong"
    if not last:
        result = "missed"
    elif set(last) == {fault.joint} and last[fault.joint] in (fault.kind, "undetermined"):
        result = "right" if last[fault.joint] == fault.kind else "undetermined"
    times = [d.time - fault.time for d in named if d.joint == fault.joint and d not in early]
    delay = times[0] if times else math.nan
    return Outcome(fault.joint, fault.kind, tips, result, delay, len(early), fault.time)


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

    @classmethod
    def of(cls, task: DetectionTask, found: Mapping[str, Found]) -> DetectionStudy:
        """Return it from what each watcher made of the same runs."""
        return cls(
            **vars(found["detector"]), seeds=[task.seed, task.seed + task.arms - 1],
            model_error=task.scale, engine=task.engine, baseline=found["baseline"],
            oracle=found["oracle"],
        )  # fmt: skip


@dataclass(frozen=True)
class DetectionTask:
    """Specify a study of detection.

    Args:
        failures: number of joints to fail, `FAILURES` of an arm.
        nominal: time of motion without failure, of all arms [s].
        scale: of the stated uncertainties, within which arms are drawn.
        engine: that simulates them.
        seed: of the first arm.
    """

    failures: int
    nominal: float
    scale: float
    engine: str
    seed: int

    @property
    def arms(self) -> int:
        """Number of arms."""
        return math.ceil(self.failures / FAILURES)

    def run(self, done: Callable[[object], None]) -> dict[str, list[Outcome]]:
        """Return all outcomes by `WATCHERS`; `done` is called with those of each arm."""
        share = np.diff(np.linspace(0, self.failures, self.arms + 1).round())
        more = self.nominal / self.arms, self.engine, self.scale
        calls = [(self.seed + i, int(n), *more) for i, n in enumerate(share)]
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

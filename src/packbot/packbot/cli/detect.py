"""Commands `accord packbot detect` and `identify`: failed joints, and the arm, from its motion."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from roboaccord.bag import BagRun, read_run
from roboaccord.cli import (
    Engine,
    Force,
    Out,
    Result,
    Seed,
    counted,
    file_line,
    in_pieces,
    kept,
    results,
    tables_of,
)
from roboaccord.contract import (
    AccordError,
    Array,
    Kilograms,
    Minutes,
    Quantity,
    Ratio,
    clip_efforts,
    fault_of,
    to_json,
)
from roboaccord.engines import REFERENCE, check_engine
from roboaccord.report import BLUE, RED, SOFT, legend, picture
from roboaccord.run import run_pieces, write_text
from roboaccord.scenario import Setup, make_scenario
from roboaccord.simulators import measured

from packbot.contact.clearance import Clearance
from packbot.detection.detector import Detection, detections
from packbot.detection.probing import Doubt, Prober
from packbot.detection.uncertainty import LARGEST, Uncertainty
from packbot.identification.estimate import Motion
from packbot.identification.known import KnownArm, diagnosis
from packbot.identification.report import Parameter, Unidentified, identify
from packbot.source.detection import (
    KINDS,
    RESULTS,
    WATCHERS,
    Alarms,
    Counts,
    Outcome,
    alarms_of,
    counts_of,
    judge_arm,
)

FAILURES = 3  # of one arm
COLOURS = dict(zip(WATCHERS, (BLUE, RED, SOFT), strict=True))


@in_pieces(own=True)
def detect_command(
    bag: Annotated[Path | None, typer.Argument(metavar="BAG", help="Of a Packbot's run.")] = None,
    payload: Annotated[Kilograms, typer.Option(min=0.0, help="At the finger tips.")] = 0.0,
    study: Annotated[
        int, typer.Option(metavar="N", min=0, help="Let N joints fail at random, and measure.")
    ] = 0,
    minutes: Annotated[
        Minutes, typer.Option(min=0.0, help="Of motion without failure in the study.")
    ] = 10.0,
    model_error: Annotated[
        Ratio,
        typer.Option(metavar="SCALE", min=0.0, max=LARGEST, help="Of the stated uncertainties."),
    ] = 1.0,
    engine: Engine = REFERENCE,
    seed: Seed = 0,
    folder: Out = None,
    force: Force = False,
) -> Result:
    """Find frozen and loose joints from joint states and commanded efforts alone.

    Of a bag: which joints failed, how, when that was noticed, and how long after the failure: the
    recorded one, or else as estimated. What cannot be told apart at the end is named, with the
    small safe motion that would tell. With --study: failures of arms that are not their model,
    drawn within the stated uncertainties; how many are named rightly, how late, and false alarms;
    beside an observer of the momentum and an oracle that knows friction and payload. Counts are
    of failures that move the finger tips by 50 mm within 3 s. A study that was ended goes on in the
    same --out.

    Examples:

      accord packbot detect runs/reach/bag --json

      accord packbot detect --study 60 --seed 2000 --engine mujoco --out detection
    """
    if (bag is None) == (not study):
        raise AccordError("detect takes a bag, or --study N")
    if bag is None:
        wanted = (study, minutes, engine, model_error, seed)
        return _study(*wanted, folder, force=force)
    return _of_bag(read_run(bag), payload)


@dataclass(frozen=True, kw_only=True)
class Found(Counts, Alarms):
    """Hold counts of a watcher: of failures that move the tips, and false alarms.

    Args:
        all: of all failures.
        kinds: of all failures, by kind.
    """

    all: Counts
    kinds: dict[str, Counts]

    @classmethod
    def of_all(cls, outcomes: Sequence[Outcome]) -> Found:
        """Return those of outcomes."""
        failed = [o for o in outcomes if o.joint]
        kinds = {str(kind): counts_of([o for o in failed if o.kind == kind]) for kind in KINDS}
        tips = counts_of([o for o in failed if o.tips])
        return cls(**vars(tips), **vars(alarms_of(outcomes)), all=counts_of(failed), kinds=kinds)


@dataclass(frozen=True, kw_only=True)
class Study(Found):
    """Hold what the detector made of a study, and what the others did."""

    seeds: list[int]
    model_error: float
    engine: str
    baseline: Found
    oracle: Found


def _study(
    count: int,
    minutes: float,
    engine: str,
    scale: float,
    seed: int,
    folder: Path | None,
    *,
    force: bool,
) -> Result:
    """Run the study of detection, or what is left of it, and draw its figure."""
    check_engine(engine)
    arms = math.ceil(count / FAILURES)
    with (
        results(folder, "packbot_detection", force=force) as place,
        kept(place),
        counted(arms, "arms") as advance,
    ):
        nominal, share = 60.0 * minutes / arms, np.diff(np.linspace(0, count, arms + 1).round())
        calls = [(seed + i, int(n), nominal, engine, scale) for i, n in enumerate(share)]
        judged = run_pieces(judge_arm, calls, done=lambda _: advance(1))
        outcomes = {name: [o for arm in judged for o in arm[name]] for name in WATCHERS}
        found = {name: Found.of_all(each) for name, each in outcomes.items()}
        data = Study(
            **vars(found["detector"]),
            seeds=[seed, seed + arms - 1],
            model_error=scale,
            engine=engine,
            baseline=found["baseline"],
            oracle=found["oracle"],
        )
        write_text(place / "detection.json", json.dumps(to_json(data), indent=1))
        _draw(outcomes, place / "detection.svg")
    names = (*RESULTS, "delay", "false_alarms", "hours", "per_hour_95")
    title = f"{count} failures; counts of those that move the tips"
    table = tables_of([*found.values()], *names, title=title, labels=WATCHERS)
    return Result(data, [*table, file_line([place / "detection.svg"])])


def _draw(outcomes: Mapping[str, Sequence[Outcome]], path: Path) -> None:
    """Draw the share of failures that move the tips which are named, over the time since then."""
    with picture(path) as axes:
        for name, each in outcomes.items():
            failed = [o for o in each if o.tips]
            delays = sorted(o.delay for o in failed if not math.isnan(o.delay))
            shares = 100.0 * np.arange(1, len(delays) + 1) / max(len(failed), 1)
            axes.step(delays, shares, where="post", color=COLOURS[name], label=name)
        axes.set(xlabel="time since the failure [s]", ylabel="failures named [%]", ylim=(0, 100))
        legend(axes)


def _of_bag(run: BagRun, payload: float) -> Result:
    if run.robot != "packbot" or not run.scenario:
        raise AccordError("the bag is of no run of the Packbot")
    setup = Setup.of(make_scenario(run.scenario))
    keys = setup.scenario.controller
    try:
        known = KnownArm.given(keys.get("identified", ""))
        detector = diagnosis(setup, keys.get("uncertainty"), known, payload)
    except ValueError as error:
        raise AccordError(str(error)) from None
    motion = run.trajectory
    efforts = efforts_in_force(run)
    found = detections(detector, motion.time, *measured(motion), efforts)
    recorded = {f.joint: f.time for f in map(fault_of, motion.events) if f}
    all_ = {each.joint: each for each in found}.values()
    last = [each for each in all_ if each.kind != "healthy"]  # a name that was taken back
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


SHORTEST = 5.0  # s
EVERY = 10  # ticks between the poses at which contact is looked for
TOUCHING = 2e-3  # m


def identify_command(
    bag: Annotated[Path, typer.Argument(metavar="BAG", help="Of a Packbot's run.")],
) -> Result:
    """Identify the arm's base parameters, friction and payload from a recorded motion.

    Joint states and commanded efforts are enough. A quantity is identified where its 95 % interval
    is at most half as wide as that of what is known before: the uncertainties of the arm, keys of
    `controller.uncertainty` in the scenario. The scenario `identify` moves the arm for a minute so
    that most of it is. `accord packbot identify` is the same.

    Examples:

      accord run packbot identify --engine mujoco --out identified

      accord identify packbot identified/bag --json
    """
    run = read_run(bag)
    if run.robot != "packbot" or not run.scenario:
        raise AccordError("the bag is of no run of the Packbot")
    setup = Setup.of(make_scenario(run.scenario))
    try:
        known = Uncertainty.read(setup.scenario.controller.get("uncertainty"))
    except ValueError as error:
        raise AccordError(str(error)) from None
    found = identify(setup, _motion(setup, run), known)
    names = ("value", "low", "high", "unit")
    tables = tables_of(
        [*found.parameters.values()], *names, labels=found.parameters, kind=Parameter,
        title="identified",
    )  # fmt: skip
    tables += tables_of(
        [*found.reasons.values()], "left", "why", labels=found.reasons, kind=Unidentified,
        title="not identified",
    )  # fmt: skip
    return Result(found, tables)


def _motion(setup: Setup, run: BagRun) -> Motion:
    """Return what was measured and commanded.

    Raises:
        AccordError: for a motion from which nothing can be identified.
    """
    motion = run.trajectory
    if failed := [fault.joint for fault in map(fault_of, motion.events) if fault]:
        raise AccordError(f"{failed[0]} fails in the bag: identify takes a healthy arm")
    if motion.time[-1] - motion.time[0] < SHORTEST:
        raise AccordError(
            f"the motion is shorter than {SHORTEST:g} s, too short to identify the arm"
        )
    clearance = Clearance.of(setup)
    for time, q in zip(motion.time[::EVERY], motion.q[::EVERY], strict=True):
        pair, distance = clearance.closest(q)
        if distance < TOUCHING:
            a, b = clearance.pair_names(pair)
            raise AccordError(
                f"{a} touches {b} at {time:g} s: identify takes motion without contact"
            )
    efforts = clip_efforts(efforts_in_force(run), setup.effort_limits)
    return Motion(motion.time, motion.q, motion.qd, np.asarray(efforts))

"""Recovery over many targets: what a failed arm reaches, with recovery and without.

Arms that are not their model are drawn, one for each target and the same for all cases of a study.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from packbot.contact.clearance import Clearance
from packbot.controllers.trial import clear_start
from packbot.model.arm import Kinematics
from packbot.model.parameters import JOINTS
from packbot.planning.recovery import REASONS
from roboaccord.contract import Array, Fault, Quantity
from roboaccord.report import BLUE, RED, RULE, legend, picture
from roboaccord.run import run_pieces
from roboaccord.scenario import Setup

from roboaccord_studies.packbot.recovery.attempts import Attempt, reach_for

PARTS = (0.25, 0.5, 0.75)  # of a joint's range, at which it is frozen
PAIRS = (
    ("turret=loose", "wrist=frozen:0.5"),
    ("shoulder=frozen:1.2", "tilt=loose"),
    ("elbow1=frozen:-1.0", "pan=frozen:0.5"),
    ("elbow2=loose", "wrist=loose"),
    ("shoulder=frozen:2.0", "elbow2=loose"),
)


def all_cases(setup: Setup) -> list[tuple[str, ...]]:
    """Return the faults of the study: each joint loose and frozen at three angles, and pairs."""
    cases = list[tuple[str, ...]]()
    for joint, low, high in zip(JOINTS, *setup.parameters.limits, strict=True):
        cases.append((f"{joint}=loose",))
        cases += [(f"{joint}=frozen:{low + part * (high - low):.3g}",) for part in PARTS]
    return [*cases, *PAIRS]


def draw_targets(setup: Setup, count: int, seed: int) -> Array:
    """Return targets (count, 3) [m]: finger tips of random poses of the healthy arm, all clear.

    With a failed turret they lie in the plane that it leaves: others have no chance.
    """
    p, clearance, kinematics = setup.parameters, Clearance.of(setup), Kinematics(setup)
    rng, found = np.random.default_rng(seed), list[Array]()
    turret = any(fault.joint == JOINTS[0] for fault in setup.faults)
    while len(found) < count:
        q = rng.uniform(*p.limits)
        if turret:
            q[0] = setup.initial.q[0]
        if not clearance.touches(q):
            found.append(kinematics.tip(q))
    return np.array(found)


@dataclass(frozen=True, kw_only=True)
class RecoveryCounts:
    """Hold how many targets are reachable with faults, recovered, reached by the baseline."""

    faults: Annotated[list[str], Quantity("", name="failed")]
    targets: Annotated[int, Quantity("")]
    reachable: Annotated[int, Quantity("")]
    recovered: Annotated[int, Quantity("")]
    baseline: Annotated[int, Quantity("")]
    refused: Annotated[Mapping[str, int], Quantity("", form="text")]
    disputed: Annotated[int, Quantity("")]
    beyond: int
    worst_error: Annotated[float | None, Quantity("m")]
    worst_measured: Annotated[float | None, Quantity("m", name="measured", shown="mm")]
    worst_apart: Annotated[float | None, Quantity("m", name="apart", shown="mm")]
    worst_load: Annotated[float | None, Quantity("1")]
    failed: Mapping[str, int]


def counts(faults: Iterable[Fault], attempts: Sequence[Attempt]) -> RecoveryCounts:
    """Return the counts of attempts with faults."""
    reachable = [attempt for attempt in attempts if not attempt.judged]
    refused = Counter(attempt.refused for attempt in attempts if attempt.refused)
    tried = [attempt for attempt in attempts if not attempt.refused]
    there = [attempt for attempt in tried if attempt.recovered]
    failed = list(map(str, faults))
    return RecoveryCounts(
        faults=failed,
        targets=len(attempts),
        reachable=len(reachable),
        recovered=sum(attempt.recovered for attempt in reachable),
        baseline=sum(attempt.baseline for attempt in reachable),
        refused={reason: refused[reason] for reason in REASONS if refused[reason]},
        disputed=sum(bool(a.refused) and a.judged != a.refused for a in attempts),
        beyond=sum(attempt.recovered and bool(attempt.judged) for attempt in attempts),
        worst_error=max((attempt.error for attempt in there), default=None),
        worst_measured=max((attempt.measured for attempt in there), default=None),
        worst_apart=None if failed else max((attempt.apart for attempt in tried), default=None),
        worst_load=max((attempt.load for attempt in tried), default=None),
        failed=Counter(a.fault for a in tried if not a.recovered),
    )


def study(
    setups: Sequence[Setup],
    count: int,
    engine: str,
    seed: int,
    done: Callable[[Attempt], None],
    scale: float | None = None,
) -> list[list[Attempt]]:
    """Return the attempts at all targets of each setup's faults.

    A study with fewer targets is the beginning of one with more.

    Args:
        setups: robot, scenario and faults.
        count: of targets.
        engine: name.
        seed: of the targets, of the planner, and of the first arm that is drawn.
        done: called with each attempt.
        scale: of the stated uncertainties, within which arms are drawn; None for the model.
    """
    found = run_pieces(reach_for, calls(setups, engine, seed, count, scale), done=done)
    return [found[i : i + count] for i in range(0, len(found), count)]


def calls(
    setups: Sequence[Setup], engine: str, seed: int, count: int, scale: float | None
) -> Iterator[tuple[str, str, Array, float | None, int, Array]]:
    """Yield the arguments of `reach_for` for the targets of each setup."""
    for setup in setups:
        start = clear_start(setup)
        targets = draw_targets(start, count, seed)
        data = json.dumps({**start.scenario.data(), "seed": seed}, sort_keys=True)
        first = targets[0]
        yield from ((data, engine, first, scale, i, target) for i, target in enumerate(targets))


def draw_recovery(found: Sequence[RecoveryCounts], path: Path) -> None:
    """Draw how many targets of each case are reachable, recovered, and reached by the baseline."""
    with picture(path, (7.5, 1.5 + 0.24 * len(found))) as axes:
        places = np.arange(len(found))[::-1]
        kinds = (("reachable", RULE, 0.8), ("recovered", BLUE, 0.5), ("baseline", RED, 0.2))
        for key, colour, height in kinds:
            values = [getattr(case, key) for case in found]
            axes.barh(places, values, height=height, color=colour, label=key)
        axes.set_yticks(places, [", ".join(case.faults) or "none" for case in found])
        axes.set(xlabel="targets")
        legend(axes, 3)

"""Sensitivity of the cross-check: bisection over the size of deliberate errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from roboaccord.contract.errors import AccordError, DivergedError
from roboaccord.contract.outcome import Finding, outside
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.acceleration import check_acceleration
from roboaccord.crosscheck.convergence import check_convergence, measure_floor
from roboaccord.crosscheck.differences import Name
from roboaccord.crosscheck.extrapolation import STEPS
from roboaccord.crosscheck.models import check_model
from roboaccord.crosscheck.naming import describe_since, name_acceleration, name_one_step
from roboaccord.crosscheck.one_step import check_steps
from roboaccord.crosscheck.runs import REFERENCE, Job, run_job
from roboaccord.crosscheck.verdict import (
    EngineChecks,
    judge_model,
    judge_step,
    judge_trajectory,
)
from roboaccord.run.factory import make_simulator
from roboaccord.scenario.perturbation import EVERY, KINDS, Perturbation
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

SMALLEST = 1e-12  # of a perturbation; nothing below is looked for
DECADE = 10.0
HALVINGS = 2  # of the last decade, so that a size is known within a factor of 1.8
ONCE = ("axis_sign", "delay")  # these have one size


@dataclass(frozen=True)
class Sensitivity:
    """Hold the sensitivity to one kind of perturbation in one engine.

    Args:
        engine, kind, where: what was falsified.
        size: smallest size found, in the unit of the kind; None where none was found or possible.
        level: by which it was found.
        quantity, place: how it was named.
        named_from: smallest size tried at which it had that name; None where it had none.
        reason: what the finding said; or why there is none.
        missed: largest size tried that was not found, 0 where there is none.
    """

    engine: str
    kind: str
    where: str
    size: float | None = None
    level: str = ""
    quantity: str = ""
    place: str = ""
    named_from: float | None = None
    reason: str = ""
    missed: float = 0.0


Probe = Callable[[Perturbation], Finding | None]


class Prober:
    """Check one engine of a setup with a perturbation, level by level.

    Args:
        setup: robot and scenario.
        duration: of the runs of levels 2 and 3 [s].
    """

    def __init__(self, setup: Setup, duration: float) -> None:
        self._setup = setup
        spec = setup.scenario
        self._steps = [spec.physics_step / 2**i for i in range(STEPS)]
        self._data = {**spec.data(), "duration": duration}
        self._reference = make_simulator(setup)
        self._tolerances = spec.crosscheck.tolerances

    def model(self, item: Perturbation) -> Finding | None:
        """Return the finding of level 1, or None."""
        engine = self._make(item)
        checks = self._first(item, engine)
        ask = partial(name_acceleration, self._setup, self._reference, engine)
        return _off(judge_model(self._tolerances, checks, ask))

    def one_step(self, item: Perturbation) -> Finding | None:
        """Return the finding of level 2, or None."""
        engine, runs = self._make(item), self._runs(item)
        step = check_steps(self._setup, engine.order, runs)
        first = self._first(item, engine)
        checks = EngineChecks(item.engine, first.model, first.acceleration, one_step=step)
        ask = partial(name_one_step, self._setup, runs, engine.order)
        return _off(judge_step(self._tolerances, checks, ask))

    def trajectory(self, item: Perturbation) -> Finding | None:
        """Return the finding of level 3, or None."""
        engine, runs = self._make(item), self._runs(item)
        truth_step = self._steps[-1] / 2
        truth, bit, coarse = (
            self._run(job, item)
            for job in (
                Job(REFERENCE, truth_step, fine=True),
                Job(REFERENCE, truth_step, fine=True, bit=True),
                Job(REFERENCE, self._steps[-1]),
            )
        )
        tree = self._setup.tree
        floor = measure_floor(tree, truth, coarse, bit)
        check = check_convergence(tree, truth, runs, engine.order, floor)
        first = self._first(item, engine)
        checks = EngineChecks(item.engine, first.model, first.acceleration, trajectory=check)
        since = check.since or 0.0
        near = Name(text=", ".join(describe_since(runs[self._steps[0]], since)))
        return _off(judge_trajectory(self._tolerances, checks, lambda: near))

    def of(self, level: str) -> Probe:
        """Return the check of a level."""
        probes = {"acceleration": self.model, "one_step": self.one_step}
        return probes.get(level, self.trajectory)

    def _make(self, item: Perturbation) -> Simulator:
        return make_simulator(self._setup, item.engine, perturbations=(item,))

    def _first(self, item: Perturbation, engine: Simulator) -> EngineChecks:
        spec = self._setup.scenario
        return EngineChecks(
            item.engine,
            check_model(self._setup, self._reference, engine, spec.crosscheck.tolerances.mass),
            check_acceleration(
                self._setup, self._reference, engine, spec.crosscheck.states, spec.seed
            ),
        )

    def _runs(self, item: Perturbation) -> dict[float, Trajectory]:
        return {dt: self._run(Job(item.engine, dt), item) for dt in self._steps}

    def _run(self, job: Job, item: Perturbation) -> Trajectory:
        return run_job(self._data, job, (item,))[1]


def find_smallest(
    setup: Setup, engine: str, kind: str, where: str = EVERY, duration: float = 1.0
) -> Sensitivity:
    """Return the smallest size of a kind of perturbation that the cross-check finds.

    Levels 1 and 2 are asked first; level 3 where they find nothing at the largest size. Levels that
    the scenario excuses, because they are outside anyway, tell nothing.
    """
    prober = Prober(setup, duration)

    def item(size: float) -> Perturbation:
        return Perturbation(engine, kind, sized(kind, size), where)

    largest = KINDS[kind].largest
    missed = 0.0
    found: tuple[float, Finding] | None = None
    try:
        for probe in (prober.model, prober.one_step):
            start = min(largest, found[0] / DECADE) if found else largest
            better, below = _search(probe, item, start, kind)
            if better is not None:
                found, missed = better, below
            elif not found:
                missed = below
        if found is None:
            found, missed = _search(prober.trajectory, item, largest, kind)
    except AccordError as error:
        if found is None:
            reason = str(error).removeprefix(f"--perturb {item(largest)}: ")
            return Sensitivity(engine, kind, where, reason=f"n/a: {reason}")
    if found is None:
        return Sensitivity(engine, kind, where, reason="not found", missed=missed)
    size, finding = found
    named, named_from = _name(prober.of(finding.level), item, size, finding, largest)
    return Sensitivity(
        engine,
        kind,
        where,
        size,
        finding.level,
        named.quantity,
        named.where,
        named_from,
        named.reason,
        missed,
    )


def _name(
    probe: Probe,
    item: Callable[[float], Perturbation],
    size: float,
    finding: Finding,
    largest: float,
) -> tuple[Finding, float | None]:
    """Return the finding at the smallest of a few sizes at which it names a quantity, and that."""
    for larger in (size, *(size * DECADE**i for i in (0.5, 1, 2, 3))):
        if larger > largest:
            break
        found = finding if larger == size else probe(item(larger))
        if found and found.quantity:
            return found, larger
    return finding, None


def sized(kind: str, size: float) -> float:
    """Return the value of a perturbation at a distance from the neutral one."""
    return KINDS[kind].neutral + (-size if kind == "axis_sign" else size)  # 0 is none at all


def _search(
    probe: Probe, item: Callable[[float], Perturbation], start: float, kind: str
) -> tuple[tuple[float, Finding] | None, float]:
    """Return the smallest size found with its finding, and the largest that was missed.

    A level that is outside without any error can tell nothing of one.
    """
    finding = _ask(probe, item(start))
    if finding is None or probe(item(0.0)) is not None:
        return None, start
    if kind in ONCE:
        return (start, finding), 0.0
    size, missed = start, 0.0
    while size / DECADE >= SMALLEST:
        smaller = _ask(probe, item(size / DECADE))
        if smaller is None:
            missed = size / DECADE
            break
        size, finding = size / DECADE, smaller
    for _ in range(HALVINGS if missed else 0):
        middle = math.sqrt(size * missed)
        between = _ask(probe, item(middle))
        if between is None:
            missed = middle
        else:
            size, finding = middle, between
    return (size, finding), missed


def _ask(probe: Probe, item: Perturbation) -> Finding | None:
    """Return the finding of a level; a run that diverges counts as detected."""
    try:
        return probe(item)
    except DivergedError as error:
        return outside("trajectory", item.engine, str(error))


def _off(finding: Finding) -> Finding | None:
    return finding if finding.outcome == "outside" else None


def places(setup: Setup, kinds: Sequence[str]) -> dict[str, str]:
    """Return for each kind the link or joint that is falsified where nobody names one.

    The last link that weighs anything and the joint in the middle: one of each, since an error of
    a single part is the harder to find.
    """
    links = [name for name, mass in make_simulator(setup).masses().items() if mass]
    joints = setup.joints
    found = {"link": links[-1] if links else EVERY, "": EVERY}
    found["joint"] = joints[len(joints) // 2] if joints else EVERY
    return {kind: found[KINDS[kind].place] for kind in kinds}

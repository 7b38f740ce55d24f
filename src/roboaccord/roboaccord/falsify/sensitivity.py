"""Sensitivity of the cross-check: bisection over the size of deliberate errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from roboaccord.contract.errors import AccordError, DivergedError
from roboaccord.contract.outcome import Finding, outside
from roboaccord.contract.results import Json
from roboaccord.crosscheck.convergence import check_convergence, floor_of
from roboaccord.crosscheck.differences import Name
from roboaccord.crosscheck.extrapolation import STEPS
from roboaccord.crosscheck.naming import name_one_step, name_trajectory
from roboaccord.crosscheck.one_step import check_steps
from roboaccord.crosscheck.run import check_first
from roboaccord.crosscheck.runs import REFERENCE, Engines, Job, Runs, run_job, truth_jobs
from roboaccord.crosscheck.scheme import NoTwin, SchemeCheck, check_scheme, judge_scheme
from roboaccord.crosscheck.verdict import Ask, judge_model, judge_step, judge_trajectory
from roboaccord.falsify.perturbation import EVERY, KINDS, Perturbation
from roboaccord.falsify.wrapped import wrap
from roboaccord.run.loop import make_simulator
from roboaccord.run.pieces import run_pieces
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup

SMALLEST = 1e-15  # of a perturbation; nothing below is looked for
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
        reason: of the finding; or why there is none.
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
        engine: its name.
        duration: of the runs [s].

    Attributes:
        names: whether findings name what is off, which takes as long as to find it.
    """

    def __init__(self, setup: Setup, engine: str, duration: float) -> None:
        self.names = False
        self._setup, self._engine = setup, engine
        spec = setup.scenario
        self._steps = [spec.physics_step / 2**i for i in range(STEPS)]
        self._data = {**spec.data(), "duration": duration}
        self._reference = make_simulator(setup)
        self._tolerances = spec.crosscheck.tolerances

    def model(self, item: Perturbation) -> Finding | None:
        """Return the finding of level 1, or None; the engine's scheme names what it does not."""
        checks = check_first(self._setup, self._falsified(item), self._engine)
        return _off(
            judge_model(self._tolerances, checks, self._asked(partial(self._by_scheme, item)))
        )

    def scheme(self, item: Perturbation) -> Finding | None:
        """Return the finding of the level `scheme`, or None."""
        return _off(judge_scheme(self._engine, self._check_scheme(item)))

    def one_step(self, item: Perturbation) -> Finding | None:
        """Return the finding of level 2, or None."""
        engines = self._falsified(item)
        order, runs = engines.order(self._engine), self._run(engines).of(self._engine)
        step = check_steps(self._setup, engines.specs[self._engine], order, runs)
        checks = replace(check_first(self._setup, engines, self._engine), one_step=step)
        ask = self._asked(partial(name_one_step, self._setup, runs, order))
        return _off(judge_step(self._tolerances, checks, ask))

    def trajectory(self, item: Perturbation) -> Finding | None:
        """Return the finding of level 3, or None."""
        engines = self._falsified(item)
        runs = self._run(engines, [*truth_jobs(self._steps), Job(REFERENCE, self._steps[-1])])
        tree, other = self._setup.tree, engines.simulator(self._engine)
        check = check_convergence(tree, runs, self._engine, other, floor_of(tree, runs))
        checks = replace(check_first(self._setup, engines, self._engine), trajectory=check)
        own, order = runs.of(self._engine), engines.order(self._engine)
        ask = self._asked(partial(name_one_step, self._setup, own, order))
        near = partial(name_trajectory, runs.shown(self._engine), check, ask)
        return _off(judge_trajectory(self._tolerances, checks, near))

    def of(self, level: str) -> Probe:
        """Return the check of a level."""
        probes = {"acceleration": self.model, "scheme": self.scheme, "one_step": self.one_step}
        return probes.get(level, self.trajectory)

    def _check_scheme(self, item: Perturbation) -> SchemeCheck | NoTwin:
        wrong = wrap(self._engine, perturbations=[item])
        _, run = run_job(self._data, Job(self._engine, self._steps[0]), wrong)
        return check_scheme(self._setup, wrong, run, named=self.names)

    def _asked(self, ask: Ask) -> Ask:
        return ask if self.names else Name

    def _by_scheme(self, item: Perturbation) -> Name:
        check = self._check_scheme(item)
        return check.name if isinstance(check, SchemeCheck) else Name()

    def _falsified(self, item: Perturbation) -> Engines:
        wrapped = wrap(self._engine, perturbations=[item])
        other = make_simulator(self._setup, wrapped)
        return Engines(self._reference, {self._engine: other}, {self._engine: wrapped})

    def _run(self, engines: Engines, more: Sequence[Job] = ()) -> Runs:
        jobs = [*(Job(self._engine, dt) for dt in self._steps), *more]
        done = (run_job(self._data, job, engines.source(job.engine)) for job in jobs)
        return Runs(dict(done), self._steps)


def find_all(
    setup: Setup,
    asked: Sequence[tuple[str, str]],
    duration: float,
    done: Callable[[Sensitivity], None],
) -> list[Sensitivity]:
    """Return the smallest sizes found of engines and kinds, side by side; see `find_smallest`."""
    data, wheres = setup.scenario.data(), places(setup, [kind for _, kind in asked])
    calls = ((data, engine, kind, wheres[kind], duration) for engine, kind in asked)
    return run_pieces(_find, calls, done=done)


def _find(
    data: Mapping[str, Json], engine: str, kind: str, where: str, duration: float
) -> Sensitivity:
    return find_smallest(Setup.of(make_scenario(data)), engine, kind, where, duration)


def find_smallest(
    setup: Setup, engine: str, kind: str, where: str = EVERY, duration: float = 1.0
) -> Sensitivity:
    """Return the smallest size of a kind of perturbation that the cross-check finds.

    Levels 1, `scheme` and 2 are asked first; level 3 where they find nothing at the largest size.
    Levels that the scenario excuses, because they are outside anyway, are not counted.
    """
    prober = Prober(setup, engine, duration)

    def item(size: float) -> Perturbation:
        return Perturbation(engine, kind, sized(kind, size), where)

    largest = KINDS[kind].largest
    missed = 0.0
    found: tuple[float, Finding] | None = None
    try:
        for probe in (prober.model, prober.scheme, prober.one_step):
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
    prober.names = True
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
        found = probe(item(larger))
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

    A level that is outside without any error cannot detect one.
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
    """Return for each kind the link or joint that is falsified by default.

    The last link that weighs anything and the joint in the middle: one of each, since an error of
    a single part is the harder to find.
    """
    links = [name for name, mass in make_simulator(setup).masses().items() if mass]
    joints = setup.joints
    found = {"link": links[-1] if links else EVERY, "": EVERY}
    found["joint"] = joints[len(joints) // 2] if joints else EVERY
    return {kind: found[KINDS[kind].place] for kind in kinds}

"""The runs of a cross-check: which simulators, which physics steps, and the runs themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.chaotic import steps_of
from roboaccord.crosscheck.convergence import Floor, Job, measure_floor, run_all
from roboaccord.description.tree import Tree
from roboaccord.engines import engine_names
from roboaccord.numerics.parallel import cores
from roboaccord.run.factory import make_simulator
from roboaccord.scenario.perturbation import Perturbations, of_engine
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

REFERENCE = "reference"
NOISE = ("again", "bit", "nudged")  # runs that show what round-off makes of a motion


@dataclass(frozen=True)
class Engines:
    """Hold the simulators of a check: the reference, and the engines by name."""

    reference: Simulator
    others: Mapping[str, Simulator]

    @property
    def names(self) -> list[str]:
        """Their names, the reference's first."""
        return [REFERENCE, *self.others]

    def order(self, name: str) -> int:
        """Return the order of an integrator."""
        return self.reference.order if name == REFERENCE else self.others[name].order


@dataclass(frozen=True)
class Runs:
    """Hold the runs of a check by job, and the physics steps from the largest to the smallest.

    Args:
        found: by job.
        steps: at which every simulator ran [s].
    """

    found: Mapping[Job, Trajectory]
    steps: Sequence[float]

    def of(self, engine: str) -> dict[float, Trajectory]:
        """Return the runs of one engine by physics step."""
        return {dt: self.found[Job(engine, dt)] for dt in self.steps}

    def shown(self, engine: str) -> Trajectory:
        """Return the run at the scenario's step."""
        return self.found[Job(engine, self.steps[0])]

    @property
    def truth_step(self) -> float:
        """The step of the converged reference [s]."""
        return self.steps[-1] / 2


def make_engines(
    setup: Setup,
    names: Sequence[str],
    perturbations: Perturbations = (),
    refused: Callable[[str, AccordError], None] | None = None,
) -> Engines:
    """Make the reference and the engines named; arguments are those of `run_crosscheck`."""
    check_names(setup)
    reference = make_simulator(setup, REFERENCE)
    others: dict[str, Simulator] = {}
    for name in dict.fromkeys(names):
        if name == REFERENCE:
            continue
        try:
            others[name] = make_simulator(setup, name, perturbations=perturbations)
        except AccordError as error:
            if refused is None or of_engine(perturbations, name):
                raise
            refused(name, error)
    return Engines(reference, others)


def check_names(setup: Setup) -> None:
    """Refuse tolerances and excuses of an engine that there is not, and excuses without a reason.

    Raises:
        AccordError: naming the key.
    """
    spec = setup.scenario.crosscheck
    named: dict[str, Mapping[str, Any]] = {"tolerances.trajectory": spec.tolerances.trajectory}
    named |= {f"excuse.{level}": engines for level, engines in spec.excuse.items()}
    for key, engines in named.items():
        for engine, value in engines.items():
            if engine not in engine_names():
                hint = did_you_mean(engine, engine_names())
                raise AccordError(f"unknown key crosscheck.{key}.{engine}{hint}")
            if isinstance(value, str) and not value.strip():
                raise AccordError(f"crosscheck.{key}.{engine}: an excuse needs a reason")


def run_jobs(
    setup: Setup,
    names: Sequence[str],
    refine: int,
    perturbations: Perturbations,
    started: Callable[[int], None],
    done: Callable[[str, float], None],
) -> Runs:
    """Run every simulator at every physics step, and the reference as the measure of all."""
    scenario, spec = setup.scenario, setup.scenario.crosscheck
    steps = [scenario.physics_step / 2**i for i in range(1 if spec.statistics else refine)]
    # Longest first, so that the processes end together.
    order = [*names[1:], REFERENCE]
    jobs = [Job(e, dt) for dt in sorted(steps) for e in order]
    jobs += [Job(e, steps[0], **{how: True}) for e in order for how in NOISE]
    samples = 0
    if spec.statistics:
        samples = spec.statistics.seeds * len(names) * len(steps_of(setup))
    else:
        truth = steps[-1] / 2
        jobs[:0] = [Job(REFERENCE, truth, fine=True, bit=bit) for bit in (False, True)]
    started(len(jobs) + samples)
    workers = min(cores(), len(jobs))
    found = run_all(
        setup,
        jobs,
        judged_duration(setup),
        perturbations,
        lambda job: done(job.engine, job.dt),
        workers,
    )
    return Runs(found, steps)


def judged_duration(setup: Setup) -> float:
    """Return the judged duration of a run [s], a whole number of control periods."""
    scenario = setup.scenario
    length = min(scenario.crosscheck.duration, scenario.duration)
    return max(1, round(length / scenario.control_period)) * scenario.control_period


def floor_of(tree: Tree, runs: Runs) -> Floor:
    """Return the floor: the effect of the reference's own error and of round-off."""
    step = runs.truth_step
    truth, bit = (runs.found[Job(REFERENCE, step, True, bit)] for bit in (False, True))
    return measure_floor(tree, truth, runs.found[Job(REFERENCE, runs.steps[-1])], bit)

"""Runs of a cross-check: each simulator at each physics step, and runs that show round-off.

A job is one run: an engine, a physics step, and flags, such as a start whose last bit is changed.
Jobs run in other processes, the longest first; `Runs` holds their results. To add a kind of run,
add a flag to `Job`, its name to NOISE_FLAGS and its start to `start_of`. START_CHANGE is stated in
docs/validation.md and docs/ros.md: change all three together. Arguments of `run_job` must be plain
data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from roboaccord.contract import Array, Engine, Json, RobotState, Trajectory
from roboaccord.crosscheck.engines import Engines
from roboaccord.crosscheck.links import coordinates, link_centres
from roboaccord.description.tree import Tree
from roboaccord.engines import REFERENCE
from roboaccord.engines.twin_rounding import ROUNDING
from roboaccord.numerics.machine import cores
from roboaccord.run.energy_book import Losses, LossMeter
from roboaccord.run.loop import make_simulator, simulate
from roboaccord.run.pieces import run_pieces
from roboaccord.scenario import Setup, make_controller, make_scenario

NOISE_FLAGS = ("repeated", "last_bit", "nudged")  # flags of runs that show the effect of round-off
# Change of a start [rad or m]: far above round-off (1e-16), and small in any motion.
START_CHANGE = 1e-9
# Distance of a ratio of times from a whole number that counts as round-off (1e-16 times the ratio).
RATIO_ROUND_OFF = 1e-9


@dataclass(frozen=True)
class Progress:
    """Functions that are called during a check.

    Args:
        started: with the number of jobs.
        done: with engine and physics step of each job that ends.
    """

    started: Callable[[int], None] = lambda jobs: None
    done: Callable[[str, float], None] = lambda engine, dt: None


QUIET = Progress()  # nothing is called


@dataclass(frozen=True)
class Job:
    """Key of a run.

    Args:
        engine: name.
        dt: physics step [s].
        fine: whether a reference whose steps follow from a tolerance has a tighter one.
        last_bit: whether the last bit of one start value is changed, which shows round-off.
        repeated: whether it repeats another run, which shows whether runs are reproducible.
        nudged: whether one start value is changed by START_CHANGE, to show how fast they diverge.
    """

    engine: str
    dt: float
    fine: bool = False
    last_bit: bool = False
    repeated: bool = False
    nudged: bool = False


@dataclass(frozen=True)
class Runs:
    """Runs of a check by job.

    Args:
        by_job: run of each job.
        steps: physics steps of every simulator, from the largest to the smallest [s].
        taken: energy dissipated since the start in the repeated run, by engine and channel.
        _centres: of links, by job, as far as they were computed.
    """

    by_job: Mapping[Job, Trajectory]
    steps: Sequence[float]
    taken: Mapping[str, Losses] = field(default_factory=dict)
    _centres: dict[Job, Array] = field(default_factory=dict, repr=False, compare=False)

    def of(self, engine: str) -> dict[float, Trajectory]:
        """Return the runs of one engine by physics step."""
        return {dt: self.by_job[Job(engine, dt)] for dt in self.steps}

    def shown(self, engine: str, **how: bool) -> Trajectory:
        """Return the run at the scenario's step; with a flag of NOISE_FLAGS, that variant of it."""
        return self.by_job[Job(engine, self.steps[0], **how)]

    def only(self, engine: str) -> Runs:
        """Return the runs of one engine and of the reference."""
        runs = {job: run for job, run in self.by_job.items() if job.engine in (engine, REFERENCE)}
        return Runs(runs, self.steps, self.taken)

    def centres(self, tree: Tree, job: Job) -> Array:
        """Return the links' centres of a run (k, links, 3) [m], computed once."""
        if job not in self._centres:
            self._centres[job] = link_centres(tree, self.by_job[job])
        return self._centres[job]

    def coordinates(self, tree: Tree, job: Job) -> Array:
        """Return the coordinates in which runs are compared (k, c); see links.py."""
        return coordinates(self.by_job[job], self.centres(tree, job))

    @property
    def truth(self) -> Job:
        """Job of the converged reference."""
        return Job(REFERENCE, self.steps[-1] / 2, fine=True)


NO_RUNS = Runs({}, [])


def run_jobs(
    setup: Setup, engines: Engines, refine: int, progress: Progress, done_before: Runs = NO_RUNS
) -> Runs:
    """Run every simulator at every physics step, and the converged reference.

    Args:
        setup, engines: what to run.
        refine: number of physics steps: the scenario's, a half of it, ...
        progress: called as jobs start and end.
        done_before: runs that need not be run again.
    """
    scenario, spec = setup.scenario, setup.scenario.crosscheck
    steps = [scenario.physics_step / 2**i for i in range(refine)]
    # Longest first, so that all processes end at about the same time.
    order = [*engines.others, REFERENCE]
    jobs = [Job(e, dt) for dt in sorted(steps) for e in order]
    jobs += [Job(e, steps[0], **{how: True}) for e in order for how in NOISE_FLAGS]
    samples = 0  # runs over seeds, which samples.py adds
    if spec.statistics:
        samples = spec.statistics.seeds * len(order) * 2  # physics steps
    else:
        # The converged reference, and the same from another start, for its round-off.
        jobs[:0] = [Job(REFERENCE, steps[-1] / 2, fine=True, last_bit=bit) for bit in (False, True)]
    jobs = [job for job in jobs if job not in done_before.by_job]
    progress.started(len(jobs) + samples)
    data = {**scenario.data(), "duration": scenario.judged}
    results = run_pieces(
        run_job,
        ((data, job, engines.source(job.engine)) for job in jobs),
        workers=min(cores(), len(jobs)),
        done=lambda run: progress.done(run[0].engine, run[0].dt),
    )
    runs = {job: run for job, run, _ in results}
    taken = {job.engine: lost for job, _, lost in results if lost}
    return Runs({**done_before.by_job, **runs}, steps, {**done_before.taken, **taken})


def twice_or_half(step: float, period: float) -> float:
    """Return twice a physics step; half of it where twice does not divide the control period."""
    ratio = period / (2 * step)
    return 2 * step if abs(ratio - round(ratio)) < RATIO_ROUND_OFF else step / 2


def run_job(data: Mapping[str, Json], job: Job, engine: Engine) -> tuple[Job, Trajectory, Losses]:
    """Run one job of a scenario, given as plain data.

    The repetition of a run measures the dissipated energy, where the simulator can.

    Returns:
        the job, its run, and the energy by channel.
    """
    setup = Setup.of(make_scenario({**data, "physics_step": job.dt}))
    if job.fine:
        setup = tightened(setup)
    simulator = make_simulator(setup, engine)
    meter = LossMeter(simulator)
    if job.repeated and simulator.channels:
        simulator.meter()
    trajectory = simulate(
        simulator=simulator,
        controller=make_controller(setup),
        initial=start_of(job, setup.initial, simulator.rounding),
        duration=setup.scenario.duration,
        control_period=setup.scenario.control_period,
        seed=setup.scenario.seed,
        observers=[meter] if job.repeated and simulator.channels else (),
    )
    return job, trajectory, meter.taken


def tightened(setup: Setup) -> Setup:
    """Return a setup whose reference has a tighter tolerance, if its steps follow from one.

    In such a reference the tolerance decides the error, and not the physics step.
    """
    tighter = make_simulator(setup).tighter
    if not tighter:
        return setup
    data = setup.scenario.data()
    options = data["engine_options"]
    reference = {**options.get("reference", {}), **tighter}
    return Setup.of(make_scenario({**data, "engine_options": {**options, "reference": reference}}))


def start_of(job: Job, state: RobotState, rounding: float = ROUNDING) -> RobotState:
    """Return the start of a job, in which one value may change by its last bit or START_CHANGE.

    The value is the first joint's angle; without joints, the height of the base. A value below 1 is
    changed by the last bit of 1: a smaller change would vanish as soon as the value has grown.
    """
    if not (job.last_bit or job.nudged):
        return state
    return nudged(state, 0.0 if job.last_bit else START_CHANGE, rounding)


def nudged(state: RobotState, size: float = START_CHANGE, rounding: float = ROUNDING) -> RobotState:
    """Return a state with one value increased.

    Args:
        state: to change; see `start_of` for the value.
        size: of the increase [rad or m]; at least the last bit of the value, or of 1.
        rounding: relative size of the last bit.
    """
    values = np.array(state.q if len(state.q) else state.position)
    index = 0 if len(state.q) else 2
    last_bit = 2.0 ** np.floor(np.log2(max(abs(values[index]), 1.0))) * rounding
    values[index] += max(size, last_bit)
    return replace(state, q=values) if len(state.q) else replace(state, position=values)

"""The runs of a cross-check.

A kind of run may be added: a flag of `Job` its name in NOISE, and its start in `start_of`. NUDGE is
stated in docs/validation.md and docs/ros.md: all three must be changed together. `run_job` runs in
other processes, so its arguments are plain data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from roboaccord.contract.errors import AccordError, check_known, did_you_mean
from roboaccord.contract.interfaces import Engine
from roboaccord.contract.outcome import Code, Reason, because
from roboaccord.contract.profiles import plain
from roboaccord.contract.results import Json
from roboaccord.contract.state import Array, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.links import coordinates, link_centres
from roboaccord.description.tree import Tree
from roboaccord.engines import engine_names, name_of, spec
from roboaccord.engines.base import engine_parts
from roboaccord.engines.spec import EngineSpec, read_settings
from roboaccord.numerics.machine import cores
from roboaccord.run.energy_book import LossMeter, Taken
from roboaccord.run.loop import make_simulator, simulate
from roboaccord.run.pieces import run_pieces
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.scenario import CrosscheckSpec
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

REFERENCE = "reference"
NOISE = ("again", "bit", "nudged")  # runs that show what round-off makes of a motion
NUDGE = 1e-9  # rad or m: far above round-off, and far below what is not linear


@dataclass(frozen=True)
class Progress:
    """What is called as a check goes on: with the number of jobs, and with each that ends."""

    started: Callable[[int], None] = lambda jobs: None
    done: Callable[[str, float], None] = lambda engine, dt: None


QUIET = Progress()


@dataclass(frozen=True)
class Engines:
    """Hold the simulators of a check by name, and the engines that make them.

    Args:
        reference: of the reference.
        others: those of the engines.
        specs: of the engines.
        same: names whose settings are another's here, and which therefore do not take part.
    """

    reference: Simulator
    others: Mapping[str, Simulator]
    specs: Mapping[str, EngineSpec]
    same: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Their names, the reference's first."""
        return [REFERENCE, *self.others]

    @property
    def remarks(self) -> list[Reason]:
        """Who does not take part."""
        return [
            because(Code.SAME_SETTINGS, engine=engine, other=one)
            for engine, one in self.same.items()
        ]

    @property
    def changes(self) -> list[str]:
        """How engines differ from those that are installed."""
        return [change for each in self.specs.values() for change in each.changes]

    def source(self, name: str) -> Engine:
        """Return what makes a simulator."""
        return self.specs.get(name, REFERENCE)

    def version(self, name: str) -> str:
        """Return a simulator's version, with how it differs from the one that is installed."""
        if name == REFERENCE:
            return self.reference.version
        return " ".join([self.described[name], *self.specs[name].changes])

    @property
    def described(self) -> dict[str, str]:
        """Versions of the engines, with the expert settings that each is held to."""
        return {name: self.specs[name].describe(e.version) for name, e in self.others.items()}


@dataclass(frozen=True)
class Job:
    """Specify a run.

    Args:
        engine: name.
        dt: physics step [s].
        fine: whether a reference whose steps follow from a tolerance has a tighter one.
        bit: whether one start value has its last bit changed, to see what round-off makes.
        again: whether it repeats another run, to see whether that can be repeated.
        nudged: whether one start value is changed by NUDGE, to see how fast motions diverge.
    """

    engine: str
    dt: float
    fine: bool = False
    bit: bool = False
    again: bool = False
    nudged: bool = False


@dataclass(frozen=True)
class Runs:
    """Hold the runs of a check by job, and the physics steps from the largest to the smallest.

    Args:
        found: by job.
        steps: at which every simulator ran [s].
        taken: energy that each simulator's repeated run lost since its start, by engine.
    """

    found: Mapping[Job, Trajectory]
    steps: Sequence[float]
    taken: Mapping[str, Taken] = field(default_factory=dict)
    _centres: dict[Job, Array] = field(default_factory=dict, repr=False, compare=False)

    def of(self, engine: str) -> dict[float, Trajectory]:
        """Return the runs of one engine by physics step."""
        return {dt: self.found[Job(engine, dt)] for dt in self.steps}

    def shown(self, engine: str, **how: bool) -> Trajectory:
        """Return the run at the scenario's step, or one of NOISE."""
        return self.found[Job(engine, self.steps[0], **how)]

    def only(self, engine: str) -> Runs:
        """Return the runs of one engine and of the reference."""
        kept = (engine, REFERENCE)
        found = {job: run for job, run in self.found.items() if job.engine in kept}
        return Runs(found, self.steps, self.taken)

    def centres(self, tree: Tree, job: Job) -> Array:
        """Return the links' centres of a run (k, links, 3) [m], computed once."""
        if job not in self._centres:
            self._centres[job] = link_centres(tree, self.found[job])
        return self._centres[job]

    def coordinates(self, tree: Tree, job: Job) -> Array:
        """Return the compared coordinates of a run (k, c)."""
        return coordinates(self.found[job], self.centres(tree, job))

    @property
    def truth(self) -> Job:
        """The run of the converged reference."""
        return Job(REFERENCE, self.steps[-1] / 2, fine=True)


NO_RUNS = Runs({}, [])


def make_engines(
    setup: Setup,
    engines: Sequence[Engine],
    refused: Callable[[str, AccordError], None] | None = None,
) -> Engines:
    """Make the reference and the engines; arguments are those of `run_crosscheck`."""
    reference = make_simulator(setup, REFERENCE)
    others: dict[str, Simulator] = {}
    specs: dict[str, EngineSpec] = {}
    for name, engine in {name_of(e): e for e in engines if e != REFERENCE}.items():
        found = spec(engine)
        try:
            others[name], specs[name] = make_simulator(setup, found), found
        except AccordError as error:
            if refused is None or found.changes:
                raise
            refused(name, error)
    same = {e: found.plain for e, found in specs.items() if is_same(others, specs, found)}
    for name in same:
        del others[name], specs[name]
    return Engines(reference, others, specs, same)


def on_ground_of(setup: Setup, engines: Sequence[Engine]) -> Setup:
    """Return a setup with the law of the ground that an engine has of its own, if one has.

    Raises:
        AccordError: for other engines beside it, which would be held to that law.
    """
    others = [spec(each) for each in engines if each != REFERENCE]
    for engine in others:
        laid = engine.grounded(setup)
        if laid is not setup and len(others) > 1:
            raise AccordError(f"{engine.name} has its own law of ground contact: check it alone")
        setup = laid
    return setup


def is_same(
    others: Mapping[str, Simulator], specs: Mapping[str, EngineSpec], expert: EngineSpec
) -> bool:
    """Return whether an engine that is held to its expert settings has them without that, too."""
    plain = specs.get(expert.plain)
    if plain is None or plain.changes != expert.changes:
        return False

    def settings(engine: EngineSpec) -> list[object]:
        parts = engine_parts(others[engine.name])
        return [read_settings(part.intended.options, plain.name, plain.settings) for part in parts]

    return settings(plain) == settings(expert)


def check_names(spec: CrosscheckSpec, levels: Sequence[str]) -> None:
    """Refuse tolerances and excuses of an engine or level that there is not, and without a reason.

    Raises:
        AccordError: naming the key.
    """
    named = {f"tolerances.trajectory.{engine}": engine for engine in spec.tolerances.trajectory}
    named |= {f"excuse.{level}.{e}": e for level, found in spec.excuse.items() for e in found}
    for key, engine in named.items():
        if plain(engine) not in engine_names():
            hint = did_you_mean(engine, engine_names())
            raise AccordError(f"unknown key crosscheck.{key}{hint}")
    for key, given in (("excuse", spec.excuse), ("tolerances.level", spec.tolerances.level)):
        for level in given:
            check_known(f"unknown key crosscheck.{key}.", level, levels)
    for level, found in spec.excuse.items():
        for engine, reason in found.items():
            if not reason.strip():
                raise AccordError(f"crosscheck.excuse.{level}.{engine}: an excuse needs a reason")


def run_jobs(
    setup: Setup,
    engines: Engines,
    refine: int,
    progress: Progress,
    known: Runs = NO_RUNS,
) -> Runs:
    """Run every simulator at every physics step, and the reference as the measure of all.

    What is known is not run again.
    """
    scenario, spec = setup.scenario, setup.scenario.crosscheck
    steps = [scenario.physics_step / 2**i for i in range(refine)]
    # Longest first, so that the processes end together.
    order = [*engines.others, REFERENCE]
    jobs = [Job(e, dt) for dt in sorted(steps) for e in order]
    jobs += [Job(e, steps[0], **{how: True}) for e in order for how in NOISE]
    samples = 0
    if spec.statistics:
        samples = spec.statistics.seeds * len(order) * 2  # physics steps
    else:
        # The reference by which all are measured, and its own error.
        jobs[:0] = [Job(REFERENCE, steps[-1] / 2, fine=True, bit=bit) for bit in (False, True)]
    jobs = [job for job in jobs if job not in known.found]
    progress.started(len(jobs) + samples)
    data = {**scenario.data(), "duration": scenario.judged}
    found = run_pieces(
        run_job,
        ((data, job, engines.source(job.engine)) for job in jobs),
        workers=min(cores(), len(jobs)),
        done=lambda run: progress.done(run[0].engine, run[0].dt),
    )
    runs = {job: run for job, run, _ in found}
    taken = {job.engine: lost for job, _, lost in found if lost}
    return Runs({**known.found, **runs}, steps, {**known.taken, **taken})


def twice_or_half(step: float, period: float) -> float:
    """Return twice a physics step, or its half where that does not divide the control period."""
    ratio = period / (2 * step)
    return 2 * step if abs(ratio - round(ratio)) < 1e-9 else step / 2


def run_job(data: Mapping[str, Json], job: Job, engine: Engine) -> tuple[Job, Trajectory, Taken]:
    """Run one job of a scenario's plain data, in the engine that it names.

    A run that repeats another measures the energy that is lost, where the simulator can.
    """
    setup = Setup.of(make_scenario({**data, "physics_step": job.dt}))
    if job.fine:
        setup = tightened(setup)
    simulator = make_simulator(setup, engine)
    meter = LossMeter(simulator)
    if job.again and simulator.channels:
        simulator.meter()
    trajectory = simulate(
        simulator=simulator,
        controller=make_controller(setup),
        initial=start_of(job, setup.initial),
        duration=setup.scenario.duration,
        control_period=setup.scenario.control_period,
        seed=setup.scenario.seed,
        observers=[meter] if job.again and simulator.channels else (),
    )
    return job, trajectory, meter.taken


def tightened(setup: Setup) -> Setup:
    """Return a setup whose reference has a tighter tolerance, if it has one at all.

    Where steps follow from a tolerance, that and not the physics step makes the reference's error.
    """
    tighter = make_simulator(setup).tighter
    if not tighter:
        return setup
    data = setup.scenario.data()
    options = data["engine_options"]
    own = {**options.get("reference", {}), **tighter}
    return Setup.of(make_scenario({**data, "engine_options": {**options, "reference": own}}))


def start_of(job: Job, state: RobotState) -> RobotState:
    """Return the start of a job: one value has its last bit changed perhaps, or NUDGE added.

    The first joint's angle; without joints the height of the base. What is below 1 is changed by
    the last bit of 1: less would vanish as soon as the value has grown.
    """
    if not (job.bit or job.nudged):
        return state
    return nudged(state, None if job.bit else NUDGE)


def nudged(state: RobotState, size: float | None = NUDGE) -> RobotState:
    """Return a state of which one value is larger by a size [rad or m], None for its last bit."""
    values = np.array(state.q if len(state.q) else state.position)
    at = 0 if len(state.q) else 2
    values[at] += np.spacing(max(abs(values[at]), 1.0)) if size is None else size
    return replace(state, q=values) if len(state.q) else replace(state, position=values)

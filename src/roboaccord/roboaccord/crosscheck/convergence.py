"""Level 3: whole trajectories at dt, dt/2, dt/4, order of convergence and remainder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from roboaccord.contract.results import Quantity
from roboaccord.contract.state import Array, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.extrapolation import (
    STEPS,
    Remainder,
    observed_order,
    remainder_over_time,
)
from roboaccord.description.tree import Tree
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.run.factory import make_simulator
from roboaccord.run.loop import simulate
from roboaccord.run.pieces import run_pieces
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.perturbation import Perturbations
from roboaccord.scenario.setup import Setup

ROUND_OFF = 1e-12  # of a coordinate, relative to the largest or to 1: sums of a few hundred terms
TIGHTER = 0.1  # times the tolerance of a reference, to see what that leaves
NUDGE = 1e-9  # rad or m: far above round-off, and far below what is not linear
ORDER_FLOOR = 10.0  # floors: an error below is no pure power of the step


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
class Floor:
    """Hold the floor of round-off and reference error (k, c), and as a distance (k,) [m].

    The reference's own error, and what the last bit of one start value makes.
    """

    coordinates: Array
    distance: Array


@dataclass(frozen=True)
class ConvergenceCheck:
    """Hold the largest distance of any link to the reference's, by physics step.

    Args:
        dt: physics steps.
        error: largest distance of the links' centres over the run, one for each dt.
        order: slope of log error over log dt, of errors well above the floor; None where fewer
            than two are left.
        expected_order: of the engine's integrator.
        floor: largest distance that round-off and the reference's own error make.
        left: what is left at a step of 0, of the coordinate that exceeds its bound most.
        bound: of what time stepping and the floor explain of it.
        where: that coordinate.
        since: when it first exceeds its bound, or exceeds it most.
        time: (k,).
        distance: by dt, largest distance of any link at each time (k,).
        range: of the reference's coordinate that changes most [m or rad]; 0 where nothing moves.
    """

    dt: Annotated[list[float], Quantity("s", "physics step")]
    error: Annotated[list[float], Quantity("m", "largest distance of any link over the run")]
    order: Annotated[float | None, Quantity("1", "order of convergence")]
    expected_order: int
    floor: Annotated[float, Quantity("m", "floor of the reference")]
    left: float | None
    bound: float | None
    where: str
    since: Annotated[float | None, Quantity("s", "when it exceeds its bound")]
    time: Annotated[Array, Quantity("s", "time")]
    distance: Annotated[dict[str, Array], Quantity("m", "largest distance of a link")]
    range: float

    @property
    def remainder(self) -> bool | None:
        """True if the remainder at a step of 0 is within its bound; None with too few steps."""
        return None if self.left is None or self.bound is None else self.left <= self.bound


def run_all(
    setup: Setup,
    jobs: Sequence[Job],
    duration: float,
    perturbations: Perturbations,
    done: Callable[[Job], None],
    workers: int,
) -> dict[Job, Trajectory]:
    """Run jobs side by side, the control period kept.

    Args:
        setup: robot and scenario.
        jobs: what to run.
        duration: of every run [s].
        perturbations: deliberate errors of engines.
        done: told of each job as it ends.
        workers: processes.
    """
    data = {**setup.scenario.data(), "duration": duration}
    calls = ((data, job, tuple(perturbations)) for job in jobs)
    return dict(run_pieces(run_job, calls, workers=workers, done=lambda run: done(run[0])))


def run_job(
    data: Mapping[str, Any], job: Job, perturbations: Perturbations
) -> tuple[Job, Trajectory]:
    """Run one job of a scenario's plain data."""
    setup = Setup.of(make_scenario({**data, "physics_step": job.dt}))
    if job.fine:
        setup = tightened(setup)
    trajectory = simulate(
        simulator=make_simulator(setup, job.engine, perturbations=perturbations),
        controller=make_controller(setup),
        initial=start_of(job, setup.initial),
        duration=setup.scenario.duration,
        control_period=setup.scenario.control_period,
        seed=setup.scenario.seed,
    )
    return job, trajectory


def tightened(setup: Setup) -> Setup:
    """Return a setup whose reference has a tighter tolerance, if it has one at all.

    Where steps follow from a tolerance, that and not the physics step makes the reference's error.
    """
    tolerance = getattr(make_simulator(setup), "tolerance", None)
    if tolerance is None:
        return setup
    data = setup.scenario.data()
    options = data["engine_options"]
    own = {**options.get("reference", {}), "tolerance": TIGHTER * tolerance}
    return Setup.of(make_scenario({**data, "engine_options": {**options, "reference": own}}))


def start_of(job: Job, state: RobotState) -> RobotState:
    """Return the start of a job: one value has its last bit changed perhaps, or NUDGE added.

    The first joint's angle; without joints the height of the base. What is below 1 is changed by
    the last bit of 1: less would vanish as soon as the value has grown.
    """
    if not (job.bit or job.nudged):
        return state
    values = np.array(state.q if len(state.q) else state.position)
    at = 0 if len(state.q) else 2
    values[at] += NUDGE if job.nudged else np.spacing(max(abs(values[at]), 1.0))
    return replace(state, q=values) if len(state.q) else replace(state, position=values)


def link_centres(tree: Tree, trajectory: Trajectory) -> Array:
    """Return the centres of mass of the links (k, links, 3) [m]."""
    origins, rotations = tree.forward(
        trajectory.joints, trajectory.q, trajectory.position, trajectory.orientation
    )
    offsets = np.array([link.centre for link in tree.links])
    centres: Array = origins + np.einsum("klij,lj->kli", rotations, offsets)
    return centres


def coordinates(tree: Tree, trajectory: Trajectory) -> Array:
    """Return the compared coordinates (k, c): centres of links, joints, axes of the base."""
    count = len(trajectory)
    axes = quaternion_matrix(trajectory.orientation).reshape(count, 9)
    centres = link_centres(tree, trajectory).reshape(count, -1)
    return np.column_stack([centres, trajectory.q, axes])


def name_coordinate(tree: Tree, joints: Sequence[str], index: int) -> str:
    """Return the name of a column of `coordinates`."""
    names = [f"{axis} of {link.name}" for link in tree.links for axis in "xyz"]
    names += [*joints, *(f"{axis} axis of base_link" for _ in range(3) for axis in "xyz")]
    return names[index]


def measure_floor(tree: Tree, truth: Trajectory, coarse: Trajectory, bit: Trajectory) -> Floor:
    """Return the floor: the effect of the reference's own error and of round-off.

    Args:
        tree: of the description.
        truth: the reference at its smallest step.
        coarse: the reference at twice that.
        bit: the reference at its smallest step, from a start whose last bit is changed.
    """
    exact = coordinates(tree, truth)
    apart = sum(np.abs(coordinates(tree, other) - exact) for other in (coarse, bit))
    scale = ROUND_OFF * np.maximum(np.abs(exact).max(axis=0), 1.0)
    centres = link_centres(tree, truth)
    distance = sum(largest_distance(link_centres(tree, other) - centres) for other in (coarse, bit))
    return Floor(
        np.maximum.accumulate(apart, axis=0) + scale,
        np.maximum.accumulate(distance) + ROUND_OFF,
    )


def check_convergence(
    tree: Tree,
    truth: Trajectory,
    runs: Mapping[float, Trajectory],
    expected_order: int,
    floor: Floor,
) -> ConvergenceCheck:
    """Compare one engine's runs, by physics step, to a converged reference."""
    target, centres = coordinates(tree, truth), link_centres(tree, truth)
    steps = sorted(runs, reverse=True)
    distance = {f"{dt:g}": largest_distance(link_centres(tree, runs[dt]) - centres) for dt in steps}
    error = [float(values.max()) for values in distance.values()]
    largest = float(floor.distance.max())
    left: Remainder | None = None
    if len(steps) >= STEPS:
        apart = [coordinates(tree, runs[dt]) - target for dt in steps[-STEPS:]]
        left = remainder_over_time(apart, expected_order, floor.coordinates)
    return ConvergenceCheck(
        dt=steps,
        error=error,
        order=observed_order(steps, error, ORDER_FLOOR * largest),
        expected_order=expected_order,
        floor=largest,
        left=left.size if left else None,
        bound=left.bound if left else None,
        where=name_coordinate(tree, truth.joints, left.coordinate) if left else "",
        since=float(truth.time[left.sample]) if left else None,
        time=truth.time,
        distance=distance,
        range=float(np.ptp(target, axis=0).max()),
    )


def largest_distance(apart: Array) -> Array:
    """Return the largest length over the links (k,) of differences (k, links, 3)."""
    return np.asarray(np.sqrt((apart**2).sum(axis=2)).max(axis=1))

"""Level 3: whole trajectories at dt, dt/2, dt/4, and the observed order of convergence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from roboaccord.assembly import Setup, make_controller, make_simulator
from roboaccord.description import Tree
from roboaccord.loop import simulate
from roboaccord.scenario import make_scenario
from roboaccord.state import Array
from roboaccord.trajectory import Trajectory

FLOOR = 1e-12  # m: differences below this are round-off


@dataclass(frozen=True)
class ConvergenceCheck:
    """Hold the largest distance of any link to the reference's, by physics step.

    Args:
        dt: physics steps [s].
        error: largest distance of the links' centres over the run [m], one for each dt.
        order: slope of log error over log dt, errors that are round-off left out; None where fewer
            than two are left.
        expected_order: of the engine's integrator.
        time: (k,) [s].
        distance: by dt, largest distance of any link at each time (k,) [m].
    """

    dt: list[float]
    error: list[float]
    order: float | None
    expected_order: int
    time: Array
    distance: dict[str, Array]


def run_all(
    setup: Setup,
    jobs: Sequence[tuple[str, float]],
    duration: float,
    mass_scale: Mapping[str, Mapping[str, float]],
    done: Callable[[str, float], None],
    workers: int,
) -> dict[tuple[str, float], Trajectory]:
    """Run (engine, physics step) jobs side by side, the control period kept.

    Args:
        done: told of each job as it ends.
        workers: processes.
    """
    data = {**setup.scenario.data(), "duration": duration}
    calls = (
        delayed(_run)(data, engine, dt, dict(mass_scale.get(engine, {}))) for engine, dt in jobs
    )
    found = {}
    for engine, dt, trajectory in Parallel(n_jobs=workers, return_as="generator_unordered")(calls):
        found[engine, dt] = trajectory
        done(engine, dt)
    return found


def _run(
    data: Mapping[str, Any], engine: str, dt: float, mass_scale: Mapping[str, float]
) -> tuple[str, float, Trajectory]:
    setup = Setup.of(make_scenario({**data, "physics_step": dt}))
    trajectory = simulate(
        simulator=make_simulator(setup, engine, mass_scale=mass_scale),
        controller=make_controller(setup),
        initial=setup.initial,
        duration=setup.scenario.duration,
        control_period=setup.scenario.control_period,
        seed=setup.scenario.seed,
    )
    return engine, dt, trajectory


def link_centres(tree: Tree, trajectory: Trajectory) -> Array:
    """Return the centres of mass of the links (k, links, 3) [m]."""
    origins, rotations = tree.forward(
        trajectory.joints, trajectory.q, trajectory.position, trajectory.orientation
    )
    offsets = np.array([link.centre for link in tree.links])
    centres: Array = origins + np.einsum("klij,lj->kli", rotations, offsets)
    return centres


def check_convergence(
    tree: Tree, truth: Trajectory, runs: Mapping[float, Trajectory], expected_order: int
) -> ConvergenceCheck:
    """Compare one engine's runs, by physics step, to a converged reference."""
    target = link_centres(tree, truth)
    steps = sorted(runs, reverse=True)
    distance = {}
    for dt in steps:
        gap = link_centres(tree, runs[dt]) - target
        distance[f"{dt:g}"] = np.sqrt((gap**2).sum(axis=2)).max(axis=1)
    error = [float(values.max()) for values in distance.values()]
    told = [(dt, gap) for dt, gap in zip(steps, error, strict=True) if gap > FLOOR]
    order = None
    if len(told) > 1:
        log_dt, log_gap = np.log(told).T
        order = float(np.polyfit(log_dt, log_gap, 1)[0])
    return ConvergenceCheck(steps, error, order, expected_order, truth.time, distance)

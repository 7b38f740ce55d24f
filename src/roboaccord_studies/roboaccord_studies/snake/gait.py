"""Command `accord snake gait`: speed, effort and cost of transport, in the steady state of a gait.

The cost of transport is the work over weight and distance. The gait runs in a full simulation.
Speed and cost of transport are measured over whole cycles (one period of the gait) after the start.
A gait counts as steady when the snake moves equally far in each cycle of the last half of the run.

SETTLING_TIME, MEASURING_TIME and STEADY_TOLERANCE may be tuned. DEFAULT_GAIT stays, for every
optimum is compared with it. The fields of `MeasuredGait` are keys of the JSON output, and stay.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.progress import Progress
from roboaccord.cli import Engine, ProgressObserver, Result, load_setup, progress, rendered, used_by
from roboaccord.contract import Array, Controller, Trajectory, by_option
from roboaccord.contract import results as si
from roboaccord.run import make_simulator, metrics_of, run_setup, versions_of, work_of
from roboaccord.scenario import Setup, load_scenario
from snake.controllers.guidance import TIME_TOLERANCE
from snake.simulators.metrics import body_motion, metrics, start_and_cycle

from roboaccord_studies.snake.ideal import Figures, Gait

# That of the scenario `serpenoid`: amplitude [rad], frequency [Hz], and waves on the body.
DEFAULT_GAIT = Gait(amplitude=0.4, frequency=1.0, waves=1.5)
# s: start of a run, in which the amplitude rises and the speed settles: a wave at 1 Hz does it in
# three periods.
SETTLING_TIME = 3.0
MEASURING_TIME = 4.0  # s: shortest measurement, which takes whole periods: four periods at 1 Hz
# Largest relative difference between the cycles of a steady gait; gaits that are compared differ by
# more.
STEADY_TOLERANCE = 0.01
# Options of this command and of `accord snake optimise`.
JOINTS = typer.Option(help="Number of joints.")
MU_ALONG = typer.Option(help="Friction coefficient along the body.")
MU_ACROSS = typer.Option(help="Friction coefficient across the body.")


def setup_of(gait: Gait, *, joints: int, mu_along: float, mu_across: float) -> Setup:
    """Return the setup of a serpenoid on a ground, with the duration that a measurement takes."""
    friction = f"friction={{law: ellipse, mu_along: {mu_along!r}, mu_across: {mu_across!r}}}"
    # Rounded up to whole milliseconds.
    duration = f"duration={math.ceil(1e3 * sum(window(gait))) / 1e3!r}"
    controller = serpenoid_of(gait.amplitude, gait.frequency, gait.waves)
    changes = [f"parameters.joints={joints}", controller, friction, duration]
    return Setup.of(load_scenario("snake", "snake", "serpenoid", changes))


def serpenoid_of(amplitude: float, frequency: float, waves: float) -> str:
    """Return the change `controller={...}` of a scenario to the serpenoid with given parameters."""
    gait = f"amplitude: {amplitude!r}, frequency: {frequency!r}, waves: {waves!r}"
    return f"controller={{name: serpenoid, {gait}}}"


def window(gait: Gait) -> tuple[float, float]:
    """Return how long to wait and how long to measure, both whole periods [s]."""
    period = 1.0 / abs(gait.frequency)
    return math.ceil(SETTLING_TIME / period) * period, math.ceil(MEASURING_TIME / period) * period


def steady_figures(setup: Setup, trajectory: Trajectory, start: float, length: float) -> Figures:
    """Return the figures of a run over `length` [s] from `start` [s] on.

    The speed is along the mean heading, as in `ideal.Figures`.
    """
    cycles = trajectory.window(start, start + length)
    centre, heading = body_motion(setup, cycles)
    mean = float(heading.mean())
    forward = float((centre[-1] - centre[0]) @ (np.cos(mean), np.sin(mean)))
    elapsed = float(cycles.time[-1] - cycles.time[0])
    return Figures(
        speed=forward / elapsed if elapsed else 0.0,
        peak_effort=float(np.abs(cycles.effort[1:]).max()),
        cost_of_transport=_cost_of_transport(setup, cycles, forward),
    )


def travel_of_cycles(setup: Setup, time: Array, centre: Array, heading: Array) -> Array:
    """Return how far the robot moved forward in each whole cycle after the start (k,) [m].

    That is the displacement of the centre of mass in the cycle along the mean heading in this
    cycle, so a robot that turns is measured along its curve.
    """
    ends = _ends_of_cycles(setup, time)
    travel = np.empty(len(ends) - 1)
    for i, (first, last) in enumerate(pairwise(ends)):
        mean = heading[first : last + 1].mean()
        travel[i] = (centre[last] - centre[first]) @ (np.cos(mean), np.sin(mean))
    return travel


def _ends_of_cycles(setup: Setup, time: Array) -> NDArray[np.intp]:
    """Return indices of the samples at which whole cycles after the start begin or end (k + 1,)."""
    start, cycle = start_and_cycle(setup)
    count = max(int((time[-1] - start + TIME_TOLERANCE) / cycle), 0)
    return np.searchsorted(time, start + cycle * np.arange(count + 1) - TIME_TOLERANCE)


def last_cycles(travel: Array) -> Array:
    """Return the travel of the last half of all cycles, and of at least two if there are two."""
    count = max(2, (len(travel) + 1) // 2)
    return travel[-count:]


def speed_and_cost_of_last(setup: Setup, trajectory: Trajectory) -> tuple[float, float, Array]:
    """Return the speed [m/s] and cost of transport of the last cycles, and the travel of all [m].

    If the run has no whole cycle, speed and cost are those of the whole run.
    """
    centre, heading = body_motion(setup, trajectory)
    travel = travel_of_cycles(setup, trajectory.time, centre, heading)
    if not len(travel):
        of_run = metrics(setup, trajectory)
        return of_run["speed"], of_run["cost_of_transport"], travel
    travel_of_last = last_cycles(travel)
    forward = float(travel_of_last.sum())
    ends = _ends_of_cycles(setup, trajectory.time)
    first, last = ends[-1 - len(travel_of_last)], ends[-1]
    start, end = float(trajectory.time[first]), float(trajectory.time[last])
    cost = _cost_of_transport(setup, trajectory.window(start, end), forward)
    return forward / (end - start), cost, travel


def _cost_of_transport(setup: Setup, motion: Trajectory, forward: float) -> float:
    """Return the work of a motion over weight and distance, which is `forward` [m]."""
    weight = setup.parameters.mass * setup.parameters.gravity
    return work_of(motion) / (weight * abs(forward)) if forward else math.inf


def is_steady(travel: Array) -> bool:
    """Return whether a gait has settled: its last cycles all have the same speed within 1 %.

    A settled gait is a limit cycle but for its displacement, so every cycle has the same travel. A
    run with less than two whole cycles after its start cannot show that.

    Args:
        travel: of each cycle (k,) [m], as `travel_of_cycles` gives it.
    """
    last = last_cycles(travel)
    return len(last) > 1 and bool(np.ptp(last) <= STEADY_TOLERANCE * np.abs(last).max())


class GaitName(StrEnum):
    """The gaits by name: the serpenoid, and the post's as its author coded and described it."""

    serpenoid = "serpenoid"
    as_coded = "as_coded"
    as_described = "as_described"


# Amplitude, frequency and waves are accepted with the serpenoid alone.
@by_option(
    "gait serpenoid", "amplitude frequency waves", "", "joints mu-along mu-across engine duration"
)
def gait_command(
    gait: Annotated[GaitName, typer.Option(help="Name of the gait.")] = GaitName.serpenoid,
    joints: Annotated[int, JOINTS] = 21,
    amplitude: Annotated[si.Radians, typer.Option(help="Amplitude of every joint.")] = 0.4,
    frequency: Annotated[si.Hertz, typer.Option(help="Frequency of the wave.")] = 1.0,
    waves: Annotated[si.Ratio, typer.Option(help="Number of waves on the body.")] = 1.5,
    mu_along: Annotated[si.Ratio, MU_ALONG] = 0.1,
    mu_across: Annotated[si.Ratio, MU_ACROSS] = 1.0,
    engine: Engine = "reference",
    duration: Annotated[si.Seconds, typer.Option(help="Duration of the run.")] = 10.0,
) -> Result:
    """Measure a gait: speed, effort and cost of transport.

    Amplitude, frequency and waves are the serpenoid's. Speed and cost of transport are of the last
    half of all cycles, at least two, without the start; the other figures are of the whole run. A
    gait is steady when these cycles all have the same speed within 1 %; until then speed and cost
    depend on the duration. The motion of as_coded and as_described is sensitive: compare figures
    over seeds, with accord sweep, and not single runs.

    Examples:

      accord snake gait

      accord snake gait --gait as_coded

      accord snake gait --joints 20 --mu-along 0.5 --engine dart --json
    """
    controller = f"controller={{name: {gait.value}}}"
    if gait is GaitName.serpenoid:
        controller = serpenoid_of(amplitude, frequency, waves)
    changes = [f"parameters.joints={joints}", controller, f"duration={duration!r}"]
    changes += [f"friction.mu_along={mu_along!r}", f"friction.mu_across={mu_across!r}"]
    setup = load_setup("snake", "serpenoid", changes)
    measured, remarks = gait_figures(setup, engine)
    used = used_by(setup, "control_period", "physics_step", "seed")
    return Result(measured, [*rendered(measured), *remarks], used=used)


@dataclass(frozen=True, kw_only=True)
class MeasuredGait:
    """The figures of a gait, with the unit of each and the versions of the software."""

    speed: si.MetresPerSecond
    displacement: Annotated[list[float], si.Quantity("m")]
    peak_effort: si.NewtonMetres
    work: Annotated[float, si.Quantity("J")]
    cost_of_transport: si.Ratio
    steady: bool
    engine: str
    units: Mapping[str, str]
    versions: Mapping[str, str]


def gait_figures(setup: Setup, engine: str) -> tuple[MeasuredGait, list[str]]:
    """Run a setup; return its figures, and a remark on whether the gait is steady."""
    with progress() as bar:
        trajectory = run_shown(setup, engine, bar)
    figures = metrics_of(setup, trajectory)
    speed, cost, travel = speed_and_cost_of_last(setup, trajectory)
    quantities = si.quantities(MeasuredGait)
    measured = MeasuredGait(
        speed=speed,
        displacement=[figures["displacement_x"], figures["displacement_y"]],
        peak_effort=figures["peak_effort"],
        work=figures["work"],
        cost_of_transport=cost,
        steady=is_steady(travel),
        engine=engine,
        units={name: quantity.unit for name, quantity in quantities.items()},
        versions=versions_of(setup, [make_simulator(setup, engine)]),
    )
    if len(travel) < 2:
        return measured, ["not yet steady: the run has less than two whole cycles after its start"]
    cycles = f"the last {len(last_cycles(travel))} cycles, of which speed and cost of transport are"
    steady, bound = ("steady", "at most") if measured.steady else ("not yet steady", "more than")
    return measured, [f"{steady}: {cycles}, differ by {bound} {100 * STEADY_TOLERANCE:g} %"]


def run_shown(
    setup: Setup, engine: str, bar: Progress, label: str = "", controller: Controller | None = None
) -> Trajectory:
    """Run a setup in an engine, and show on a bar how much of it is done."""
    watch = ProgressObserver(bar, label or engine, setup.scenario.duration)
    return run_setup(setup, make_simulator(setup, engine), (watch,), controller)

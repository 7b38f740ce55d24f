"""Command `accord snake figures`: pictures of steering, gait costs and a change of ground.

They are the pictures of docs/snake.md and docs/snake_optimise.md, which `make images` redraws.
Steering and the change of ground are runs of the reference simulator; the costs of gaits come from
the model of ideal.py, in which the joints follow the gait exactly.

Colours, SMOOTHING_TIME and SHOWN_TIME may be changed. GROUND, EFFORT, WAVES, AMPLITUDES and
FREQUENCIES stay, for the pages state them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from roboaccord.cli import Force, Out, Result, counted, file_line, results
from roboaccord.contract import Array, Observer, RobotState, Trajectory
from roboaccord.description import load_parameters
from roboaccord.report import BLUE, GREEN, INK, RED, SOFT, label_dots, picture
from roboaccord.run import make_simulator, run_setup
from roboaccord.scenario import Setup, load_scenario, make_controller
from snake.model.coordinates import PlanarSnake
from snake.model.ground import friction_of
from snake.model.parameters import SnakeParameters
from snake.simulators.metrics import body_motion
from snake.simulators.steering_figures import BAND, MeanHeading
from snake.source.shapes import write_picture

from roboaccord_studies.snake.adaptive import AdaptiveController
from roboaccord_studies.snake.compass import Task, bounds_of
from roboaccord_studies.snake.gait import DEFAULT_GAIT, serpenoid_of, setup_of
from roboaccord_studies.snake.ideal import Gait, IdealModel
from roboaccord_studies.snake.optimise import gait_of, optimise

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GROUND = {"mu_along": 0.1, "mu_across": 1.0}  # friction coefficients, the defaults of scenarios
# N m: largest effort of a joint in the searches, that of docs/snake_optimise.md: twice the 1.5 N m
# of the default gait. It limits the fastest gait.
EFFORT = 3.0
# rad: one curve of costs each, with its colour, doubled from one to the next.
AMPLITUDES = {0.1: BLUE, 0.2: RED, 0.4: GREEN}
# Hz: points of these curves, about evenly in logarithms.
FREQUENCIES = (0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0)
COSTS = (0.1, 0.2, 0.5, 1.0, 2.0)  # ticks of the axis of costs, 1, 2 and 5 a decade
# Number of waves of the gaits of these curves: about that of the optima of docs/snake_optimise.md.
WAVES = 1.7
# s: time over which a speed is averaged: half a period at 1 Hz, after which the speed of a wave
# that is the same on both sides repeats
SMOOTHING_TIME = 0.5
# s: duration of the run over the change of ground, the scenario's change and what follows.
SHOWN_TIME = 11.0


class Watch(Observer):
    """Record the friction that an adaptive controller estimates.

    Attributes:
        rows: time [s], mu_along and mu_across of each state of the run.
    """

    def __init__(self, controller: AdaptiveController) -> None:
        self._controller = controller
        self.rows = list[tuple[float, float, float]]()

    def on_state(self, state: RobotState) -> None:
        """Record the estimate at a state."""
        along, across = self._controller.estimate
        self.rows.append((state.time, float(along), float(across)))


def write_steering(folder: Path, changes: Sequence[str] = ()) -> Path:
    """Write the picture of a quarter turn and of a course by waypoints, run by the reference."""
    from matplotlib.patches import Circle

    path = folder / "steer.svg"
    setup, turn = _ran("steer", ("duration=14", *changes))
    course, slalom = _ran("waypoints", changes)
    spec = course.scenario.controller
    with picture(path, (7.5, 6.4), "ab;cc") as axes:
        _draw_path(axes["a"], setup, turn, (0.0, 2.0, 4.0, 6.0, 8.5))
        axes["a"].set(title="a quarter turn, from above")
        _draw_heading(axes["b"], setup, turn)
        for point in spec["waypoints"]:
            circle = Circle(point, spec["acceptance"], facecolor="#d8efec", edgecolor=GREEN)
            axes["c"].add_patch(circle)
        _draw_path(axes["c"], course, slalom, (0.0, 7.0, 20.0))
        axes["c"].set(title="waypoints, and how near counts as reached")
    return path


def optima() -> dict[str, Gait]:
    """Return the fastest gait within `EFFORT`, and the cheapest with half the default's speed."""
    model = _model()
    least = 0.5 * abs(model.evaluate(DEFAULT_GAIT).speed)
    speed = Task(objective="speed", max_effort=EFFORT)
    cost = Task(objective="cost", max_effort=EFFORT, min_speed=least)
    return {"fastest": optimise(model, speed).gait, "cheapest": optimise(model, cost).gait}


def write_costs(folder: Path, best: Mapping[str, Gait] | None = None, count: int = 350) -> Path:
    """Write the picture of the cost of transport: over the frequency, and of random gaits.

    Args:
        folder: for the file.
        best: gaits to mark, by name; None searches them (`optima`).
        count: number of random gaits.
    """
    model, path = _model(), folder / "optimise_cost.svg"
    low, high = np.array(bounds_of(model.parameters, Task(objective="speed", max_effort=EFFORT))).T
    draws = np.random.default_rng(0).uniform(low, high, (count, len(low)))
    drawn = [model.evaluate(gait_of(draw)) for draw in draws]
    within = [f for f in drawn if f.peak_effort <= EFFORT and f.speed > 0.0]
    with picture(path, (7.5, 3.8), ncols=2, sharey=True) as (cost_axes, speed_axes):
        for amplitude, colour in AMPLITUDES.items():
            gaits = (Gait(amplitude, frequency, WAVES) for frequency in FREQUENCIES)
            costs = [model.evaluate(gait).cost_of_transport for gait in gaits]
            cost_axes.plot(FREQUENCIES, costs, "o-", color=colour, label=f"A = {amplitude:g} rad")
        cost_axes.set(xlabel="frequency [Hz]", ylabel="work / (m g distance)")
        cost_axes.set(title=f"{WAVES:g} waves", xscale="log", yscale="log")
        cost_axes.set_xticks(FREQUENCIES[::2], [f"{f:g}" for f in FREQUENCIES[::2]])
        cost_axes.set_yticks(COSTS, [f"{cost:g}" for cost in COSTS])
        cost_axes.minorticks_off()
        points = np.array([(f.speed, f.cost_of_transport) for f in within]).reshape(-1, 2)
        speed_axes.plot(*points.T, ".", color=SOFT, alpha=0.6, ms=5.0)
        shown = {"default": DEFAULT_GAIT, **(best or optima())}
        for (name, gait), colour in zip(shown.items(), (RED, BLUE, GREEN), strict=False):
            figures = model.evaluate(gait)
            x, y = figures.speed, figures.cost_of_transport
            speed_axes.plot(x, y, "o", color=colour, mec=INK, ms=8.0, label=name)
        speed_axes.set(xlabel="speed [m/s]", title=f"gaits within {EFFORT:g} N m")
        for axes in (cost_axes, speed_axes):
            axes.legend(loc="upper left")
    return path


def write_change_of_ground(folder: Path, changes: Sequence[str] = ()) -> Path:
    """Write the picture of a change of ground: speed and friction that the controller estimates."""
    path = folder / "change_of_ground.svg"
    setup = _setup("change_of_ground", (f"duration={SHOWN_TIME!r}", *changes))
    controller = make_controller(setup)
    assert isinstance(controller, AdaptiveController)
    watch = Watch(controller)
    adaptive = run_setup(setup, make_simulator(setup), (watch,), controller)
    spec = setup.scenario.controller
    kept = serpenoid_of(spec["amplitude"], spec["frequency"], spec["waves"])
    _, stayed = _ran("change_of_ground", (f"duration={SHOWN_TIME!r}", kept, *changes))
    findings = {finding.kind: finding.time for finding in controller.findings}
    time, mu_along, mu_across = np.array(watch.rows).T
    with picture(path, (7.5, 5.2), nrows=2, sharex=True) as (above, below):
        for run, words, colour in ((adaptive, "adaptive", BLUE), (stayed, "gait kept", RED)):
            above.plot(*_speed(setup, run), color=colour, label=words)
        below.plot(time, mu_along, color=GREEN, label="mu_along")
        below.plot(time, mu_across, color=SOFT, label="mu_across")
        for axes in (above, below):
            axes.legend(loc="upper right" if axes is above else "center right")
            for when in findings.values():
                axes.axvline(when, color=INK, ls="--", lw=0.8)
        above.set(ylabel=f"speed, mean over {SMOOTHING_TIME:g} s [m/s]")
        below.set(ylabel="estimated friction", xlabel="time [s]")
        above.secondary_xaxis("top").set_xticks(list(findings.values()), list(findings))
    return path


def _setup(scenario: str, changes: Sequence[str]) -> Setup:
    """Return the setup of a scenario of the snake, with changes KEY=VALUE."""
    return Setup.of(load_scenario("snake", "snake", scenario, changes))


def _ran(scenario: str, changes: Sequence[str]) -> tuple[Setup, Trajectory]:
    """Run a scenario in the reference simulator, and return its setup and motion."""
    setup = _setup(scenario, changes)
    return setup, run_setup(setup, make_simulator(setup))


def _model() -> IdealModel:
    """Return the model of a snake of 21 joints on GROUND."""
    setup = setup_of(DEFAULT_GAIT, joints=21, **GROUND)
    return IdealModel(setup.parameters, *friction_of(setup))


def _speed(setup: Setup, trajectory: Trajectory) -> tuple[Array, Array]:
    """Return times [s], and speeds of the centre of mass averaged over `SMOOTHING_TIME` [m/s]."""
    ticks = round(SMOOTHING_TIME / setup.scenario.control_period)
    centre, _ = body_motion(setup, trajectory)
    speed = np.linalg.norm(centre[ticks:] - centre[:-ticks], axis=1) / SMOOTHING_TIME
    return trajectory.time[ticks:] - 0.5 * SMOOTHING_TIME, speed


def _draw_path(axes: Axes, setup: Setup, trajectory: Trajectory, times: Sequence[float]) -> None:
    """Draw the path of the centre of mass from above, and the body at some times [s]."""
    centre, _ = body_motion(setup, trajectory)
    # Every twentieth sample is dense enough for a smooth line.
    axes.plot(*centre[trajectory.time <= times[-1]][::20].T, color=RED, lw=1.0)
    heads = []
    bodies = PlanarSnake(setup.parameters).link_centres(trajectory)  # (k, N, 2) [m]
    times = [time for time in times if time <= trajectory.time[-1] + 1e-9]
    for time in times:
        body = bodies[int(np.abs(trajectory.time - time).argmin())]
        axes.plot(*body.T, color=BLUE, lw=3.5, alpha=0.8)
        axes.plot(*body[-1], "o", color=INK, ms=6.0)
        heads.append((float(body[-1, 0]), float(body[-1, 1])))
    axes.set(xlabel="x [m]", ylabel="y [m]")
    axes.set_aspect("equal", adjustable="datalim")
    label_dots(axes, heads, [f"{time:g} s" for time in times])


def _draw_heading(axes: Axes, setup: Setup, trajectory: Trajectory) -> None:
    """Draw the mean heading of the links, its mean over a period, and the wanted heading."""
    spec, time = setup.scenario.controller, trajectory.time
    _, heading = body_motion(setup, trajectory)
    goal = np.where(time < spec["turn_time"], 0.0, spec["heading"])
    mean_heading = MeanHeading(setup).at_samples(trajectory)
    axes.plot(time, np.degrees(heading), color=BLUE, lw=0.6, alpha=0.7, label="of the links")
    axes.plot(time, np.degrees(mean_heading), color=RED, lw=2.0, label="mean of a period")
    axes.plot(time, np.degrees(goal), color=GREEN, ls="--", lw=1.2, label="wanted")
    top = np.degrees(spec["heading"])
    axes.axhspan(top - np.degrees(BAND), top + np.degrees(BAND), color=GREEN, alpha=0.15, lw=0.0)
    axes.set(xlabel="time [s]", ylabel="heading [degrees]")
    axes.set(title="heading", yticks=range(0, 91, 30))
    axes.legend(loc="lower right")


def figures_command(folder: Out = None, force: Force = False) -> Result:
    """Draw the pictures of the snake's pages: shapes, steering, costs and a change of ground.

    All runs are the reference's; the costs search for two gaits, which takes most of the time.

    Example:

      accord snake figures --out snake_figures
    """
    with results(folder, "snake_figures", force=force) as out_folder, counted(3, "drawing") as done:
        files = [out_folder / "shapes.svg"]
        write_picture(load_parameters(SnakeParameters, "snake", {}), files[0])
        for draw in (write_steering, write_change_of_ground, write_costs):
            files.append(draw(out_folder))
            done(1)
    return Result({"files": [str(file) for file in files]}, [file_line(files)])

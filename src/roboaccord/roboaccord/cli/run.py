"""`accord run`: run one scenario in one engine over one transport, and record it in one bag.

A scenario is a complete experiment with one robot: its initial state, controller, duration and so
on. An engine is what simulates it, and a bag the file in which its motion is recorded. A transport
is the way in which controller and simulator exchange messages: `direct` within this process, `ros`
by nodes in it, `ros_processes` by nodes in several.

`run_command` reads the options, loads robot and scenario, chooses the transport, calls `run` of
door/runs.py and prints its figures (`shown_of`), which run/metrics.py computes. With `--view` a
display, a page in the browser, follows the run; `RunDisplay` is its interface, and packages add
displays by entry points.

A new option is also added to RUN (door/runs.py), or to `ViewOptions` if it changes no figure. Names
of options stay.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Protocol

import typer

from roboaccord.cli import options
from roboaccord.cli.console import ProgressObserver, figure_lines, log, note, progress
from roboaccord.cli.folder import results
from roboaccord.cli.interrupts import until_interrupted
from roboaccord.cli.result import Result, used_by
from roboaccord.contract import AccordError, Observer, Seconds, Trajectory, plugins
from roboaccord.door.runs import RUN, run
from roboaccord.engines import check_engine
from roboaccord.run import NO_INPUTS, UNITS, Figures, RecordedInputs
from roboaccord.run.runner import Run, find_runner
from roboaccord.scenario import TIMEOUT, Setup, check_controller, is_file
from roboaccord.simulators.base import Simulator

IN_PROCESS = ("direct", "ros")  # transports that run in this process: a display can follow them
STILL = 1e-9  # rad or m: a robot that moves less is at rest
DISPLAY = "browser"  # entry point of `roboaccord.displays`, called with a setup and a speed


class RunDisplay(Observer, Protocol):
    """A page that shows a run while it goes, on which the user can push the robot (`--view`)."""

    @property
    def url(self) -> str:
        """Address of the page."""

    def wrap(self, simulator: Simulator) -> Simulator:
        """Return the simulator with the user's pushes added to it."""

    def replay(self, trajectory: Trajectory, seconds: float) -> object:
        """Show the run when it is over, for `seconds` of wall time."""

    def close(self) -> None:
        """Close the page."""


_timeout = typer.Option(metavar="S", help="Longest wait for the controller; inf: no limit.")
_view = typer.Option("--view", help="Watch it in the browser, at --speed, and push the robot.")


@dataclass(frozen=True)
class ViewOptions:
    """Options of a run that change no figure: the longest wait, and how to watch the run.

    Args:
        timeout: longest wait for the controller [s of wall time].
        view: whether a display shows the run.
        speed: simulated time over wall time on the display.
        stay: how long the display stays after the run [s].
    """

    timeout: Annotated[Seconds, _timeout] = TIMEOUT
    view: Annotated[bool, _view] = False
    speed: options.Speed = 1.0
    stay: options.Stay = math.inf


NO_VIEW = ViewOptions()


_transport = typer.Option(
    metavar="NAME",
    help="direct, ros (nodes in one process) or ros_processes. "
    "Default: ros where rclpy is installed, else direct. ROS stays on this machine unless "
    "ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET is set; only then does ROS_DOMAIN_ID apply.",
)
TransportName = Annotated[str, _transport]
_controller = typer.Option(metavar="MODULE:CLASS", help="Class of your own controller.")
ControllerName = Annotated[str, _controller]
_inputs = typer.Option(metavar="RUN", help="Repeat what people did in a driven run.")
RecordedRun = Annotated[Path | None, _inputs]


@RUN
def run_command(
    robot: options.RobotName,
    words: options.ScenarioIfAny = None,
    engine: options.Engine = "reference",
    transport: TransportName = "",
    changes: options.Changes = None,
    faults: options.Faults = None,
    base: options.Base = "",
    packages: options.Packages = None,
    controller: ControllerName = "",
    inputs: RecordedRun = None,
    watch: ViewOptions = NO_VIEW,
    folder: options.Out = None,
    force: options.Force = False,
) -> Result:
    """Run a scenario, and record it.

    For a robot's FILE the scenario may be omitted: the robot is then released at rest. Its
    controllers are none, pd, sine and random, and those that packages add, such as follow; those
    of a robot are in its scenarios.

    Examples:

      accord run snake serpenoid

      accord run snake serpenoid --engine dart --set controller.amplitude=0.3 --set duration=5

      accord run snake serpenoid --controller my_package.my_module:MyController --json

      accord run arm.urdf --engine mujoco --base free --set controller.name=random

      accord run ur.urdf.xacro ur_type:=ur5e --set controller.name=follow \
--set controller.file=path.csv

      accord run snake serpenoid --view --speed 0.5

      accord run snake teleop --inputs runs/snake_teleop_reference/bag
    """
    scenario, arguments = options.one_scenario(words)
    if not watch.timeout > 0.0:
        raise AccordError(f"--timeout must be more than 0 s, not {watch.timeout:g}")
    check_engine(engine)
    recorded = RecordedInputs(inputs) if inputs else None
    if recorded:  # the length of the recorded run, unless --set changes it
        changes = [f"duration={recorded.duration!r}", *(changes or [])]
        faults = faults or list(recorded.fault_texts)
    setup = options.load_setup(
        robot, scenario, changes, faults, base, packages, arguments=arguments
    )
    transport = choose_transport(setup, controller, transport, view=watch.view)
    default = f"{setup.robot.name}_{setup.scenario.name}_{engine}"
    # Run, with a progress bar and perhaps a display.
    with ExitStack() as closing:
        out = closing.enter_context(results(folder, default, force=force))
        bar = closing.enter_context(progress())
        label = f"{engine} over {transport}"
        observers: list[Observer] = [ProgressObserver(bar, label, setup.scenario.duration)]
        display = closing.enter_context(open_display(setup, watch.speed)) if watch.view else None
        if display:
            observers.append(display)
        result = run(
            setup,
            engine=engine,
            controller=controller,
            inputs=recorded or NO_INPUTS,
            transport=transport,
            timeout=watch.timeout,
            tell=note,
            out=out,
            observers=observers,
            wrap=display.wrap if display else lambda simulator: simulator,
        )
    used = used_by(setup) | {"transport": transport}
    if controller:
        used["controller"] = controller
    printed = Result(result, shown_of(result), used=used)
    if display is None:
        return printed
    return replace(printed, after=partial(stay_open, display, result.trajectory, watch.stay))


def choose_transport(setup: Setup, controller: str, transport: str, *, view: bool) -> str:
    """Return the transport of a run, and refuse a run that is impossible before it starts.

    Where no transport is named, it is `ros` if that is available, and otherwise `direct`.

    Raises:
        AccordError: for an unknown controller or transport, or a run that cannot be watched.
    """
    if not controller:
        check_controller(setup)
    try:
        find_runner(transport or "ros")
    except AccordError as error:
        if transport:
            raise
        note(f"transport direct: {error}")
        transport = "direct"
    Figures(setup)  # refuses a duration that is not a whole number of control periods
    transport = transport or "ros"
    if view and transport not in IN_PROCESS:
        raise AccordError(f"--view cannot watch transport {transport}: use direct or ros")
    if view:
        plugins.load("displays", DISPLAY, "run --view")  # refuses --view without a display
    return transport


@contextmanager
def open_display(setup: Setup, speed: float) -> Iterator[RunDisplay]:
    """Open a display and yield it; it is closed if the block fails, and otherwise stays open."""
    display: RunDisplay = plugins.load("displays", DISPLAY, "run --view")(setup, speed)
    log.print(f"watch at {display.url}")
    try:
        yield display
    except BaseException:
        display.close()
        raise


def stay_open(display: RunDisplay, trajectory: Trajectory, stay: float) -> None:
    """Replay a run on its page, for `stay` seconds or until interrupted."""
    until = "Ctrl-C" if math.isinf(stay) else f"{stay:g} s have passed"
    log.print(f"the page at {display.url} stays until {until}")
    with until_interrupted():
        display.replay(trajectory, stay)
    display.close()


def moved(setup: Setup, trajectory: Trajectory) -> str:
    """Return whether a robot moved, and how far: that of its joints, or the base, which did most.

    A motion below STILL is that of a robot at rest, by round-off.
    """
    largest = abs(trajectory.q - trajectory.q[0]).max(axis=0)
    travels = dict(zip(setup.joints, largest, strict=True))
    travels["the base"] = abs(trajectory.position - trajectory.position[0]).max()
    name = max(travels, key=lambda name: travels[name])
    if travels[name] < STILL:
        return "no; --set controller.name=sine drives the joints"
    return f"{name} by up to {travels[name]:.3g} {'rad' if name in setup.tree.hinges else 'm'}"


def shown_of(result: Run) -> list[str]:
    """Return the printed lines of a run: what ran, how fast, its figures, hash and bag."""
    setup, motion = result.request.setup, result.motion
    subject = f"{setup.robot.name} {setup.scenario.name} in {result.request.engine}"
    rows = {
        "ran": (f"{subject} over {result.transport}", ""),
        "simulated": (f"{result.duration:g} s in {motion.states - 1} control ticks", ""),
        "wall time": (f"{result.wall_time:.2f} s, {result.speed:.1f} x real time", ""),
    }
    for name, value in motion.figures().items():
        figure = ("–", "") if math.isnan(value) else (f"{value:.4g}", UNITS.get(name, ""))
        rows[name.replace("_", " ")] = figure
    if is_file(setup.robot.key):
        rows["moved"] = (moved(setup, result.trajectory), "")
    if motion.events:
        rows["events"] = (str(len(motion.events)), "")
    rows["sha256"] = (motion.sha256[:16], "")
    rows["bag"] = (str(result.request.bag), "")
    return figure_lines(rows)

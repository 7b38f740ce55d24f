"""`accord teleop`: drive a robot by the keys of a terminal, in this process or over ROS.

In this process, the keyboard (keys.py, terminal.py) is the input of a simulated run that `RealTime`
paces by the wall clock. With `--ros` the robot runs in other processes: `drive_over_ros` sends
targets (velocities or efforts that the driver asks for) to it at MESSAGE_RATE and receives its
state, over a `RosLink`. That is an interface here; the package roboaccord_ros implements it and
provides it by the entry point `ros` of the group `roboaccord.teleop`. What the driver sees
meanwhile is in dashboard.py; what keys do is changed in config/teleop/keyboard.yaml.
"""

from __future__ import annotations

import math
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Protocol

import typer

from roboaccord.cli.console import note
from roboaccord.cli.dashboard import Dashboard, screen_shown
from roboaccord.cli.folder import results
from roboaccord.cli.keys import Keyboard, read_key_map
from roboaccord.cli.options import Changes, Engine, Faults, Force, Out, RobotName, load_setup
from roboaccord.cli.result import Result, used_by
from roboaccord.cli.run import shown_of
from roboaccord.cli.terminal import terminal_keys
from roboaccord.contract import AccordError, Fault, Observer, RobotState, Target, by_option, plugins
from roboaccord.contract.results import Json, Seconds
from roboaccord.engines import check_engine
from roboaccord.run import Pace, RunRequest, run_direct
from roboaccord.run.output import fresh
from roboaccord.run.ros_limits import check_room_for_ros
from roboaccord.scenario import Setup, check_controller
from roboaccord.simulators.base import Simulator

# s: default duration. The motion is kept in memory: 0.9 GB of the snake's at 1 kHz.
DEFAULT_DURATION = 600.0
# Hz: rate of messages over ROS: ten within the 0.5 s after which the target of a key lapses.
MESSAGE_RATE = 20.0


class RosLink(Protocol):
    """Connection to a robot that runs elsewhere."""

    def drive(self, target: Target | None, switches: dict[str, bool], seconds: float) -> RobotState:
        """Send a target and switches, wait for `seconds`, and return the last state received."""

    def fail(self, fault: Fault) -> None:
        """Cause a fault of a joint."""

    def engine(self) -> str:
        """Return the simulator of the robot, or "" while that is unknown."""


DrivenScenario = Annotated[str, typer.Option(metavar="NAME", help="Scenario to drive.")]
Duration = Annotated[Seconds, typer.Option(metavar="S", min=0.0, help="Duration of the drive.")]
KeyMapFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Key map, in YAML.")]
_over_ros = typer.Option("--ros", help="Drive a robot that `ros2 launch` started, over its topics.")
OverRos = Annotated[bool, _over_ros]
Namespace = Annotated[str, typer.Option(metavar="NAME", help="Namespace of the launch (--ros).")]


@by_option("ros", "namespace", "engine fault out force", "scenario set duration keys trust")
def teleop_command(
    robot: RobotName,
    engine: Engine = "reference",
    scenario: DrivenScenario = "teleop",
    changes: Changes = None,
    faults: Faults = None,
    duration: Duration = DEFAULT_DURATION,
    keys: KeyMapFile = None,
    ros: OverRos = False,
    namespace: Namespace = "",
    folder: Out = None,
    force: Force = False,
) -> Result:
    """Drive a robot by keys, in real time, and record it.

    A held key commands a velocity or an effort; after 0.5 s without a key the robot stops. The keys
    are printed at the start, and can also come through a pipe. `accord run ROBOT SCENARIO --inputs
    BAG` repeats the drive.

    Examples:

      accord teleop snake

      accord teleop monkeybot --engine dart --duration 30 --out runs/drive

      accord teleop packbot --ros
    """
    setup = load_setup(robot, scenario, [*(changes or []), f"duration={duration!r}"], faults)
    check_controller(setup)
    if not setup.scenario.driven:
        note(f"{scenario} may ignore the keys: it is not driven, as the scenario teleop is")
    key_map = read_key_map(keys)
    with terminal_keys() as read:
        keyboard = Keyboard(setup, key_map, read)
        if ros:
            return drive_over_ros(setup, keyboard, namespace)
        check_engine(engine)
        screen = Dashboard(setup, keyboard, f"{setup.robot.name} {setup.scenario.name} in {engine}")
        default = f"{setup.robot.name}_{setup.scenario.name}_{engine}"
        with results(folder, default, force=force) as out, screen_shown(screen):
            pace = RealTime(screen, setup.scenario.control_period)
            request = RunRequest(
                setup=setup,
                engine=engine,
                bag=fresh(out / "bag"),
                inputs=keyboard,
                observers=(pace,),
                wrap=compile_kernels,
            )
            result = run_direct(request)
    return Result(result, shown_of(result), used={**used_by(setup), "duration": None})


def compile_kernels(simulator: Simulator) -> Simulator:
    """Compile all kernels of a simulator, so that no key press waits for it, and return it."""
    simulator.compile_all()
    return simulator


def drive_over_ros(setup: Setup, keyboard: Keyboard, namespace: str) -> Result:
    """Drive a robot that runs in another process, until the keyboard or the duration ends it."""
    screen = Dashboard(setup, keyboard, f"{setup.robot.name} over ROS")
    state = setup.initial
    start_time = time.monotonic()
    with connect(setup, namespace) as link, screen_shown(screen):
        while not keyboard.over and time.monotonic() - start_time < setup.scenario.duration:
            target = keyboard.target(state)
            for fault in keyboard.faults(state):
                link.fail(fault)
            state = link.drive(target, dict(keyboard.switches(state)), 1.0 / MESSAGE_RATE)
            screen.show(state, math.nan)
        keyboard.stop()
        link.drive(keyboard.target(state), {}, 1.0 / MESSAGE_RATE)
        engine = link.engine()
    wall_time = time.monotonic() - start_time
    data: dict[str, Json] = {"robot": setup.robot.name, "engine": engine, "wall_time": wall_time}
    return Result(data, [f"drove for {wall_time:.1f} s in {engine or 'an unknown simulator'}"])


def connect(setup: Setup, namespace: str) -> AbstractContextManager[RosLink]:
    """Return the connection over ROS, which the package roboaccord_ros provides.

    Raises:
        AccordError: where ROS is not installed, or has too little memory.
    """
    if "ros" not in plugins.entries("teleop"):
        raise AccordError("--ros needs the package roboaccord_ros, which is not installed")
    check_room_for_ros()
    link: AbstractContextManager[RosLink] = plugins.load("teleop", "ros")(setup, namespace)
    return link


class RealTime(Observer):
    """Paces a run in real time and shows it; lost time is not caught up.

    Args:
        screen: shows each state.
        period: control period [s].
    """

    def __init__(self, screen: Dashboard, period: float) -> None:
        self._screen = screen
        self._pace = Pace(period, 1.0)
        self._factor = math.nan  # simulated time over wall time, computed every second
        self._factor_times = (0.0, 0.0)  # simulated and wall time of its last computation [s]

    def on_state(self, state: RobotState) -> None:
        """Wait until the state is due, and show it."""
        now = time.monotonic()
        simulated_before, wall_before = self._factor_times
        if not simulated_before:  # the first ticks, at which kernels are compiled, do not count
            self._factor_times = (state.time, now)
            self._pace.restart()
        else:
            self._pace.wait()
            if now - wall_before > 1.0:
                self._factor = (state.time - simulated_before) / (now - wall_before)
                self._factor_times = (state.time, now)
        self._screen.show(state, self._factor)

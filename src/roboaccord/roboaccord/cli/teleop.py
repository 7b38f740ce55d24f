"""`accord teleop`: drive a robot by the keys of a terminal, in this process or over ROS.

In this process, the keyboard (keys.py, terminal.py) is the input of a run that `RealTime` paces by
the wall clock. With `--ros` the robot runs elsewhere: `drive_over_ros` sends targets to it at RATE
and receives its state, over a `RosLink`, which roboaccord_ros implements and provides by the entry
point `ros` of `roboaccord.teleop`. `Dashboard` is the table that a driver sees, within 80 columns.
What keys do is changed in config/teleop/keyboard.yaml.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol

import numpy as np
import typer
from rich.live import Live
from rich.table import Table

from roboaccord.cli.console import Screen, log, make_table, note
from roboaccord.cli.folder import results
from roboaccord.cli.keys import AXES, FIXED, Keyboard, read_key_map
from roboaccord.cli.options import Changes, Engine, Faults, Force, Out, RobotName, load_setup
from roboaccord.cli.result import Result, used_by
from roboaccord.cli.run import shown_of
from roboaccord.cli.terminal import terminal_keys
from roboaccord.contract import AccordError, Fault, Observer, RobotState, Seconds, Target, by_option
from roboaccord.contract.plugins import entries, load
from roboaccord.engines import check_engine
from roboaccord.run import Pace, RunRequest, run_direct
from roboaccord.run.output import fresh
from roboaccord.run.ros_limits import check_room_for_ros
from roboaccord.scenario import Setup, check_controller
from roboaccord.simulators.base import Simulator

STREAMS = (1, 2)  # file descriptors of stdout and stderr
# s: default duration, because the motion is kept in memory: 0.9 GB of the snake's at 1 kHz
DEFAULT_DURATION = 600.0
RATE = 20.0  # Hz of messages and of the screen: ten within the 0.5 s after which a key lapses


@dataclass(frozen=True)
class Drive:
    """Result of a drive over ROS: the robot, its simulator, and how long the drive took."""

    robot: str
    engine: str
    wall_time: Seconds


class RosLink(Protocol):
    """Connection to a robot that runs elsewhere."""

    def exchange(
        self, target: Target | None, switches: dict[str, bool], seconds: float
    ) -> RobotState:
        """Send a target and switches, wait for `seconds`, and return the last state received."""

    def fail(self, fault: Fault) -> None:
        """Let a joint fail."""

    def engine(self) -> str:
        """Return the simulator of the robot, or "" while that is unknown."""


DrivenScenario = Annotated[str, typer.Option(metavar="NAME", help="Scenario to drive.")]
Duration = Annotated[Seconds, typer.Option(metavar="S", min=0.0, help="Duration of the drive.")]
KeyMapFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Key map, in YAML.")]
OverRos = Annotated[
    bool, typer.Option("--ros", help="Drive a robot that `ros2 launch` started, over its topics.")
]
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
            result = run_direct(
                RunRequest(
                    setup=setup,
                    engine=engine,
                    bag=fresh(out / "bag"),
                    inputs=keyboard,
                    observers=(pace,),
                    wrap=compile_kernels,
                )
            )
    return Result(result, shown_of(result), used={**used_by(setup), "duration": None})


def compile_kernels(simulator: Simulator) -> Simulator:
    """Compile all kernels of a simulator, so that no key press waits for it, and return it."""
    simulator.compile_all()
    return simulator


def drive_over_ros(setup: Setup, keyboard: Keyboard, namespace: str) -> Result:
    """Drive a robot that runs in another process, until the keyboard or the duration ends it."""
    screen = Dashboard(setup, keyboard, f"{setup.robot.name} over ROS")
    started, state = time.monotonic(), setup.initial
    with connect(setup, namespace) as link, screen_shown(screen):
        while not keyboard.over and time.monotonic() - started < setup.scenario.duration:
            target = keyboard.target(state)
            for fault in keyboard.faults(state):
                link.fail(fault)
            state = link.exchange(target, dict(keyboard.switches(state)), 1.0 / RATE)
            screen.show(state, math.nan)
        keyboard.stop()
        link.exchange(keyboard.target(state), {}, 1.0 / RATE)
        engine = link.engine()
    wall_time = time.monotonic() - started
    drive = Drive(setup.robot.name, engine, wall_time)
    return Result(drive, [f"drove for {wall_time:.1f} s in {engine or 'an unknown simulator'}"])


def connect(setup: Setup, namespace: str) -> AbstractContextManager[RosLink]:
    """Return the connection over ROS, which the package roboaccord_ros provides.

    Raises:
        AccordError: where ROS is not installed, or has too little memory.
    """
    if "ros" not in entries("teleop"):
        raise AccordError("--ros needs the package roboaccord_ros, which is not installed")
    check_room_for_ros()
    link: AbstractContextManager[RosLink] = load("teleop", "ros")(setup, namespace)
    return link


class RealTime(Observer):
    """Paces a run in real time and shows it; lost time is not caught up."""

    def __init__(self, screen: Dashboard, period: float) -> None:
        self._screen, self._pace = screen, Pace(period, 1.0)
        self._factor = math.nan  # simulated time over wall time, computed every second
        self._factor_times = (0.0, 0.0)  # simulated and wall time of its last computation [s]

    def on_state(self, state: RobotState) -> None:
        """Wait until the state is due, and show it."""
        now = time.monotonic()
        simulated_before, wall_before = self._factor_times
        if not simulated_before:  # at the first tick kernels are compiled
            self._factor_times = (state.time, now)
            self._pace.restart()
        else:
            self._pace.wait()
            if now - wall_before > 1.0:
                self._factor = (state.time - simulated_before) / (now - wall_before)
                self._factor_times = (state.time, now)
        self._screen.show(state, self._factor)


@contextmanager
def screen_shown(screen: Dashboard) -> Iterator[None]:
    """Show a screen on stderr if that is a terminal; otherwise print the keys once.

    What is printed meanwhile, by native libraries too, is held back until the screen is closed.
    """
    if not log.is_terminal:
        meanings = screen.keyboard.meanings | FIXED
        note("keys: " + "; ".join(f"{key} {meaning}" for key, meaning in meanings.items()))
        yield
        return
    # Point descriptors 1 and 2 at a file; the screen writes to a copy of the terminal's.
    with tempfile.TemporaryFile() as held_output, ExitStack() as closing:
        out, err = (closing.enter_context(os.fdopen(os.dup(number), "w")) for number in STREAMS)
        for number, stream in zip(STREAMS, (out, err), strict=True):
            closing.callback(os.dup2, stream.fileno(), number)
            os.dup2(held_output.fileno(), number)
        try:
            with Live(
                get_renderable=screen.table,
                console=Screen(file=err),
                refresh_per_second=8,
                screen=True,
                redirect_stdout=False,
                redirect_stderr=False,
            ):
                yield
        finally:
            held_output.seek(0)
            err.buffer.write(held_output.read())


class Dashboard:
    """The screen of a driver: time, target, motion, limits and keys.

    Args:
        setup: robot and scenario.
        keyboard: its keys and target are shown.
        title: above the table.
    """

    def __init__(self, setup: Setup, keyboard: Keyboard, title: str) -> None:
        self.keyboard, self._title = keyboard, title
        self._joints, self._effort_limits = setup.joints, setup.effort_limits
        limits = {joint.name: (joint.lower, joint.upper) for joint in setup.tree.moving}
        self._limits = [limits.get(name, (-math.inf, math.inf)) for name in setup.joints]
        self._state_and_factor: tuple[RobotState, float] = (setup.initial, math.nan)

    def show(self, state: RobotState, factor: float) -> None:
        """Set the state to show, and the real-time factor, NaN where it is not known."""
        self._state_and_factor = state, factor

    def table(self) -> Table:
        """Return the table, as rich asks for it."""
        state, factor = self._state_and_factor
        table = make_table("", "", title=self._title, words=[""])
        table.show_header = False
        pace_text = "" if math.isnan(factor) else f"   real time x {factor:.2f}"
        table.add_row("time", f"{state.time:.1f} s{pace_text}")
        table.add_row("asked for", self._target_text(state))
        x, y, z = state.position
        speed = float(np.linalg.norm(state.twist[:3]))
        table.add_row("base", f"{speed:.2f} m/s at {x:.2f} {y:.2f} {z:.2f} m")
        for name, value in state.switches.items():
            table.add_row(name, "on" if value else "off")
        for i in self._joints_to_show(state):
            low, high = self._limits[i]
            text = f"{math.degrees(state.q[i]):.1f} deg"
            if math.isfinite(low):
                text += f"   limits {math.degrees(low):.0f} {math.degrees(high):.0f}"
            effort = f"{state.effort[i]:.2f} of {self._effort_limits[i]:g} N m"
            table.add_row(self._joints[i], f"{text}   {effort}")
        keys = [f"{key:<6}{meaning:<20}" for key, meaning in self.keyboard.meanings.items()]
        for i in range(0, len(keys), 2):
            table.add_row("" if i else "hold", "".join(keys[i : i + 2]).rstrip())
        fixed_keys = ", ".join(f"{key} {meaning}" for key, meaning in FIXED.items())
        table.add_row("", f"{fixed_keys}; {self.keyboard.silence:g} s without a key stops")
        return table

    def _joints_to_show(self, state: RobotState) -> list[int]:
        """Return indices of the joints to show: all of up to 8, or the one nearest to a limit."""
        if len(self._joints) <= 8:
            return list(range(len(self._joints)))
        low, high = np.array(self._limits).T
        return [int(np.minimum(state.q - low, high - state.q).argmin())]

    def _target_text(self, state: RobotState) -> str:
        """Return the target as text: its velocities and efforts that are not 0."""
        target = self.keyboard.now
        if target is None:
            return "nothing yet"
        values = dict(zip(AXES, target.twist, strict=True))
        for by_joint in (target.velocity, target.effort):
            if by_joint is not None:
                values |= dict(zip(self._joints, by_joint, strict=True))
        asked = ", ".join(f"{name} {value:.2f}" for name, value in values.items() if value)
        return (asked or "stand still") + f"   (x {self.keyboard.factor:.2f})"

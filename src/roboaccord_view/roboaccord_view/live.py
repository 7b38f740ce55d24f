"""A running simulation in the browser, paced and pushed from there, and a robot to pose by hand.

Controls of these pages may be added in `LiveView` and `view_robot`, with their ranges below. What
must stay is that nothing of a page enters the run but pushes: test_push.py compares a run in view
with the same without. `LiveView` is what `accord run --view` makes, a `RunDisplay` of cli/run.py.
"""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING

import numpy as np
from roboaccord.bag import PERIOD, Find, contact_finder
from roboaccord.cdr import contact_arrow
from roboaccord.contract import AccordError, Array, Event, Observer, RobotState, Trajectory
from roboaccord.run import Pace
from roboaccord.scenario import RobotFile, Setup, surfaces_around
from roboaccord.simulators import Simulator

from roboaccord_view.player import RATE, ROUND_OFF, Player, add_controls, line_of
from roboaccord_view.push import PushedSimulator
from roboaccord_view.stage import HOST, PORT, Pose, Stage

if TYPE_CHECKING:
    from viser import GuiTextHandle

PATH_PERIOD = 0.5  # s of wall time between drawings of the path so far
PATH_MOST = 4000  # points of it; then every second one is left out
SLIDER_STEP, TURN, NO_LIMIT = 1e-3, 2.0 * math.pi, 1e3  # rad or m: of sliders
STRONGEST, LONGEST = 1e3, 10.0  # N and s of a push
STEPS = {"▶": 0.0, "▶▶": 1.0 / RATE}  # s; at least one control period


def open_stage(
    setup: Setup, port: int = PORT, host: str = HOST, *, collision: bool = False
) -> Stage:
    """Serve the robot of a setup in its surroundings and its initial state.

    Raises:
        AccordError: if the extra `view` is not installed, or it cannot listen on the address.
    """
    stage = Stage(setup.urdf(), port, host, surfaces_around(setup), collision)
    pose = pose_of(setup, setup.initial)
    stage.aim(pose)
    stage.pose(pose)
    return stage


class StateDisplay:
    """Show states on a stage as they come: pose, contacts, time, and path of the centre of mass.

    Args:
        setup: robot and scenario.
        stage: that shows the robot.
        clock: the text of the page that has the time.
    """

    def __init__(self, setup: Setup, stage: Stage, clock: GuiTextHandle) -> None:
        self._setup, self._stage, self._clock = setup, stage, clock
        self._path = list[Array]()
        self._time, self._drawn = 0.0, time.monotonic()

    def note(self, state: RobotState) -> None:
        """Continue the path, or begin another one after a reset."""
        if state.time < self._time:
            self._path.clear()
        self._time = state.time
        links = self._stage.robot.forward(pose_of(self._setup, state))
        self._path.append(self._stage.robot.parsed.tree.centres(*links))
        if len(self._path) > PATH_MOST:
            del self._path[1::2]

    def show(self, state: RobotState, arrows: Array) -> None:
        """Show the state that was noted last, and contacts by arrows (k, 2, 3) [m]."""
        self._stage.pose(pose_of(self._setup, state))
        self._stage.touch(arrows)
        self._clock.value = f"{state.time:.4f} s"
        if time.monotonic() > self._drawn + PATH_PERIOD:
            self._stage.draw_path(np.array(self._path))
            self._drawn = time.monotonic()


class LiveView(Observer):
    """Observe a running simulation, paced to real time, at up to 30 pictures a second.

    The run waits in `on_state` for the wall clock, and while it is paused for the onlooker: nothing
    is skipped. A thread of its own shows the latest state.

    Args:
        setup: robot and scenario.
        speed: seconds of motion a second, to begin with.
        stage: that shows the robot; a new one if None.
    """

    def __init__(self, setup: Setup, speed: float = 1.0, stage: Stage | None = None) -> None:
        self.stage, self._setup = stage or open_stage(setup), setup
        self._latest = setup.initial
        self._find: Find | None = None
        self._times, self._arrows = list[float](), [np.empty((0, 2, 3))]
        self._pace, self._until = Pace(setup.scenario.control_period, speed), 0.0
        gui = self.stage.server.gui
        self._folder = gui.add_folder("simulation")
        with self._folder:
            self._play, self._speed, self._clock = add_controls(gui, STEPS, self._step, speed)
            self._happened = gui.add_text("event", "", disabled=True)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="live-view", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Address of the page."""
        return self.stage.url

    def wrap(self, simulator: Simulator) -> Simulator:
        """Return a simulator that takes pushes from the page, and whose contacts are shown."""
        self._find = contact_finder(self._setup, simulator)
        pushed = PushedSimulator(simulator)
        with self._folder:
            self._add_push(pushed)
        return pushed

    def on_state(self, state: RobotState) -> None:
        """Leave the state to be shown, and wait until it is due."""
        self._latest = state
        if self._find and (not self._times or state.time >= self._times[-1] + PERIOD - ROUND_OFF):
            found = [contact_arrow(contact) for contact in self._find(state)]
            self._arrows.append(np.array(found).reshape(-1, 2, 3))
            self._times.append(state.time)
        self._pace.pace = float(self._speed.value)
        if not state.time:
            self._pace.restart()
        while not self._play.value and state.time > self._until - ROUND_OFF:
            time.sleep(0.5 / RATE)
            self._pace.restart()
        self._pace.wait()

    def on_event(self, event: Event) -> None:
        """Tell of an event."""
        self._happened.value = line_of(event)

    def replay(self, trajectory: Trajectory, seconds: float) -> Player:
        """Play the motion that was seen, with its contacts, and return the player of it."""
        self._stop.set()
        self._thread.join()
        self._folder.remove()
        contacts = np.array(self._times), self._arrows[1:]
        aim, speed = self._setup.robot.aim(self._setup), float(self._speed.value)
        player = Player(self.stage, trajectory, speed, contacts, aim=aim)
        player.play(seconds)
        return player

    def close(self) -> None:
        """Follow no more, and take the page away."""
        self._stop.set()
        self._thread.join()
        self.stage.close()

    def _add_push(self, simulator: PushedSimulator) -> None:
        gui = self.stage.server.gui
        with gui.add_folder("push a link"):
            if not simulator.links:
                gui.add_text("no", f"{simulator.name} takes no force on a link", disabled=True)
                return
            link = gui.add_dropdown("link", simulator.links)
            direction = gui.add_vector3(
                "direction", (0.0, 1.0, 0.0), min=(-1.0,) * 3, max=(1.0,) * 3, hint="in the world"
            )
            strength = gui.add_number("force [N]", 10.0, min=0.0, max=STRONGEST)
            length = gui.add_number("time [s]", 0.2, min=1e-3, max=LONGEST)

            def push(_: object) -> None:
                size = np.linalg.norm(direction.value)
                force = np.array(direction.value) * (strength.value / size if size else 0.0)
                try:
                    simulator.push(link.value, force, length.value)
                except AccordError as error:
                    self._happened.value = str(error)

            gui.add_button("push").on_click(push)

    def _step(self, step: float) -> None:
        """Pause, and let the run go on by one control period, or by `step` [s]."""
        self._play.value = False
        self._until = self._latest.time + max(step, self._setup.scenario.control_period)

    def _follow(self) -> None:
        shown: RobotState | None = None
        display = StateDisplay(self._setup, self.stage, self._clock)
        while not self._stop.wait(1.0 / RATE):
            state = self._latest
            if state is not shown:
                display.note(state)
                display.show(state, self._arrows[-1])
                shown = state


def view_robot(
    setup: Setup, port: int = PORT, host: str = HOST, *, collision: bool = False
) -> Stage:
    """Serve a robot with a slider a joint, in its initial state."""
    stage = open_stage(setup, port, host, collision=collision)
    start, position, orientation = pose_of(setup, setup.initial)
    angles, robot = dict(start), setup.robot
    ranges = robot.ranges(setup) if isinstance(robot, RobotFile) else {}

    def moved(name: str, value: float) -> None:
        angles[name] = value
        stage.pose((angles, position, orientation))

    for joint in setup.tree.moving:
        low, high = slider_range(*ranges.get(joint.name, joint.ends))
        unit = "m" if joint.kind == "prismatic" else "rad"
        first = angles[joint.name] = min(max(angles.get(joint.name, 0.0), low), high)
        slider = stage.server.gui.add_slider(
            f"{joint.name} [{unit}]", low, high, SLIDER_STEP, first
        )
        slider.on_update(lambda event, name=joint.name: moved(name, float(event.target.value)))
    stage.pose((angles, position, orientation))
    return stage


def slider_range(lower: float, upper: float) -> tuple[float, float]:
    """Return what the slider of a joint goes through [rad or m]: its limits, or a turn without any.

    A limit of more than `NO_LIMIT`, as some files have it, counts as none.
    """
    if not abs(lower) < NO_LIMIT:
        lower = upper - TURN if abs(upper) < NO_LIMIT else -math.pi
    if not abs(upper) < NO_LIMIT:
        upper = lower + TURN
    return lower, max(upper, lower + SLIDER_STEP)


def pose_of(setup: Setup, state: RobotState) -> Pose:
    """Return joints by name [rad], base [m] and quaternion x y z w of a state."""
    return dict(zip(setup.joints, state.q, strict=True)), state.position, state.orientation

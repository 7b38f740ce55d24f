"""A running simulation in the browser, paced and pushed from there.

LiveView observes a run: in `on_state` the run waits for the wall clock, and for a page that has
paused it, while a thread of LiveView draws the latest state. Pages influence the run by pushes
alone (push.py): test_push.py compares a run in view with the same run without. `accord run --view`
makes a LiveView, as the `RunDisplay` of cli/run.py. node.py draws the states of a ROS graph by the
same StateDisplay.

Controls may be added in `LiveView`, with their ranges below.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import numpy as np
from roboaccord.bag import PERIOD, Find, contact_finder
from roboaccord.cdr import contact_arrow
from roboaccord.contract import AccordError, Array, Event, Observer, RobotState, Trajectory
from roboaccord.run import Pace
from roboaccord.scenario import Setup, surfaces_around
from roboaccord.simulators import Simulator

from roboaccord_view.figure import Pose
from roboaccord_view.player import PICTURE_RATE, ROUND_OFF, Player, add_controls, line_of
from roboaccord_view.push import PushedSimulator
from roboaccord_view.stage import HOST, PORT, Stage

if TYPE_CHECKING:
    from viser import GuiTextHandle

# s of wall time; between drawings of the path so far. By choice: all its points are sent anew each
# time, and twice a second it is still seen to grow.
PATH_PERIOD = 0.5
# Points of the path; beyond that, every second one is dropped: twice player.PATH_POINTS, so that
# dropping leaves as many as a recording has.
MAX_PATH_POINTS = 4000
# N and s; largest force and duration of a push: robots of some kg and m survive them as numbers. By
# choice: the weight of 100 kg, and longer than any push by hand.
MAX_FORCE, MAX_PUSH_TIME = 1e3, 10.0
# s; how far each button lets a paused run go on, at least one control period.
STEPS = {"▶": 0.0, "▶▶": 1.0 / PICTURE_RATE}


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
    stage.bodies.pose(setup.initial.bodies)
    return stage


class StateDisplay:
    """Shows states on a page as they come: pose, contacts, time, and path of the centre of mass.

    Args:
        setup: robot and scenario.
        stage: scene of the page, with the robot.
        clock: text of the page that shows the time.
    """

    def __init__(self, setup: Setup, stage: Stage, clock: GuiTextHandle) -> None:
        self._setup, self._stage, self._clock = setup, stage, clock
        self._path = list[Array]()  # points of the centre of mass (3,) [m]
        self._time = 0.0  # time of the last state [s]
        self._path_time = time.monotonic()  # when the path was last drawn [s of the steady clock]

    def add_to_path(self, state: RobotState) -> None:
        """Add the centre of mass of a state to the path; a reset begins another path."""
        if state.time < self._time:
            self._path.clear()
        self._time = state.time
        links = self._stage.robot.forward(pose_of(self._setup, state))
        self._path.append(self._stage.robot.parsed.tree.centres(*links))
        if len(self._path) > MAX_PATH_POINTS:
            del self._path[1::2]

    def show(self, state: RobotState, arrows: Array) -> None:
        """Show a state that was added to the path, and contacts by arrows (k, 2, 3) [m]."""
        self._stage.pose(pose_of(self._setup, state))
        self._stage.bodies.pose(state.bodies)
        self._stage.show_contacts(arrows)
        self._clock.value = f"{state.time:.4f} s"
        if time.monotonic() > self._path_time + PATH_PERIOD:
            self._stage.draw_path(np.array(self._path))
            self._path_time = time.monotonic()


class LiveView(Observer):
    """View of a running simulation, paced to real time, at up to PICTURE_RATE pictures a second.

    The run waits in `on_state` for the wall clock, and while the page pauses it: no state is
    skipped.

    Args:
        setup: robot and scenario.
        speed: seconds of motion per second at the start.
        stage: scene of a page with the robot; a new one if None.
    """

    def __init__(self, setup: Setup, speed: float = 1.0, stage: Stage | None = None) -> None:
        self._setup = setup
        self.stage = stage or open_stage(setup)
        self._latest = setup.initial  # the newest state of the run
        self._find_contacts: Find | None = None  # returns the contacts of a state
        self._times = list[float]()  # at which contacts were found [s]
        # Their arrows at each time (k, 2, 3) [m], after an entry for states before the first time.
        self._arrows = [np.empty((0, 2, 3))]
        self._pace = Pace(setup.scenario.control_period, speed)
        self._until = 0.0  # time of the run up to which it may go on while paused [s]
        gui = self.stage.server.gui
        self._folder = gui.add_folder("simulation")
        with self._folder:
            self._play, self._speed, self._clock = add_controls(gui, STEPS, self._step, speed)
            self._event_text = gui.add_text("event", "", disabled=True)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._draw_states, name="live-view", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Address of the page."""
        return self.stage.url

    def wrap(self, simulator: Simulator) -> Simulator:
        """Return the simulator with pushes from the page, and show its contacts."""
        self._find_contacts = contact_finder(self._setup, simulator)
        pushed = PushedSimulator(simulator)
        with self._folder:
            self._add_push(pushed)
        return pushed

    def on_state(self, state: RobotState) -> None:
        """Note a state, which the thread draws, and wait until it is due."""
        self._latest = state
        is_due = not self._times or state.time >= self._times[-1] + PERIOD - ROUND_OFF
        if self._find_contacts and is_due:
            arrows = [contact_arrow(contact) for contact in self._find_contacts(state)]
            self._arrows.append(np.array(arrows).reshape(-1, 2, 3))
            self._times.append(state.time)
        self._pace.pace = float(self._speed.value)
        if not state.time:
            self._pace.restart()
        while not self._play.value and state.time > self._until - ROUND_OFF:
            time.sleep(0.5 / PICTURE_RATE)
            self._pace.restart()
        self._pace.wait()

    def on_event(self, event: Event) -> None:
        """Show an event."""
        self._event_text.value = line_of(event)

    def replay(self, trajectory: Trajectory, seconds: float) -> Player:
        """Play the motion of the run, with its contacts, and return its player."""
        self._stop.set()
        self._thread.join()
        self._folder.remove()
        contacts = np.array(self._times), self._arrows[1:]
        aim, speed = self._setup.robot.aim(self._setup), float(self._speed.value)
        player = Player(self.stage, trajectory, speed, contacts, aim=aim)
        player.play(seconds)
        return player

    def close(self) -> None:
        """Stop the view, and close the page."""
        self._stop.set()
        self._thread.join()
        self.stage.close()

    def _add_push(self, simulator: PushedSimulator) -> None:
        """Add the controls of a push to the page."""
        gui = self.stage.server.gui
        with gui.add_folder("push a link"):
            if not simulator.links:
                gui.add_text("no", f"{simulator.name} takes no force on a link", disabled=True)
                return
            link = gui.add_dropdown("link", simulator.links)
            direction = gui.add_vector3(
                "direction", (0.0, 1.0, 0.0), min=(-1.0,) * 3, max=(1.0,) * 3, hint="in the world"
            )
            strength = gui.add_number("force [N]", 10.0, min=0.0, max=MAX_FORCE)
            length = gui.add_number("time [s]", 0.2, min=1e-3, max=MAX_PUSH_TIME)

            def push(_: object) -> None:
                """Push the chosen link, or show why it cannot be pushed."""
                size = np.linalg.norm(direction.value)
                force = np.array(direction.value) * (strength.value / size if size else 0.0)
                try:
                    simulator.push(link.value, force, length.value)
                except AccordError as error:
                    self._event_text.value = str(error)

            gui.add_button("push").on_click(push)

    def _step(self, step: float) -> None:
        """Pause, and let the run go on by one control period, or by `step` [s]."""
        self._play.value = False
        self._until = self._latest.time + max(step, self._setup.scenario.control_period)

    def _draw_states(self) -> None:
        """Draw the latest state, PICTURE_RATE times a second; runs in a thread."""
        shown: RobotState | None = None
        display = StateDisplay(self._setup, self.stage, self._clock)
        while not self._stop.wait(1.0 / PICTURE_RATE):
            state = self._latest
            if state is not shown:
                display.add_to_path(state)
                display.show(state, self._arrows[-1])
                shown = state


def pose_of(setup: Setup, state: RobotState) -> Pose:
    """Return joints by name [rad], base [m] and quaternion x y z w of a state."""
    return dict(zip(setup.joints, state.q, strict=True)), state.position, state.orientation

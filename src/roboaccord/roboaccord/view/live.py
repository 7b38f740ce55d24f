"""Show a recorded motion, a robot to pose by hand, or a running simulation in the browser."""

from __future__ import annotations

import threading
import time

import numpy as np

from roboaccord.contract.state import IDENTITY, ORIGIN, Command, RobotState
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.description.tree import Tree
from roboaccord.scenario.setup import Setup
from roboaccord.view.motion import resample
from roboaccord.view.stage import HOST, PORT, Stage

RATE = 30.0  # pictures a second


class Player:
    """Play a motion on a stage, with play and pause, a time slider and a speed."""

    def __init__(self, stage: Stage, trajectory: Trajectory, speed: float = 1.0) -> None:
        self.stage = stage
        self._film = resample(trajectory, 1.0 / RATE)  # what the browser can show, evenly spaced
        start, stop = float(self._film.time[0]), float(self._film.time[-1])
        gui = stage.server.gui
        self._play = gui.add_checkbox("play", True)
        step = max((stop - start) / 1000.0, 1e-3)
        self._time = gui.add_slider("time [s]", start, max(stop, start + step), step, start)
        self._speed = gui.add_slider("speed", 0.05, 4.0, 0.05, min(max(speed, 0.05), 4.0))
        self._now = start
        self.show(start)

    def show(self, moment: float) -> None:
        """Show the motion at a time [s]."""
        film = self._film
        index = min(int(np.searchsorted(film.time, moment)), len(film) - 1)
        angles = dict(zip(film.joints, film.q[index], strict=True))
        self.stage.pose(angles, film.position[index], film.orientation[index])

    def advance(self, elapsed: float) -> None:
        """Play on by `elapsed` wall-clock seconds, from where the slider is."""
        slider = float(self._time.value)
        if abs(slider - self._now) > self._time.step:  # somebody moved it
            self._now = slider
        elif self._play.value:
            self._now += elapsed * float(self._speed.value)
            if self._now > self._film.time[-1]:
                self._now = float(self._film.time[0])
            self._time.value = self._now
        self.show(self._now)


class LiveView:
    """Observe a running simulation at up to 30 pictures a second, without holding it up.

    The run only leaves its latest state; a thread of its own shows it.

    Raises:
        AccordError: if the extra `view` is not installed.
    """

    def __init__(self, setup: Setup, port: int = PORT) -> None:
        self.stage = Stage(setup.urdf(), port)
        self._joints = setup.joints
        self._latest: RobotState | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="live-view", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Address of the view."""
        return self.stage.url

    def on_state(self, state: RobotState) -> None:
        """Leave the state to be shown."""
        self._latest = state

    def on_command(self, state: RobotState, command: Command) -> None:
        """Do nothing: a command is not seen."""

    def on_event(self, event: Event) -> None:
        """Do nothing: an event is not seen."""

    def close(self) -> None:
        """Show the last state, and stop serving."""
        self._stop.set()
        self._thread.join()
        self.stage.close()

    def _follow(self) -> None:
        shown: RobotState | None = None
        done = False
        while not done:
            done = self._stop.wait(1.0 / RATE)
            state = self._latest
            if state is not None and state is not shown:
                angles = dict(zip(self._joints, state.q, strict=True))
                self.stage.pose(angles, state.position, state.orientation)
                shown = state


def view_bag(
    urdf: str, trajectory: Trajectory, port: int = PORT, speed: float = 1.0, host: str = HOST
) -> Player:
    """Serve a recorded motion; `play` keeps it moving."""
    return Player(Stage(urdf, port, host), trajectory, speed)


def view_robot(urdf: str, port: int = PORT, host: str = HOST) -> Stage:
    """Serve a robot with a slider a joint."""
    stage = Stage(urdf, port, host)
    joints = Tree.parse(urdf).moving
    angles: dict[str, float] = {}

    def moved(name: str, value: float) -> None:
        angles[name] = value
        stage.pose(angles, ORIGIN, IDENTITY)

    for joint in joints:
        low, high = max(joint.lower, -np.pi), min(joint.upper, np.pi)
        unit = "m" if joint.kind == "prismatic" else "rad"
        first = angles[joint.name] = min(max(0.0, low), high)
        slider = stage.server.gui.add_slider(f"{joint.name} [{unit}]", low, high, 1e-3, first)
        slider.on_update(lambda event, name=joint.name: moved(name, float(event.target.value)))
    stage.pose(angles, ORIGIN, IDENTITY)
    return stage


def play(player: Player, duration: float = np.inf) -> None:
    """Keep a motion moving for `duration` [s], or until interrupted."""
    end = last = time.monotonic()
    end += duration
    while last < end:
        time.sleep(1.0 / RATE)
        now = time.monotonic()
        player.advance(now - last)
        last = now

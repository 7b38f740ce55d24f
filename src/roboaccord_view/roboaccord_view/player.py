"""Playback of a recorded motion in the browser, with other robots beside it.

A Player adds controls and lines to the page, and moves the robot, its contacts, and the other
robots to the time of the slider. live.py uses `add_controls`, too. Controls and the bounds below
may be changed; guard.py must know each kind of control.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from roboaccord.bag import PERIOD
from roboaccord.contract import REFUSED, Aim, Array, Event, Trajectory

from roboaccord_view.drawing.failures import Failure, failure_lines, failures
from roboaccord_view.figure import BodyFigures, Figure, Pose
from roboaccord_view.motion import MovingRobot
from roboaccord_view.second import SecondRun
from roboaccord_view.stage import Stage

if TYPE_CHECKING:
    from viser import GuiApi, GuiCheckboxHandle, GuiSliderHandle, GuiTextHandle

PICTURE_RATE = 30.0  # pictures per second: half of a usual screen's 60 look smooth
# Range of the speed slider, over real time: an impact of 10 ms takes 0.2 s, and a minute 3 s.
MIN_SPEED, MAX_SPEED = 0.05, 20.0
MAX_EVENTS = 400  # events in the list; more make a page slow, from some thousand on
# Marks of events on the time line; more would run together: a panel of some 300 pixels has 8 for
# each.
MAX_MARKS = 40
# Approximate number of points of the path that is drawn, more than a page has pixels across.
PATH_POINTS = 2000
# Number of poses that the camera must have in view: between two of them a robot moves by 1 % of the
# motion.
POSES_IN_VIEW = 100
# How far each button moves: a float is a time [s], an int a number of samples.
BUTTON_STEPS = {"◀◀": -1.0 / PICTURE_RATE, "◀": -1, "▶": 1, "▶▶": 1.0 / PICTURE_RATE}
NO_EVENT = "-"  # entry of the list that is no event
# s; after a longer step, or a step back, the view jumps instead of gliding: longer than the 0.67 s
# from one picture to the next at MAX_SPEED, so that playback glides.
JUMP_TIME = 1.0
# s; smaller differences of times are round-off: times up to 1000 s have 1e-13, and control periods
# 1e-4 and more.
ROUND_OFF = 1e-9
# Pictures between changes of texts, which cost more than poses: ten a second, more than can be
# read.
TEXT_EVERY = 3


class Recording:
    """A motion and the figure that shows it.

    Args:
        figure: the robot on the page.
        trajectory: its motion.
        path: positions of one of its points over the motion (t, 3) [m].
    """

    def __init__(self, figure: Figure, trajectory: Trajectory, path: Array) -> None:
        self.figure, self.trajectory, self.path = figure, trajectory, path

    def index(self, moment: float) -> int:
        """Return the index of the last sample at or before a time [s], 0 if there is none."""
        return max(_last_index(self.trajectory.time, moment), 0)

    def pose(self, i: int) -> Pose:
        """Return joints by name [rad], base [m] and quaternion x y z w of a sample."""
        motion = self.trajectory
        angles = dict(zip(motion.joints, motion.q[i], strict=True))
        return angles, motion.position[i], motion.orientation[i]

    def bodies(self, i: int) -> Array:
        """Return the motions of the free bodies at a sample (b, 13)."""
        return self.trajectory.state(i).bodies


class SecondRecording(Recording):
    """Another motion, and the translucent figure that shows it.

    Args:
        stage: scene of the page.
        second: the motion and its looks.
        key: name of the figure on the page.
        aim: the point whose path is shown; by default the centre of mass.

    Attributes:
        distance: text with the distance from the first robot.
    """

    def __init__(self, stage: Stage, second: SecondRun, key: str, aim: Aim | None = None) -> None:
        self._second, self._look = second, second.look_at(-math.inf)
        figure = stage.add_robot(second.painted(self._look), key)
        motion = second.trajectory
        super().__init__(figure, motion, MovingRobot(figure.parsed, motion).path(aim))
        path, opacity = f"/world/{key}", self._look.opacity
        self._bodies = BodyFigures(stage.server.scene, path, second.bodies, opacity)
        gui = stage.server.gui
        points = aim.name if aim else "centres of mass"
        self.distance = gui.add_text(f"{second.name}: {points} apart [m]", "", disabled=True)
        self._cause = gui.add_markdown("")

    def show(self, moment: float) -> Array:
        """Show the motion at a time [s], and return the point of its path (3,) [m]."""
        i, look = self.index(moment), self._second.look_at(moment)
        self.figure.pose(self.pose(i))
        self._bodies.pose(self.bodies(i))
        if look.colours != self._look.colours:
            self.figure.paint(self._second.painted(look))
        if look.line != self._cause.content:
            self._cause.content = look.line
        self._look = look
        return np.asarray(self.path[i])


class Player:
    """A motion on a stage, with controls to play, step, choose a time, a speed or an event.

    Args:
        stage: scene of the page, with the robot.
        trajectory: the motion.
        speed: seconds of motion per second.
        contacts: times (m,) [s], and at each the arrows of its contacts (k, 2, 3) [m], from start
            to end, as `bag.read_arrows` returns them.
        beside: robots that are shown translucent at the same time.
        aim: the point whose path is drawn, and whose target is marked.
        findings: what the controller has detected about the robot, as events.
    """

    def __init__(
        self,
        stage: Stage,
        trajectory: Trajectory,
        speed: float = 1.0,
        contacts: tuple[Array, Sequence[Array]] = (np.empty(0), ()),
        beside: Sequence[SecondRun] = (),
        aim: Aim | None = None,
        findings: Sequence[Event] = (),
    ) -> None:
        self.stage, self._findings = stage, findings
        moved = MovingRobot(stage.robot.parsed, trajectory)
        aim = aim or moved.tip()
        self._main = Recording(stage.robot, trajectory, moved.path(aim))
        self._contacts = contacts
        self._failures = failures(stage.robot.parsed, trajectory.events)
        self._labels = [stage.robot.label(f.link, f.name) for f in self._failures]
        self._shown_failures: list[Failure] | None = None  # in red on the page
        if aim and aim.target is not None:
            stage.mark("target", aim.target)
            if any(finding.kind == REFUSED for finding in findings):
                stage.mark("nearest point", self._main.path[-1])
        start, stop = float(trajectory.time[0]), float(trajectory.time[-1])
        stop = max([stop, *(float(run.trajectory.time[-1]) for run in beside)])
        self._start, self._stop = start, stop  # of the time line [s]
        self._now = start  # time to show [s]
        self._last_shown = start  # time of the last picture [s]
        self._pictures = 0  # number of pictures so far
        events = sorted([*trajectory.events, *findings], key=lambda event: event.time)
        with stage.server.gui.add_folder("recording"):
            self._add_controls(events, speed)
            self._failure_text = stage.server.gui.add_markdown("")
            self._others = [
                SecondRecording(stage, run, f"beside_{i}", aim) for i, run in enumerate(beside)
            ]
        stage.draw_path(self._main.path[:: max(1, len(trajectory) // PATH_POINTS)])
        samples = np.unique(np.linspace(0, len(trajectory) - 1, POSES_IN_VIEW).astype(int))
        stage.aim(*(self._main.pose(int(i)) for i in samples))
        self.show(start)

    def _add_controls(self, events: Sequence[Event], speed: float) -> None:
        """Add buttons, time line and list of events to the page."""
        gui = self.stage.server.gui
        start, stop = self._start, self._stop
        self._play, self._speed, self._clock = add_controls(gui, BUTTON_STEPS, self._move, speed)
        step = max((stop - start) / 1000.0, 1e-3)
        marks = sorted({round(event.time, 6) for event in events})
        ticks = tuple((mark, "") for mark in marks) if 0 < len(marks) <= MAX_MARKS else None
        last = max(stop, start + step)
        self._time = gui.add_slider("time [s]", start, last, step, start, marks=ticks)
        if events:
            self._events = {line_of(event): event.time for event in events[:MAX_EVENTS]}
            choices = gui.add_dropdown(f"event ({len(events)})", [NO_EVENT, *self._events])
            choices.on_update(lambda event: self._stop_at(self._events.get(event.target.value)))

    def show(self, moment: float) -> None:
        """Show the motion at a time [s]."""
        i = self._main.index(moment)
        is_jump = not 0.0 <= moment - self._last_shown <= JUMP_TIME
        self._last_shown = moment
        self.stage.pose(self._main.pose(i), at_once=is_jump)
        self.stage.bodies.pose(self._main.bodies(i))
        self.stage.show_contacts(self._arrows(moment))
        self._show_failures(moment)
        self._pictures += 1
        with_texts = self._pictures % TEXT_EVERY == 1 or not self._play.value
        for other in self._others:
            with self.stage.server.atomic():
                point = other.show(moment)
            if with_texts:
                other.distance.value = f"{np.linalg.norm(self._main.path[i] - point):.6f}"
        if with_texts:
            self._clock.value = f"{self._main.trajectory.time[i]:.4f} s"

    def _show_failures(self, moment: float) -> None:
        """Show the joints that have failed by a time [s] in red, with their kinds."""
        failed = [f for f in self._failures if f.time <= moment + ROUND_OFF]
        if failed != self._shown_failures:
            self._shown_failures = failed
            self.stage.robot.redden({failure.shape for failure in failed})
            for label, failure in zip(self._labels, self._failures, strict=True):
                label.visible = failure in failed
        lines = "\n\n".join(failure_lines(self._failures, self._findings, moment + ROUND_OFF))
        if lines != self._failure_text.content:
            self._failure_text.content = lines

    def advance(self, elapsed: float) -> None:
        """Play on by `elapsed` wall-clock seconds, from the time of the slider."""
        slider = float(self._time.value)
        if abs(slider - self._now) > self._time.step:  # somebody moved it
            self._now = slider
        elif self._play.value:
            self._now += elapsed * float(self._speed.value)
            if self._now > self._stop:
                self._now = self._start
            self._time.value = self._now
        self.show(self._now)

    def play(self, duration: float = np.inf) -> None:
        """Play for `duration` [s of wall time], or until interrupted."""
        last = time.monotonic()
        end = last + duration
        while last < end:
            time.sleep(1.0 / PICTURE_RATE)
            now = time.monotonic()
            self.advance(now - last)
            last = now

    def _move(self, step: float) -> None:
        """Stop, and step by a number of samples (int) or seconds (float)."""
        times, i = self._main.trajectory.time, self._main.index(self._now)
        if isinstance(step, int):
            self._stop_at(float(times[min(max(i + step, 0), len(times) - 1)]))
        else:
            self._stop_at(min(max(self._now + step, self._start), self._stop))

    def _stop_at(self, moment: float | None) -> None:
        """Stop at a time [s]; None, of the entry of the list that is no event, changes nothing."""
        if moment is not None:
            self._play.value = False
            self._now = self._time.value = moment

    def _arrows(self, moment: float) -> Array:
        """Return the arrows of the contacts at a time [s] (k, 2, 3) [m]."""
        times, arrows = self._contacts
        i = _last_index(times, moment)
        return arrows[i] if i >= 0 and moment - times[i] < 1.5 * PERIOD else np.empty((0, 2, 3))


def _last_index(times: Array, moment: float) -> int:
    """Return the index of the last of times [s] at or before another, -1 if there is none."""
    return int(np.searchsorted(times, moment + ROUND_OFF, side="right")) - 1


def add_controls(
    gui: GuiApi, steps: Mapping[str, float], move: Callable[[float], None], speed: float
) -> tuple[GuiCheckboxHandle, GuiSliderHandle[float], GuiTextHandle]:
    """Add play, step, speed and time to a page; return play, speed and the text of the time.

    Args:
        gui: of viser.
        steps: argument of `move` by the label of a button.
        move: is called by the buttons.
        speed: seconds of motion a second, to begin with.
    """
    play = gui.add_checkbox("play", True)
    buttons = gui.add_button_group("step", list(steps))
    buttons.on_click(lambda click: move(steps[click.target.value]))
    initial = min(max(speed, MIN_SPEED), MAX_SPEED)
    slider = gui.add_slider("speed", MIN_SPEED, MAX_SPEED, 0.05, initial)
    return play, slider, gui.add_text("at", "", disabled=True)


def line_of(event: Event) -> str:
    """Return an event in one line."""
    impulse = f", {event.impulse:.4g} N s" if event.impulse else ""
    return f"{event.time:.4f} s {event.kind} {event.subject}{impulse}"

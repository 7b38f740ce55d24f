"""The screen of `accord teleop`: what a driver sees while a robot is driven by keys.

`Dashboard` makes a table of the robot's time, target, motion and limits, and of the keys, within 80
columns. `screen_shown` is the context in which it is redrawn on stderr, with everything that is
printed meanwhile held back. Neither reads keys nor moves the robot, as teleop.py does.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
from rich.live import Live
from rich.table import Table

from roboaccord.cli.console import Screen, log, make_table, note
from roboaccord.cli.keys import AXES, FIXED_KEYS, Keyboard
from roboaccord.contract import RobotState
from roboaccord.scenario import Setup

STREAMS = (1, 2)  # file descriptors of stdout and stderr
# Number of joints up to which the screen shows all; of more, the one that is nearest to a limit.
# The Packbot's 7 fit a screen of 24 lines beside the other rows; the snake's 21 would not.
LARGEST_JOINT_COUNT = 8


@contextmanager
def screen_shown(screen: Dashboard) -> Iterator[None]:
    """Show a screen on stderr if that is a terminal; otherwise print the keys once.

    What is printed meanwhile, by native libraries too, is held back until the screen is closed.
    """
    if not log.is_terminal:
        meanings = screen.keyboard.meanings | FIXED_KEYS
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
                refresh_per_second=8,  # Hz: faster than a person reads figures
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
        # Lower and upper limit of each joint [rad].
        self._limits = [limits.get(name, (-math.inf, math.inf)) for name in setup.joints]
        # One tuple, which another thread, that of rich, reads whole.
        self._state_and_factor: tuple[RobotState, float] = (setup.initial, math.nan)

    def show(self, state: RobotState, factor: float) -> None:
        """Set the state to show, and the real-time factor, NaN where it is not known."""
        self._state_and_factor = state, factor

    def table(self) -> Table:
        """Return the table; rich calls this at each redraw, in a thread of its own."""
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
        fixed_keys = ", ".join(f"{key} {meaning}" for key, meaning in FIXED_KEYS.items())
        table.add_row("", f"{fixed_keys}; {self.keyboard.silence:g} s without a key stops")
        return table

    def _joints_to_show(self, state: RobotState) -> list[int]:
        """Return the indices of the joints to show: all, or the one that is nearest to a limit."""
        if len(self._joints) <= LARGEST_JOINT_COUNT:
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
        requested = ", ".join(f"{name} {value:.2f}" for name, value in values.items() if value)
        return (requested or "stand still") + f"   (x {self.keyboard.factor:.2f})"

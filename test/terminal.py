"""Type on `accord teleop` through a pseudo-terminal, as a person does."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import pty
import re
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

REPEAT = 0.04  # s between the characters of a held key
START = 120.0  # s that a run may take to start
# Variables of a terminal that shows a dashboard, which a dumb one does not.
XTERM = {"TERM": "xterm-256color"}


class Terminal:
    """Run a command in a pseudo-terminal, with its result on a pipe.

    Args:
        words: of `accord`.
    """

    def __init__(self, *words: str) -> None:
        self._master, self._slave = pty.openpty()
        self.before = termios.tcgetattr(self._slave)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "roboaccord.cli.main", *words],
            stdin=self._slave, stdout=subprocess.PIPE, stderr=self._slave, text=True,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={**os.environ, **XTERM},
        )  # fmt: skip
        self.screen = ""
        threading.Thread(target=self._follow, daemon=True).start()

    def wait_for(self, pattern: str) -> None:
        """Wait until the screen has shown a pattern."""
        deadline = time.monotonic() + START
        while not re.search(pattern, self.screen):
            assert self.process.poll() is None, self.screen[-2000:]
            assert time.monotonic() < deadline, self.screen[-2000:]
            time.sleep(0.02)

    def hold(self, keys: str, seconds: float) -> None:
        """Type keys as if held down, the characters in turn; or none."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            os.write(self._master, keys.encode())
            time.sleep(REPEAT)

    def echoes(self) -> bool:
        """Return whether the terminal shows what is typed."""
        return bool(termios.tcgetattr(self._slave)[3] & termios.ECHO)

    def place(self) -> tuple[float, float]:
        """Return where the screen shows the base, x and y [m]."""
        x, y = re.findall(r"m/s at (-?[\d.]+) (-?[\d.]+)", self.screen[-4000:])[-1]
        return float(x), float(y)

    def time(self) -> float:
        """Return the simulated time that the screen shows [s]."""
        return float(re.findall(r"time +([\d.]+) s", self.screen[-4000:])[-1])

    def rest(self, seconds: float) -> None:
        """Press nothing for so many simulated seconds, which a busy machine draws out."""
        end = self.time() + seconds
        while self.time() < end:
            assert self.process.poll() is None, self.screen[-2000:]
            time.sleep(REPEAT)

    def press(self, key: str) -> None:
        """Press a key once."""
        os.write(self._master, key.encode())

    def end(self) -> dict[str, Any]:
        """Wait for the end, and return the result; the terminal is as it was."""
        out, _ = self.process.communicate(timeout=START)
        after = termios.tcgetattr(self._slave)
        assert self.process.returncode == 0, self.screen
        assert after == self.before
        found: dict[str, Any] = json.loads(out)
        return found

    def _follow(self) -> None:
        while True:
            try:
                text = os.read(self._master, 65536).decode(errors="replace")
            except OSError:
                return
            self.screen += text


def around(terminal: Terminal, seconds: float) -> None:
    """Drive around a square of 0.3 m with the keys of a ball, by what the screen shows."""
    corners = itertools.cycle([(0.35, 0.65), (0.65, 0.65), (0.65, 0.35), (0.35, 0.35)])
    goal = next(corners)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        x, y = (there - here for there, here in zip(goal, terminal.place(), strict=True))
        if max(abs(x), abs(y)) < 0.05:
            goal = next(corners)
        elif abs(x) > abs(y):
            terminal.press("i" if x > 0.0 else ",")
        else:
            terminal.press("j" if y > 0.0 else "l")
        time.sleep(REPEAT)


def drive(
    robot: str, engine: str, script: Sequence[tuple[str, float]], folder: Path, *words: str
) -> dict[str, Any]:
    """Drive a robot by held keys, each for so many seconds, and return the result.

    "" is silence, "around" a drive by what the screen shows.
    """
    terminal = Terminal(
        "teleop", robot, "--engine", engine, "--out", str(folder), "--json", *words
    )  # fmt: skip
    terminal.wait_for(r"time +0\.[1-9] s")
    for keys, seconds in script:
        if keys == "around":
            around(terminal, seconds)
        elif keys:
            terminal.hold(keys, seconds)
        else:
            terminal.rest(seconds)
    terminal.press("q")
    return terminal.end()

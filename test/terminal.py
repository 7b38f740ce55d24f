"""Type on `accord teleop` through a pseudo-terminal, as a person does."""

from __future__ import annotations

import fcntl
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
        )  # fmt: skip
        self.screen = ""
        threading.Thread(target=self._follow, daemon=True).start()

    def wait_for(self, pattern: str) -> None:
        """Wait until the screen has shown a pattern."""
        deadline = time.monotonic() + START
        while not re.search(pattern, self.screen):
            assert self.process.poll() is None, self.screen
            assert time.monotonic() < deadline, self.screen
            time.sleep(0.02)

    def hold(self, keys: str, seconds: float) -> None:
        """Hold keys down, the characters in turn; or none."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            os.write(self._master, keys.encode())
            time.sleep(REPEAT)

    def echoes(self) -> bool:
        """Return whether the terminal shows what is typed."""
        return bool(termios.tcgetattr(self._slave)[3] & termios.ECHO)

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


def drive(
    robot: str, engine: str, script: Sequence[tuple[str, float]], folder: Path, *words: str
) -> dict[str, Any]:
    """Drive a robot by held keys, each for so many seconds; "" is silence. Return the result."""
    terminal = Terminal(
        "teleop", robot, "--engine", engine, "--out", str(folder), "--json", *words
    )  # fmt: skip
    terminal.wait_for(r"time +0\.[1-9] s")
    for keys, seconds in script:
        terminal.hold(keys, seconds)
    terminal.press("q")
    return terminal.end()

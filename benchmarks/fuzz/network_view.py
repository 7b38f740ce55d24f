"""A view in a process of its own, and what is wrong with it."""

from __future__ import annotations

import os
import pwd
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from view_client import ask, controls, page_at
from websockets.exceptions import ConnectionClosed

FOLDERS = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "MPLCONFIGDIR")
PATIENCE = 300.0  # s of wall time: compiling and a browser's start on a busy machine


class View:
    """A view that runs in a process of its own, as nobody where this user is root."""

    def __init__(self, words: str, folder: Path) -> None:
        self.errors, self.left, who = folder / "err", "", {}
        if not os.getuid():
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        cache = {"NUMBA_CACHE_DIR": str(folder)}
        command = (sys.executable, "-m", "roboaccord.cli.start", *words.split(), "--port", "18700")
        with self.errors.open("w") as file:
            self.process = subprocess.Popen(
                command, stdout=file, stderr=file, cwd=folder,
                env=cache | os.environ | dict.fromkeys(FOLDERS, str(folder)), **who,
            )  # fmt: skip
        end = time.monotonic() + PATIENCE
        while not (found := re.search(r"http://[\d.]+:(\d+)", self.errors.read_text())):
            if time.monotonic() > end or self.process.poll() is not None:
                self.process.kill()
                raise RuntimeError(f"{words} does not start: {self.errors.read_text()}")
            time.sleep(0.1)
        self.url, self.port = found[0], int(found[1])
        self.host = f"Host: 127.0.0.1:{self.port}"
        with page_at(self.url):  # a simulation starts
            time.sleep(1.0)

    def measure(self) -> tuple[int, int]:
        """Return the lines printed so far, and the memory taken [KB]."""
        lines = self.errors.read_text(errors="replace").count("\n")
        if self.process.poll() is not None:
            return lines, 0
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return lines, int(status.partition("VmHWM:")[2].split()[0])

    def wrong(self) -> str:
        """Return what is wrong with the view and was not before, "" if nothing is."""
        if self.process.poll() is not None:
            return f"it ended: {self.errors.read_text(errors='replace')[-99:]!r}"
        try:
            if b" 200 " not in ask(self.port, self.host)[:20]:
                return "it serves no page"
            with page_at(self.url) as page:
                found = [c for c in controls(page).values() if is_bad(c)]
        except (OSError, ConnectionClosed) as error:
            return f"it serves no page: {error!r:.60}"
        left = ", ".join(f"{c['label']} is {c['value']!r:.30}" for c in found)
        new, self.left = "" if left == self.left else left, left
        return new

    def close(self) -> str:
        """End it by Ctrl-C; return what is wrong with that."""
        self.process.send_signal(signal.SIGINT)
        try:
            status = self.process.wait(30.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        return f"exit status {status}" if status else ""


def is_bad(control: dict[str, Any]) -> bool:
    """Return whether a control has a value that its page would not let it have."""
    value, low, high = control["value"], control.get("min"), control.get("max")
    if isinstance(value, str):
        return len(value) > 200 or value not in control.get("options", [value])
    if not isinstance(value, list):
        value, low, high = [value], [low], [high]
    bounds = zip(value, low or [None] * 3, high or [None] * 3, strict=False)
    return not all(
        isinstance(x, int | float) and (-1e6 if a is None else a) <= x <= (1e6 if b is None else b)
        for x, a, b in bounds
    )

"""Sessions of processes: what is left of one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def processes_of(session: int) -> list[str]:
    """Return the command lines of the processes of a session that run."""
    commands = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, its_session = stat.read_text().rpartition(")")[2].split()[:4]
            command = stat.with_name("cmdline").read_text().replace("\0", " ")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(its_session) == session and state != "Z":
            commands.append(command)
    return commands


def in_time(condition: Callable[[], bool], within: float = 60.0) -> bool:
    """Wait until a condition holds; return whether it does."""
    deadline = time.monotonic() + within
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.1)
    return condition()

"""Python processes that are started: nothing in the folder where one stands is code to them.

By `-c` and `-m` Python looks there first for every module, for its own library's, too.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SAFE = "PYTHONSAFEPATH"  # environment variable: what `-P` is on the command line
_lock = threading.Lock()
_inside = list[str | None]()  # of each `safe_path` that lasts: the variable as it was before


def python(*words: str) -> list[str]:
    """Return the command line of a Python process, `-m` or `-c` and what follows."""
    return [sys.executable, "-P", *words]


@contextmanager
def safe_path() -> Iterator[None]:
    """Let libraries start Python processes meanwhile, as pools of workers are started."""
    with _lock:
        _inside.append(os.environ.get(SAFE))
        os.environ[SAFE] = "1"
    try:
        yield
    finally:
        with _lock:  # the first one that began may end first
            if (before := _inside.pop()) is None:
                del os.environ[SAFE]
            else:
                os.environ[SAFE] = before

"""A job that ends well or not, for another process; it imports nothing that takes long."""

from __future__ import annotations

import os
import signal
import time


def end(how: str) -> str:
    """End in the way asked, or return what was."""
    if how == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "error":
        raise ValueError("no such thing")
    time.sleep({"hang": 60.0}.get(how, 0.0))
    return how

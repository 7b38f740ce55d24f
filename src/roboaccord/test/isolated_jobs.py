"""A job that ends well or not, for another process; it imports nothing that takes long."""

from __future__ import annotations

import os
import signal
import time

from roboaccord.numerics.isolation import recording_output


def end(how: str) -> str:
    """End as asked, or return what was."""
    if how == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "error":
        raise ValueError("no such thing")
    if how == "abort":
        print("assertion failed", flush=True)
        os.abort()
    while how == "busy":
        pass
    if how == "words":
        with recording_output() as lines:
            os.system("echo of another program; echo of it >&2")
            print("\033[31mof this one\033[0m")
        return "; ".join(lines)
    time.sleep({"hang": 600.0}.get(how, 0.0))
    return how

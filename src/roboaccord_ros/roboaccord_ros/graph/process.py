"""End of a node's process: its exit status, its one line on stderr, and what may hang.

GRACE and SAID_* may be tuned. Exit statuses (2, 130) and the line stay, for launches and `accord`
go by them. How a process ends is worked out against DDS, which may hang: test_failures, test_shell.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from rclpy.exceptions import InvalidParameterTypeException, ParameterException
from roboaccord.numerics import seen_compiling
from roboaccord.scenario import shows_tracebacks

from roboaccord_ros.graph.spinning import Run

STATUS_ERROR = 2
STATUS_INTERRUPTED = 130
OF_ROS = (InvalidParameterTypeException, ParameterException, RuntimeError)
PARENT = "ROBOACCORD_PARENT"  # environment variable with the process that a node ends with
GRACE = 5  # s that ROS may take to end, once everything is reported
SAID_AFTER, SAID_EVERY = 2.0, 10.0  # s for which kernels compile before, and between, its lines


def complain(line: str, error: Exception) -> int:
    """Write an error in a line, below its traceback where that is asked for; return the status."""
    if shows_tracebacks():
        traceback.print_exception(error)
    sys.stderr.write(f"error: {line}\n")
    return STATUS_ERROR


def leave(status: int) -> NoReturn:
    """End this process, which has shut down ROS, without what the C library does at an exit.

    Among the destructors of static objects DDS hangs for seconds, or for ever.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def conclude(run: Run, report: Callable[[], None]) -> int:
    """Report how a run ended while all is well, and return the exit status."""
    if run.error:
        return complain(str(run.error), run.error)
    report()
    sys.stdout.flush()
    return 0


def end_soon(*, failed: bool) -> None:
    """End this process within `GRACE`, though DDS hangs as a node is destroyed, as it may.

    Native code that spins is ended, too. The exit status is then that of `SIGALRM`, which means
    that all work was done; or 1 after a failure.
    """
    if failed:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        faulthandler.dump_traceback_later(GRACE, exit=True, file=nowhere)
    else:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(GRACE)


def look_around(parent: int, run: Run) -> None:
    """Let Python see signals while nothing comes, and end with the runner that asked for it."""
    runner = os.environ.get(PARENT)
    if runner and (os.getppid() != parent or not Path("/proc", runner).exists()):
        run.interrupt()


def tell_of_compiling(name: str) -> None:
    """Say on stderr that kernels compile, from time to time; loading them is faster."""
    spent, due = 0.0, SAID_AFTER
    while True:
        time.sleep(0.1)
        spent += 0.1 * seen_compiling()
        if spent >= due:
            what = "compiling kernels, once on this machine"
            sys.stderr.write(f"{name}: {what}: {spent:.0f} s so far ...\n")
            sys.stderr.flush()
            due = spent + SAID_EVERY

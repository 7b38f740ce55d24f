"""How a node's process ends: its exit status, its one line on stderr, and how hangs are cut short.

DDS, the middleware of ROS, can hang when a node is destroyed or a process exits. So a process that
is done ends itself after GRACE, and leaves without the destructors of the C library (test_failures,
test_shell).

Exit statuses (2, 130) and the form of the line stay, for launches and `accord` read them. GRACE
may be tuned.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from rclpy.exceptions import InvalidParameterTypeException, ParameterException
from roboaccord.scenario import shows_tracebacks

from roboaccord_ros.graph.spinning import Run

STATUS_ERROR = 2  # the run failed
STATUS_INTERRUPTED = 130  # 128 + SIGINT, as shells have it, and SIGINT is 2
# Errors of ROS that are reported in one line.
ROS_ERRORS = (InvalidParameterTypeException, ParameterException, RuntimeError)
PARENT = "ROBOACCORD_PARENT"  # environment variable; id of the process with which a node ends
# s: time in which ROS must end, once everything is reported. All work is done by then, so any from
# 1 to 10 would do: launches wait for 5 (launch/processes.py).
GRACE = 5


def report_error(line: str, error: Exception) -> int:
    """Write an error in a line, after its traceback if that is wanted; return the exit status."""
    if shows_tracebacks():
        traceback.print_exception(error)
    sys.stderr.write(f"error: {line}\n")
    return STATUS_ERROR


def exit_process(status: int) -> NoReturn:
    """End this process, which has shut down ROS, without destructors of static objects.

    Among them DDS hangs for seconds, or for ever.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def report_outcome(run: Run, report: Callable[[], None]) -> int:
    """Report the error of a run or its result, and return the exit status."""
    if run.error:
        return report_error(str(run.error), run.error)
    report()
    sys.stdout.flush()
    return 0


def end_soon(*, failed: bool) -> None:
    """End this process after GRACE, even if DDS hangs in native code as a node is destroyed.

    The exit status is then that of SIGALRM, which means that all work was done, or 1 after a
    failure.
    """
    if failed:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        faulthandler.dump_traceback_later(GRACE, exit=True, file=nowhere)
    else:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(GRACE)


def end_with_runner(parent: int, run: Run) -> None:
    """End the run if the process that started this one has ended; PARENT has its id.

    It is called often, which also lets Python see signals.
    """
    runner = os.environ.get(PARENT)
    if runner and (os.getppid() != parent or not Path("/proc", runner).exists()):
        run.interrupt()

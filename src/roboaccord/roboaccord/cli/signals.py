"""Signals that end a command: state that the modules of this folder share, and printed lines.

A command of `accord` runs in a child of a supervising process (start.py). Both import this module,
before any library: only the standard library may be imported here. RECEIVED lists the signals that
are ending this process. A command whose regular end is Ctrl-C, such as a page that stays open,
calls `go_on`, which also tells the supervising process that the command goes on. GRACE may be
raised; GRACE in roboaccord_ros/run/processes.py must stay below it.
"""

from __future__ import annotations

import os
import signal

WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}  # printed at the end
# Environment variable with the ids of the supervising process and of its child.
SUPERVISED = "ROBOACCORD_MINDED"
GRACE = 2.0  # s from a signal until a process is killed: enough to close a bag on a slow disk
GOES_ON = signal.SIGUSR1  # tells the supervising process that Ctrl-C did not end the command
RECEIVED = list[signal.Signals]()  # in the order of arrival
NO_PROCESS = "no more processes can be started: end some, or raise the limit with ulimit -u"


def go_on() -> None:
    """Forget a Ctrl-C that was the regular end of something; the process goes on."""
    RECEIVED.clear()
    if os.environ.get(SUPERVISED) == f"{os.getppid()} {os.getpid()}":
        os.kill(os.getppid(), GOES_ON)

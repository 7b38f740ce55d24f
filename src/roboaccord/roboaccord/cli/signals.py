"""How a command ends by a signal, and how it notifies the process that watches over it.

GRACE may be raised: a command may take so long to close its bags after a signal; GRACE in
roboaccord_ros/run/processes.py stays below it. WORDS and NO_PROCESS, lines that users see, may be
reworded. MINDED, read by start.py, too, stays. Only the standard library may be imported, for this
comes before all else.
"""

from __future__ import annotations

import os
import signal

WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
MINDED = "ROBOACCORD_MINDED"  # environment variable: ids of the supervising and the working process
GRACE = 2.0  # s from a signal until a process is killed: enough to close a bag on a slow disk
TAKEN = signal.SIGUSR1
RECEIVED = list[signal.Signals]()  # signals that end this process, in their order


def go_on() -> None:
    """Report that Ctrl-C was a regular end, after which work goes on."""
    RECEIVED.clear()
    if os.environ.get(MINDED) == f"{os.getppid()} {os.getpid()}":
        os.kill(os.getppid(), TAKEN)


NO_PROCESS = "no more processes can be started: end some, or raise the limit with ulimit -u"

"""Runs a command that ends together with its parent.

    python with_parent.py SIGNAL PARENT COMMAND...

`ros2 launch` leaves its processes behind if it is terminated or killed. A node of the workspace
replaces this process (exec), and gets SIGNAL when the parent ends. Any other command becomes a
child of this process, and is killed when the parent ends. The child has a process group of its own,
so that Ctrl-C in the terminal does not reach it at once: the nodes need it until they have ended,
and while Gazebo or ROS loads it would miss the signal, or end as if it had died.

It runs with `-S`, so only the standard library can be imported. launch/planner.py and
launch/processes.py rely on the order of arguments. test_launch checks that no process is left.
NODES_END, GRACE and POLL may be tuned.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>; the setting survives exec
MODULE = "roboaccord_ros.run.module"  # by which nodes of the workspace are recognised
# s: longest wait for the nodes to end before a child is ended, twice what a node is given after
# SIGINT (run/processes.GRACE).
NODES_END = 3.0
# s: time in which a child must end after SIGTERM. By choice: the nodes have ended by then, so there
# is nothing left that takes time.
GRACE = 1.0
POLL = 0.05  # s between checks, no delay for a person
# Signals that this process waits for.
EXPECTED = {signal.SIGINT, signal.SIGTERM, signal.SIGCHLD}


def signal_at_the_end_of_the_parent(number: int) -> None:
    """Let this process get a signal when its parent ends.

    `numerics.machine.end_with` does so in the core, which `python -S` does not find.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)


def become(command: list[str], number: int, parent: int) -> None:
    """Execute a command in this process, which gets a signal when its parent ends."""
    signal_at_the_end_of_the_parent(number)
    if os.getppid() == parent:  # else the parent has ended already
        os.execvp(command[0], command)
    os._exit(1)


def run(command: list[str], parent: int) -> int:
    """Run a command as a child until it ends, or this process is asked to end; return a status."""
    signal.pthread_sigmask(signal.SIG_BLOCK, EXPECTED)
    own_id = os.getpid()
    child = os.fork()  # 0 in the child
    if not child:
        os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        become(command, signal.SIGKILL, own_id)
    while signal.sigwait(EXPECTED) == signal.SIGCHLD:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
    deadline = time.monotonic() + NODES_END
    while time.monotonic() < deadline and _nodes_of(parent):
        time.sleep(POLL)
    with suppress(ProcessLookupError, ChildProcessError):  # nothing is left
        for number in (signal.SIGTERM, signal.SIGKILL):
            os.killpg(child, number)
            deadline = time.monotonic() + GRACE
            while time.monotonic() < deadline and not os.waitpid(child, os.WNOHANG)[0]:
                time.sleep(POLL)
    return 0


def _nodes_of(parent: int) -> bool:
    """Return whether nodes of the workspace are children of the same parent."""
    with suppress(OSError):
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        return any(MODULE in Path(f"/proc/{child}/cmdline").read_text() for child in children)
    return False


if __name__ == "__main__":
    number, parent, *command = sys.argv[1:]
    if MODULE in command:
        become(command, int(number), int(parent))
    signal_at_the_end_of_the_parent(int(number))
    sys.exit(run(command, int(parent)))

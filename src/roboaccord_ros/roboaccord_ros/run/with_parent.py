"""Run a command that ends with its parent.

NODES_END, SOON and POLL may be tuned: how long a helper outlives the nodes, and how long it has to
end. The order of arguments is that of launch/planner.py and launch/processes.py: change all.
PR_SET_PDEATHSIG is fixed by Linux. Only the standard library may be imported: it runs with `-S`.
test_launch checks that no process is left.

python with_parent.py SIGNAL PARENT COMMAND...

`ros2 launch` leaves its processes behind when it is terminated or killed. A node of the workspace
takes the place of this process, and gets SIGNAL. Any other command is a child, and is killed. Its
process group is its own, for Ctrl-C is to reach it after the nodes, which need it; and as it loads
Gazebo or ROS it would lose the signal, or end as one that has died.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>; it survives exec
MODULE = "roboaccord_ros.run.module"
NODES_END, SOON, POLL = 3.0, 1.0, 0.05  # s
WAITED_FOR = {signal.SIGINT, signal.SIGTERM, signal.SIGCHLD}


def signal_at_the_end_of_the_parent(number: int) -> None:
    """Let this process get a signal when its parent ends.

    `numerics.machine.end_with` does so in the core, which `python -S` does not find.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)


def become(command: list[str], number: int, parent: int) -> None:
    """Execute a command in this process, which gets a signal when its parent ends."""
    signal_at_the_end_of_the_parent(number)
    if os.getppid() == parent:  # else it has ended already
        os.execvp(command[0], command)
    os._exit(1)


def run(command: list[str], parent: int) -> int:
    """Run a command as a child until it ends, or this process is asked to end; return a status."""
    signal.pthread_sigmask(signal.SIG_BLOCK, WAITED_FOR)
    me, child = os.getpid(), os.fork()
    if not child:
        os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        become(command, signal.SIGKILL, me)
    while signal.sigwait(WAITED_FOR) == signal.SIGCHLD:
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
            deadline = time.monotonic() + SOON
            while time.monotonic() < deadline and not os.waitpid(child, os.WNOHANG)[0]:
                time.sleep(POLL)
    return 0


def _nodes_of(parent: int) -> bool:
    """Return whether nodes of the workspace run beside this process."""
    with suppress(OSError):
        beside = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        return any(MODULE in Path(f"/proc/{one}/cmdline").read_text() for one in beside)
    return False


if __name__ == "__main__":
    ends_by, started_by, *what = sys.argv[1:]
    if MODULE in what:
        become(what, int(ends_by), int(started_by))
    signal_at_the_end_of_the_parent(int(ends_by))
    sys.exit(run(what, int(started_by)))

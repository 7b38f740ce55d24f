"""Run a command that gets a signal when its parent ends, on some of the cores.

python tied.py SIGNAL PARENT CORES COMMAND..., where CORES is 0,1 say; all of them if empty.

`ros2 launch` leaves its processes behind when it is terminated or killed. Ctrl-C shows no traceback
as Python or Ruby starts: `run/module.py` and `gazebo/gz_interrupt.rb` take it soon.
"""

from __future__ import annotations

import signal
import sys

PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>; it survives exec
TAKE_IT_SOON = {"roboaccord_ros.run.module", "gz"}

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN if TAKE_IT_SOON & {*sys.argv} else signal.SIG_DFL)
    import ctypes
    import os

    number, parent, cores, *command = sys.argv[1:]
    if cores:
        os.sched_setaffinity(0, map(int, cores.split(",")))
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(number))
    if os.getppid() == int(parent):  # else it has ended already
        os.execvp(command[0], command)

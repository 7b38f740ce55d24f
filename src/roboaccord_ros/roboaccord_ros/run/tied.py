"""Run a command that gets a signal when its parent ends: python tied.py SIGNAL PARENT COMMAND...

`ros2 launch` leaves its processes behind when it is terminated or killed.
"""

from __future__ import annotations

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>; it survives exec

if __name__ == "__main__":
    number, parent, *command = sys.argv[1:]
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(number))
    if os.getppid() == int(parent):  # else it has ended already
        os.execvp(command[0], command)

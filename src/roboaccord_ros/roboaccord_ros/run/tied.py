"""Run a command that is terminated when its parent ends: python tied.py COMMAND ARGUMENT...

`ros2 launch` leaves its processes behind when it is terminated or killed.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>; it survives exec

if __name__ == "__main__":
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    os.execvp(sys.argv[1], sys.argv[1:])

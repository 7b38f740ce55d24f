"""Runs a Python module so that Ctrl-C ends it without a traceback while its libraries load.

    python -m roboaccord_ros.run.module MODULE...

Libraries take seconds to load before a node handles signals itself. The status after Ctrl-C is 0,
or `ros2 launch` would report that the node died. launch/processes.py starts nodes by the name of
this module, and with_parent.py recognises them by it.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys

if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: os._exit(0))  # else `ros2 launch` calls it dead
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # blocked by tie()
    runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)

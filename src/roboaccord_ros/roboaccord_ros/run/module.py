"""Run a module that Ctrl-C ends without a traceback: python -m roboaccord_ros.run.module MODULE...

What Ctrl-C does until a node handles signals itself may be changed; the status must be 0, or `ros2
launch` reports that the node died. The name of this module stays: launch/processes.py starts nodes
by it, and with_parent.py recognises them by it.

Libraries load for seconds before a node can mind signals itself.
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

"""Run a module that Ctrl-C ends without a traceback: python -m roboaccord_ros.run.module MODULE...

Its name stays: launch/processes.py starts nodes by it, and with_parent.py knows them by it
(MODULE). What may be changed is what a node does with Ctrl-C until it handles signals itself
(graph/shell.py): the status 0 is what `ros2 launch` takes for a good end.

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

"""Run a function on a stranger's file in a process of its own, with limits on time and memory.

Files such as xacro can run code, and libraries that read files can crash or take all memory.
`run_isolated` starts a process that sets its limits first and then calls the function (`serve`); it
cannot write files, and it is killed with all that it has started. Arguments and results are JSON,
so that no code comes back: do not exchange pickles here (test_fence).

SECONDS, WALL_PER_CPU and LARGEST may be raised for files larger than the 69 public ones from which
they were set.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import Any

from roboaccord.contract.errors import AccordError, visible
from roboaccord.numerics.machine import end_with, python

# s: usual limit of processor time, seven times that of the slowest xacro of 69 public ones (3 s).
SECONDS = 20
# Limit of wall time over that of processor time, for a machine where 30 processes share a core.
WALL_PER_CPU = 30.0
LARGEST = 100_000_000  # bytes: longest result, ten times the largest file (urdf_file.py)
# Limits of the process: processor time [s], address space, written files and core dumps [bytes].
LIMITS = resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE
# Environment that allows one thread: others would take address space, 0.1 GB each in OpenBLAS.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}


def run_isolated(function: Callable[..., Any], *arguments: Any, seconds: int, memory: int) -> Any:
    """Return the result of a module's function, called in a process of its own.

    The process cannot write files, its output is discarded, and all that it has started is ended.
    It finds modules as this process does, but not in the current folder.

    Args:
        function: of a module, found there by its name.
        arguments: for the function, as JSON can hold them.
        seconds: limit of processor time [s].
        memory: limit of address space [bytes].

    Raises:
        AccordError: as the function raises it, or if it exceeds a limit or crashes.
    """
    job = {"function": [function.__module__, function.__name__], "arguments": arguments}
    limits = {"limits": [seconds, memory, 0, 0], "parent": os.getpid()}
    folders = [folder for folder in sys.path if Path(folder).resolve() != Path.cwd()]
    search_path = {"PYTHONPATH": os.pathsep.join([*folders, str(Path(__file__).parents[2])])}
    environment = {**os.environ, **ONE_THREAD, **search_path}
    with TemporaryFile("w+") as job_file:
        json.dump({**job, **limits}, job_file)
        job_file.seek(0)
        process = subprocess.Popen(
            python("-m", __name__),
            env=environment,
            stdin=job_file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    timer = Timer(WALL_PER_CPU * seconds, _kill_group, [process.pid])
    try:
        timer.start()
        data = process.stdout.read(LARGEST + 1) if process.stdout else b""
    finally:
        timer.cancel()
        _kill_group(process.pid)
        process.communicate()
    answer: Any = None
    with suppress(ValueError, RecursionError):
        answer = json.loads(data)
    match answer:  # checked, for a hostile file may have taken the process over
        case {"error": error}:
            raise AccordError(visible(str(error)))
        case {"value": value}:
            return value
    raise AccordError(f"reading it took more than {seconds} s or {memory >> 20} MB, or crashed")


def _kill_group(group: int) -> None:
    """Kill the processes of a group."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def serve(function: list[str], arguments: list[Any], limits: list[int], parent: int) -> None:
    """Call a function under limits and print its result as JSON.

    It runs in the process that `run_isolated` has started.

    Args:
        function: names of module and function.
        arguments: for the function.
        limits: in the order of LIMITS.
        parent: number of the process with which this one ends.
    """
    end_with(parent)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not be part of the result
    for kind, limit in zip(LIMITS, limits, strict=True):
        hard = resource.getrlimit(kind)[1]
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (limit, limit))
    try:
        answer = {"value": getattr(import_module(function[0]), function[1])(*arguments)}
    except AccordError as error:
        answer = {"error": str(error)}
    with answers:
        json.dump(answer, answers)


if __name__ == "__main__":
    serve(**json.load(sys.stdin))

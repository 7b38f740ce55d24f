"""Call a function on a stranger's file in a process of its own, with limits for all it starts.

SECONDS, WAITING and LARGEST may be raised for larger files than the 69 public ones that they were
set by. LIMITS and the order in `serve` (limits first, then the function) stay: they end a hostile
file (test_fence). Arguments and answers are JSON so that no code comes back: do not exchange
pickles here.
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

SECONDS = 20  # of processor time; the largest xacro of 69 public ones takes 3
WAITING = 30.0  # times SECONDS of wall time, for a busy machine
LARGEST = 100_000_000  # bytes of an answer
LIMITS = resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE
# Without these, threads that are not needed take address space, 0.1 GB each for OpenBLAS.
ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}


def apart(function: Callable[..., Any], *arguments: Any, seconds: int, memory: int) -> Any:
    """Return the result of a module's function; arguments and result are JSON, never code.

    Its process cannot write files, its output is discarded, and it ends with all that it has
    started.

    Args:
        function, arguments: go to the other process, as does the search path of modules without
            the current folder.
        seconds: of processor time [s].
        memory: address space [bytes].

    Raises:
        AccordError: as the function raises it, or if it takes too much, or crashes.
    """
    job = {"function": [function.__module__, function.__name__], "arguments": arguments}
    limits = {"limits": [seconds, memory, 0, 0], "parent": os.getpid()}
    folders = [folder for folder in sys.path if Path(folder).resolve() != Path.cwd()]
    search = {"PYTHONPATH": os.pathsep.join([*folders, str(Path(__file__).parents[2])])}
    with TemporaryFile("w+") as given:
        json.dump({**job, **limits}, given)
        given.seek(0)
        process = subprocess.Popen(
            python("-m", __name__), env={**os.environ, **ALONE, **search},
            stdin=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    late = Timer(WAITING * seconds, _end, [process.pid])
    try:
        late.start()
        data = process.stdout.read(LARGEST + 1) if process.stdout else b""
    finally:
        late.cancel()
        _end(process.pid)
        process.communicate()
    answer: Any = None
    with suppress(ValueError, RecursionError):
        answer = json.loads(data)
    match answer:  # whoever took the process over may have written it
        case {"error": error}:
            raise AccordError(visible(str(error)))
        case {"value": value}:
            return value
    most = f"{seconds} s or {memory >> 20} MB"
    raise AccordError(f"reading it took more than {most}, or crashed")


def _end(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def serve(function: list[str], arguments: list[Any], limits: list[int], parent: int) -> None:
    """Do the job of `apart`, in its process."""
    end_with(parent)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    for kind, most in zip(LIMITS, limits, strict=True):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
    try:
        answer = {"value": getattr(import_module(function[0]), function[1])(*arguments)}
    except AccordError as error:
        answer = {"error": str(error)}
    with answers:
        json.dump(answer, answers)


if __name__ == "__main__":
    serve(**json.load(sys.stdin))

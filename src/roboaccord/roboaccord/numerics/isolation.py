"""Jobs in processes of their own, so that a library that crashes or hangs affects one job only.

`accord parity`, for example, loads many robot files with several libraries. `isolated` starts
worker processes, sends them jobs, and yields the results. A job that crashes or exceeds a limit of
time yields a `Crash` with the lines that it printed, and its worker is replaced. Within a job,
`recording_output` returns what a library prints. Workers are started by spawn, without a user's
script as `__main__`, and killed with their parent, so that no process remains.
"""

from __future__ import annotations

import ctypes
import gc
import math
import os
import pickle
import re
import resource
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import ModuleType
from typing import IO, Any, TypeVar, TypeVarTuple

from roboaccord.numerics.machine import GARBAGE_THRESHOLD, cores, end_with, safe_path

Ts = TypeVarTuple("Ts")
R = TypeVar("R")

# [bytes] Largest part of a job's output that is read, some 25 pages. By choice: more than a person
# reads, and little memory if a job floods its output.
LARGEST_OUTPUT = 50_000
LONGEST_LINE = 500  # characters of a line that are read: six lines of a terminal
COLOUR_SEQUENCE = re.compile(r"\x1b\[[0-9;]*m")  # escape sequence that sets a colour in a terminal
_output_file = list[Path]()  # file to which this process prints; empty unless it is a worker


@dataclass(frozen=True)
class Crash:
    """Reason for which a job has no result.

    Args:
        reason: the job's error in one line, or how its process ended.
        late: whether the job reached a limit of time, perhaps because the machine is slow.
        words: lines that the job had printed.
    """

    reason: str
    late: bool = False
    words: tuple[str, ...] = ()


@dataclass
class _Worker:
    """A worker process.

    Args:
        process: process of the operating system.
        pipe: connection to it, for jobs and results.
        output: file to which it prints.
        job: index of its current job; -1 for none.
        deadline: deadline of the job, by `time.monotonic` [s].
    """

    process: BaseProcess
    pipe: Connection
    output: IO[bytes]
    job: int = -1
    deadline: float = 0.0


def isolated(
    function: Callable[[*Ts], R],
    jobs: Sequence[tuple[*Ts]],
    *,
    timeout: float,
    cpu: float = 0.0,
    workers: int | None = None,
) -> Iterator[tuple[int, R | Crash]]:
    """Yield the index and the result of each job as it ends; a `Crash` if it has no result.

    The output of jobs, also from C++, is not shown: `recording_output` returns it to a job, and a
    `Crash` contains it.

    Args:
        function: defined in a module, as are the types of its arguments, because all are pickled.
        jobs: arguments of the function for each job.
        timeout: wall time after which a job is killed [s].
        cpu: processor time after which a job is killed [s]; 0 for no limit.
        workers: number of processes; by default the number of cores.
    """
    waiting, busy = deque(range(len(jobs))), list[_Worker]()
    try:
        while waiting or busy:
            while waiting and len(busy) < min(workers or cores(), len(jobs)):
                busy.append(_start_worker(function, cpu))
                _send(busy[-1], waiting, jobs, timeout)
            remaining_time = max(0.0, min(worker.deadline for worker in busy) - time.monotonic())
            ready = wait([worker.pipe for worker in busy], remaining_time)
            # Each worker with an answer, or past its deadline, yields a result. Then it gets the
            # next job, or ends if it has crashed or no job is left.
            for worker in list(busy):
                has_answer = worker.pipe in ready
                if not has_answer and worker.deadline > time.monotonic():
                    continue
                job, result = worker.job, _receive_result(worker, timeout, cpu, late=not has_answer)
                is_usable = worker.process.is_alive() and not isinstance(result, Crash)
                if is_usable and waiting:
                    _send(worker, waiting, jobs, timeout)
                else:
                    busy.remove(worker)
                    _end_worker(worker)
                yield job, result
    finally:
        for worker in busy:
            _end_worker(worker)


@contextmanager
def recording_output() -> Iterator[list[str]]:
    """Record the lines that a worker prints in a `with` block, also from C++.

    The list that is yielded gets them at the end of the block.
    """
    lines = list[str]()
    start = _output_file[0].stat().st_size if _output_file else 0
    try:
        yield lines
    finally:
        if _output_file:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            ctypes.CDLL(None).fflush(None)
            lines += _lines(_output_file[0], start)


def _lines(output: Path, start: int = 0) -> tuple[str, ...]:
    """Return the different lines in the last LARGEST_OUTPUT bytes of a file, without colours.

    Args:
        output: path of the file.
        start: offset of the first byte that is read.
    """
    with output.open("rb") as file:
        file.seek(max(start, os.fstat(file.fileno()).st_size - LARGEST_OUTPUT))
        text = COLOUR_SEQUENCE.sub("", file.read().decode("utf-8", "replace"))
    lines = dict.fromkeys(line.strip() for line in text.splitlines())
    return tuple(line[:LONGEST_LINE] for line in lines if line)


def _start_worker(function: Callable[[*Ts], R], cpu: float) -> _Worker:
    """Return a new worker without a job."""
    context = get_context("spawn")
    own_end, worker_end = context.Pipe()
    output = NamedTemporaryFile()  # noqa: SIM115 (closed with the worker)
    arguments = worker_end, pickle.dumps(function), os.getpid(), output.name, cpu
    process = context.Process(target=_work, args=arguments, daemon=True)
    with _no_main(), safe_path():
        process.start()
    worker_end.close()
    return _Worker(process, own_end, output)


@contextmanager
def _no_main() -> Iterator[None]:
    """Prevent a new process from running a user's script again, in a `with` block.

    The script may lack the guard `if __name__ == "__main__"`.
    """
    main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _send(worker: _Worker, waiting: deque[int], jobs: Sequence[tuple[*Ts]], timeout: float) -> None:
    """Send a worker the next of the jobs that are waiting, by their indices."""
    worker.job, worker.deadline = waiting.popleft(), time.monotonic() + timeout
    worker.pipe.send(jobs[worker.job])


def _receive_result(worker: _Worker, timeout: float, cpu: float, *, late: bool) -> Any:
    """Return the result of a worker's job; a `Crash` if it is late or its process has ended."""
    if late:
        return Crash(f"no answer in {timeout:g} s", True, _lines(Path(worker.output.name)))
    try:
        return worker.pipe.recv()
    except (EOFError, ConnectionResetError):
        worker.process.join(5.0)
        code, words = worker.process.exitcode, _lines(Path(worker.output.name))
        if code == -signal.SIGXCPU:
            return Crash(f"no verdict in {cpu:g} s of processor time", True, words)
        how = f"signal {-code}" if code and code < 0 else code
        return Crash(f"its process ended with {how}", words=words)


def _end_worker(worker: _Worker) -> None:
    """Kill a worker and remove its output."""
    worker.pipe.close()
    if worker.process.is_alive():
        worker.process.kill()
    worker.process.join(5.0)
    worker.output.close()


def _work(pipe: Connection, pickled: bytes, parent: int, output: str, cpu: float) -> None:
    """Main function of a worker: do jobs until the pipe is closed.

    Args:
        pipe: for jobs and results.
        pickled: the function.
        parent: number of the parent process.
        output: path of the file to which it prints.
        cpu: processor time for a job [s]; 0 for no limit.
    """
    end_with(parent)
    gc.set_threshold(GARBAGE_THRESHOLD)
    function: Callable[..., Any] = pickle.loads(pickled)
    file = os.open(output, os.O_WRONLY | os.O_APPEND)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os.dup2(file, 1)
    os.dup2(file, 2)
    _output_file.append(Path(output))
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        os.ftruncate(file, 0)
        if cpu:
            _limit_processor_time(cpu)
        try:
            result = function(*job)
        except Exception as error:  # noqa: BLE001 - libraries raise what they like
            result = Crash(f"{type(error).__name__}: {error}".splitlines()[0])
        pipe.send(result)


def _limit_processor_time(cpu: float) -> None:
    """Limit the additional processor time of this process [s], at most to its hard limit."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = math.ceil(used.ru_utime + used.ru_stime + cpu)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]  # which stays
    soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))

"""Work in processes of its own, so that a library that crashes or hangs takes one job with it."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar, TypeVarTuple

from roboaccord.numerics.parallel import cores, end_with

Ts = TypeVarTuple("Ts")
R = TypeVar("R")


@dataclass(frozen=True)
class Crash:
    """Hold why a job has no result: its error in one line, or how its process ended.

    Late is one that was ended by the clock, which says nothing about the job.
    """

    reason: str
    late: bool = False


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    job: int = -1
    until: float = 0.0


def isolated(
    function: Callable[[*Ts], R],
    jobs: Sequence[tuple[*Ts]],
    *,
    timeout: float,
    workers: int | None = None,
) -> Iterator[tuple[int, R | Crash]]:
    """Yield the index and the result of each job, as they are done; a `Crash` where there is none.

    What the jobs print, also from C++, goes nowhere.

    Args:
        function: of a module, as are its arguments' types: both go to other processes.
        jobs: its arguments.
        timeout: after which a job is ended [s].
        workers: processes; as many as there are cores by default.
    """
    waiting, busy = deque(range(len(jobs))), list[_Worker]()
    try:
        while waiting or busy:
            while waiting and len(busy) < min(workers or cores(), len(jobs)):
                busy.append(_start(function))
                _give(busy[-1], waiting, jobs, timeout)
            rest = max(0.0, min(worker.until for worker in busy) - time.monotonic())
            ready = wait([worker.pipe for worker in busy], rest)
            for worker in list(busy):
                late = worker.until <= time.monotonic()
                if worker.pipe not in ready and not late:
                    continue
                job, result = worker.job, _take(worker, timeout, late=worker.pipe not in ready)
                alive = worker.process.is_alive() and not isinstance(result, Crash)
                if alive and waiting:
                    _give(worker, waiting, jobs, timeout)
                else:
                    busy.remove(worker)
                    _end(worker)
                yield job, result
    finally:
        for worker in busy:
            _end(worker)


def _start(function: Callable[[*Ts], R]) -> _Worker:
    context = get_context("spawn")
    mine, other = context.Pipe()
    process = context.Process(target=_serve, args=(other, function, os.getpid()), daemon=True)
    process.start()
    other.close()
    return _Worker(process, mine)


def _give(worker: _Worker, waiting: deque[int], jobs: Sequence[tuple[*Ts]], timeout: float) -> None:
    worker.job, worker.until = waiting.popleft(), time.monotonic() + timeout
    worker.pipe.send(jobs[worker.job])


def _take(worker: _Worker, timeout: float, *, late: bool) -> Any:
    if late:
        return Crash(f"no answer in {timeout:g} s", late=True)
    try:
        return worker.pipe.recv()
    except (EOFError, ConnectionResetError):
        worker.process.join(5.0)
        code = worker.process.exitcode
        return Crash(f"its process ended with {f'signal {-code}' if code and code < 0 else code}")


def _end(worker: _Worker) -> None:
    worker.pipe.close()
    if worker.process.is_alive():
        worker.process.kill()
    worker.process.join(5.0)


def _serve(pipe: Connection, function: Callable[[*Ts], R], parent: int) -> None:
    """Do jobs until the pipe is closed."""
    end_with(parent)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        try:
            result: R | Crash = function(*job)
        except Exception as error:  # noqa: BLE001 - libraries raise what they like
            result = Crash(f"{type(error).__name__}: {error}".splitlines()[0])
        pipe.send(result)

"""Work side by side: in processes, or in threads where kernels let go of the interpreter."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, TypeVar

T = TypeVar("T")


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_processes(
    function: Callable[..., T],
    arguments: Iterable[Sequence[Any]],
    *,
    workers: int | None = None,
    ordered: bool = True,
) -> Iterator[T]:
    """Yield what a function returns for each set of arguments.

    Args:
        function: of a module, as are its arguments' types: both go to other processes.
        arguments: one sequence for each call.
        workers: processes; as many as there are cores by default.
        ordered: whether the results come in the order of the arguments, or as they are done.
    """
    from joblib import Parallel, delayed

    kind = "generator" if ordered else "generator_unordered"
    calls = (delayed(function)(*given) for given in arguments)
    yield from Parallel(n_jobs=workers or cores(), return_as=kind)(calls)


def in_threads(
    jobs: Sequence[Callable[[], T]],
    *,
    threads: int | None = None,
    done: Callable[[T], None] | None = None,
) -> list[T]:
    """Return what jobs return, in their order; the kernels that they call run side by side.

    Args:
        jobs: to be done, which do not depend on each other.
        threads: as many as there are cores by default.
        done: called with each result as it comes.
    """
    with ThreadPoolExecutor(threads or cores()) as pool:
        waiting = [pool.submit(job) for job in jobs]
        try:
            for future in as_completed(waiting):
                result = future.result()
                if done:
                    done(result)
        finally:
            pool.shutdown(cancel_futures=True)
    return [future.result() for future in waiting]

"""Work in parallel, on the cores of this machine or on a Dask cluster.

The work is split into pieces: calls of one function, each with its own tuple of arguments, all
given to `run_pieces`. Within `on_cluster` the pieces go to the workers of the cluster, which refuse
them if their software is not the same; otherwise joblib runs them in processes or threads here.
Results must not depend on where, or in which order, pieces run (test_pieces, test_cluster).

Dask is used by its own client, not through joblib: joblib's backend spreads large arguments over
the workers, and loses those on a worker that dies, whereas a task that carries its arguments is
repeated on another worker.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import Context, ContextVar
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple, cast

from roboaccord.contract.errors import AccordError
from roboaccord.numerics.machine import cores, end_with, safe_path
from roboaccord.scenario.user_code import users_code

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
CONNECT_TIMEOUT = 10.0  # s to wait for a scheduler: far above the latency of a network

# Client of the Dask cluster that is used; set by `on_cluster`, None outside of it.
cluster: ContextVar[Client | None] = ContextVar("client", default=None)
# One piece at a time on a worker: engines do not support threads.
_one_piece_lock = threading.Lock()


def run_pieces(
    function: Callable[[*Ts], T],
    arguments: Iterable[tuple[*Ts]],
    *,
    threads: bool = False,
    workers: int | None = None,
    done: Callable[[T], None] | None = None,
) -> list[T]:
    """Return the results of a function for each tuple of arguments, in their order.

    The result does not depend on where the pieces run: on this machine, or inside `on_cluster` on
    its workers.

    Args:
        function: defined at the top of a module, like the types of its arguments: both are pickled.
        arguments: a tuple for each piece.
        threads: run the pieces in threads of this process instead of other processes; for compiled
            kernels, which release the interpreter's lock.
        workers: number of threads or processes; by default that of the cores.
        done: called with each result when it is there.

    Raises:
        AccordError: as `function` raises it, or if a worker dies.
    """
    calls = dict(enumerate(arguments))
    if not calls:
        return []
    if client := cluster.get():
        numbered_results = on_workers(client, function, calls, threads)
    else:
        workers = min(workers or cores(), len(calls))
        numbered_results = _run_here(function, calls, threads, workers)
    results = dict[int, T]()
    for i, result in numbered_results:
        results[i] = result
        if done:
            done(result)
    return [results[i] for i in calls]


@contextmanager
def on_cluster(address: str) -> Iterator[None]:
    """Run the pieces of the block, by `run_pieces`, on the workers of a Dask cluster.

    Args:
        address: of its scheduler, such as tcp://10.0.0.1:8786.

    Raises:
        AccordError: if Dask is not installed, or there is no scheduler.
    """
    try:
        from distributed import Client
    except ImportError:
        raise AccordError("a cluster needs Dask; run: pip install distributed") from None
    try:
        client = Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise AccordError(f"no Dask scheduler at {address}: {reason}") from None
    token = cluster.set(client)
    try:
        yield
    finally:
        cluster.reset(token)
        client.close()


def _run_here(
    function: Callable[[*Ts], T], calls: Mapping[int, tuple[*Ts]], threads: bool, workers: int
) -> Iterator[tuple[int, T]]:
    """Yield number and result of pieces that run on this machine, as they are done."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    # Worker processes end when their parent does. Linux ties them to the thread that started them:
    # only the main thread lives as long as the process.
    ends_with_parent = not threads and threading.current_thread() is threading.main_thread()
    options = {"initializer": end_with, "initargs": (os.getpid(),)} if ends_with_parent else {}
    backend = "threading" if threads else "loky"
    run = Parallel(n_jobs=workers, backend=backend, return_as="generator_unordered", **options)
    # The safe path is kept until the end: joblib may start new workers at any time.
    with nullcontext() if threads else safe_path():
        results = run(delayed(_numbered)(i, function, call) for i, call in calls.items())
        try:
            for result in results:  # noqa: UP028 - `yield from` would close it before `finally`
                yield result
        except TerminatedWorkerError:
            raise AccordError("a worker process was killed; was there enough memory?") from None
        finally:
            with warnings.catch_warnings(action="ignore"):  # about pieces that are abandoned
                results.close()


def _numbered(i: int, function: Callable[[*Ts], T], call: tuple[*Ts]) -> tuple[int, T]:
    """Return number and result of a piece, run in a context without a cluster.

    So the pieces that it starts itself stay on its machine.
    """
    with users_code():
        return i, Context().run(function, *call)


def on_workers(
    client: Client, function: Callable[[*Ts], T], calls: Mapping[int, tuple[*Ts]], threads: bool
) -> Iterator[tuple[int, T]]:
    """Yield number and result of pieces that run on the workers of a cluster."""
    from cloudpickle import dumps
    from distributed import as_completed

    from roboaccord.run.versions import software

    def submit(call: tuple[*Ts]) -> Future[object]:
        # Pickled here: Dask would search the arguments for its own objects.
        piece = dumps((function, call))
        return client.submit(_remote, piece, software(), threads, pure=False)

    futures = {submit(call): i for i, call in calls.items()}
    try:
        for future in as_completed(futures, loop=client.loop):
            yield futures[future], cast(T, future.result())
    except AccordError:
        raise
    except ImportError as error:
        lack = f"a worker of the cluster lacks a library that this machine has: {error}"
        raise AccordError(lack) from None
    except Exception as error:
        is_dask_error = type(error).__module__.startswith(("distributed", "concurrent.futures"))
        # The scheduler's message when workers have other code speaks of "deserialization".
        if not is_dask_error and "deserializ" not in str(error):
            raise
        reason = str(error).partition("\n")[0]
        raise AccordError(f"the cluster failed: {type(error).__name__}: {reason}") from None
    finally:
        client.cancel([*futures])


def _remote(piece: bytes, software_of_sender: Mapping[str, str], threads: bool) -> object:
    """Run a pickled piece on a worker, after checking that its software is the sender's.

    Args:
        piece: pickled function and tuple of arguments.
        software_of_sender: versions by name, as `software` returns them.
        threads: whether a worker may run several pieces at a time.
    """
    from cloudpickle import loads

    from roboaccord.run.versions import software

    installed = software()
    for name, needed in software_of_sender.items():
        version = installed.get(name)
        if version != needed:
            has = f"{name} {version}" if version else f"no {name}"
            raise AccordError(f"worker {os.uname().nodename} has {has}: {needed} is needed")
    with users_code(), nullcontext() if threads else _one_piece_lock:
        function, arguments = loads(piece)
        return function(*arguments)

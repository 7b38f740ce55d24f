"""Pieces of work side by side: on the cores of this machine, or on the workers of a Dask cluster.

A study calls `run_pieces` with a function of a module and plain arguments; it needs no change here.
CONNECTING may be tuned. Results must not depend on where or in which order pieces run, and a worker
with other software must refuse (test_pieces, test_cluster). Another place to run is a branch of
`_run` that yields number and result.

Dask is used by its own client. joblib's backend spreads large arguments over the workers, and
those on a worker that dies are lost; a task that brings its arguments is repeated elsewhere.
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


CONNECTING = 10.0  # s to wait for a scheduler: a network's time-out, not its latency

cluster: ContextVar[Client | None] = ContextVar("client", default=None)
"""Client of the Dask cluster in force; set by `on_cluster`."""
_one = threading.Lock()  # a worker may have several threads, which engines do not support


def run_pieces(
    function: Callable[[*Ts], T],
    arguments: Iterable[tuple[*Ts]],
    *,
    threads: bool = False,
    workers: int | None = None,
    done: Callable[[T], None] | None = None,
) -> list[T]:
    """Return what a function returns for each set of arguments, in their order.

    The result does not depend on where the pieces run: on this machine, or inside `on_cluster` on
    its workers.

    Args:
        function: at the top of a module, as are the types of its arguments: both are pickled.
        arguments: a tuple for each piece.
        threads: run them in threads of this process, for kernels that release the interpreter's
            lock, and not in other processes.
        workers: threads or processes here; as many as there are cores by default.
        done: called with each result as it comes.

    Raises:
        AccordError: as `function` raises it, or if a worker dies.
    """
    calls, results = dict(enumerate(arguments)), dict[int, T]()
    for i, result in _run(function, calls, threads, workers) if calls else ():
        results[i] = result
        if done:
            done(result)
    return [results[i] for i in calls]


def _run(
    function: Callable[[*Ts], T],
    calls: Mapping[int, tuple[*Ts]],
    threads: bool,
    workers: int | None,
) -> Iterator[tuple[int, T]]:
    if client := cluster.get():
        return on_workers(client, function, calls, threads)
    return _here(function, calls, threads, min(workers or cores(), len(calls)))


@contextmanager
def on_cluster(address: str) -> Iterator[None]:
    """Let `run_pieces` use the workers of a Dask cluster.

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
        client = Client(address, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise AccordError(f"no Dask scheduler at {address}: {reason}") from None
    token = cluster.set(client)
    try:
        yield
    finally:
        cluster.reset(token)
        client.close()


def _here(
    function: Callable[[*Ts], T], calls: Mapping[int, tuple[*Ts]], threads: bool, workers: int
) -> Iterator[tuple[int, T]]:
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    # Workers end with this process; tied to a thread, they would end with it, perhaps too soon.
    tied = not threads and threading.current_thread() is threading.main_thread()
    options = {"initializer": end_with, "initargs": (os.getpid(),)} if tied else {}
    backend = "threading" if threads else "loky"
    run = Parallel(n_jobs=workers, backend=backend, return_as="generator_unordered", **options)
    with nullcontext() if threads else safe_path():  # all the while: a worker may be replaced
        results = run(delayed(_numbered)(i, function, call) for i, call in calls.items())
        try:
            for result in results:  # noqa: UP028 - `yield from` would close it before `finally`
                yield result
        except TerminatedWorkerError:
            raise AccordError("a worker process was killed; was there enough memory?") from None
        finally:
            with warnings.catch_warnings(action="ignore"):  # of pieces that nobody waits for
                results.close()


def _numbered(i: int, function: Callable[[*Ts], T], call: tuple[*Ts]) -> tuple[int, T]:
    """Do a piece; pieces that it starts itself do not go to a cluster."""
    with users_code():
        return i, Context().run(function, *call)


def on_workers(
    client: Client, function: Callable[[*Ts], T], calls: Mapping[int, tuple[*Ts]], threads: bool
) -> Iterator[tuple[int, T]]:
    """Yield number and result of pieces as the workers of a cluster finish them."""
    from cloudpickle import dumps
    from distributed import as_completed

    from roboaccord.run.versions import software

    def submit(call: tuple[*Ts]) -> Future[object]:
        # Pickled here, for Dask looks for its own in arguments.
        piece = dumps((function, call))
        return client.submit(_remote, piece, software(), threads, pure=False)

    futures = {submit(call): i for i, call in calls.items()}
    try:
        for future in as_completed(futures, loop=client.loop):
            yield futures[future], cast(T, future.result())
    except AccordError:
        raise
    except ImportError as error:
        raise AccordError(
            f"a worker of the cluster lacks a library that this machine has: {error}"
        ) from None
    except Exception as error:
        foreign = type(error).__module__.startswith(("distributed", "concurrent.futures"))
        if not foreign and "deserializ" not in str(error):  # the scheduler's error for old code
            raise
        reason = str(error).partition("\n")[0]
        raise AccordError(f"the cluster failed: {type(error).__name__}: {reason}") from None
    finally:
        client.cancel([*futures])


def _remote(call: bytes, asked: Mapping[str, str], threads: bool) -> object:
    """Do a piece on a worker, if it has the same software."""
    from cloudpickle import loads

    from roboaccord.run.versions import software

    have = software()
    for name, there in asked.items():
        if there != (here := have.get(name)):
            has = f"{name} {here}" if here else f"no {name}"
            raise AccordError(f"worker {os.uname().nodename} has {has}: {there} is needed")
    with users_code(), nullcontext() if threads else _one:
        function, arguments = loads(call)
        return function(*arguments)

"""Decorator `kernel`: functions that numba compiles, or that run as plain Python without numba.

A kernel is compiled when it is first called; its machine code is cached on disk (jit_cache.py). Any
module may define kernels: loops over numbers and arrays that would be slow in Python. They must be
correct without numba as well, because a ROS machine with only the packages of rosdep lacks it
(test_interpreted). Importing kernels must not import numba, which takes seconds: only the first
call does (test_start).
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from roboaccord.numerics.machine import check_address_space

if TYPE_CHECKING:
    from numba.core.event import Event
    from numba.core.types import Type
    from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")

DISABLED = "NUMBA_DISABLE_JIT"  # environment variable


def is_disabled() -> bool:
    """Return whether kernels are to be interpreted by processes that start from now on."""
    return os.environ.get(DISABLED, "0") not in ("", "0")


HAS_NUMBA = importlib.util.find_spec("numba") is not None
# Whether this process compiles kernels; otherwise it interprets them.
COMPILES = HAS_NUMBA and not is_disabled()

# Options of numba. Without fastmath, because freshly compiled and cached code would round
# differently, and the same run have two hashes. With error_model "numpy" a division by 0 gives
# infinity or NaN. With nogil other threads run while a kernel does.
OPTIONS: Mapping[str, str | bool] = {"error_model": "numpy", "nogil": True}

# s: compiling time before the first line about it, and between lines. A person wonders after 2 s,
# and lines every 10 s show that it goes on.
FIRST_LINE, LINE_PERIOD = 2.0, 10.0

_LOCK = threading.RLock()  # numba is imported, and dispatchers are made, by one thread at a time


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that is compiled at its first call, with its machine code cached on disk.

    It is the decorator of kernels. If numba is missing or disabled, it returns the function itself.
    """
    return Kernel(function) if COMPILES else function


def for_kernels(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the form in which kernels access its elements fastest.

    Compiled kernels take the array itself, interpreted ones a memoryview. Elements of the latter
    are Python's numbers, which raise ZeroDivisionError.
    """
    return array if COMPILES else memoryview(array)  # type: ignore[return-value,arg-type]


class Kernel(Generic[P, R]):
    """A function that numba compiles when it is first called, from Python or another kernel."""

    is_kernel = True

    def __init__(self, function: Callable[P, R]) -> None:
        if not isinstance(function, FunctionType):
            raise TypeError(f"{function!r} is not a function of Python's own")
        self.function = function
        self._dispatcher: Callable[P, R] | None = None
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the compiled function."""
        result: R = (self._dispatcher or self.dispatcher)(*args, **kwargs)
        return result

    def __reduce__(self) -> str:
        """Return the name by which it is pickled, as functions are."""
        return self.function.__qualname__

    @property
    def dispatcher(self) -> Callable[P, R]:
        """Numba's dispatcher of the function."""
        with _LOCK:
            if self._dispatcher is None:
                check_address_space()
                from roboaccord.numerics.jit_cache import make_dispatcher

                self._dispatcher = make_dispatcher(self.function, OPTIONS)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Type:
        """Type of the kernel for numba where another kernel calls it."""
        return self.dispatcher._numba_type_  # type: ignore[no-any-return,attr-defined]


def is_compiling() -> bool:
    """Return whether numba is compiling a kernel now, or loading one from its cache."""
    return COMPILES and _compilations().count > 0


def seen_compiling() -> bool:
    """Return `is_compiling`, but False while numba is not yet imported completely.

    It is for a thread that must not interfere with another thread's import of numba.
    """
    is_numba_loaded = hasattr(sys.modules.get("roboaccord.numerics.jit_cache"), "KernelCache")
    return is_numba_loaded and is_compiling()


def report_compiling(name: str, stopped: threading.Event) -> None:
    """Write on stderr from time to time that kernels compile; runs in a thread.

    Args:
        name: of what needs them.
        stopped: ends it.
    """
    compiling_time, next_line = 0.0, FIRST_LINE  # s
    while not stopped.wait(0.1):
        compiling_time += 0.1 * seen_compiling()
        if compiling_time >= next_line:
            activity = "compiling kernels, once on this machine"
            sys.stderr.write(f"{name}: {activity}: {compiling_time:.0f} s so far ...\n")
            sys.stderr.flush()
            next_line = compiling_time + LINE_PERIOD


@functools.cache
def _compilations() -> Any:
    """Return a listener with the `count` of numba's compilations in progress.

    It counts those that start after the first call.
    """
    from numba.core import event

    class CompilationCounter(event.Listener):  # type: ignore[misc]
        count = 0

        def on_start(self, event: Event) -> None:
            """Count a compilation that begins."""
            self.count += 1

        def on_end(self, event: Event) -> None:
            """Count a compilation that has ended."""
            self.count = max(0, self.count - 1)  # it may have started before the first call

    counter = CompilationCounter()
    event.register("numba:compiler_lock", counter)
    return counter

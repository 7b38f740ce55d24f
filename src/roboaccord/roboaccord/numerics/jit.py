"""Decorator `kernel`: functions that numba compiles, or that run as plain Python without numba.

A kernel is compiled when it is first called; the machine code is kept on disk (jit_cache.py). Any
module may have kernels. They must be correct without numba as well, because a ROS machine with only
the packages of rosdep has none (test_interpreted). Importing kernels must not import numba, which
takes seconds: only the first call does (test_start).
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
    """Return whether processes that are started now are to interpret kernels."""
    return os.environ.get(DISABLED, "0") not in ("", "0")


HAS_NUMBA = importlib.util.find_spec("numba") is not None
# Whether this process compiles kernels; otherwise it interprets them.
COMPILES = HAS_NUMBA and not is_disabled()

# Options of numba. No fastmath: code from the compiler and from the cache would round differently,
# and one run would have two hashes. With error_model "numpy" a division by 0 does not raise.
OPTIONS: Mapping[str, str | bool] = {"error_model": "numpy", "nogil": True}

_LOCK = threading.RLock()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that is compiled when first called, with its code cached on disk.

    If numba is missing or disabled, the function itself is returned.
    """
    return Kernel(function) if COMPILES else function


def for_kernels(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the form that is fastest for kernels which use single numbers of it.

    For compiled kernels that is the array itself, for interpreted ones a memoryview. Its numbers
    are Python's, and raise ZeroDivisionError.
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
        result: R = (self._dispatcher or self.dispatcher)(*args, **kwargs)
        return result

    def __reduce__(self) -> str:
        return self.function.__qualname__  # pickled as functions are, by name

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
        """The type by which numba knows the kernel where another one calls it."""
        return self.dispatcher._numba_type_  # type: ignore[no-any-return,attr-defined]


def is_compiling() -> bool:
    """Return whether numba is compiling a kernel now, or loading one from its cache."""
    return COMPILES and _depth().value > 0


def seen_compiling() -> bool:
    """Return `is_compiling`, but False as long as numba is not imported completely.

    It is for a thread that must not disturb another's import of numba.
    """
    loaded = hasattr(sys.modules.get("roboaccord.numerics.jit_cache"), "KernelCache")
    return loaded and is_compiling()


@dataclass
class _Depth:
    """Number of compilations that have begun and not ended."""

    value: int = 0


@functools.cache
def _depth() -> _Depth:
    """Return a count of numba's compilations in progress, kept from the first call on."""
    from numba.core import event

    depth = _Depth()

    class Count(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Event) -> None:
            depth.value += 1

        def on_end(self, event: Event) -> None:
            depth.value = max(0, depth.value - 1)  # its start may have been before the first call

    event.register("numba:compiler_lock", Count())
    return depth

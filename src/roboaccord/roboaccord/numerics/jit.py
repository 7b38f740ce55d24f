"""Compile kernels with numba where it is installed, and run them as plain Python elsewhere.

Kernels may be added in any module, as functions with `@kernel`; nothing here lists them. OPTIONS
are fixed: fastmath would give one run two hashes, and without error_model numpy a division by 0
would raise. Importing kernels must import no numba (test_start measures what commands import): the
first call does. A kernel must be correct without numba as well, for a ROS machine that only
resolves rosdep keys has none; test_interpreted runs them so.
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
# `lanes` have no meaning where kernels are interpreted.
COMPILES = HAS_NUMBA and not is_disabled()

# No fastmath: fresh from the compiler and from the cache, code would round differently, and one
# run have two hashes.
OPTIONS: Mapping[str, str | bool] = {"error_model": "numpy", "nogil": True}

_LOCK = threading.RLock()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` in nopython mode when called, cached on disk by its code.

    Where numba is missing or disabled, it is returned as it is.
    """
    return Kernel(function) if COMPILES else function


def for_kernels(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the form for kernels that use single numbers of it.

    That is the array if it is compiled. An interpreted one is faster on a memoryview, whose numbers
    are Python's: they raise ZeroDivisionError.
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
        found: R = (self._dispatcher or self.dispatcher)(*args, **kwargs)
        return found

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
    """Return `is_compiling` in a thread that must not disturb another's import of numba."""
    loaded = hasattr(sys.modules.get("roboaccord.numerics.jit_cache"), "KernelCache")
    return loaded and is_compiling()


@dataclass
class _Depth:
    value: int = 0


@functools.cache
def _depth() -> _Depth:
    """Count how deep numba is in compiling, in any thread, from the first call on."""
    from numba.core import event

    depth = _Depth()

    class Count(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Event) -> None:
            depth.value += 1

        def on_end(self, event: Event) -> None:
            depth.value = max(0, depth.value - 1)  # it may have begun before the first call

    event.register("numba:compiler_lock", Count())
    return depth

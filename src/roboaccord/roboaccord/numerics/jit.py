"""Compile kernels with numba where it is installed, and run them as plain Python elsewhere.

A ROS machine that only resolves rosdep keys has no numba; the kernels that its nodes need are
written so that they are correct there too. Importing kernels imports no numba: the first call does.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from roboaccord.numerics.parallel import check_address_space

F = TypeVar("F", bound=Callable[..., Any])

HAS_NUMBA = importlib.util.find_spec("numba") is not None
# `lanes` have no meaning where kernels are interpreted.
COMPILES = HAS_NUMBA and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

# No fastmath: fresh from the compiler and from the cache, code would round differently, and one
# run have two hashes.
OPTIONS = {"error_model": "numpy", "nogil": True}

_LOCK = threading.RLock()


def kernel(function: F) -> F:
    """Compile `function` in nopython mode when called, cached on disk by its code.

    Without numba it is returned as it is.
    """
    return cast(F, Kernel(function)) if HAS_NUMBA else function


class Kernel:
    """A function that numba compiles when it is first called, from Python or another kernel."""

    is_kernel = True

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._dispatcher: Any = None
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return (self._dispatcher or self.dispatcher)(*args, **kwargs)

    def __reduce__(self) -> str:
        return self.function.__qualname__  # pickled as functions are, by name

    @property
    def dispatcher(self) -> Any:
        """Numba's dispatcher of the function."""
        with _LOCK:
            if self._dispatcher is None:
                check_address_space()
                from roboaccord.numerics.jit_cache import make_dispatcher

                self._dispatcher = make_dispatcher(self.function, OPTIONS)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """The type by which numba knows the kernel where another one calls it."""
        return self.dispatcher._numba_type_


def is_compiling() -> bool:
    """Return whether numba is compiling a kernel now, or loading one from its cache."""
    return HAS_NUMBA and _depth().value > 0


@functools.cache
def _depth() -> Any:
    """Count how deep numba is in compiling, in any thread, from the first call on."""
    from numba.core import event

    class Depth(event.Listener):  # type: ignore[misc]
        value = 0

        def on_start(self, event: Any) -> None:
            self.value += 1

        def on_end(self, event: Any) -> None:
            self.value = max(0, self.value - 1)  # it may have begun before the first call

    depth = Depth()
    event.register("numba:compiler_lock", depth)
    return depth

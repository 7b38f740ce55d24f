"""Compile kernels with numba where it is installed, and run them as plain Python elsewhere.

A ROS machine that only resolves rosdep keys has no numba; the kernels that its nodes need are
written so that they are correct there too.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

try:
    import numba
except ImportError:  # pragma: no cover - exercised on ROS machines only
    numba = None

HAS_NUMBA = numba is not None


if HAS_NUMBA:
    from numba.core import event

    class _Depth(event.Listener):  # type: ignore[misc]
        """Count how deep numba is in compiling, in any thread."""

        value = 0

        def on_start(self, event: Any) -> None:
            self.value += 1

        def on_end(self, event: Any) -> None:
            self.value -= 1

    _DEPTH = _Depth()
    event.register("numba:compiler_lock", _DEPTH)


def is_compiling() -> bool:
    """Return whether numba is compiling a kernel now, or loading one from its cache."""
    return HAS_NUMBA and _DEPTH.value > 0


CORE = Path(__file__).parents[1]
STALE = 3600.0  # s


def kernel(function: F) -> F:
    """Compile `function` in nopython mode, cached on disk; return it as it is without numba."""
    if numba is None:
        return function
    # No fastmath: fresh from the compiler and from the cache, code would round differently, and
    # one run have two hashes. As to the folder: numba looks at the file of a kernel alone, and
    # would keep it when one that it calls changes.
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, cache_folder(function)
    try:
        compiled: F = numba.njit(cache=True, error_model="numpy", nogil=True)(function)
    finally:
        numba.config.CACHE_DIR = before
    return compiled


def cache_folder(function: Callable[..., Any]) -> str:
    """Return where the compiled kernels of a function's package belong, as the sources now are."""
    if numba is not None and numba.config.CACHE_DIR:
        return str(numba.config.CACHE_DIR)  # the user has chosen
    folder = Path(function.__code__.co_filename).parent
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return _cache_folder(folder)


@cache
def _cache_folder(package: Path) -> str:
    """Return a folder named after the state of all sources of a package and of the core."""
    digest = hashlib.sha256()
    for source in sorted({*package.rglob("*.py"), *CORE.rglob("*.py")}):
        stat = source.stat()
        digest.update(f"{source} {stat.st_mtime_ns} {stat.st_size}\n".encode())
    place = package / "__pycache__"
    if not os.access(package, os.W_OK):
        root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        place = Path(root) / "roboaccord" / package.name
    folder = place / f"kernels_{digest.hexdigest()[:12]}"
    if not folder.exists():
        for stale in place.glob("kernels_*"):
            # A younger one may be another process's that began before the sources changed.
            if time.time() - stale.stat().st_mtime > STALE:
                shutil.rmtree(stale, ignore_errors=True)
    return str(folder)

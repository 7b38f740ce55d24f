"""Compile kernels with numba where it is installed, and run them as plain Python elsewhere.

A ROS machine that only resolves rosdep keys has no numba; the kernels that its nodes need are
written so that they are correct there too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

try:
    import numba
except ImportError:  # pragma: no cover - exercised on ROS machines only
    numba = None

HAS_NUMBA = numba is not None

# Sums may be reordered, so that they run on vector units; nan and inf keep their meaning.
FASTMATH = {"reassoc", "contract"}


def kernel(function: F) -> F:
    """Compile `function` in nopython mode, cached on disk; return it as it is without numba."""
    if numba is None:
        return function
    compiled: F = numba.njit(cache=True, error_model="numpy", fastmath=FASTMATH)(function)
    return compiled

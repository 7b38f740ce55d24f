"""Let the dynamics of trees run without compiled kernels."""

from __future__ import annotations

from importlib import import_module

import pytest
from roboaccord.numerics.jit import Kernel


def interpret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the kernels of a tree run as plain Python, many states at once."""
    for name in ("tuples", "bodies", "articulated"):
        module = import_module(f"roboaccord.description.{name}")
        for key, value in list(vars(module).items()):
            if isinstance(value, Kernel):
                monkeypatch.setattr(module, key, value.function)
    monkeypatch.setattr("roboaccord.description.dynamics.COMPILES", False)

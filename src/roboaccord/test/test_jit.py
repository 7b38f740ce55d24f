"""Kernels: compiled once, and anew when any source of theirs changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from roboaccord.numerics.jit import HAS_NUMBA

CALLER = """
from roboaccord.numerics.jit import kernel
from toy_package.callee import inner

@kernel
def outer(x):
    return inner(x) + 1.0
"""
CALLEE = "from roboaccord.numerics.jit import kernel\n\n@kernel\ndef inner(x):\n    return {} * x\n"


@pytest.mark.skipif(not HAS_NUMBA, reason="numba is not installed")
def test_a_kernel_follows_a_change_of_one_that_it_calls(tmp_path: Path) -> None:
    """Numba's own cache would answer with the old one: it looks at the caller's file alone."""
    package = tmp_path / "toy_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "caller.py").write_text(CALLER)
    code = "from toy_package.caller import outer; print(outer(2.0))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    for factor in (3, 3, 50):
        for folder in (package / "__pycache__").glob("kernels_*"):
            os.utime(folder, (0, 0))  # a young one might be another process's
        (package / "callee.py").write_text(CALLEE.format(factor))
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert float(done.stdout) == 2 * factor + 1
    assert len(list((package / "__pycache__").glob("kernels_*"))) == 1

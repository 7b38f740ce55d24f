"""Process that runs pytest in children of its own, which need not import the libraries again.

It reads a line of JSON for each run, and answers with one. Limits are on the CPU time, which a busy
machine does not change, and on the time by the clock, for what only waits.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

LIBRARIES = (
    "numpy", "numpy.testing", "scipy.optimize", "scipy.spatial", "scipy.stats", "numba", "pytest",
    "hypothesis", "rich.progress", "typer", "pydantic", "yaml", "jinja2", "mcap.reader", "rosbags",
    "mujoco", "dartpy", "pinocchio", "coal", "trimesh", "joblib", "PIL.Image", "matplotlib.pyplot",
)  # fmt: skip
PLUGINS = ("cacheprovider", "xdist", "pytest_cov", "benchmark", "rerunfailures", "repeat")


def serve() -> None:
    """Run until nothing more is asked."""
    end_with_parent()
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    from hypothesis import settings

    settings.register_profile("mutation", deadline=None, derandomize=True, database=None)
    settings.load_profile("mutation")
    for line in sys.stdin:
        answer = run(json.loads(line))
        print(json.dumps(answer), flush=True)


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Run pytest once; return exit status, -1 for a limit that was reached, and its last words."""
    log = Path(job["log"])
    child = os.fork()
    if child == 0:
        _test(job, log)
    until, status = time.monotonic() + job["wall"], None
    while status is None:
        done, code, usage = os.wait4(child, os.WNOHANG)
        if done:
            status, spent = code, usage.ru_utime + usage.ru_stime
        elif time.monotonic() > until:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            _, code, usage = os.wait4(child, 0)
            status, spent = -1, usage.ru_utime + usage.ru_stime
        else:
            time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # what it has started
    ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    late = status == -1 or ended in (signal.SIGKILL, signal.SIGXCPU)
    exited = -1 if late else os.waitstatus_to_exitcode(status)
    return {"status": exited, "cpu": spent, "tail": log.read_text(errors="replace")[-2000:]}


def end_with_parent() -> None:
    """Let the system end this process with the one that started it, however that ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _test(job: dict[str, Any], log: Path) -> None:
    """Run pytest in this process, which ends with it."""
    end_with_parent()
    os.setpgid(0, 0)
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number in (1, 2):
        os.dup2(out, number)
    os.environ |= job["environment"]
    cpu = int(job["cpu"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
    import pytest
    from coverage_map import Only

    words = [word for name in PLUGINS for word in ("-p", f"no:{name}")]
    code = 3
    try:
        words += ["-q", "-rfE", "--no-header", *job["words"]]
        code = int(pytest.main(words, [Only(job["only"])] if job["only"] else []))
    finally:
        sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()

"""A study on Dask workers, of which one is killed and one is added, against one core."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from distributed import Client

pytestmark = pytest.mark.slow

ACCORD = [sys.executable, "-m", "roboaccord.cli.main"]
SWEEP = (
    "sweep snake serpenoid --engines reference,mujoco --set initial.spread_q=0.01 "
    "--set duration=0.5 --seeds 8 --json"
).split()
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start processes, which are ended with the test."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(*words: str) -> subprocess.Popen[bytes]:
        log = (tmp_path / f"log_{len(started)}").open("wb")
        started.append(subprocess.Popen(words, cwd=tmp_path, stdout=log, stderr=log))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def dask(start: Start) -> Start:
    """Start `dask` commands."""
    pytest.importorskip("distributed")
    return lambda *words: start(sys.executable, "-m", "dask", *words, "--no-dashboard")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_work(client: Client, process: subprocess.Popen[bytes]) -> None:
    """Wait until workers of a cluster have something to do."""
    for _ in range(6000):
        if any(client.processing().values()):
            return
        assert process.poll() is None, "ended too soon"
        time.sleep(0.01)


def worker(dask: Start, address: str) -> subprocess.Popen[bytes]:
    return dask("worker", address, "--nthreads", "1", "--no-nanny")


def test_a_study_on_a_cluster_has_the_figures_of_one_core(
    dask: Start, start: Start, tmp_path: Path
) -> None:
    """One of two workers is killed while it works, and another one is added."""
    distributed = pytest.importorskip("distributed")
    address = f"tcp://127.0.0.1:{free_port()}"
    dask("scheduler", "--host", address)
    first, _ = worker(dask, address), worker(dask, address)
    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(2)
        study = start(*ACCORD, *SWEEP, "--cluster", address, "--out", "cluster")
        wait_for_work(client, study)
    first.send_signal(signal.SIGKILL)
    worker(dask, address)
    assert study.wait(300) == 0
    core = str(min(os.sched_getaffinity(0)))
    alone = ["taskset", "--cpu-list", core, *ACCORD, *SWEEP, "--out", "one"]
    subprocess.run(alone, cwd=tmp_path, check=True, capture_output=True)
    many, one = (
        json.loads((tmp_path / f / "summary.json").read_text()) for f in ("cluster", "one")
    )
    assert many["cells"] == one["cells"]
    assert [cell["n"] for cell in one["cells"]] == [8, 8]


def test_a_cluster_that_is_not_there_is_named(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    address = f"tcp://127.0.0.1:{free_port()}"
    done = subprocess.run(
        [*ACCORD, *SWEEP, "--cluster", address],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert re.fullmatch(rf"accord: no Dask scheduler at {re.escape(address)}: \S.*", last)
    assert "Traceback" not in done.stderr

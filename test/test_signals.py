"""SIGTERM ends a command as Ctrl-C does: one line, 143 or 130, a whole bag, and no process left."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from roboaccord.bag.reader import read_run
from roboaccord.cli import main as command_line
from roboaccord.contract.errors import Terminated
from roboaccord.scenario.watch import line_of

pytest.importorskip("monkeybot")

LINES = {
    signal.SIGTERM: (143, "accord: terminated\n"),
    signal.SIGINT: (130, "accord: interrupted\n"),
}


def start(*words: str) -> subprocess.Popen[str]:
    """Start a command to which Ctrl-C can be given, though a shell in the background ignores it."""
    return subprocess.Popen(
        [sys.executable, "-m", "roboaccord.cli.start", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def end(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """Send a signal, and look at what is said."""
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    status, line = LINES[number]
    assert process.returncode == status
    assert stdout == ""
    assert stderr == line


@pytest.mark.parametrize(
    ("transport", "number"),
    [
        ("direct", signal.SIGTERM),
        pytest.param("direct", signal.SIGINT, marks=pytest.mark.slow),
        pytest.param("ros", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param("ros", signal.SIGINT, marks=pytest.mark.slow),
        pytest.param("ros_processes", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param("ros_processes", signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_a_run_and_leaves_its_bag_whole(transport, number, tmp_path):
    if transport != "direct":
        pytest.importorskip("rclpy")
    bag = tmp_path / "out" / "bag"
    words = ["run", "monkeybot", "level", "--transport", transport, "--set", "duration=1000"]
    with start(*words, "--out", str(bag.parent)) as process:
        until = time.monotonic() + 60.0
        while not (bag.exists() and (bag / "bag.mcap").stat().st_size > 20_000):
            assert time.monotonic() < until
            time.sleep(0.02)
        end(process, number)
    run = read_run(bag)
    assert run.complete
    assert run.sha256 is None
    assert len(run.trajectory) > 10


@pytest.mark.slow
@pytest.mark.parametrize("number", LINES)
@pytest.mark.parametrize(
    "words",
    [
        "sweep monkeybot level --figure travel --seeds 200",
        "crosscheck snake serpenoid --engines reference,dart,mujoco --set duration=200",
    ],
)
def test_a_signal_ends_a_study_with_its_processes(words, number, tmp_path):
    pytest.importorskip("snake")
    with start(*words.split(), "--out", str(tmp_path / "out")) as process:
        time.sleep(8.0)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        end(process, number)
    until = time.monotonic() + 10.0
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_signal_is_no_error_of_the_controller_that_it_cuts():
    try:
        raise Terminated
    except Terminated as error:
        with pytest.raises(Terminated):
            line_of(error)


def test_the_first_sigterm_ends_what_runs_and_the_second_disturbs_nothing():
    before = {number: signal.getsignal(number) for number in LINES}
    told = []
    try:
        with command_line.minded() as told, suppress(Terminated):
            os.kill(os.getpid(), signal.SIGTERM)
            pytest.fail("SIGTERM had no effect")
        os.kill(os.getpid(), signal.SIGTERM)
        assert told == [signal.SIGTERM]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_signal_in_a_destructor_ends_the_command_all_the_same():
    """Python drops what is raised there."""

    class Ending:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)  # here the handler raises

    before = {number: signal.getsignal(number) for number in (*LINES, signal.SIGALRM)}
    try:
        with command_line.minded() as told, suppress(Terminated):
            Ending()
            time.sleep(1.0)
            pytest.fail("SIGTERM had no effect")
        assert told == [signal.SIGTERM]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.slow
def test_a_long_run_takes_no_more_memory_than_a_short_one(tmp_path):
    """20,000 ticks and 400,000: 4 kB a tick would be 1.5 GB."""

    def largest(duration: int) -> int:
        words = [
            "run",
            "monkeybot",
            "level",
            "--transport",
            "direct",
        ]  # prints little: no pipe is read
        out = str(tmp_path / f"{duration}")
        with start(*words, "--set", f"duration={duration}", "--out", out) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return used.ru_maxrss

    assert largest(400) < largest(20) + 20_000  # kB


def test_a_full_disk_is_one_line_and_what_was_recorded_is_there(tmp_path):
    """A limit on the size of files stands for the disk."""
    out = tmp_path / "out"
    words = ["run", "monkeybot", "level", "--transport", "direct", "--set", "duration=1000"]
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))  # noqa: E731
    done = subprocess.run(
        [sys.executable, "-m", "roboaccord.cli.start", *words, "--out", str(out)],
        capture_output=True, text=True, check=False, preexec_fn=limit,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"accord: cannot write {out}/bag: File too large; accord recover {out}/bag keeps what was "
        "recorded\n"
    )
    run = read_run(out / "bag")
    assert not run.complete
    assert len(run.trajectory) > 10

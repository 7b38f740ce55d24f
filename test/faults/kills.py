"""Kill runs at random moments, and look at what is left: `make kills SEED=0 COUNT=100`.

Each run is ended by SIGKILL, SIGTERM or SIGINT, over one of the three transports; of three
processes sometimes a node is hit. Then there is one line and the right exit status, no process and
no shared memory is left, and the bag holds the beginning of the undisturbed run, bit by bit, up to
less than a second before the end. What SIGKILL leaves, the next run removes.

As root the runs are those of a user without rights; all they write is in a temporary folder.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from roboaccord.bag.reader import read_run
from roboaccord.bag.recover import recover
from roboaccord.cli.console import make_table, out
from roboaccord.contract.errors import AccordError
from roboaccord.contract.trajectory import Trajectory

NOBODY = 65531
MARK = "ROBOACCORD_KILLS"  # environment variable by which processes of a run are found
RUNS = {
    "snake serpenoid reference": "duration=6",
    "monkeybot brachiate reference": "duration=20",
    "roller_sphere figure_eight dart": "duration=4",
}
TRANSPORTS = ("direct", "ros", "ros_processes")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
NODES = ("simulator", "controller", "recorder")
EARLY = 0.25  # part of the kills that come while libraries load
START = 5.0  # s that this takes, about
GRACE = 20.0  # s that processes of a run may take to end
LAG = 5.0  # s of wall time that a bag may lack on a busy machine
SHARED_MEMORY = Path("/dev/shm")


@dataclass
class Kill:
    """One kill: what is run, what hits it and when, and what was found."""

    run: str
    transport: str
    number: signal.Signals
    target: str
    moment: float
    early: bool
    status: int = 0
    states: int = 0
    whole: int = 0
    lag: float = 0.0
    wrong: str = ""

    def __str__(self) -> str:
        what = f"{self.run} over {self.transport}: {self.number.name} to {self.target}"
        when = f"{self.moment:.2f} s after {'the start' if self.early else 'the bag'}"
        left = f"status {self.status}, {self.states} of {self.whole} states"
        return f"{what} {when}: {left}{', WRONG: ' if self.wrong else ''}{self.wrong}"


def main() -> int:
    """Do as many kills as are asked for; return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    given = parser.parse_args()
    logging.disable()  # of what is lost as bags are recovered
    with tempfile.TemporaryDirectory(prefix="kills_") as name:
        folder = Path(name)
        become_nobody(folder)
        harness = Harness(folder)
        kills = []
        for index in range(given.count):
            kills.append(harness.kill(index, random.Random(f"{given.seed} {index}")))
            out.print(f"{index + 1:4} {kills[-1]}", highlight=False, soft_wrap=True)
    return tell(kills)


def become_nobody(folder: Path) -> None:
    """Give the rights of root away, for good, and work in a folder."""
    if os.getuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    (folder / "tmp").mkdir()
    (folder / "runtime").mkdir(mode=0o700)
    os.chdir(folder)
    os.environ |= {
        "HOME": str(folder),
        "TMPDIR": str(folder / "tmp"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "XDG_RUNTIME_DIR": str(folder / "runtime"),
    }


class Harness:
    """Make the undisturbed runs, and kill others."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._whole: dict[str, Trajectory] = {}
        self._wall: dict[str, float] = {}
        for run in RUNS:
            for _ in range(2):  # the first time kernels are compiled
                self._rehearse(run)

    def _rehearse(self, run: str) -> None:
        """Run to the end, and note the motion and how long it takes."""
        with self._start(run, "direct") as process:
            stdout, stderr = process.communicate()
        if process.returncode:
            raise SystemExit(f"{run}: {stderr}")
        told = json.loads(stdout)
        self._whole[run] = read_run(self._folder / "out" / "bag").trajectory
        self._wall[run] = told["wall_time"]
        if told["trajectory_sha256"] != self._whole[run].sha256():
            raise SystemExit(f"{run}: the bag holds another motion")

    def _start(self, run: str, transport: str) -> subprocess.Popen[str]:
        shutil.rmtree(self._folder / "out", ignore_errors=True)
        robot, scenario, engine = run.split()
        words = ["run", robot, scenario, "--engine", engine, "--transport", transport, "--json"]
        # A shell ignores SIGINT for what it runs in the background: not so for these.
        return subprocess.Popen(
            [sys.executable, "-m", "roboaccord.cli.start", *words, "--set", RUNS[run],
             "--out", str(self._folder / "out")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, MARK: str(self._folder)},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip

    def kill(self, index: int, rng: random.Random) -> Kill:
        """Do one kill, and look at what is left."""
        transport = TRANSPORTS[index % 3]
        run = rng.choice(list(RUNS))
        target = "accord"
        if transport == "ros_processes" and rng.random() < 0.4:
            target = rng.choice(NODES)
        early = rng.random() < EARLY
        moment = rng.uniform(0.0, START if early else 1.1 * self._wall[run])
        kill = Kill(run, transport, SIGNALS[index // 3 % 3], target, moment, early)
        begun = time.time()
        with self._start(run, transport) as process:
            controlled(process)
            if not early:
                self._wait_for_bag(process)
            time.sleep(moment)
            hit = process.pid if target == "accord" else self._node(target, process)
            at = time.time()
            if hit and process.poll() is None:
                os.kill(hit, kill.number)
            else:
                kill.target = "nobody"
            try:
                stdout, stderr = process.communicate(timeout=3 * GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                stdout, stderr = process.communicate()
                kill.wrong = "hangs; "
        kill.status = process.returncode
        for check in (
            self._check_bag(kill, at),
            self._check_end(kill, stdout, stderr),
            self._check_rest(kill, begun),
        ):
            kill.wrong += "; ".join(check)
        return kill

    def _wait_for_bag(self, process: subprocess.Popen[str]) -> None:
        """Wait until the run has begun."""
        file = self._folder / "out" / "bag" / "bag.mcap"
        while process.poll() is None and not (file.exists() and file.stat().st_size):
            time.sleep(0.01)

    def _node(self, name: str, process: subprocess.Popen[str]) -> int:
        """Return the process of a node, 0 while there is none."""
        for pid, command in self._processes():
            if f"roboaccord_ros.nodes.{name}" in command and pid != process.pid:
                return pid
        return 0

    def _processes(self) -> Iterator[tuple[int, str]]:
        """Yield the processes of the runs, and their commands."""
        mark = f"{MARK}={self._folder}".encode()
        for place in Path("/proc").iterdir():
            if not place.name.isdigit() or int(place.name) == os.getpid():
                continue
            try:
                if mark in (place / "environ").read_bytes().split(b"\0"):
                    yield int(place.name), (place / "cmdline").read_bytes().decode()
            except OSError:  # of others, or gone
                continue

    def _check_end(self, kill: Kill, stdout: str, stderr: str) -> Iterator[str]:
        """Look at exit status and output."""
        expected = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}[kill.number]
        lines = stderr.splitlines()
        if "Traceback" in stderr or any(line.startswith("  File ") for line in lines):
            yield f"a traceback: {stderr!r}"
        if kill.status == 0:
            if not stdout or (kill.target == "accord" and kill.number == signal.SIGKILL):
                yield "ended as if nothing had been"
        elif kill.target == "nobody":
            yield f"failed by itself: {stderr!r}"
        elif stdout and not (kill.number == signal.SIGKILL and kill.states == kill.whole):
            yield "figures in spite of it"
        elif kill.target == "accord" and kill.status != expected:
            yield f"status {kill.status}, not {expected}: {stderr!r}"
        elif kill.target != "accord" and kill.status != 2:
            yield f"status {kill.status}, not 2: {stderr!r}"
        said = [line for line in lines if line.startswith("accord: ")]
        if kill.status > 0 and len(said) != 1:
            yield f"not one line: {stderr!r}"

    def _check_bag(self, kill: Kill, at: float) -> Iterator[str]:
        """Look whether the bag is the beginning of the undisturbed run."""
        bag, whole = self._folder / "out" / "bag", self._whole[kill.run]
        kill.whole = len(whole)
        file = bag / "bag.mcap"
        if not file.exists():
            if kill.status == 0:
                yield "no bag"
            return
        kill.lag = at - file.stat().st_mtime
        try:
            recovered = recover(bag)
            run = read_run(bag)
        except AccordError as error:
            empty = "no joint states", "no message that can be read"
            if file.stat().st_size > 50_000 or not any(text in f"{error}" for text in empty):
                yield f"the bag cannot be recovered: {error}"
            return
        gentle = kill.number != signal.SIGKILL and kill.target == "accord"
        if recovered.changed and gentle:
            yield "the bag was not closed"
        found = run.trajectory
        kill.states = len(found)
        for name in ("time", "q", "qd", "effort", "position", "orientation", "twist"):
            if getattr(found, name).tobytes() != getattr(whole, name)[: len(found)].tobytes():
                yield f"{name} is not that of the undisturbed run"
        if found.events != whole.events[: len(found.events)]:
            yield "events are not those of the undisturbed run"
        if kill.lag > LAG and len(found) < len(whole):
            yield f"the bag ends {kill.lag:.1f} s before the kill"

    def _check_rest(self, kill: Kill, begun: float) -> Iterator[str]:
        """Look for processes, shared memory and temporary files that are left."""
        until = time.monotonic() + GRACE
        while (left := list(self._processes())) and time.monotonic() < until:
            time.sleep(0.2)
        for pid, command in left:
            yield f"process {pid} is left: {command!r}"
            os.kill(pid, signal.SIGKILL)
        killed = kill.number == signal.SIGKILL and kill.target != "nobody"
        if killed:
            tidy()
        for lock in SHARED_MEMORY.glob("fastrtps_*_el"):
            with contextlib.suppress(FileNotFoundError):  # other users come and go
                if lock.stat().st_uid == os.getuid() and lock.stat().st_mtime >= begun:
                    yield f"{lock} is left"
        for path in (self._folder / "tmp").iterdir():
            if not killed:
                yield f"{path} is left"
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def tidy() -> None:
    """Do as the next run does with shared memory whose process was killed."""
    try:
        from roboaccord_ros.run.domain import remove_orphans
    except ImportError:
        return
    remove_orphans(age=0.0)


def controlled(process: subprocess.Popen[str]) -> None:
    """Wait until signals are minded, and no longer end the interpreter as it starts."""
    status = Path(f"/proc/{process.pid}/status")
    bit = 1 << (signal.SIGTERM - 1)
    while process.poll() is None:
        caught = next(x for x in status.read_text().splitlines() if x.startswith("SigCgt"))
        if int(caught.split()[1], 16) & bit:
            return
        time.sleep(0.002)


def tell(kills: list[Kill]) -> int:
    """Show the counts; return 1 if anything was wrong."""
    counts: Counter[tuple[str, str]] = Counter()
    for kill in kills:
        counts[kill.transport, kill.number.name] += 1
    table = make_table("transport", *(number.name for number in SIGNALS))
    for transport in TRANSPORTS:
        table.add_row(transport, *(str(counts[transport, n.name]) for n in SIGNALS))
    out.print(table)
    part = [k for k in kills if 0 < k.states < k.whole]
    early = sum(1 for k in kills if not k.states)
    lag = max((k.lag for k in part), default=0.0)
    out.print(
        f"{len(kills)} kills: {early} before the first state, {len(part)} in the run (the bag ends "
        f"at most {lag:.2f} s before the kill), {len(kills) - early - len(part)} at its end",
        soft_wrap=True,
    )
    wrong = [k for k in kills if k.wrong]
    out.print(f"wrong: {len(wrong)}")
    for each in wrong:
        out.print(f"  {each}", highlight=False, markup=False, soft_wrap=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Kill commands at random moments, and look at what is left: `make kills SEED=0 COUNT=100`.

Each command that takes long is ended by SIGKILL, SIGTERM or SIGINT: runs over the three transports,
and the studies. Sometimes the process that works is killed, as the kernel does where memory is
short, or a node. Then there is one line and the right exit status within 3 s, no process, shared
memory or temporary file is left, every file can be read, and the bag of a run holds the beginning
of the undisturbed one, bit by bit, up to less than a second before the end. Shared memory of a run
whose working process is killed is removed by the next run.

As root the commands are those of a user without rights; all they write is in a temporary folder.
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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from roboaccord.bag.reader import read_run
from roboaccord.cli.console import make_table, out
from roboaccord.contract import AccordError, Trajectory
from roboaccord_files.bags.recover import recover

# A user without rights and files, not 65534, which others use.
NOBODY = 65531
MARK = "ROBOACCORD_KILLS"  # environment variable by which processes of a run are found
RUNS = {
    "snake serpenoid reference": "duration=6",
    "monkeybot brachiate reference": "duration=20",
    "roller_sphere figure_eight dart": "duration=4",
}
TRANSPORTS = ("direct", "ros", "ros_processes")
URDFS = Path(__file__).parents[2] / "src/roboaccord/test/data/urdf"
STUDIES = {
    "crosscheck": "crosscheck snake serpenoid --set duration=2 --out {out}/report",
    "sweep": "sweep monkeybot level --figure travel --set duration=4",
    "parity": "parity {urdfs} --page {out}/page.html",
    "view": "view {bag} --gif {out}/view.gif",
    "optimise": "snake optimise",
    "landscape": "monkeybot landscape",
    "basin": "monkeybot basin --gait clocked --sd-angle 0.02 --sd-rate 0.1 --samples 100000",
    "find": "monkeybot find",
    "workspace": "packbot workspace --study --out {out}/study",
    "contact": "roller-sphere contact",
    "dribble": "roller-sphere dribble-map",
}
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
NODES = ("simulator", "controller", "recorder")
WORKER = "the process that works"
EARLY = 0.25  # part of the kills that come while libraries load; the others while it runs
START = 5.0  # s that this takes, about; longer on a busy machine
STUDY = 20.0  # s in which a study is killed, the same for a study
END = 3.0  # s of wall time in which all ends: twice run/processes.GRACE
LAG = 5.0  # s of wall time that a bag may lack on a busy machine: any above what a disk delays
SHARED_MEMORY = Path("/dev/shm")
ENDINGS = {".gif": (b";",), ".html": (b">", b">\n"), ".json": (b"}", b"]", b"}\n", b"]\n")}


@dataclass
class Kill:
    """One kill: what is run, what hits it and when, and what was found."""

    name: str
    run: str
    number: signal.Signals
    target: str
    moment: float
    early: bool
    status: int = 0
    seconds: float = 0.0
    left: str = ""
    states: int = 0
    whole: int = 0
    lag: float = 0.0
    wrong: str = ""

    def __str__(self) -> str:
        what = f"{self.name} {self.run}: {self.number.name} to {self.target}"
        when = f"{self.moment:.2f} s after {'the start' if self.early else 'the bag'}"
        left = f"status {self.status} after {self.seconds:.2f} s, {self.left or 'no file'}"
        return f"{what} {when}: {left}{', WRONG: ' if self.wrong else ''}{self.wrong}"


def main() -> int:
    """Do as many kills as are asked for; return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", default="", help="names of commands, with commas between")
    given = parser.parse_args()
    logging.disable()  # of what is lost as bags are recovered
    with tempfile.TemporaryDirectory(prefix="kills_") as name:
        folder = Path(name)
        become_nobody(folder)
        names = [name for name in (*TRANSPORTS, *STUDIES) if name in given.only.split(",")]
        harness = Harness(folder, names or [*TRANSPORTS, *STUDIES])
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

    def __init__(self, folder: Path, names: list[str]) -> None:
        self._folder, self._names = folder, names
        self._whole: dict[str, Trajectory] = {}
        self._wall: dict[str, float] = {}
        runs = RUNS if {*names} & {*TRANSPORTS} else [*RUNS][:1]  # of which `view` shows the bag
        for run in runs:
            for _ in range(2):  # the first time kernels are compiled
                self._rehearse(run)
        shutil.copytree(folder / "out" / "bag", folder / "bag")

    def _rehearse(self, run: str) -> None:
        """Run to the end, and note the motion and how long it takes."""
        with self._start("direct", run) as process:
            stdout, stderr = process.communicate()
        if process.returncode:
            raise SystemExit(f"{run}: {stderr}")
        printed = json.loads(stdout)
        self._whole[run] = read_run(self._folder / "out" / "bag").trajectory
        self._wall[run] = printed["wall_time"]
        if printed["trajectory_sha256"] != self._whole[run].sha256():
            raise SystemExit(f"{run}: the bag holds another motion")

    def _start(self, name: str, run: str) -> subprocess.Popen[str]:
        """Start a study, or a run over the transport of this name."""
        out, bag = self._folder / "out", self._folder / "bag"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        if name in STUDIES:
            words = STUDIES[name].format(out=out, bag=bag, urdfs=URDFS).split()
        else:
            robot, scenario, engine = run.split()
            words = ["run", robot, scenario, "--engine", engine, "--transport", name, "--json",
                     "--set", RUNS[run], "--out", str(out)]  # fmt: skip
        # A shell ignores SIGINT for what it runs in the background: not so for these.
        return subprocess.Popen(
            [sys.executable, "-m", "roboaccord.cli.start", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, MARK: str(self._folder)},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip

    def kill(self, index: int, rng: random.Random) -> Kill:
        """Do one kill, and look at what is left."""
        name = self._names[index % len(self._names)]
        run = "" if name in STUDIES else rng.choice(list(RUNS))
        number = SIGNALS[index // len(self._names) % 3]
        target = "accord"
        if name == "ros_processes" and rng.random() < 0.4:
            target = rng.choice(NODES)
        elif number == signal.SIGKILL and rng.random() < 0.3:
            target = WORKER
        early = name in STUDIES or rng.random() < EARLY
        until = STUDY if name in STUDIES else START if early else 1.1 * self._wall[run]
        kill = Kill(name, run, number, target, rng.uniform(0.0, until), early)
        begun = time.time()
        with self._start(name, run) as process:
            controlled(process)
            if not early:
                self._wait_for_bag(process)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(kill.moment)
            hit = process.pid if target == "accord" else self._process_of(target, process)
            at = time.time()
            if hit and process.poll() is None:
                os.kill(hit, number)
            else:
                kill.target = "nobody"
            try:
                stdout, stderr = process.communicate(timeout=10 * END if hit else None)
            except subprocess.TimeoutExpired:
                process.kill()
                stdout, stderr = process.communicate()
                kill.wrong = "hangs; "
        kill.status = process.returncode
        for check in (
            self._check_rest(kill, begun, at),
            self._check_bag(kill, at),
            self._check_end(kill, stdout, stderr),
            self._check_files(kill),
        ):
            kill.wrong += "; ".join(check)
        return kill

    def _wait_for_bag(self, process: subprocess.Popen[str]) -> None:
        """Wait until the run has begun."""
        file = self._folder / "out" / "bag" / "bag.mcap"
        while process.poll() is None and not (file.exists() and file.stat().st_size):
            time.sleep(0.01)

    def _process_of(self, target: str, process: subprocess.Popen[str]) -> int:
        """Return the process of a node, or that which works for `accord`; 0 while there is none."""
        if target == WORKER:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            return int((children.read_text().split() or ["0"])[0]) if children.exists() else 0
        for pid, command in self._processes():
            if f"roboaccord_ros.nodes.{target}" in command and pid != process.pid:
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
            if kill.target != "nobody" and (not stdout or kill.number == signal.SIGKILL):
                yield "ended as if nothing had been"
        elif kill.target == "nobody":
            yield f"failed by itself: {stderr!r}"
        elif kill.whole and stdout and kill.states < kill.whole:
            yield "figures in spite of it"
        elif kill.target == "accord" and kill.status != expected:
            yield f"status {kill.status}, not {expected}: {stderr!r}"
        elif kill.target != "accord" and kill.status != 2:
            yield f"status {kill.status}, not 2: {stderr!r}"
        if kill.target in ("accord", WORKER) and kill.seconds > END:  # a node has peers to wait for
            yield f"{kill.seconds:.1f} s until all had ended"
        message = [line for line in lines if line.startswith("accord: ")]
        if kill.status > 0 and (len(message) != 1 or "Warning" in stderr):
            yield f"not one line: {stderr!r}"

    def _check_files(self, kill: Kill) -> Iterator[str]:
        """Look whether each file is whole: those of pieces up to the line that was being written.

        Of a process that is killed as it writes, the draft of a file may be left.
        """
        out, pieces, files = self._folder / "out", 0, 0
        for path in (path for path in out.rglob("*") if path.is_file()):
            data = path.read_bytes()
            if path.name.startswith(".") and path.name != ".roboaccord.json":
                if kill.target != WORKER:
                    yield f"{path} is left"
            elif path.name.startswith("pieces"):
                for line in data.split(b"\n")[:-1]:
                    pieces += "piece" in json.loads(line)
            elif not data.endswith(ENDINGS.get(path.suffix, (b"",))):
                yield f"{path.name} is cut off"
            else:
                files += "bag" not in path.parts
        kill.left = kill.left or f"{pieces} pieces, {files} files"

    def _check_bag(self, kill: Kill, at: float) -> Iterator[str]:
        """Look whether the bag is the beginning of the undisturbed run."""
        if kill.name in STUDIES:
            return
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
        if recovered.changed and kill.target == "accord":
            yield "the bag was not closed"
        found = run.trajectory
        kill.states, kill.left = len(found), f"{len(found)} of {len(whole)} states"
        for name in ("time", "q", "qd", "effort", "position", "orientation", "twist"):
            if getattr(found, name).tobytes() != getattr(whole, name)[: len(found)].tobytes():
                yield f"{name} is not that of the undisturbed run"
        if found.events != whole.events[: len(found.events)]:
            yield "events are not those of the undisturbed run"
        if kill.lag > LAG and len(found) < len(whole):
            yield f"the bag ends {kill.lag:.1f} s before the kill"

    def _check_rest(self, kill: Kill, begun: float, at: float) -> Iterator[str]:
        """Look for processes, shared memory and temporary files that are left."""
        until = time.monotonic() + 3 * END
        while (left := list(self._processes())) and time.monotonic() < until:
            time.sleep(0.02)
        kill.seconds = time.time() - at
        for pid, command in left:
            yield f"process {pid} is left: {command!r}"
            os.kill(pid, signal.SIGKILL)
        abrupt = kill.target == WORKER or (kill.number == signal.SIGKILL and kill.target in NODES)
        if abrupt:
            tidy()
        for path in [*SHARED_MEMORY.iterdir(), *(self._folder / "tmp").iterdir()]:
            with contextlib.suppress(FileNotFoundError):  # others come and go
                inside = SHARED_MEMORY not in path.parents
                if path.name.startswith("lttng-ust") or path.stat().st_uid != os.getuid():
                    continue
                if inside or path.stat().st_mtime >= begun:
                    if not abrupt:
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
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and not children.read_text():
        time.sleep(0.002)


def tell(kills: list[Kill]) -> int:
    """Show what was found of each command; return 1 if anything was wrong."""
    table = make_table("command", *(n.name for n in SIGNALS), "until the end", "left", "wrong")
    for name in dict.fromkeys(kill.name for kill in kills):
        those = [kill for kill in kills if kill.name == name]
        hit = sorted(kill.seconds for kill in those if kill.target != "nobody") or [0.0]
        table.add_row(
            name,
            *(str(sum(k.number == n for k in those)) for n in SIGNALS),
            f"{hit[len(hit) // 2]:.2f}, at most {hit[-1]:.2f} s",
            f"{sum(bool(k.left) and not k.left.startswith('0 ') for k in those)} readable",
            str(sum(bool(k.wrong) for k in those)),
        )
    out.print(table)
    part = [k for k in kills if 0 < k.states < k.whole]
    lag = max((k.lag for k in part), default=0.0)
    out.print(
        f"{len(part)} kills in a run: its bag ends at most {lag:.2f} s before", soft_wrap=True
    )
    wrong = [k for k in kills if k.wrong]
    out.print(f"wrong: {len(wrong)}")
    for each in wrong:
        out.print(f"  {each}", highlight=False, markup=False, soft_wrap=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

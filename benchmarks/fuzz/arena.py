"""Where inputs are run: each in a process of its own, with limits, and judged by what it left."""

from __future__ import annotations

import atexit
import gc
import json
import os
import resource
import shutil
import signal
import sys
import threading
import time
import traceback
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from multiprocessing import process
from pathlib import Path
from typing import Any

import cases
import hostile
import links
import messages
from cases import Case
from kinds import make_case
from roboaccord.cli.interrupts import leave
from roboaccord.cli.main import main
from roboaccord.contract.errors import CONTROLS, guard
from roboaccord.contract.files import is_file
from roboaccord.description.resources import share as SHARE
from roboaccord.engines import formats
from seeds import make_seeds
from surroundings import RAN
from test_bag_is_data import opened
from test_modes import commands

SECONDS = 20  # of processor time, of an input, as other converters have (docs/security.md)
LONGEST = 180.0  # s of wall time: other work may keep the machine busy: nine times SECONDS
# KB that are resident; 140,000 of them are there before the input: eight times that.
MEMORY = 1_200_000
# Bytes; 16 GiB, since threads and JIT reserve more addresses than they use.
ADDRESSES = 16 << 30
# Bytes of a file that is written: no output of a command has more than some tens of MB.
LARGEST = 200_000_000
RECORD, DONE = "case.json", "done.json"
BATCH = 25  # inputs of a process, which share its start
STATUSES = (0, 1, 2)
# s of processor time after which a command that is still at work gets SIGTERM: most are over by
# then.
WORK = 4.0
ENDING = 3.0  # s that it then has, on a machine that has nothing else to do, as in faults/kills.py
TERMINATED = 128 + signal.SIGTERM
# Bytes of addresses of a command with an edge value: a quarter of ADDRESSES, to see refusals of
# memory.
SMALL = 4 << 30
LEFT = 71  # exit status for processes that are left behind, which no command has


@dataclass
class Job:
    """A process that runs inputs, one after another."""

    numbers: list[int]
    started: float
    real: bool


class Arena:
    """Runs of inputs.

    Args:
        folder: of this user alone.
        kept: folder for the inputs that fail.
        seed: of all of them.
        workers: processes at a time.
    """

    def __init__(self, folder: Path, kept: Path, seed: int, workers: int) -> None:
        self.folder, self.kept, self.seed, self.workers = folder, kept, seed, workers
        self.seeds = folder / "seeds"
        self.seeds.mkdir()
        self.tally: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self.failures: list[dict[str, Any]] = []
        self.jobs: dict[int, Job] = {}
        self.kind: tuple[str, ...] = ("",)
        os.chdir(self.seeds)
        log = os.open(os.devnull, os.O_WRONLY)
        saved = os.dup(1)
        os.dup2(log, 1)
        make_seeds(self.seeds)  # here, so that its kernels are there for all that follow
        _import_all()
        links.learn(self.seeds)
        os.dup2(saved, 1)
        hostile.zstd_bomb()
        hostile.deflated()
        for path in [*self.seeds.rglob("*"), self.seeds]:
            path.chmod(0o755 if path.is_dir() else 0o444)
        self.before = _listing(self.seeds)
        os.chdir(folder)
        gc.collect()
        gc.freeze()  # or else every child copies the pages of all objects that it only looks at

    def fuzz(
        self, seconds: float, inputs: int, processes: int, kind: tuple[str, ...]
    ) -> tuple[dict[tuple[str, str], Counter[str]], list[dict[str, Any]]]:
        """Run inputs until the time is over, then real processes; return counts and failures.

        Ctrl-C and SIGTERM end it early.
        """
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with suppress(KeyboardInterrupt):  # whoever ends it gets what was found
            end, number = time.monotonic() + seconds, 0
            while number < inputs and time.monotonic() < end:
                count = min(BATCH, inputs - number)
                self._start(list(range(number, number + count)), real=False, kind=kind)
                number += count
            for real in range(number, number + processes):
                self._start([real], real=True, kind=kind)
            while self.jobs:
                self._wait()
        for other in self.jobs:
            os.killpg(other, signal.SIGKILL)
        if changed := sorted(set(_listing(self.seeds)) ^ set(self.before)):
            why = f"a good file was changed: {changed[0][0]}"
            self.failures.append({"why": why, "repeat": "all of them"})
        return self.tally, self.failures

    def repeat(self, number: int) -> int:
        """Run one input again, where it is seen, and return its exit status."""
        folder = self.folder / "again"
        folder.mkdir()
        os.chdir(folder)
        case = make_case(f"{self.seed}/{number}", self.seeds)
        sys.stderr.write(f"accord {case.words}\n")
        return _call(case, self.seeds)

    def _start(self, numbers: list[int], *, real: bool, kind: tuple[str, ...]) -> None:
        while len(self.jobs) >= self.workers:
            self._wait()
        pid = os.fork()
        if not pid:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            try:
                for number in numbers:
                    folder = self.folder / f"i{number}"
                    _child(folder, f"{self.seed}/{number}", self.seeds, real, kind)
            except BaseException:  # of the fuzzer itself, which is told by `_judge`
                traceback.print_exc()
            finally:  # whatever it is, the folder of all is not this process's to remove
                sys.stderr.flush()
                os._exit(0)
        self.kind = kind
        self.jobs[pid] = Job(numbers, time.monotonic(), real)

    def _wait(self) -> None:
        """Take the processes that ended, and end those that are late."""
        pid, status, usage = os.wait4(-1, os.WNOHANG)
        if not pid:
            time.sleep(0.005)
            for other, job in self.jobs.items():
                if time.monotonic() - job.started > LONGEST * len(job.numbers) ** 0.5:
                    os.killpg(other, signal.SIGKILL)
            return
        if pid not in self.jobs:
            return
        job = self.jobs.pop(pid)
        rest = list(job.numbers)
        while rest:
            number = rest.pop(0)
            folder = self.folder / f"i{number}"
            done = folder / DONE
            self._judge(number, folder, job.real, status, usage.ru_maxrss)
            ended = not done.is_file() and (folder / RECORD).is_file()
            shutil.rmtree(folder, ignore_errors=True)
            if ended:
                break
        if rest:
            self._start(rest, real=False, kind=self.kind)

    def _judge(self, number: int, folder: Path, real: bool, status: int, memory: int) -> None:
        """Take note of what came of an input.

        Args:
            number: of the input.
            folder: of it.
            real: whether it had a process of its own.
            status: with which its process ended.
            memory: largest that the process had [KB].
        """
        record, done = folder / RECORD, folder / DONE
        if not record.is_file():
            if (folder / "err").is_file() and (folder / "err").stat().st_size:
                raise RuntimeError((folder / "err").read_text())
            return  # of another kind than asked for
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        if done.is_file():
            code, memory = json.loads(done.read_text())
        kept = json.loads(record.read_text())
        case = Case(**kept["case"])
        why = self._wrong(case, code, memory, folder, set(kept["files"]))
        result = "failed" if why else "refused" if code == 2 else "accepted"
        self.tally[case.kind, _command(case)][result] += 1
        if why:
            message = (folder / "err").read_text(errors="replace").strip().splitlines()
            repeat = f"make fuzz SEED={self.seed} ONLY={number}"
            self.failures.append({
                "why": why, "kind": case.kind, "words": case.words, "status": code,
                "message": message[-3:], "repeat": repeat, "real": real,
            })  # fmt: skip
            with (self.kept / "failures.jsonl").open("a") as file:
                file.write(json.dumps(self.failures[-1]) + "\n")
            shutil.copytree(
                folder, self.kept / str(number), symlinks=True, dirs_exist_ok=True,
                copy_function=_copy_file,
            )  # fmt: skip

    def _wrong(self, case: Case, code: int, memory: int, folder: Path, before: set[str]) -> str:
        """Return what is wrong with what came of an input, "" if nothing is."""
        message = (folder / "err").read_text(errors="replace")
        printed = (folder / "out").read_text(errors="replace")
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return "it hangs"
        if "Traceback (most recent" in message:
            return f"traceback: {message.strip().splitlines()[-1][:150]}"
        if memory > MEMORY or "not enough memory" in message:
            return f"memory: {memory // 1000} MB"
        if found := CONTROLS.search(message + printed):
            return f"control character {found[0]!r} is printed"
        if code == LEFT:
            return "a process is left"
        if case.at_work and code == TERMINATED:
            ended = message.endswith("accord: terminated\n") and not printed
            return "" if ended else "something else than a line at SIGTERM"
        if code not in STATUSES:
            return f"exit status {code}"
        if case.outside and links.state(folder) != case.outside:
            return "a planted link was followed, or a user's file changed"
        if (folder / RAN).exists():
            return f"what is planted is run: {(folder / RAN).read_text()[:150]!r}"
        if case.accepted and code == 2:
            return f"it is refused: {message.strip()[-150:]}"
        after = _files(folder)
        if code == 2:
            errors = [line for line in message.splitlines() if line.startswith("accord: ")]
            errors = [line for line in errors if not line.startswith("accord: warning")]
            if len(errors) != 1 or printed:
                return f"{len(errors)} lines of error, {len(printed)} characters printed"
            if "diverged" in message or "gave effort" in message:  # what was recorded is kept
                return ""
            left = {name for name in after - before if not name.startswith("runs/")}
            if case.outside:
                return ""  # a link may block what is written last
            return f"an output is left: {sorted(left)[0]}" if left and case.kind != "JSON" else ""
        if case.refused:
            return "it is accepted"
        drafts = [name for name in after - before if _is_draft(name)]
        if drafts:
            return f"a draft is left: {drafts[0]}"
        return _wrong_figures(case, code, printed)


def _wrong_figures(case: Case, code: int, printed: str) -> str:
    if "--json" not in case.words:
        return ""
    try:
        data = json.loads(printed, parse_constant=_refuse)
    except ValueError as error:
        return f"no JSON: {error}"
    if case.kind == "bag own" and case.words[0] == "compare" and code:
        return "a changed bag has other figures, and is accepted"
    if case.words[0] == "compare" and "null" in json.dumps(data["pairs"]):
        return "a figure is not finite"
    if not isinstance(data, dict):
        return "no JSON object"
    dropped = {*case.in_force} - data.get("options", {}).keys()
    return f"accepted, but not in force: {', '.join(sorted(dropped))}" if dropped else ""


def _refuse(word: str) -> None:
    raise ValueError(f"it holds {word}")


def _child(folder: Path, seed: str, seeds: Path, real: bool, kind: tuple[str, ...]) -> None:
    """Make an input in a folder, and run its command with limits."""
    folder.mkdir()
    os.chdir(folder)
    sys.stdout.flush()
    sys.stderr.flush()
    new = os.O_WRONLY | os.O_CREAT
    for number, (name, flags) in enumerate((("/dev/null", 0), ("out", new), ("err", new))):
        place = os.open(name, flags, 0o644)
        os.dup2(place, number)
        os.close(place)
    case = make_case(seed, seeds)
    if not case.kind.startswith(kind):
        return
    files = sorted(_files(folder))
    (folder / RECORD).write_text(json.dumps({"case": asdict(case), "files": files}))
    end = int(time.process_time()) + SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    code, memory = 70, 0
    try:
        if case.script:
            words = [str(Path(sys.executable).with_name("accord")), *case.words]
            kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHONPATH")}
            os.execve(words[0], words, kept)
        if real and not (case.parameters or case.unread or case.heard):
            words = [sys.executable, "-m", "roboaccord.cli.main", *case.words]
            search = os.pathsep.join(sys.path)
            os.execve(sys.executable, words, {**os.environ, "PYTHONPATH": search})
        guard()
        code, memory = _until(case) if case.at_work else (_call(case, seeds), 0)
    except BaseException:  # this is what is looked for
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    memory = memory or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    os.chdir(folder)
    (folder / DONE).write_text(json.dumps([code, memory]))


def _until(case: Case) -> tuple[int, int]:
    """Run a case in a process of its own, ended where it is at work for long: status, memory [KB].

    Whatever it starts is in its group of processes, too, and must be gone with it.
    """
    pid = os.fork()
    if not pid:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_AS, (SMALL, SMALL))
        sys.argv = ["accord", *case.words]
        process._children.clear()  # which are those of who made the seeds
        code = 70
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException:  # this is what is looked for
            traceback.print_exc()
        threading._shutdown()  # as the interpreter ends: pools end their processes here
        atexit._run_exitfuncs()
        leave(code)
    with suppress(OSError):
        os.setpgid(pid, pid)
    started, signalled = time.monotonic(), 0.0
    while not (ended := os.wait4(pid, os.WNOHANG))[0]:
        time.sleep(0.01)
        now = time.monotonic()
        if not signalled and (_worked(pid) > WORK or now - started > LONGEST / 6):
            signalled = now
            os.kill(pid, signal.SIGTERM)
        elif signalled and now - signalled > ENDING * max(1.0, os.getloadavg()[0]):
            os.killpg(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        for _ in range(int(ENDING / 0.05)):
            os.killpg(pid, 0)
            time.sleep(0.05)
        os.killpg(pid, signal.SIGKILL)
        return LEFT, ended[2].ru_maxrss
    return os.waitstatus_to_exitcode(ended[1]), ended[2].ru_maxrss


def _worked(pid: int) -> float:
    """Return the processor time of a process [s]."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _call(case: Case, seeds: Path) -> int:
    from roboaccord.cli.main import run
    from roboaccord.description import parameters

    parameters.share, _ = SHARE, parameters.parameter_file.cache_clear()
    if case.parameters:
        package = Path(case.parameters).absolute()
        parameters.share = lambda _: package
    if case.heard:
        return messages.run_among_strangers(case.heard, seeds)
    with opened() as heard:
        code = run(case.words)
    if case.unread and (read := [name for name in heard if case.unread in name]):
        raise RuntimeError(f"it opened {read[0]}")
    return code


def _import_all() -> None:
    """Import what commands import, once for all inputs."""
    from test_commands import CASES

    for name in CASES:
        cases.function_of(name)
    commands()
    formats.SECONDS = 5  # of a model that takes for ever, of which there are many
    messages.digest()
    if find_spec("rclpy"):
        __import__("test_strangers")
    for module in (
        "mujoco",
        "dartpy",
        "xacro",
        "trimesh",
        "collada",
        "matplotlib.figure",
        "scipy.io",
    ):
        __import__(module)


def _command(case: Case) -> str:
    robots = ("snake", "monkeybot", "packbot", "roller-sphere", "voxel-sphere")
    return " ".join(case.words[: 2 if case.words[0] in robots else 1])


def _files(folder: Path) -> set[str]:
    """Return the names below a folder, but for what the fuzzer itself writes."""
    found = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    return found - {"out", "err", RECORD, DONE}


def _is_draft(name: str) -> bool:
    base = name.rpartition("/")[2]
    return base.startswith(".") and base not in (".roboaccord.json", ".gitignore")


def _listing(folder: Path) -> list[tuple[str, int, int]]:
    rows = ((path, path.lstat()) for path in sorted(folder.rglob("*")))
    return [(str(path), status.st_size, status.st_mtime_ns) for path, status in rows]


def _copy_file(source: str, target: str) -> None:
    if is_file(Path(source)):
        shutil.copyfile(source, target, follow_symlinks=False)

"""Mutation: small errors are put into the code, one at a time, and the tests are to fail.

    python test/mutation --package snake --count 50
    python test/mutation --change main~5 --seconds 600

It works on copies in a temporary folder, as nobody where it is started by root. What is done is
kept in --out, and the same command goes on from there.
"""

from __future__ import annotations

import ast
import difflib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from queue import Queue
from typing import Annotated, Any

import typer
import yaml
from roboaccord.cli.console import log, make_table, out, progress
from roboaccord.contract.errors import AccordError
from roboaccord.run.pieces import kept_in, run_pieces
from roboaccord.run.results_file import ResultsFile
from roboaccord.run.software import software
from sites import Mutant, find_mutants, modules, parses

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
NOBODY = 65534
MOST = 60.0  # s of CPU time of the tests that are tried on a mutant
SLOWER = 4.0  # times as long as without the error, and then it hangs
START = 20.0  # s beside that: imports, and kernels to compile
FILES = 3  # nearest to a module that tests run in processes of their own, where nothing is seen
ELSEWHERE = 150.0  # s of CPU time of each


class OutOfTimeError(Exception):
    """The time is over."""


@dataclass
class Server:
    """A copy of the tree, and the process that runs tests in it."""

    folder: Path
    process: subprocess.Popen[str]

    def run(self, words: list[str], cpu: float, **environment: str) -> dict[str, Any]:
        """Run pytest in the copy."""
        job = {
            "words": words, "cpu": cpu, "wall": 60.0 + 8.0 * cpu, "environment": environment,
            "log": str(self.folder / "log"),
        }  # fmt: skip
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise AccordError(f"the process of the tests ended: {self.folder / 'errors'}")
        found: dict[str, Any] = json.loads(line)
        return found


@contextmanager
def copies(count: int) -> Iterator[list[Path]]:
    """Give copies of what git has of the tree, and remove them in the end."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    files = [Path(name) for name in listed.split("\0") if name]
    files += [p.relative_to(ROOT) for p in ROOT.glob("src/*/*.egg-info/*") if p.is_file()]
    with tempfile.TemporaryDirectory(prefix="mutation_", ignore_cleanup_errors=True) as top:
        Path(top).chmod(0o755)
        found = [Path(top, f"tree_{i}") for i in range(count)]
        for copy in found:
            for file in files:
                if (ROOT / file).is_file():
                    (copy / file).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(ROOT / file, copy / file)
            _give_away(copy)
        yield found


def _give_away(folder: Path) -> None:
    if os.getuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Start the process that runs tests in a copy, and end it."""
    sources = [str(folder / "src" / path.name) for path in (folder / "src").iterdir()]
    (folder / "tmp").mkdir(exist_ok=True)
    _give_away(folder / "tmp")
    environment = {
        "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([*sources, str(HERE)]),
        "HOME": str(folder / "tmp"), "TMPDIR": str(folder / "tmp"), "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg", "TERM": "dumb",
        "MPLCONFIGDIR": str(folder / "tmp"), "ROS_LOCALHOST_ONLY": "1",
    }  # fmt: skip
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
    with (folder / "errors").open("w") as errors:
        try:
            process = subprocess.Popen(
                [sys.executable, str(HERE / "server.py")], cwd=folder, env=environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, **who,
            )  # type: ignore[call-overload]  # fmt: skip
        except PermissionError:
            raise AccordError(
                f"nobody may not run {sys.executable}: start this command as another user than root"
            ) from None
    try:
        yield Server(folder, process)
    finally:
        process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(5.0)
        process.kill()


def tree_digest() -> str:
    """Return a digest of all code and tests."""
    digest = sha256()
    for path in sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("test/*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def coverage_map(server: Server, folder: Path, quick: bool) -> dict[str, Any]:
    """Return which tests run a line or call a kernel: from files, or by running them once."""
    found: dict[str, Any] = {"tests": {}, "lines": {}}
    for place in sorted(str(p.relative_to(ROOT)) for p in (*ROOT.glob("src/*/test"), HERE.parent)):
        name = f"{'quick' if quick else 'all'}_{place.replace('/', '_')}"
        file = folder / f"map_{tree_digest()}_{name}.json"
        if not file.exists():
            log.print(f"running the tests in {place} once, to see which lines each of them runs")
            made = server.folder / "tmp" / "map.json"
            marks = "not slow and not thorough" if quick else "not slow"
            words = ["-p", "coverage_map", "-m", marks, place]
            answer = server.run(words, 7200.0, ACCORD_COVERAGE_MAP=str(made))
            if not made.exists():
                raise AccordError(f"the tests do not run: {answer['tail'].strip()[-300:]}")
            shutil.copyfile(made, file)
            made.unlink()
        some = json.loads(file.read_text())
        found["tests"] |= some["tests"]
        for path, lines in some["lines"].items():
            here = found["lines"].setdefault(path, {})
            for number, names in lines.items():
                here.setdefault(number, []).extend(names)
    return found


class Tests:
    """Choose the tests for a mutant.

    Args:
        found: of `coverage_map`.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        self._lines = found["lines"]
        self.time = {name: test["time"] for name, test in found["tests"].items() if test["passed"]}
        self._kernels: dict[str, set[str]] = {}
        for name, test in found["tests"].items():
            for kernel in test["kernels"]:
                self._kernels.setdefault(kernel, set()).add(name)

    def of(self, mutant: Mutant) -> list[str]:
        """Return the tests that run its line, then others of their files, the fastest first."""
        lines = self._lines.get(mutant.file, {})
        exact = set[str]()
        if mutant.function:
            for number in range(mutant.line, mutant.last + 1):
                exact.update(lines.get(str(number), ()))
        else:  # run when the module is imported, by whichever test was the first
            exact.update(*lines.values())
        prefix = f"{mutant.file}:{mutant.function}" if mutant.kernel else f"{mutant.file}:"
        if mutant.kernel or not mutant.function:
            for kernel, tests in self._kernels.items():
                if kernel.startswith(prefix):
                    exact |= tests
        files = {name.partition("::")[0] for name in exact}
        beside = {name for name in self.time if name.partition("::")[0] in files} - exact
        chosen, spent = list[str](), 0.0
        for name in [*self._sorted(exact), *self._sorted(beside)]:
            spent += self.time[name]
            if spent > MOST and chosen:
                break
            chosen.append(name)
        return chosen

    def _sorted(self, names: set[str]) -> list[str]:
        return sorted(names & self.time.keys(), key=lambda name: (self.time[name], name))


@cache
def imports(file: Path) -> frozenset[str]:
    """Return the modules that a file names in imports, dotted."""
    found = set[str]()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return frozenset(found)


@cache
def known_modules() -> dict[str, Path]:
    """Return the files of all modules of the workspace by dotted name."""
    found = {}
    for setup in ROOT.glob("src/*/setup.py"):
        top = setup.parent
        for path in (top / top.name).rglob("*.py"):
            name = ".".join(path.relative_to(top).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


@cache
def distances(test: Path) -> dict[str, int]:
    """Return how many imports lead from a test file to each module."""
    known, found, ring = known_modules(), dict[str, int](), {test}
    for step in range(1, 6):
        names = {n for file in ring for n in imports(file) if n in known} - found.keys()
        found |= dict.fromkeys(names, step)
        ring = {known[name] for name in names}
    return found


def nearest(mutant: Mutant) -> list[str]:
    """Return the test files from which imports lead to a mutant, nearest first."""
    package = mutant.file.split("/")[1]
    module = ".".join(Path(mutant.file).with_suffix("").parts[2:]).removesuffix(".__init__")
    rows = []
    for test in [*ROOT.glob("src/*/test/test_*.py"), *ROOT.glob("test/test_*.py")]:
        path = str(test.relative_to(ROOT))
        far, own = distances(test).get(module, 9), path.startswith(f"src/{package}/")
        named = len({*test.stem.split("_")} & {*re.split(r"[._]", module)} - {package, "test"})
        if far < 9 or (own and named):
            rows.append((not own, far - 2 * named, path))
    return [path for *_, path in sorted(rows)[:FILES]]


class Judge:
    """Let the tests judge mutants, several at a time.

    Args:
        servers: free ones.
        tests: to choose from.
        until: when no further one is begun, of the monotonic clock [s].
        quick: whether only tests of single parts are tried.
    """

    def __init__(self, servers: list[Server], tests: Tests, until: float, quick: bool) -> None:
        self._servers, self._tests, self._until = Queue[Server](), tests, until
        self._quick = quick
        for server in servers:
            self._servers.put(server)

    def judge(self, mutant: Mutant) -> dict[str, Any]:
        """Return the result, the test that told, and the CPU time [s]."""
        server = self._servers.get()
        try:
            if time.monotonic() > self._until:
                raise OutOfTimeError
            path = server.folder / mutant.file
            source, stat = path.read_bytes(), path.stat()
            path.write_bytes(mutant.apply(source))
            try:
                return {"mutant": asdict(mutant)} | self._try(mutant, server)
            finally:
                path.write_bytes(source)
                os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        finally:
            self._servers.put(server)

    def _try(self, mutant: Mutant, server: Server) -> dict[str, Any]:
        chosen, cpu = self._tests.of(mutant), 0.0
        if chosen:
            limit = START + SLOWER * sum(self._tests.time[name] for name in chosen)
            answer = server.run(["-x", *chosen], limit)
            cpu = answer["cpu"]
            if answer["status"] != 0:
                result = "hangs" if answer["status"] == -1 else "killed"
                return {"result": result, "by": _failed(answer["tail"]), "cpu": cpu}
            return {"result": "survived", "by": "", "cpu": cpu}
        for file in () if self._quick else nearest(mutant):
            answer = server.run(["-x", "-m", "not slow", file], ELSEWHERE)
            cpu += answer["cpu"]
            if answer["status"] not in (0, 5, -1):  # 5: it has none; -1: too long to tell
                return {"result": "killed", "by": _failed(answer["tail"]), "cpu": cpu}
        return {"result": "unseen", "by": "", "cpu": cpu}


def _failed(tail: str) -> str:
    """Return the test that failed."""
    found = re.findall(r"^(?:FAILED|ERROR) (\S+)", tail, re.MULTILINE)
    return found[-1] if found else tail.strip().rpartition("\n")[2][:100]


def choose(package: str, change: str, count: int, seed: int) -> list[Mutant]:
    """Return mutants drawn at random: packages by their lines, lines evenly, one error a line."""
    names = [package] if package else sorted(p.parent.name for p in ROOT.glob("src/*/setup.py"))
    if package and not (ROOT / "src" / package / package).is_dir():
        raise AccordError(f"no package {package} in src/")
    changed = changed_lines(change) if change else None
    rng, lines = random.Random(seed), list[list[Mutant]]()
    for name in names:
        for file in modules(ROOT, name):
            by_line = dict[int, list[Mutant]]()
            for mutant in find_mutants(file, (ROOT / file).read_bytes()):
                if changed is None or mutant.line in changed.get(file, ()):
                    by_line.setdefault(mutant.line, []).append(mutant)
            lines += by_line.values()
    rng.shuffle(lines)
    drawn = (rng.choice(line) for line in lines)
    return [*islice((m for m in drawn if parses(m.apply((ROOT / m.file).read_bytes()))), count)]


def changed_lines(change: str) -> dict[str, set[int]]:
    """Return the lines of each file that differ from a commit."""
    done = subprocess.run(
        ["git", "diff", "-U0", change, "--", "src"], cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise AccordError(f"no commit {change}")
    found, file = dict[str, set[int]](), ""
    for line in done.stdout.splitlines():
        if line.startswith("+++ b/"):
            file = line.removeprefix("+++ b/")
        elif span := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line):
            first, length = int(span[1]), int(span[2] or 1)
            found.setdefault(file, set()).update(range(first, first + length))
    return found


def diff_of(mutant: Mutant) -> str:
    """Return the lines that a mutant changes."""
    before = (ROOT / mutant.file).read_bytes()
    after = mutant.apply(before)
    old, new = before.decode().splitlines(), after.decode().splitlines()
    lines = difflib.unified_diff(old, new, n=0, lineterm="")
    return "\n".join(line for line in lines if not re.match(r"---|\+\+\+|@@", line))


def explained(mutant: Mutant, reasons: list[dict[str, str]]) -> str:
    """Return why a survivor changes nothing that a test could see; "" if nobody has said."""
    diff = diff_of(mutant)
    for reason in reasons:
        if reason["file"] == mutant.file and reason["diff"].strip() == diff.strip():
            return reason["reason"]
    return ""


def main(
    package: Annotated[str, typer.Option(help="In src/; default: all.")] = "",
    change: Annotated[str, typer.Option(help="A commit: only lines changed since.")] = "",
    count: Annotated[int, typer.Option(min=1, help="Of mutants.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Of their choice.")] = 0,
    seconds: Annotated[float, typer.Option(help="After which no mutant is begun.")] = 3600.0,
    workers: Annotated[int, typer.Option(min=1, help="Copies of the tree, side by side.")] = 2,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only tests of single parts, as make test-quick.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Judge survivors once more.")] = False,
    folder: Annotated[Path, typer.Option("--out", help="Keeps what is done.")] = Path(
        "runs/mutation"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Put errors into the code, and list those that no test notices."""
    folder.mkdir(parents=True, exist_ok=True)
    mutants = choose(package, change, count, seed)
    name = "_".join(filter(None, (package or "all", re.sub(r"\W+", "-", change), f"seed{seed}")))
    path = folder / f"{name}_{software()['code']}.jsonl"
    if again:
        forget_survivors(path)
    study = {"package": package, "change": change, "seed": seed, "quick": quick}
    until = time.monotonic() + seconds
    found = judge_all(mutants, ResultsFile(path, "mutation", study), workers, until, quick)
    reasons = yaml.safe_load((HERE / "survivors.yaml").read_text(encoding="utf-8")) or []
    rows = [
        asdict(m) | found[m] | {"diff": diff_of(m), "reason": explained(m, reasons)}
        for m in mutants
        if m in found
    ]
    if as_json:
        typer.echo(json.dumps({"mutants": rows, "counts": counts(rows)}))
        return
    show(rows, len(mutants))


def judge_all(
    mutants: list[Mutant], file: ResultsFile, workers: int, until: float, quick: bool
) -> dict[Mutant, dict[str, Any]]:
    """Return what the tests make of mutants, of those for which the time suffices."""
    found = dict[Mutant, dict[str, Any]]()
    with copies(workers) as folders, ExitStack() as stack:
        servers = [stack.enter_context(serving(folder)) for folder in folders]
        tests = Tests(coverage_map(servers[0], file.path.parent, quick))
        for folder in folders[1:]:  # kernels that are compiled by now
            shutil.copytree(folders[0] / "src", folder / "src", dirs_exist_ok=True)
            _give_away(folder / "src")
        bar = stack.enter_context(progress())
        task = bar.add_task("mutants", total=len(mutants))

        def done(result: dict[str, Any]) -> None:
            found[Mutant(**result["mutant"])] = result
            bar.advance(task)

        stack.enter_context(suppress(OutOfTimeError))
        stack.enter_context(kept_in(file))
        judge = Judge(servers, tests, until, quick)
        run_pieces(judge.judge, ((m,) for m in mutants), threads=True, workers=workers, done=done)
    return found


def forget_survivors(path: Path) -> None:
    """Take the survivors out of a file, to be judged again."""
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text(
            "".join(x for x in lines if not re.search('"(survived|unseen)"', x)), encoding="utf-8"
        )


def counts(rows: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Return for each package how many mutants there were of each result."""
    found = dict[str, Counter[str]]()
    for row in rows:
        result = "explained" if row["result"] == "survived" and row["reason"] else row["result"]
        for name in (row["file"].split("/")[1], "all"):
            found.setdefault(name, Counter())[result] += 1
    return {name: dict(counter) for name, counter in sorted(found.items())}


def show(rows: list[dict[str, Any]], asked: int) -> None:
    """Print survivors and the table."""
    for row in rows:
        if row["result"] in ("survived", "unseen"):
            out.print(
                f"{row['result']}: {row['file']}:{row['line']} {row['operator']}",
                style="bold",
                markup=False,
            )
            out.print(row["diff"], markup=False, highlight=False)
            if row["reason"]:
                out.print(f"explained: {row['reason']}", markup=False)
    names = ("killed", "hangs", "survived", "explained", "unseen")
    table = make_table("package", *names, "share\n[%]", title=f"{len(rows)} of {asked} mutants")
    for package, count in counts(rows).items():
        dead = count.get("killed", 0) + count.get("hangs", 0)
        share = 100.0 * dead / sum(count.values())
        table.add_row(package, *(str(count.get(name, 0)) for name in names), f"{share:.1f}")
    out.print(table)


if __name__ == "__main__":
    try:
        typer.run(main)
    except AccordError as error:
        log.print(f"mutation: {error}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)

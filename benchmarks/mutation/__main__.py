"""Mutation: small errors are put into the code, one at a time, and the tests are to fail.

    python benchmarks/mutation --package snake --count 50
    python benchmarks/mutation --change main~5 --seconds 600

It works on copies in a temporary folder, as nobody where it is started by root. What is done is
kept in --out, and the same command goes on from there.
"""

from __future__ import annotations

import difflib
import json
import os
import random
import re
import subprocess
import sys
import time
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from queue import Queue
from typing import Annotated, Any

import typer
import yaml
from choice import Maps, OutOfTimeError, Tests, nearest
from rich.table import Table
from roboaccord.cli.console import log, make_table, out, progress
from roboaccord.contract.errors import AccordError
from roboaccord.run.versions import software
from roboaccord_studies.results_file import ResultsFile
from sites import Mutant, find_mutants, modules, parses
from trees import HERE, ROOT, Server, copies, serving

# Times as long as without the error, and then it hangs; a busy machine makes it twice as long.
SLOWER = 4.0
START = 20.0  # s beside that: imports, and kernels to compile; compiling takes most of it
PASSED = (0, 5)  # exit status of pytest; 5: no tests, as pytest documents it
ELSEWHERE = 150.0  # s of CPU time of each test file where no test runs the line; it bounds the time


class Judge:
    """Let the tests judge mutants, several at a time.

    Args:
        servers: free ones.
        maps: of the tests to choose from.
        until: when no further one is begun, of the monotonic clock [s].
    """

    def __init__(self, servers: list[Server], maps: Maps, until: float) -> None:
        self._servers, self._maps, self._until = Queue[Server](), maps, until
        for server in servers:
            self._servers.put(server)

    def by_own(self, mutant: Mutant) -> dict[str, Any]:
        """Return what the tests of the mutant's package make of it; "left" if they pass."""
        return self._judge(mutant, [own_place(mutant)], last=False)

    def by_others(self, mutant: Mutant) -> dict[str, Any]:
        """Return what the tests of other places make of a mutant that is left."""
        others = [place for place in self._maps.places if place != own_place(mutant)]
        return self._judge(mutant, others, last=True)

    def _judge(self, mutant: Mutant, places: list[str], last: bool) -> dict[str, Any]:
        """Return the result, the test that failed, and the CPU time [s]."""
        server = self._servers.get()
        try:
            if time.monotonic() > self._until:
                raise OutOfTimeError
            chosen = Tests([self._maps.get(place, server) for place in places])
            with mutated(mutant, server):
                result, by, cpu = self._try(mutant, chosen, server, last)
            return {"mutant": asdict(mutant), "result": result, "by": by, "cpu": cpu}
        finally:
            self._servers.put(server)

    def _try(
        self, mutant: Mutant, tests: Tests, server: Server, last: bool
    ) -> tuple[str, str, float]:
        chosen, cpu = tests.of(mutant), 0.0
        if chosen:
            limit = START + SLOWER * sum(tests.time[name] for name in chosen)
            modules = dict.fromkeys(name.partition("::")[0] for name in chosen)
            answer = server.run(["-x", *modules], limit, chosen)
            cpu = answer["cpu"]
            if answer["status"] not in PASSED:
                result = "hangs" if answer["status"] == -1 else "killed"
                return result, _failed(answer["tail"]), cpu
        if not last:
            return "left", "", cpu
        if chosen or Tests([self._maps.get(own_place(mutant), server)]).of(mutant):
            return "survived", "", cpu
        for file in nearest(mutant):
            answer = server.run(["-x", "-m", "not slow", file], ELSEWHERE)
            cpu += answer["cpu"]
            if answer["status"] not in (*PASSED, -1):  # -1: too long to tell
                return "killed", _failed(answer["tail"]), cpu
        return "unseen", "", cpu


@contextmanager
def mutated(mutant: Mutant, server: Server) -> Iterator[None]:
    """Put an error into a server's copy, and take it out again."""
    path = server.folder / mutant.file
    source, stat = path.read_bytes(), path.stat()
    path.write_bytes(mutant.apply(source))
    try:
        yield
    finally:
        path.write_bytes(source)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def own_place(mutant: Mutant) -> str:
    """Return where the tests of a mutant's package are."""
    return f"src/{mutant.file.split('/')[1]}/test"


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
    """Return why a survivor changes nothing that a test could see; "" if none is given."""
    wanted = mutant.file, diff_of(mutant).strip()
    return next((r["reason"] for r in reasons if (r["file"], r["diff"].strip()) == wanted), "")


def main(
    package: Annotated[str, typer.Option(help="In src/; default: all.")] = "",
    change: Annotated[str, typer.Option(help="A commit: only lines changed since.")] = "",
    count: Annotated[int, typer.Option(min=1, help="Of mutants.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Of their choice.")] = 0,
    seconds: Annotated[float, typer.Option(help="After which no mutant is begun.")] = 3600.0,
    workers: Annotated[int, typer.Option(min=1, help="Copies of the tree, side by side.")] = 2,
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
    study = {"study": "mutation", "package": package, "change": change, "seed": seed}
    until = time.monotonic() + seconds
    file = ResultsFile(path, study)
    rows = judge_all(mutants, file, workers, until, tell=lambda row: as_json or show(row))
    if as_json:
        typer.echo(json.dumps({"mutants": rows, "counts": counts(rows)}))
        return
    out.print(table_of(rows, len(mutants)))


def judge_all(
    mutants: list[Mutant],
    file: ResultsFile,
    workers: int,
    until: float,
    tell: Callable[[dict[str, Any]], object],
) -> list[dict[str, Any]]:
    """Return what the tests make of mutants, of those for which the time suffices.

    Each is first given to the tests of its package, for which one map is enough, and what they
    leave to those of other places.
    """
    rows, left = list[dict[str, Any]](), list[Mutant]()
    reasons = yaml.safe_load((HERE / "survivors.yaml").read_text(encoding="utf-8")) or []
    with copies(workers) as folders, ExitStack() as stack:
        servers = [stack.enter_context(serving(folder)) for folder in folders]
        maps = Maps(file.path.parent, until)
        bar = stack.enter_context(progress())
        task = bar.add_task("mutants", total=len(mutants))

        def done(result: dict[str, Any]) -> None:
            mutant = Mutant(**result["mutant"])
            if result["result"] == "left":
                left.append(mutant)
                return
            reason = {"diff": diff_of(mutant), "reason": explained(mutant, reasons)}
            rows.append(asdict(mutant) | result | reason)
            bar.advance(task)
            tell(rows[-1])

        stack.enter_context(suppress(OutOfTimeError))
        stack.enter_context(closing(file))
        judge = Judge(servers, maps, until)
        ordered = sorted(mutants, key=lambda mutant: maps.places.index(own_place(mutant)))
        for method, some in ((judge.by_own, ordered), (judge.by_others, left)):
            file.run(method, ((m,) for m in some), threads=True, workers=workers, done=done)
    return sorted(rows, key=lambda row: mutants.index(Mutant(**row["mutant"])))


def forget_survivors(path: Path) -> None:
    """Take the survivors out of a file, to be judged again."""
    if path.exists():
        head, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        again = re.compile(rb"\x8c(\x04left|\x08survived|\x06unseen)")  # texts in a pickle
        kept = [x for x in lines if not again.search(b64decode(x.split()[1]))]
        path.write_text("".join([head, *kept]), encoding="utf-8")


def counts(rows: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Return for each package how many mutants there were of each result."""
    found = dict[str, Counter[str]]()
    for row in rows:
        left = row["result"] in ("survived", "unseen")
        result = "explained" if left and row["reason"] else row["result"]
        for name in (row["file"].split("/")[1], "all"):
            found.setdefault(name, Counter())[result] += 1
    return {name: dict(counter) for name, counter in sorted(found.items())}


def show(row: dict[str, Any]) -> None:
    """Print what became of a mutant; of a survivor the lines that differ."""
    place = f"{row['result']}: {row['file']}:{row['line']} {row['operator']}"
    if row["result"] in ("killed", "hangs"):
        out.print(f"{place} by {row['by']}", markup=False, highlight=False, soft_wrap=True)
        return
    out.print(place, style="bold", markup=False)
    out.print(row["diff"], markup=False, highlight=False)
    if row["reason"]:
        out.print(f"explained: {row['reason']}", markup=False)


def table_of(rows: list[dict[str, Any]], asked: int) -> Table:
    """Return how many mutants of each package there were of each result."""
    names = ("killed", "hangs", "survived", "explained", "unseen")
    table = make_table("package", *names, "share\n[%]", title=f"{len(rows)} of {asked} mutants")
    for package, count in counts(rows).items():
        dead = count.get("killed", 0) + count.get("hangs", 0)
        share = 100.0 * dead / sum(count.values())
        table.add_row(package, *(str(count.get(name, 0)) for name in names), f"{share:.1f}")
    return table


if __name__ == "__main__":
    try:
        typer.run(main)
    except AccordError as error:
        log.print(f"mutation: {error}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)

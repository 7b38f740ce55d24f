"""The results of every command of the pages, every scenario in every engine, and every cross-check.

A change that should change no figure is compared with the figures of the commit before:

    make hashes HASHES="--out ../before.jsonl"
    make hashes HASHES="--out ../after.jsonl --against ../before.jsonl"

Each line of the file holds a command, its exit status, what it printed with `--json`, and the
summary.json files that it wrote. A run that was ended goes on from the file. Commands of a page run
one after the other in one folder, as a reader runs them; one that takes longer than `--limit` is
noted and compared with nothing.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.campaigns.rows import campaign_parser, keep, read
from joblib import Parallel, delayed
from roboaccord import find_robot, load_scenario
from roboaccord.scenario import scenario_names

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
ENGINES = ("reference", "dart", "mujoco", "drake")
ROBOTS = ("snake", "monkeybot", "packbot", "voxel_sphere", "roller_sphere")
ENDLESS = re.compile(r"^(view|teleop|doctor)|--cluster|--transport ros|--view|--controller my_")
TIMED = re.compile(r"(seconds|elapsed|wall|factor|per_second|jobs_per|cpu)")
"""Keys of clocks, which differ from run to run."""


@dataclass(frozen=True)
class Outcome:
    """Hold what a command came to.

    Args:
        group: `run`, `crosscheck`, `command` or `page NAME`.
        command: words behind `accord`.
        status: of its exit; None where it took longer than allowed.
        printed: JSON that it printed, or the end of what it wrote to stderr.
        summaries: content of each summary.json that it wrote, by path.
    """

    group: str
    command: str
    status: int | None
    printed: Any
    summaries: dict[str, Any]

    @property
    def key(self) -> tuple[str, str]:
        """What identifies it."""
        return self.group, self.command


def groups(seconds: float) -> Iterator[tuple[str, list[str]]]:
    """Yield groups of commands; those of a page belong together."""
    from test_commands import CASES  # type: ignore[import-not-found]
    from test_docs import commands  # type: ignore[import-not-found]

    for robot in ROBOTS:
        package = find_robot(robot).package
        for scenario in scenario_names(package):
            whole = load_scenario(package, robot, scenario, []).duration
            short = f" --set duration={min(whole, seconds):g}" * (whole > seconds)
            name = f"{robot} {scenario}"
            for engine in ENGINES:
                yield "run", [f"run {name} --transport direct --engine {engine}{short}"]
            yield (
                "crosscheck",
                [f"crosscheck {name} --set crosscheck.duration=0.2 --set crosscheck.states=2"],
            )
    made = ("run", "voxel-sphere make")
    first = [
        f"{name} {CASES[name]}".format(out=folder, root=ROOT)
        for name, folder in zip(made, ("made/run", "made/terrain"), strict=True)
    ]
    cases = [
        f"{name} {words}".format(out=f"results/{name.replace(' ', '_')}", root=ROOT)
        for name, words in CASES.items()
    ]
    yield "command", [*first, *(case for case in cases if not ENDLESS.search(case))]
    pages = dict[str, list[str]]()
    for page, command in commands():
        if not ENDLESS.search(command):
            pages.setdefault(page, []).append(shlex.join(shlex.split(command, comments=True)))
    for page, lines in pages.items():
        yield f"page {page}", list(dict.fromkeys(lines))


def carry_out(group: str, commands: list[str], limit: float) -> list[Outcome]:
    """Run commands one after the other in a new folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for link in ("src/roboaccord/test", "worlds", "models"):  # new-robot writes into src
            (folder / link).parent.mkdir(parents=True, exist_ok=True)
            (folder / link).symlink_to(ROOT / link)
        return [_outcome(group, command, folder, limit) for command in commands]


def _outcome(group: str, command: str, folder: Path, limit: float) -> Outcome:
    words = shlex.split(command)
    words += [] if "--json" in words else ["--json"]
    known = {path: path.stat().st_mtime_ns for path in folder.rglob("summary.json")}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "roboaccord.cli.start", *words], cwd=folder, timeout=limit,
            capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "80"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Outcome(group, command, None, None, {})
    here = re.compile(f"{re.escape(str(folder))}|{re.escape(str(ROOT))}")
    try:
        printed = _timeless(json.loads(here.sub("HERE", done.stdout)))
    except ValueError:
        printed = here.sub("HERE", done.stderr)[-400:]
    summaries = {
        str(path.relative_to(folder)): _timeless(json.loads(here.sub("HERE", path.read_text())))
        for path in sorted(folder.rglob("summary.json"))
        if known.get(path) != path.stat().st_mtime_ns
    }
    return Outcome(group, command, done.returncode, printed, summaries)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if not TIMED.search(k)}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def outcomes_in(path: Path) -> dict[tuple[str, str], Outcome]:
    """Return the outcomes in a file by their keys."""
    return {outcome.key: outcome for outcome in read(path, Outcome)}


def first_difference(one: Any, other: Any, where: str = "") -> str:
    """Return where two results differ first, and how; "" where they are equal."""
    if isinstance(one, dict) and isinstance(other, dict) and list(one) == list(other):
        pairs = ((f"{where}.{key}", one[key], other[key]) for key in one)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = ((f"{where}[{i}]", *pair) for i, pair in enumerate(zip(one, other, strict=True)))
    elif one == other and type(one) is type(other):
        return ""
    else:
        shown = [list(v) if isinstance(v, dict) else v for v in (one, other)]
        return f"{where}: {str(shown[0])[:200]} -> {str(shown[1])[:200]}"
    return next((found for path, a, b in pairs if (found := first_difference(a, b, path))), "")


def compare(before: Path, after: Path) -> int:
    """Print what differs between two files; return how many commands."""
    olds, news, differ = outcomes_in(before), outcomes_in(after), 0
    common = [k for k in olds if k in news and None not in (olds[k].status, news[k].status)]
    for key in common:
        if found := first_difference(asdict(olds[key]), asdict(news[key])):
            differ += 1
            print(f"accord {news[key].command}\n    {found}")
    late = sum(outcome.status is None for outcome in news.values())
    print(f"{len(common)} commands compared, {differ} differ; {late} took too long")
    return differ


def main() -> int:
    """Run what is not in the file yet, then compare."""
    parser = campaign_parser(__doc__)
    parser.add_argument("--against", type=Path, help="file of another commit")
    parser.add_argument("--only", default="", help="pattern of groups and commands")
    parser.add_argument("--seconds", type=float, default=10.0, help="longest run [s]")
    parser.add_argument("--limit", type=float, default=300.0, help="longest command [s of clock]")
    parser.add_argument("--jobs", type=int, default=2, help="commands at a time")
    asked = parser.parse_args()
    known = outcomes_in(asked.out)
    jobs = [
        (group, commands)
        for group, commands in groups(asked.seconds)
        if any((group, c) not in known and re.search(asked.only, f"{group} {c}") for c in commands)
    ]
    work = (delayed(carry_out)(group, commands, asked.limit) for group, commands in jobs)
    found = Parallel(n_jobs=asked.jobs, return_as="generator_unordered")(work)
    for number, outcomes in enumerate(found, 1):
        *_, last = keep(asked.out, outcomes)
        print(f"{number} of {len(jobs)} {last.group} {last.command}", flush=True)
    return int(bool(asked.against and compare(asked.against, asked.out)))


if __name__ == "__main__":
    sys.exit(main())

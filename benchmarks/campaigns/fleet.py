"""Public robots in all engines: what each makes of them, and why.

`fleet.txt` names them: repository, commit, path and, of a xacro file, its arguments. They are not
here: FOLDER/OWNER/NAME is a clone of https://github.com/OWNER/NAME at that commit. Each file is
given to `accord parity FILE --json` in a process of its own. Rows of what is done are kept, and
the order is drawn, so that those done so far are a sample of all. `--before` names the rows of an
earlier tree: which statuses have changed is printed, too.

    nice python -m benchmarks.campaigns.fleet --folder FOLDER --out FILE
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.campaigns.rows import campaign_parser, keep, read

LIST = Path(__file__).with_name("fleet.txt")
STATUSES = ("same", "differ", "refused", "undecided")
UNKNOWN = {"not explained", "crash", "no answer"}
FEW = 5  # files of a collection, below which it is one of the others; shares of fewer mean nothing
# s of processor time of a process, after which a file hangs; most take under 10, so 300 are thirty
# times as long.
PROCESSOR = 300
LIMIT = partial(resource.setrlimit, resource.RLIMIT_CPU, (PROCESSOR, PROCESSOR + 5))
CLOCK = 1800.0  # s by the clock, for what waits for ever: six times PROCESSOR, on a busy machine


@dataclass(frozen=True)
class Row:
    """What came of a file.

    Args:
        name: of the entry.
        ended: `read`, `not read` (why is in `said`), `traceback` or `hang`.
        seconds: of processor time.
        said: on standard error.
        engines: by name the status, the causes as (cause, link or joint, cure), the error of
            accelerations, and whether the file is loaded as shipped.
        errors: rules that find an error.
    """

    name: str
    ended: str
    seconds: float
    said: str
    engines: dict[str, dict[str, Any]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


def entries() -> dict[str, list[str]]:
    """Return the words of the list's lines, by these without the commit."""
    lines = [line.split() for line in LIST.read_text("utf-8").splitlines() if line[:1] != "#"]
    return {" ".join((f"{words[0]}/{words[2]}", *words[3:])): words for words in lines}


def missing(folder: Path, lacking: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a line for each repository that lacks files."""
    for (name, commit), count in Counter((words[0], words[1]) for words in lacking).items():
        clone = f"git clone https://github.com/{name} {folder / name}"
        yield f"{count} files missing: {clone} && git -C {folder / name} checkout {commit}"


def examine(name: str, folder: Path, engines: str) -> Row:
    """Return what `accord parity` reports of a file."""
    command = [str(Path(sys.executable).with_name("accord")), "parity", *name.split(), "--json"]
    command += ["--engines", engines] if engines else []
    before = processor_time()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=folder, timeout=CLOCK, preexec_fn=LIMIT
        )
    except subprocess.TimeoutExpired:
        return Row(name, "hang", round(processor_time() - before, 1), f"no end in {CLOCK:g} s")
    seconds, said = round(processor_time() - before, 1), " ".join(done.stderr.split())
    if done.returncode < 0 or "Traceback (most recent call last)" in done.stdout + done.stderr:
        ended = "hang" if done.returncode == -signal.SIGXCPU else "traceback"
        return Row(name, ended, seconds, said)
    try:
        robot = json.loads(done.stdout)["robots"][0]
    except (ValueError, LookupError):
        return Row(name, "not read", seconds, said)
    engines_made = {
        engine: {
            "status": made["status"],
            "causes": [[c["cause"], c["where"], c["fix"]] for c in made["causes"]],
            "acceleration": made["acceleration"],
            "shipped": made["shipped"]["status"],
        }
        for engine, made in robot["engines"].items()
    }
    errors = [f["rule"] for f in robot["findings"] if f["severity"] == "error"]
    return Row(name, "read", seconds, said, engines_made, errors)


def processor_time() -> float:
    """Return that of processes that have ended [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield counts of rows as lines of Markdown, by collection, engine and cause."""
    robots = [row for row in rows if row.ended == "read"]
    names = list(dict.fromkeys(name for row in robots for name in row.engines))
    yield f"| {' / '.join(STATUSES)} | files | not read | {' | '.join(names)} | all same |"
    yield "|---" * (4 + len(names)) + "|"
    groups = ["/".join(row.name.split("/")[:2]) for row in rows]
    groups = [name if groups.count(name) >= FEW else "others" for name in groups]
    for group in (*sorted(set(groups)), ""):
        of = [row for row, name in zip(rows, groups, strict=True) if group in ("", name)]
        rows_of = [[e["status"] for e in row.engines.values()] for row in of if row.engines]
        none = [Counter[str]()] * len(names)
        counts = [Counter(column) for column in zip(*rows_of, strict=True)] or none
        cells = [" / ".join(str(count[status]) for status in STATUSES) for count in counts]
        alike = sum(set(statuses) == {"same"} for statuses in rows_of)
        cells = [str(len(of)), str(len(of) - len(rows_of)), *cells, str(alike)]
        yield f"| {group or 'all'} | {' | '.join(cells)} |"
    yield ""
    for name in names:
        asked = [row.engines[name] for row in robots]
        shipped = f"{sum(e['shipped'] == 'loaded' for e in asked)} loaded as shipped"
        yield f"- {name} ({shipped}): " + listed([c[0] for c in e["causes"]] for e in asked)
    yield "- rules, errors: " + listed(row.errors for row in robots)
    unknown = [
        r for r in robots for e in r.engines.values() for c in e["causes"] if c[0] in UNKNOWN
    ]
    share = f"{len({r.name for r in unknown})} of {len(robots)}"
    yield f"- not explained, crash or no answer: {share}"
    yield "- " + listed([row.ended] for row in rows)
    yield f"- processor time: {sum(row.seconds for row in rows) / max(len(rows), 1):.1f} s a file"


def changes(rows: Sequence[Row], before: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each status of an engine that differs from that of an earlier tree."""
    was = {row.name: row for row in before}
    for row in rows:
        old = was.get(row.name, row)
        if row.ended != old.ended:
            yield f"{row.name}: {row.ended}, before {old.ended}"
        for engine, made in row.engines.items():
            status = old.engines.get(engine, made)["status"]
            if made["status"] != status:
                yield f"{row.name}: {engine} {made['status']}, before {status}"


def listed(robots: Iterable[Sequence[str]]) -> str:
    """Return in how many robots each word is, the most frequent first."""
    counts = Counter(word for words in robots for word in set(words))
    return ", ".join(f"{word} {count}" for word, count in counts.most_common())


def options(doc: str) -> argparse.ArgumentParser:
    """Return the options of a campaign on these files."""
    parser = campaign_parser(doc, "file of rows")
    parser.add_argument("--folder", type=Path, required=True, help="clones, FOLDER/OWNER/NAME")
    parser.add_argument("--count", type=int, help="so many files at most")
    return parser


def chosen(folder: Path, count: int | None) -> list[str]:
    """Return the files that are there, in a fixed random order; print which are missing."""
    files, names = entries(), list(entries())
    random.Random(0).shuffle(names)
    there = [n for n in names if (folder / n.split()[0]).is_file()]
    for line in missing(folder, [files[n] for n in names if n not in there]):
        print(line)
    return there[:count]


def main() -> None:
    """Examine what is not in the file yet, then print the table."""
    parser = options(__doc__)
    parser.add_argument("--engines", default="", help="NAME,NAME; those installed by default")
    parser.add_argument("--before", type=Path, help="rows of an earlier tree")
    asked = parser.parse_args()
    wanted = chosen(asked.folder, asked.count)
    done = {row.name: row for row in read(asked.out, Row)}
    waiting = [name for name in wanted if name not in done]
    for row in keep(asked.out, (examine(name, asked.folder, asked.engines) for name in waiting)):
        done[row.name] = row
        print(f"{len(done)} of {len(wanted)}: {row.ended} {row.seconds} s {row.name}", flush=True)
    rows = [done[name] for name in wanted]
    print(*table(rows), sep="\n")
    if asked.before:
        lines = [*changes(rows, read(asked.before, Row))]
        print(f"{len(lines)} statuses changed", *lines, sep="\n")


if __name__ == "__main__":
    main()

"""The controller `recover` on arms of the Packbot that are not their model: healthy, and failed.

Each of 20 arms, drawn within the stated uncertainties, reaches for a target of its own: healthy,
and with each case of `accord packbot recover`; 5 of them in DART, too, 2 healthy ones in the
reference. A healthy arm ends where plain `reach` has it as long after, but for false alarms.

    nice python -m benchmarks.campaigns.recover_drawn --out FILE
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.campaigns.rows import keep, read
from packbot.source.reaching import REACHED
from packbot.source.recovery import Attempt, all_cases, calls, reach_for
from roboaccord.cli.options import load_setup

SEED = 20_000  # of the first arm and the targets; nothing was tuned on them
HEALTHY = {"mujoco": 20, "dart": 5, "reference": 2}  # arms
FAILED = {"mujoco": 20, "dart": 5}  # of each case
BLOCK = 5  # arms of each case, before the next ones
SCALE = 1.0  # of the stated uncertainties
SAME = 2e-3  # m from where plain `reach` has the hand


@dataclass(frozen=True)
class Row:
    """Hold what came of an arm's reach with the faults of a case, none for a healthy one."""

    engine: str
    case: str
    index: int
    wall: float
    attempt: dict[str, Any]


def jobs() -> Iterator[tuple[str, str, int]]:
    """Yield engine, case and arm, the healthy ones first."""
    cases = [" ".join(case) for case in all_cases(load_setup("packbot", "reach"))]
    for engine, count in HEALTHY.items():
        yield from ((engine, "", i) for i in range(count))
    for first in range(0, max(FAILED.values()), BLOCK):
        for engine, count in FAILED.items():
            block = range(first, min(first + BLOCK, count))
            yield from ((engine, case, i) for case in cases for i in block)


def carry_out(job: tuple[str, str, int]) -> Row:
    """Reach for a target."""
    engine, case, index = job
    began, setup = perf_counter(), load_setup("packbot", "reach", faults=case.split())
    *_, call = calls([setup], engine, SEED, index + 1, SCALE)
    attempt = reach_for(*call)
    return Row(engine, case, index, perf_counter() - began, asdict(attempt))


def report(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for healthy arms and for failed ones, by engine, and one for each case."""
    for engine in HEALTHY:
        mine = [(row.case, Attempt(**row.attempt)) for row in rows if row.engine == engine]
        healthy, failed = [a for case, a in mine if not case], [(c, a) for c, a in mine if c]
        if healthy:
            named = [a for a in healthy if a.named]
            others = max((a.apart for a in healthy if not a.named), default=0.0)
            off = sum(a.apart > SAME for a in healthy)
            yield (
                f"{engine}: {len(healthy)} healthy arms, {len(named)} with false alarms; others "
                f"end within {1e3 * others:.3f} mm of `reach`, {off} beyond {1e3 * SAME:g} mm"
            )
            yield f"{engine}, errors of healthy arms: {errors(healthy)}"
        if failed:
            yield f"{engine}, failed: {shares([a for _, a in failed])}"
        for case in dict.fromkeys(case for case, _ in failed):
            yield f"  {case}: {shares([a for each, a in failed if each == case])}"


def shares(attempts: Sequence[Attempt]) -> str:
    """Return what was reached of what is reachable, what was named and what went wrong."""
    able = [a for a in attempts if not a.judged]
    there = [a for a in able if a.recovered]
    named = [a for a in able if a.named]
    part = f" ({len(there) / len(able):.0%})" if able else ""
    words = (
        f"{len(attempts)} drawn, {len(able)} reachable, {len(there)} reached{part}, "
        f"{sum(a.measured < REACHED for a in able)} within 10 mm as measured, "
        f"{sum(a.measured < REACHED + a.plain[1] for a in able)} as near as healthy arms by `reach`"
        f" to 10 mm, {sum(a.baseline for a in able)} by reach; something named in {len(named)}, "
        f"of these {sum(a.recovered for a in named)} reached"
    )
    wrong = Counter(a.fault for a in able if not a.recovered)
    return f"{words}; {errors(there)}; not: {dict(wrong)}" if there else f"{words}; {dict(wrong)}"


def errors(attempts: Sequence[Attempt]) -> str:
    """Return the median errors [mm], true and as measured, of both controllers."""
    rows = [(a.error, a.measured, *a.plain) for a in attempts]
    true, seen, plain, plainly = (1e3 * statistics.median(each) for each in zip(*rows))
    return f"median {true:.1f} mm, measured {seen:.1f}; `reach` {plain:.1f}, measured {plainly:.1f}"


def main() -> int:
    """Run what is not in the file yet, then count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="file, outside the repository")
    parser.add_argument("--jobs", type=int, default=1, help="arms at a time")
    parser.add_argument("--most", type=int, help="rows to add")
    asked = parser.parse_args()
    rows = read(asked.out, Row)
    done = {(row.engine, row.case, row.index) for row in rows}
    left = [job for job in jobs() if job not in done][: asked.most]
    with get_context("spawn").Pool(asked.jobs) as pool:
        for row in keep(asked.out, pool.imap(carry_out, left)):
            rows.append(row)
            a = Attempt(**row.attempt)
            what = a.judged or a.fault or f"{1e3 * a.error:.1f} mm"
            print(f"{row.engine} {row.case or 'healthy'} {row.index}: {what}", flush=True)
    print(*report(rows), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

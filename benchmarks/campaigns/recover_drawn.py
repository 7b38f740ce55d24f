"""The controller `recover` on arms of the Packbot that are not their model: healthy, and failed.

Each of 20 arms, drawn within the stated uncertainties, reaches for a target of its own: healthy,
and with each case of `make recovery`; 5 of them in DART, too, 2 healthy ones in the
reference. A healthy arm ends where plain `reach` has it as long after, but for false alarms.

    nice python -m benchmarks.campaigns.recover_drawn --out FILE
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from time import perf_counter
from typing import Any

from benchmarks.campaigns.attempts import Attempt, reach_for
from benchmarks.campaigns.recovery import all_cases, calls
from benchmarks.campaigns.rows import campaign_parser, keep, read
from packbot.controllers.trial import REACHED
from roboaccord.cli.options import load_setup

SEED = 21_000  # of the first arm and the targets; nothing was tuned on them
HEALTHY = {"mujoco": 20, "dart": 5, "reference": 2}  # arms, by the time that each simulator takes
FAILED = {"mujoco": 20, "dart": 5}  # of each case; the reference takes longer
BLOCK = 5  # arms of each case, before the next ones, so that an early end has some of all
SCALE = 1.0  # of the stated uncertainties
# m from where plain `reach` has the hand: above the tracking error of `reach`, below what a person
# sees.
SAME = 2e-3


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


COLUMNS = {
    "drawn": lambda a: True,
    "reachable": lambda a: not a.judged,
    "reached": lambda a: a.recovered,
    "by reach": lambda a: a.baseline,
    "as healthy": lambda a: not a.judged and a.measured < REACHED + a.plain[1],
    "named": lambda a: bool(a.named),
    "and reached": lambda a: bool(a.named) and a.recovered,
}
"""Counts: `as healthy` by the readings within 10 mm more than plain `reach` with nothing failed."""


def report(rows: Sequence[Row]) -> Iterator[str]:
    """Yield lines on healthy arms and on failed ones, by engine, and a table of the cases."""
    for engine in HEALTHY:
        mine = [(row.case, Attempt(**row.attempt)) for row in rows if row.engine == engine]
        healthy, failed = [a for case, a in mine if not case], [(c, a) for c, a in mine if c]
        if healthy:
            names, apart = [a.named for a in healthy if a.named], [a.apart for a in healthy]
            off = sum(each > SAME for each in apart)
            yield f"{engine}: {len(healthy)} healthy arms, false alarms: {names}"
            yield f"  from the end of `reach` {1e3 * max(apart):.3f} mm at most; {off} beyond 2 mm"
            yield f"  {errors(healthy)}"
        if failed:
            yield f"{engine}, failed: {' | '.join(COLUMNS)}"
            yield f"  all: {counted([a for _, a in failed])}"
            yield f"  reached: {errors([a for _, a in failed if a.recovered])}"
            missed = [a for _, a in failed if not a.judged and not a.recovered]
            for word, some in (("named", True), ("not named", False)):
                causes = Counter(a.fault for a in missed if some == bool(a.named))
                yield f"  missed, {word}: {dict(causes)}"
        for case in dict.fromkeys(case for case, _ in failed):
            yield f"  {case}: {counted([a for each, a in failed if each == case])}"


def counted(attempts: Sequence[Attempt]) -> str:
    """Return the counts of `COLUMNS`."""
    return " | ".join(str(sum(map(chosen, attempts))) for chosen in COLUMNS.values())


def errors(attempts: Sequence[Attempt]) -> str:
    """Return the median errors [mm], true and as measured, of both controllers."""
    if not attempts:
        return "none"
    rows = [(a.error, a.measured, *a.plain) for a in attempts]
    true, seen, plain, plainly = (1e3 * statistics.median(each) for each in zip(*rows))
    return (
        f"median error {true:.1f} mm, measured {seen:.1f}; "
        f"healthy arms by `reach` {plain:.1f}, measured {plainly:.1f}"
    )


def main() -> None:
    """Run what is not in the file yet, then count."""
    parser = campaign_parser(__doc__)
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


if __name__ == "__main__":
    main()

"""How often the intervals of `accord identify packbot` hold the truth: 100 arms that are drawn.

Each arm is off by what the report does not know of it, and moves for a minute by the scenario
`identify`; sensors have noise, zeros and steps, and efforts come late:

    python -m benchmarks.campaigns.identified_arms --out ../identified

The folder keeps the recorded motions and a line for each arm. A run that was ended goes on from
it. `--wander` adds efforts that wander, which the method does not assume. The end prints by
parameter in how many of the arms in which it was identified its interval holds the truth, and the
median width of the intervals over that of the report's own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from benchmarks.campaigns.drawn_arms import Plant, draw_arm
from benchmarks.campaigns.rows import campaign_parser, keep, read
from roboaccord.contract import Array, Command, clip_efforts
from roboaccord.scenario import Setup, load_scenario
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty
from roboaccord_studies.packbot.identification.drawn_arm import Draw
from roboaccord_studies.packbot.identification.exciting import IdentificationController
from roboaccord_studies.packbot.identification.report import Quantities, identify
from roboaccord_studies.packbot.recorded import Motion

COUNT, SEED = 100, 3200  # a coverage of 95 % is then known to 2.2 %
# Of the effort limits, s: of efforts that wander, as the detector assumes (balance.WANDER_TIME).
WANDER, FORGET = 0.01, 0.3


@dataclass(frozen=True)
class Row:
    """Hold what was found of an arm: errors, half widths, the report's own, by parameter."""

    seed: int
    identified: list[str]
    error: dict[str, float]
    half: dict[str, float]
    own: dict[str, float]


@cache
def controller() -> IdentificationController:
    """Return the controller, which chooses its motion once."""
    made = IdentificationController(setup())
    made.reset(0)
    return made


@cache
def setup() -> Setup:
    """Return the setup of the arm as it is known."""
    return Setup.of(load_scenario("packbot", "packbot", "identify"))


def drawn(seed: int) -> Draw:
    """Return the arm of a seed."""
    return draw_arm(np.random.default_rng(seed), Uncertainty(), setup().effort_limits)


def recorded(seed: int, wander: float, engine: str) -> Array:
    """Return what is measured of an arm (k, 22): time, q, qd, commanded efforts."""
    plant = Plant(drawn(seed), engine, "identify")
    rng, limits = np.random.default_rng([seed, 1]), setup().effort_limits
    kept = np.exp(-plant.period / FORGET)
    seen, effort, lost = plant.reset(setup().initial.q, seed), np.zeros(7), np.zeros(7)
    rows = []
    for _ in range(round(setup().scenario.duration / plant.period)):
        rows.append(np.concatenate([[seen.time], seen.q, seen.qd, effort]))
        effort = controller().update(seen, None).effort
        new = np.sqrt(1.0 - kept**2) * rng.standard_normal(len(limits))
        lost = kept * lost + wander * limits * new
        seen = plant.step(Command(effort + lost))
    return np.array(rows)


def motion_of(rows: Array) -> Motion:
    """Return rows as a motion, with the efforts that the drives take."""
    time, q, qd, effort = np.split(rows, (1, 8, 15), axis=1)
    return Motion(time.ravel(), q, qd, clip_efforts(effort, setup().effort_limits))


def judged(seed: int, rows: Array) -> Row:
    """Identify an arm, and hold that against what it is."""
    found = identify(setup(), motion_of(rows))
    quantities = Quantities(setup())
    true = quantities.of(drawn(seed).x).tolist()
    truth = dict(zip(quantities.names, true, strict=True))
    error = {name: p.value - truth[name] for name, p in found.all.items()}
    half = {name: 0.5 * (p.high - p.low) for name, p in found.all.items()}
    return Row(seed, [*found.parameters], error, half, found.half_widths_before)


def carried_out(seeds: Sequence[int], folder: Path, wander: float, engine: str) -> Iterator[Row]:
    """Yield the rows of arms; their motions are kept."""
    for seed in seeds:
        path = folder / f"{seed}.npz"
        if not path.exists():
            np.savez_compressed(path, rows=recorded(seed, wander, engine))
        yield judged(seed, np.load(path)["rows"])


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """Yield lines: by parameter, arms in which it was identified, coverage, and median width."""
    held, width = defaultdict[str, list[bool]](list), defaultdict[str, list[float]](list)
    for row in rows:
        for name in row.identified:
            held[name].append(abs(row.error[name]) <= row.half[name])
            width[name].append(row.half[name] / row.own[name])
    for name, each in held.items():
        share, median = 100.0 * np.mean(each), np.median(width[name])
        yield f"{name:36} {len(each):4} {share:6.1f} % {100.0 * median:6.1f} %"
    whole = [one for each in held.values() for one in each]
    by_arm = [np.mean([abs(r.error[n]) <= r.half[n] for n in r.identified]) for r in rows]
    yield f"{len(rows)} arms, {len(whole)} intervals: {100.0 * np.mean(whole):.1f} % hold the truth"
    yield f"by arm, median: {100.0 * np.median(by_arm):.1f} %, least {100.0 * min(by_arm):.1f} %"


def main() -> None:
    """Carry out what is not in the folder yet, then count."""
    parser = campaign_parser(__doc__, "folder, outside the repository")
    parser.add_argument("--count", type=int, default=COUNT, help="arms")
    parser.add_argument("--engine", default="mujoco", help="that simulates them")
    parser.add_argument("--wander", action="store_true", help="add efforts that wander")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    done = {row.seed: row for row in read(asked.out / "rows.jsonl", Row)}
    left = [seed for seed in range(SEED, SEED + asked.count) if seed not in done]
    rows = carried_out(left, asked.out, WANDER * asked.wander, asked.engine)
    for row in keep(asked.out / "rows.jsonl", rows):
        done[row.seed] = row
        held = sum(abs(row.error[name]) <= row.half[name] for name in row.identified)
        print(f"{len(done)} of {asked.count}: {held} of {len(row.identified)} hold", flush=True)
    print(*summary([*done.values()]), sep="\n")


if __name__ == "__main__":
    main()

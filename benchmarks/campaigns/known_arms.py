"""What the file of `accord identify packbot BAG --json` is worth, on arms that are drawn.

Each arm moves for a minute by the scenario `identify` in MuJoCo, as in `identified_arms`. Then
`reach` brings it to a target with the model as it is known, and as identified; and joints fail on
motions from pose to pose, which the detector watches with both:

    python -m benchmarks.campaigns.known_arms --out ../known

The folder keeps a line for each arm; a run that was ended goes on from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from benchmarks.campaigns.detection import alarms_of, counts_of
from benchmarks.campaigns.drawn_arms import Plant
from benchmarks.campaigns.failing_arms import Bench, Outcome, judge
from benchmarks.campaigns.identified_arms import drawn, motion_of, recorded, setup
from benchmarks.campaigns.rows import campaign_parser, keep, read
from packbot.controllers.reach import ReachController
from packbot.model.arm import Kinematics
from roboaccord.contract import Command, RobotState, to_json
from roboaccord.scenario import Setup, load_scenario
from roboaccord_studies.packbot.detection.detected import Detected
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty
from roboaccord_studies.packbot.identification.known import KnownArm
from roboaccord_studies.packbot.identification.report import identify

# Few arms, as each takes minutes; the seed is beyond those that the detector was tuned on.
COUNT, SEED, ENGINE = 5, 30001, "mujoco"
FAILURES, MINUTE = 3, 60.0  # of each arm, and s of motion without failure, as in detection.py
# m, and s after the motion: ahead of the arm, within its reach.
TARGET, REST = (1.2, 0.3, 0.15), 4.0
HELD = 1.0  # s at the end over which the error is a mean
KINDS = ("as known before", "identified")


@dataclass(frozen=True)
class Row:
    """Hold what became of an arm, without and with its file.

    Args:
        seed: of the arm.
        tracking: root mean square of the finger tips' distance from the path [m].
        end: distance of the finger tips from the target at the end [m].
        outcomes: of the detector, each of its runs.
    """

    seed: int
    tracking: list[float]
    end: list[float]
    outcomes: list[list[Outcome]]

    def restored(self) -> Row:
        """Return the row of one that was read, whose outcomes are mappings."""
        whole = [[Outcome(**dict(each)) for each in runs] for runs in self.outcomes]  # type: ignore[call-overload]
        return replace(self, outcomes=whole)


def judged(seed: int, folder: Path) -> Row:
    """Identify an arm, and let it reach and fail without and with that."""
    path = folder / f"{seed}.json"
    found = identify(setup(), motion_of(recorded(seed, 0.0, ENGINE)))
    path.write_text(json.dumps(to_json(found)))
    files = ("", str(path))
    errors = [reached(seed, file) for file in files]
    bench = Bench(seed, ENGINE, Uncertainty())
    runs = [*(bench.failure() for _ in range(FAILURES)), (None, False, bench.nominal(MINUTE))]
    watchers = [
        Detected(bench.setup, known=KnownArm.read(file) if file else None) for file in files
    ]
    outcomes = [[judge(watcher, *run) for run in runs] for watcher in watchers]
    return Row(seed, [e[0] for e in errors], [e[1] for e in errors], outcomes)


def reached(seed: int, file: str) -> tuple[float, float]:
    """Return by how far the tips leave the path, and end beside the target [m]."""
    known = Setup.of(load_scenario("packbot", "packbot", "reach"))
    controller = ReachController(known, TARGET, uncertainty={}, identified=file)
    controller.reset(0)
    plant, motion = Plant(drawn(seed), ENGINE), controller.motion
    tip = Kinematics(plant.setup).tip

    def control(seen: RobotState) -> Command:
        return controller.update(seen, None)

    rows, states = plant.record(known.initial.q, seed, control, motion.duration + REST)
    times = rows[:, 0]
    moving, held = times <= motion.duration, times >= times[-1] - HELD
    wanted = (motion.at(time)[0] for time in times[moving].tolist())
    off = [np.linalg.norm(tip(q) - tip(r)) for q, r in zip(states[moving], wanted, strict=True)]
    end = [np.linalg.norm(tip(q) - TARGET) for q in states[held]]
    return float(np.sqrt(np.mean(np.square(off)))), float(np.mean(end))


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """Yield lines: errors of `reach`, and what the detector made of failures."""
    for i, kind in enumerate(KINDS):
        tracking = 1e3 * np.array([row.tracking[i] for row in rows])
        end = 1e3 * np.array([row.end[i] for row in rows])
        outcomes = [outcome for row in rows for outcome in row.outcomes[i]]
        yield f"{kind}: off the path {np.median(tracking):.1f} mm, most {tracking.max():.1f} mm"
        yield f"  beside the target {np.median(end):.1f} mm, most {end.max():.1f} mm"
        yield f"  {counts_of([o for o in outcomes if o.joint])}"
        yield f"  of those that move the tips {counts_of([o for o in outcomes if o.tips])}"
        yield f"  {alarms_of(outcomes)}"


def main() -> None:
    """Carry out what is not in the folder yet, then sum it up."""
    parser = campaign_parser(__doc__, "folder, outside the repository")
    parser.add_argument("--count", type=int, default=COUNT, help="arms")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    done = {row.seed: row.restored() for row in read(asked.out / "rows.jsonl", Row)}
    left = [seed for seed in range(SEED, SEED + asked.count) if seed not in done]
    for row in keep(asked.out / "rows.jsonl", (judged(seed, asked.out) for seed in left)):
        done[row.seed] = row
        print(row.seed, row.tracking, row.end, flush=True)
    print(*summary([*done.values()]), sep="\n")


if __name__ == "__main__":
    main()

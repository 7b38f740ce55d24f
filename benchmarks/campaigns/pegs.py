"""How the snake fares among pegs that are not where its track needs them, with sensing and without.

Each peg is moved by a normal distribution of a standard deviation, anew for each seed. A run keeps
on if each of the four cycles after the first advances by 90 % of the wavelength of the track. It
goes on if it comes as far in twice the time. Otherwise it was held, by the pegs that are named, if
a joint pulled with more than HELD_EFFORT for PATIENCE, or else it is lost, away from the pegs.

    python -m benchmarks.campaigns.pegs --spreads 0.01 0.03 0.06 --seeds 20 --out pegs.jsonl
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from roboaccord import Setup, load_scenario, make_simulator
from roboaccord.run import metrics_of, run_setup
from snake.controllers.compliant import HELD_EFFORT, PATIENCE
from snake.simulators.metrics import body_motion

CYCLES = 4  # after the first


def outcome(spread: float, seed: int, sensing: bool) -> dict[str, object]:
    """Return how one run ends, with the pegs that held it."""
    changes = [
        f"terrain.spread={spread}",
        f"seed={seed}",
        f"controller.sensing={str(sensing).lower()}",
    ]
    frequency = float(load_scenario("snake", "snake", "pegs").controller["frequency"])
    duration = round((2 * CYCLES + 1) / frequency, 3)
    setup = Setup.of(load_scenario("snake", "snake", "pegs", [*changes, f"duration={duration}"]))
    period = setup.scenario.control_period
    trajectory = run_setup(setup, make_simulator(setup, "reference"))
    figures = metrics_of(setup, trajectory)
    centre, _ = body_motion(setup, trajectory)
    ends = np.searchsorted(trajectory.time, np.arange(1, 2 * CYCLES + 2) / frequency - 1e-6)
    way = np.linalg.norm(centre - centre[ends[0]], axis=1)[ends[0] :].max()
    name = "lost"
    if figures["kept_cycles"] >= CYCLES:
        name = "keeps on"
    elif way >= 0.9 * CYCLES * figures["wavelength"]:
        name = "goes on"
    elif (np.abs(trajectory.effort).max(axis=1) > HELD_EFFORT).sum() > PATIENCE / period:
        name = "held"
    pegs = [key.removeprefix("jam_") for key in figures if key.startswith("jam_peg_")]
    row = {"spread": spread, "seed": seed, "sensing": sensing, "outcome": name, "way": way}
    return {**row, "pegs": pegs}


def main() -> None:
    """Run all seeds, and print a row for each spread."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spreads", type=float, nargs="+", default=[0.01, 0.03, 0.06], help="m")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("pegs.jsonl"))
    options = parser.parse_args()
    with options.out.open("w", encoding="utf-8") as file:
        for spread in options.spreads:
            for sensing in (False, True):
                rows = []
                for seed in range(options.seeds):
                    rows.append(outcome(spread, seed, sensing))
                    file.write(json.dumps(rows[-1]) + "\n")
                    file.flush()
                counts = {n: sum(row["outcome"] == n for row in rows) for n in NAMES}
                print(f"{1e3 * spread:g} mm, sensing {sensing}: {counts}", flush=True)


NAMES = ("keeps on", "goes on", "held", "lost")

if __name__ == "__main__":
    main()

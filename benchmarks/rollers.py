"""Measure how many inverse solutions of the roller sphere are found a second, on one core.

    taskset -c 1 python benchmarks/rollers.py
    taskset -c 1 python benchmarks/rollers.py --solutions 4000000 --rounds 3

A solution holds roller speeds, the ball's turning, the angle of its axis and the slips, for a
speed and a heading of its own.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.rig import Rig

RIGS = {
    "two rollers": Rig.degrees(1.0, (215, 325), (60, 60), (10, -10)),
    "three rollers": Rig.degrees(1.0, (0, 120, 240), (45, 45, 45), (40, -40, 90)),
}


def main() -> None:
    """Run and print a line for each rig."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solutions", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    speed = rng.uniform(0.0, 2.0, options.solutions)
    heading = rng.uniform(0.0, 2.0 * np.pi, options.solutions)
    for name, rig in RIGS.items():
        kinematics, rates = Kinematics(rig), []
        for _ in range(options.rounds):
            began = time.perf_counter()
            kinematics.inverse(speed, heading)
            rates.append(options.solutions / (time.perf_counter() - began) / 1e6)
        low, middle, high = np.quantile(rates, (0.0, 0.5, 1.0))
        print(f"{name}: {middle:.2f} million solutions/s ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()

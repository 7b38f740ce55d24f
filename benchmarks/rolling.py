"""Measure how many steps a second the sphere rolls over voxels, on one core, and its field's time.

    taskset -c 1 python benchmarks/rolling.py
    taskset -c 1 python benchmarks/rolling.py --n 100 --steps 2000000

The sphere loops in the shipped bowl, by Runge-Kutta 4, under an angular velocity that turns.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from voxel_sphere.rolling.field import Field
from voxel_sphere.rolling.motion import Roller
from voxel_sphere.terrain.generate import surface_parts
from voxel_sphere.terrain.recipes import surface_of

SIDES, SIDE = 20, 0.5  # a loop has 20 sides, in each of which the sphere turns by 0.5 rad
LOOPS = 10


def main() -> None:
    """Build the field, roll, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    bowl = surface_of({"surface": "bowl", "parameters": {}}, options.n, 0.1 * options.n)
    volume = next(part.volume for part in surface_parts(bowl, options.n))
    began = time.perf_counter()
    field = Field.build(volume, 0.1 * options.n)
    print(f"field of n = {options.n}: {time.perf_counter() - began:.2f} s")
    rates = sorted(roll(field, options.n, options.steps) for _ in range(options.rounds))
    middle = rates[len(rates) // 2]
    print(f"{middle:,.0f} steps/s ({rates[0]:,.0f} to {rates[-1]:,.0f})")


def roll(field: Field, n: int, steps: int) -> float:
    """Return the steps a second of one run of loops."""
    part = steps // (SIDES * LOOPS)
    step = SIDE / part  # s, at 1 rad/s
    roller = Roller(field, centre=field.place(0.5 * n, 0.65 * n), step=step)
    roller.advance(np.array([1e-9, 0.0, 0.0]), step)  # loads the kernels
    began = time.perf_counter()
    for i in range(SIDES * LOOPS):
        angle = 2.0 * math.pi * i / SIDES
        roller.advance(np.array([math.cos(angle), math.sin(angle), 0.0]), SIDE)
    took = time.perf_counter() - began
    if roller.status != "done" or roller.events:
        raise SystemExit(f"the sphere did not loop: {roller.message}")
    return SIDES * LOOPS * part / took


if __name__ == "__main__":
    main()

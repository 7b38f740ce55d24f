"""Rows of the spheres: rolling in the shipped bowl of voxels, and the roller sphere's inverse."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from benchmarks.speed.rows import Row, rate, sized
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.rig import Rig
from voxel_sphere import Field, Roller, surface_of, surface_parts
from voxel_sphere.source.described import AsDescribed

# Voxels to a side; any from 100 on would do.
N = 200
# Steps of a pass, for each any number that takes a second would do.
STEPS, SOURCE_STEPS = sized(400_000), sized(200)
# So the loop's sides close after 10 rad, and all directions occur.
SIDES, SIDE, LOOPS = 20, 0.5, 10  # a loop has 20 sides, in each of which it turns by 0.5 rad
# Any number that takes a second would do.
SOLUTIONS = sized(500_000)


def rows() -> Iterator[Row]:
    bowl = surface_of({"surface": "bowl", "parameters": {}}, N, 0.1 * N)
    volume = next(part.volume for part in surface_parts(bowl, N))
    field = Field.build(volume, 0.1 * N)
    centre = field.place(0.5 * N, 0.65 * N)

    def source() -> float:
        sphere = AsDescribed(volume, 0.1 * N, centre=centre, omega=turning(0))

        def roll() -> None:
            for _ in range(SOURCE_STEPS):
                sphere.omega = turning(int(sphere.time / SIDE))
                sphere.advance(sphere.time_step())
            check(sphere)

        return rate(roll, SOURCE_STEPS)

    yield Row(
        f"voxel sphere in a bowl, n = {N}",
        "steps/s",
        lambda: rate(loops(field, centre), STEPS),
        source,
        "the source's scheme, Euler",
        target=1.7e6,
    )
    rng = np.random.default_rng(0)
    speed, heading = rng.uniform(0.0, 2.0, SOLUTIONS), rng.uniform(0.0, 2.0 * np.pi, SOLUTIONS)
    inverse = Kinematics(Rig.degrees(1.0, (0, 120, 240), (45, 45, 45), (40, -40, 90))).inverse
    yield Row(
        "roller sphere, inverse of three rollers",
        "solutions/s",
        lambda: rate(lambda: inverse(speed, heading), SOLUTIONS),
        None,
        "no peer known",
    )


def loops(field: Field, centre: np.ndarray) -> Callable[[], None]:
    """Return what rolls all loops, its kernels loaded."""
    step = SIDE * SIDES * LOOPS / STEPS  # s, at 1 rad/s
    roller = Roller(field, centre=centre, step=step)
    roller.advance(np.array([1e-9, 0.0, 0.0]), step)

    def roll() -> None:
        for side in range(SIDES * LOOPS):
            roller.advance(turning(side), SIDE)
        check(roller)

    return roll


def turning(side: int) -> np.ndarray:
    """Return the angular velocity on a side of a loop (3,) [rad/s]."""
    angle = 2.0 * math.pi * side / SIDES
    return np.array([math.cos(angle), math.sin(angle), 0.0])


def check(sphere: Roller | AsDescribed) -> None:
    if sphere.status != "done" or sphere.events:
        raise SystemExit(f"the sphere did not loop: {sphere.status}")

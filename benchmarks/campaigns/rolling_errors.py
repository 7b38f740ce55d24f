"""Errors of the voxel sphere's rolling schemes, and of bounces, on voxelised ground.

Errors of the contact against closed forms or quadrature (`rolling_cases`), the largest of the run,
in radii of the sphere (r = n / 10 voxels); inf where a scheme did not finish the run. Those of
reflections are found in arenas that are turned against the grid: 12 headings each, 20 r of travel
after the first hit. Ground and walls are voxelised as `make` does it.

    make rolling-errors ROLLING="--n 50 --n 100 --no-walls"
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass

import numpy as np
from benchmarks.campaigns.rolling_cases import cases, measure
from roboaccord.contract import Array
from voxel_sphere import Field, Roller
from voxel_sphere.terrain.filling import fill_below, fill_inside
from voxel_sphere.terrain.surfaces import make_surface

# deg of the arena in plan: from along the voxels to their diagonal.
TURNS = (0.0, 10.0, 20.0, 30.0, 45.0)
# Each 30 degrees.
HEADINGS = 12
TRAVEL = 20.0  # r after the first hit: three turns
HALF_WIDTH = 3.3  # r, so that the arena fits into the grid at 45 deg
SPEED = 1.0  # rad/s


@dataclass(frozen=True, kw_only=True)
class Bounces:
    """Worst errors of an arena over its headings.

    Args:
        n: size of the grid [voxels].
        turn: of the arena.
        heading_error: after the first hit, against the law of reflection.
        mean_error: its mean.
        contact_error: of the place of the first hit and of the ground's contact throughout.
        hits: at walls, all headings.
        stuck: runs that ended, or did not travel.
    """

    n: int
    turn: float
    heading_error: float
    mean_error: float
    contact_error: float
    hits: int
    stuck: int


def bounces(n: int, turn: float, *, binary: bool = False) -> Bounces:
    """Let a sphere of n/10 voxels go in `HEADINGS` headings from the middle of an arena.

    Args:
        n: size of the grid [voxels].
        turn: of the arena in plan [deg].
        binary: whether the slices are black and white.
    """
    r = n / 10
    arena = make_surface("arena", n, r, turn_deg=turn, half_width=HALF_WIDTH)
    assert arena.walls is not None
    ground = Field.build(fill_below(arena.height, n, binary=binary), r)
    walls = Field.build(fill_inside(arena.walls, n, binary=binary), r)
    # Off the multiples of 15 deg, which the arenas' own directions are.
    headings = np.deg2rad(np.arange(HEADINGS) * 360.0 / HEADINGS + 7.0)
    runs = [_one(ground, walls, r, turn, heading) for heading in headings]
    errors = np.array([run[0] for run in runs])
    return Bounces(
        n=n,
        turn=turn,
        heading_error=float(errors.max()),
        mean_error=float(errors.mean()),
        contact_error=max(run[1] for run in runs),
        hits=sum(run[2] for run in runs),
        stuck=sum(run[3] for run in runs),
    )


def _one(
    ground: Field, walls: Field, r: float, turn: float, heading: float
) -> tuple[float, float, int, bool]:
    """Return heading error [deg], contact error [r], hits, and whether the sphere got stuck."""
    n = ground.size
    start = np.array([n / 2 + 0.3 * r, n / 2 - 0.2 * r])
    roller = Roller(ground, centre=ground.place(*start), walls=walls)
    direction = np.array([np.cos(heading), np.sin(heading)])
    omega = SPEED * np.array([-direction[1], direction[0], 0.0])
    place, expected = _first_hit(start, direction, n, r, turn)
    tick = 0.01 / SPEED
    while roller.status == "done" and not roller.events and roller.time < 20.0:
        roller.advance(omega, tick)
    if not roller.events:
        return 180.0, np.inf, 0, True
    after = np.array([roller.omega[1], -roller.omega[0]]) / np.linalg.norm(roller.omega[:2])
    error = np.degrees(np.arccos(np.clip(after @ expected, -1.0, 1.0)))
    gap = float(np.linalg.norm(np.array(roller.events[0].centre[:2]) - place))
    begin = roller.travel
    worst = 0.0
    while roller.status == "done" and roller.travel - begin < TRAVEL * r and roller.time < 60.0:
        roller.advance(omega, tick)
        worst = max(worst, abs(roller.centre[2] - 3.0 * r))  # the level ground is at 2 r
    hits = sum(event.kind in ("wall", "corner") for event in roller.events)
    moved = roller.travel - begin
    return error, max(gap, worst) / r, hits, roller.status != "done" or moved < TRAVEL * r


def _first_hit(
    start: Array, direction: Array, n: float, r: float, turn: float
) -> tuple[Array, Array]:  # fmt: skip
    """Return where the centre is at the first hit (2,), and its direction after it (2,)."""
    c, s = np.cos(np.deg2rad(turn)), np.sin(np.deg2rad(turn))
    frame = np.array([[c, s], [-s, c]])
    at, along = frame @ (start - n / 2), frame @ direction
    limit = (HALF_WIDTH - 1.0) * r
    times = (np.sign(along) * limit - at) / along
    axis = int(np.argmin(times))
    after = along.copy()
    after[axis] = -after[axis]
    return start + times[axis] * direction, frame.T @ after


COMPARED = ("exact", "local_plane", "as_described")


def main() -> None:
    """Roll and bounce on grids, and print a line of JSON for each case and arena."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, action="append", help="size of the grid; repeatable")
    parser.add_argument("--scheme", action="append", choices=COMPARED, help="repeatable")
    parser.add_argument("--no-walls", action="store_true", help="without bounces")
    parser.add_argument("--binary", action="store_true", help="black and white slices")
    asked = parser.parse_args()
    for n in asked.n or (50, 100):
        for case in cases():
            errors = {
                scheme: measure(case, n, scheme, binary=asked.binary)
                for scheme in asked.scheme or COMPARED
            }
            print(json.dumps({"n": n, "case": case.name, "errors": errors}), flush=True)
        for turn in () if asked.no_walls else TURNS:
            print(json.dumps(asdict(bounces(n, turn, binary=asked.binary))), flush=True)


if __name__ == "__main__":
    main()

"""Measure how long distances between the Packbot's hulls, and its sight, take on one core.

    taskset -c 1 python benchmarks/clearance.py
    taskset -c 1 python benchmarks/clearance.py --scenario shelf --poses 2000

At random poses within the limits of the joints; every figure has the update of all frames in it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from packbot.contact.clearance import Clearance
from packbot.planning.sight import Sight
from roboaccord.contract.state import Array
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

ACTIVE = 3  # pairs whose contacts the reference deals with at once
STEP = 2e-3  # rad, of each joint between two poses on a way


def main() -> None:
    """Draw poses, and print a line for each question."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenario", default="collapse")
    parser.add_argument("--poses", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    setup = Setup.of(load_scenario("packbot", "packbot", options.scenario))
    clearance = Clearance.of(setup)
    sight = Sight(clearance)
    model, rng = clearance.model, np.random.default_rng(0)
    poses = rng.uniform(model.lowerPositionLimit, model.upperPositionLimit, (options.poses, 7))
    free = poses[[not clearance.touches(q) for q in poses]]
    way = setup.initial.q + np.cumsum(rng.choice([-STEP, STEP], (options.poses, 7)), axis=0)
    active = rng.choice(len(clearance.pairs), (options.poses, ACTIVE))
    targets = rng.uniform(-1.5, 1.5, (options.poses, 3))
    pairs = len(clearance.pairs)
    print(f"{options.poses} poses, {len(free)} of them free; medians of {options.rounds} rounds")
    for words, ask, given in (
        (f"signed distances of all {pairs} pairs", clearance.distances, (poses,)),
        ("whether any pair touches", clearance.touches, (poses,)),
        ("whether any pair touches, poses where none does", clearance.touches, (free,)),
        (f"points, normals, slopes of {ACTIVE} pairs", clearance.witness, (poses, active)),
        ("pairs nearer than 5 mm, on a way", lambda q: clearance.near(q, 5e-3), (way,)),
        ("whether the camera sees a target", sight.look, (poses, targets)),
    ):
        print(f"{median(ask, given, options.rounds):8.1f} us  {words}")
    links, hulls = np.mean([boxes_that_meet(clearance, q) for q in poses[:200]], axis=0)
    print(f"of {pairs} pairs {links:.1f} are left where boxes of links meet, {hulls:.1f} of hulls")


def boxes_that_meet(clearance: Clearance, q: Array) -> tuple[int, int]:
    """Return how many pairs are left if boxes along the world's axes tell which are apart.

    Boxes about all hulls of a link first, as in the report; then boxes about single hulls.
    """
    corners = [
        hull.vertices @ place.rotation.T + place.translation
        for hull, place in zip(clearance.hulls, clearance.places(q), strict=True)
    ]
    of_hulls = np.array([(points.min(axis=0), points.max(axis=0)) for points in corners])
    of_links = of_hulls.copy()
    for link in set(clearance.links):
        own = [i for i, name in enumerate(clearance.links) if name == link]
        of_links[own] = of_hulls[own, 0].min(axis=0), of_hulls[own, 1].max(axis=0)
    a, b = clearance.pairs.T
    links, hulls = (
        int(((box[a, 0] <= box[b, 1]) & (box[b, 0] <= box[a, 1])).all(axis=1).sum())
        for box in (of_links, of_hulls)
    )
    return links, hulls


def median(ask: Callable[..., object], given: tuple[Array, ...], rounds: int) -> float:
    """Return how long a question takes in processor time [us]: the median of the rounds' means."""
    took = []
    for _ in range(rounds):
        began = time.process_time()
        for arguments in zip(*given, strict=True):
            ask(*arguments)
        took.append((time.process_time() - began) / len(given[0]))
    return 1e6 * float(np.median(took))


if __name__ == "__main__":
    main()

"""Count the pairs of the Packbot's hulls that boxes along the world's axes leave to be measured.

    python benchmarks/clearance.py

At random poses within the limits of the joints. How long distances take: `make speed`.
"""

from __future__ import annotations

import argparse

import numpy as np
from packbot.contact.clearance import Clearance
from roboaccord.contract.state import Array
from roboaccord.scenario import Setup, load_scenario


def main() -> None:
    """Draw poses, and print a line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenario", default="collapse")
    parser.add_argument("--poses", type=int, default=200)
    options = parser.parse_args()
    clearance = Clearance.of(Setup.of(load_scenario("packbot", "packbot", options.scenario)))
    model, rng = clearance.model, np.random.default_rng(0)
    poses = rng.uniform(model.lowerPositionLimit, model.upperPositionLimit, (options.poses, 7))
    links, hulls = np.mean([boxes_that_meet(clearance, q) for q in poses], axis=0)
    pairs = len(clearance.pairs)
    print(f"of {pairs} pairs {links:.1f} are left where boxes of links meet, {hulls:.1f} of hulls")


def boxes_that_meet(clearance: Clearance, q: Array) -> tuple[int, int]:
    """Return how many pairs are left if boxes along the world's axes tell which are apart.

    Boxes about all hulls of a link first, as in the report; then boxes about single hulls.
    """
    corners = [
        hull.vertices @ place.rotation.T + place.translation
        for hull, place in zip(clearance.hulls, clearance.hull_poses(q), strict=True)
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


if __name__ == "__main__":
    main()

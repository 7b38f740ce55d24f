"""Robots beside a first one, translucent: the reference of a bag, or further runs.

How the reference looks as a cross-check goes on is `roboaccord.bag.Look`; here are names, colours.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from roboaccord.bag import REFERENCE, BagRun, Look
from roboaccord.contract import Trajectory
from roboaccord.description import BLUE

Colour = tuple[float, float, float]
GHOSTS: tuple[Colour, ...] = (BLUE, (0.05, 0.55, 0.30), (0.60, 0.25, 0.70), (0.70, 0.50, 0.0))
"""Of robots beside a first one, in turn."""


@dataclass(frozen=True)
class SecondRun:
    """Hold a robot beside a first one: its motion, and how it looks from a time on.

    Args:
        trajectory, urdf: motion and description.
        looks: in order of time.
        name: of what made the motion, such as an engine.
        colour: red, green and blue, 0 to 1.
    """

    trajectory: Trajectory
    urdf: str
    looks: Sequence[Look] = (Look(),)
    name: str = REFERENCE
    colour: Colour = BLUE

    def painted(self, look: Look) -> str:
        """Return its description as it looks."""
        return look.paint(self.urdf, self.colour)

    def look(self, moment: float) -> Look:
        """Return how it looks at a time [s]: the link that is found in the end is red before."""
        at = bisect_right(self.looks, moment, key=lambda each: each.time)
        now, last = self.looks[max(at - 1, 0)], self.looks[-1]
        if not last.link or moment < last.since:
            return replace(now, link="", line="")
        return replace(now, link=last.link, line=last.line)


def beside(runs: Sequence[BagRun], urdfs: Sequence[str]) -> list[SecondRun]:
    """Return the further runs as robots beside the first one, each in a colour of its own."""
    each = zip(runs[1:], urdfs, names_of(runs)[1:], strict=True)
    return [
        SecondRun(run.trajectory, urdf, name=name, colour=GHOSTS[i % len(GHOSTS)])
        for i, (run, urdf, name) in enumerate(each)
    ]


def names_of(runs: Sequence[BagRun]) -> list[str]:
    """Return names that distinguish runs: their engines, or else their controllers."""
    engines = [run.engine or f"run {i + 1}" for i, run in enumerate(runs)]
    controllers = [run.scenario.get("controller", {}).get("name", "") for run in runs]
    apart = len(set(engines)) == 1 and len(set(controllers)) == len(runs)
    return controllers if apart else engines

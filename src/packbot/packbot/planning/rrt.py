"""Collision-free path planning: RRT-Connect [Kuffner, LaValle 2000] with shortcutting.

Two trees grow towards each other from start and goal. Their path is shortened by random shortcuts,
and the quickest of several paths is taken.

No collision is missed between the angles that are checked. When joint i turns by dq_i, no point of
what it carries moves further than r_i |dq_i|, r_i being how far such a point can be from its axis;
so no distance between two hulls changes by more than the motion sum_i r_i |dq_i|. An edge is
checked at angles whose motion from one to the next is at most the margin m, each with all pairs m
apart: anywhere between, the nearer of two is at most m / 2 away, and all pairs are m / 2 apart.

The constants may be tuned: they change which path is found and how soon, and figures of pages with
it. The bound must stay (test_packbot_planning checks it between the angles), and so must that a
seed gives one path: draw from the given `rng` alone. Another planner is a class with
`plan(start, goal, seed)`.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord.scenario import Setup

from packbot.contact.clearance import Clearance
from packbot.model.parameters import PackbotParameters, check_limits
from packbot.planning.reaching import ARM, MARGIN
from packbot.planning.trajectories import RAMP

STEP = 0.5  # m of motion by which a tree grows at once
TRIES = 10_000  # samples before a search is given up
SHORTCUTS = 150  # that are tried on a path
SEARCHES = 3  # paths that are searched, of which the quickest is taken
WANDER = 0.2  # fraction of the samples in which camera and wrist are drawn, too


class SearchTree:
    """Nodes (n, 7) [rad], and the index of each one's parent; -1 for the root."""

    def __init__(self, root: Array) -> None:
        self._nodes = np.tile(root, (64, 1))
        self.parents = [-1]

    def __getitem__(self, i: int) -> Array:
        return np.asarray(self._nodes[i])

    @property
    def nodes(self) -> Array:
        """All nodes (n, 7) [rad]."""
        return self._nodes[: len(self.parents)]

    def add(self, q: Array, parent: int) -> int:
        count = len(self.parents)
        if count == len(self._nodes):
            self._nodes = np.concatenate([self._nodes, np.empty_like(self._nodes)])
        self._nodes[count] = q
        self.parents.append(parent)
        return count

    def nearest(self, q: Array, weights: Array) -> int:
        """Return the node nearest to q."""
        return int((np.abs(self.nodes - q) @ weights).argmin())

    def path(self, i: int) -> list[Array]:
        """Return the path from the root to node `i`."""
        back = []
        while i >= 0:
            back.append(self[i])
            i = self.parents[i]
        return back[::-1]


class Planner:
    """Planner of paths of a setup's arm among its obstacles; a seed gives one path.

    Args:
        setup: robot and scenario.
        margin: by which all pairs stay apart at the angles that are checked [m].
        clearance: of the setup, if it is there already.

    Attributes:
        tries, searches, shortcuts: see the constants of these names.
        radii: how far what a joint carries can be from its axis (7,) [m].
    """

    def __init__(
        self, setup: Setup, *, margin: float = MARGIN, clearance: Clearance | None = None
    ) -> None:
        if not 0.0 < margin < np.inf:
            raise AccordError(f"margin is {margin:g}, and must be positive")
        self.clearance = clearance or Clearance.of(setup)
        self.margin = margin
        self.radii = self.clearance.reaches.max(axis=0)
        self._parameters: PackbotParameters = setup.parameters
        self._lower, self._upper = setup.parameters.limits
        self._speeds = setup.parameters.of_joints("speed_limit")
        self.tries, self.searches, self.shortcuts = TRIES, SEARCHES, SHORTCUTS

    def plan(self, start: Array, goal: Array, seed: int = 0) -> Array:
        """Return the corners (k, 7) [rad] of a collision-free path, straight in joint space.

        Raises:
            AccordError: if start or goal is too close to something, or no path is found.
        """
        for name, q in (("start", start), ("goal", goal)):
            self._check(name, q)
        if self.clear(start, goal):
            return np.array([start, goal])
        rng = np.random.default_rng(seed)
        paths = [self._shorten(self._search(start, goal, rng), rng) for _ in range(self.searches)]
        return np.array(min(paths, key=self._duration))

    def clear(self, a: Array, b: Array) -> bool:
        """Return whether the straight line in joint space from a to b (7,) is collision-free.

        Both ends are taken as checked.
        """
        count = int(np.ceil(self.motion(a, b) / self.margin))
        parts = np.arange(1, count) / max(count, 1)
        # The middle first: an obstacle is found soonest furthest from both ends.
        order = np.argsort(np.abs(parts - 0.5), kind="stable")
        touches, margin = self.clearance.touches, self.margin
        return not any(touches(a + part * (b - a), margin) for part in parts[order])

    def motion(self, a: Array, b: Array) -> float:
        """Return sum_i r_i |b_i - a_i| [m], a bound on any distance's change along the line."""
        return float(self.radii @ np.abs(b - a))

    def _check(self, name: str, q: Array) -> None:
        check_limits(self._parameters, q, f"{name}: ")
        if self.clearance.touches(q, self.margin):
            pair, distance = self.clearance.closest(q)
            a, b = self.clearance.pair_names(pair)
            raise AccordError(
                f"{name}: {a} and {b} are {1e3 * distance:.1f} mm apart, and a path keeps "
                f"{1e3 * self.margin:g} mm"
            )

    def _search(self, start: Array, goal: Array, rng: np.random.Generator) -> list[Array]:
        """Return a path by two trees that grow towards each other in turn."""
        from_start, from_goal = SearchTree(start), SearchTree(goal)
        tree, other = from_start, from_goal
        for _ in range(self.tries):
            reached = self._step(tree, self._sample(start, goal, rng))
            met = None if reached is None else self._connect(other, tree[reached])
            if reached is not None and met is not None:
                i, j = (reached, met) if tree is from_start else (met, reached)
                return from_start.path(i) + from_goal.path(j)[::-1]
            tree, other = other, tree
        raise AccordError(
            f"no path found in {self.tries} tries that keeps {1e3 * self.margin:g} mm: "
            "try another seed, or a smaller margin"
        )

    def _sample(self, start: Array, goal: Array, rng: np.random.Generator) -> Array:
        """Return random angles (7,); tilt, pan and wrist are mostly between start and goal."""
        q: Array = rng.uniform(self._lower, self._upper)
        if rng.random() >= WANDER:
            q[ARM:] = start[ARM:] + rng.random() * (goal - start)[ARM:]
        return q

    def _step(self, tree: SearchTree, towards: Array, i: int | None = None) -> int | None:
        """Extend a tree by a step from node `i`, or the nearest; None if blocked."""
        i = tree.nearest(towards, self.radii) if i is None else i
        a = tree[i]
        b = self.towards(a, towards)
        if self.clearance.touches(b, self.margin) or not self.clear(a, b):
            return None
        return tree.add(b, i)

    def towards(self, a: Array, b: Array) -> Array:
        """Return b (7,), or where a step from a to it ends."""
        path = self.motion(a, b)
        return b if path <= STEP else a + STEP / path * (b - a)

    def _connect(self, tree: SearchTree, target: Array) -> int | None:
        """Extend a tree towards a target until reached or blocked; None if blocked."""
        i: int | None = tree.nearest(target, self.radii)
        while i is not None and not np.array_equal(tree[i], target):
            i = self._step(tree, target, i)
        return i

    def _shorten(self, path: list[Array], rng: np.random.Generator) -> list[Array]:
        """Shortcut a path: replace random parts by straight lines that take less time."""
        for _ in range(self.shortcuts):
            times = np.cumsum([0.0, *(self._time(a, b) for a, b in pairwise(path))])
            first, second = np.sort(rng.uniform(0.0, times[-1], 2))
            i, j = (np.searchsorted(times, (first, second), side="right") - 1).tolist()
            if i == j:
                continue
            a, b = _between(path, times, i, first), _between(path, times, j, second)
            corners = [path[i], a, b, path[j + 1]]
            quicker = self._duration(corners) < times[j + 1] - times[i]
            if quicker and not self._touch(a, b) and self.clear(a, b):
                path = [*path[: i + 1], a, b, *path[j + 1 :]]
        return self._straighten(path)

    def _touch(self, *poses: Array) -> bool:
        return any(self.clearance.touches(q, self.margin) for q in poses)

    def _duration(self, path: list[Array]) -> float:
        return sum(self._time(a, b) for a, b in pairwise(path))

    def _time(self, a: Array, b: Array) -> float:
        """Return the least duration of a straight line [s]."""
        return float((np.abs(b - a) / self._speeds).max()) + RAMP

    def _straighten(self, path: list[Array]) -> list[Array]:
        """Remove corners that are not needed."""
        i = 1
        while i < len(path) - 1:
            if self.clear(path[i - 1], path[i + 1]):
                del path[i]
                i = max(i - 1, 1)
            else:
                i += 1
        return path


def _between(path: list[Array], times: Array, i: int, time: float) -> Array:
    part = (time - times[i]) / (times[i + 1] - times[i])
    return np.asarray(path[i] + part * (path[i + 1] - path[i]))

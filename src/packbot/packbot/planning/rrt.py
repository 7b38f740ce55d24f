"""Collision-free path planning: RRT-Connect [Kuffner, LaValle 2000] with shortcutting.

Two random trees of poses grow towards each other from start and goal. The path where they meet is
shortened by random shortcuts, and the quickest of several such paths is returned.

No collision is missed between the poses that are checked. If joint i turns by dq_i, no point that
it carries moves further than r_i |dq_i|, where r_i bounds the distance of such a point from the
joint. The distance of two hulls therefore changes by at most the motion sum_i r_i |dq_i|. A line is
checked at poses whose motion from one to the next is at most the margin m, and all pairs are m
apart there. Any pose between them is at most m / 2 from a checked one, so all pairs are m / 2 apart
everywhere.

The constants may be tuned; they change which path is found. A seed must give one path, so that all
random numbers come from the given `rng`. test_packbot_planning checks distances between the poses.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord.scenario import Setup

from packbot.contact.clearance import Clearance
from packbot.model.parameters import PackbotParameters, check_limits
from packbot.planning.reaching import HAND_JOINTS, MARGIN
from packbot.planning.trajectories import RAMP

# Measured in `shelf` with four seeds; medians of the time of planning and of the motion [s]:
# m; motion by which a tree grows at once: 0.15, 0.5 and 1.5 take 1.8, 1.2 and 1.2 s; shorter steps
# need more samples, longer ones are blocked more often where it is narrow.
TREE_STEP = 0.5
# Number of samples after which a search is given up; 1,285 was the most in 60 searches.
MAX_SAMPLES = 10_000
# Number of shortcuts that are tried on a path: with 40, 150 and 500 the motion takes 5.6, 6.3 and
# 6.4 s, no difference within the spread of seeds (4.4 to 7.5 s).
SHORTCUT_COUNT = 150
# Number of paths that are found, of which the quickest is returned: 1, 3 and 8 take 0.4, 1.2 and
# 2.7 s, for motions of 7.5, 6.3 and 5.2 s.
PATH_COUNT = 3
# Fraction of the samples in which camera and wrist are random, too: 0, 0.2, 0.6 and 1 make no
# difference; without any, a camera that has to be turned aside would block every path.
RANDOM_CAMERA_FRACTION = 0.2


class SearchTree:
    """Tree of poses: nodes (n, 7) [rad], and the index of each node's parent, -1 for the root."""

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
        """Add a node q (7,) [rad] to a parent, by its index; return the index of the node."""
        count = len(self.parents)
        if count == len(self._nodes):
            self._nodes = np.concatenate([self._nodes, np.empty_like(self._nodes)])
        self._nodes[count] = q
        self.parents.append(parent)
        return count

    def nearest(self, q: Array, weights: Array) -> int:
        """Return the index of the node nearest to q (7,), with weights (7,) of the joints."""
        return int((np.abs(self.nodes - q) @ weights).argmin())

    def path(self, i: int) -> list[Array]:
        """Return the poses (7,) from the root to node `i`."""
        poses = []
        while i >= 0:
            poses.append(self[i])
            i = self.parents[i]
        return poses[::-1]


class Planner:
    """Planner of paths of the arm of a setup among its obstacles; a seed gives one path.

    `FailedPlanner` (failed_planner.py) overrides `clear`, `_check` and `_any_blocked`.

    Args:
        setup: robot and scenario.
        margin: distance of all pairs of hulls at the poses that are checked [m].
        clearance: distances of the setup, if made already.

    Attributes:
        tries, searches, shortcuts: as the constants MAX_SAMPLES, PATH_COUNT, SHORTCUT_COUNT.
        radii: r, bounds of the distances of carried points from each joint (7,) [m].
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
        self.tries, self.searches, self.shortcuts = MAX_SAMPLES, PATH_COUNT, SHORTCUT_COUNT

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
        fractions = np.arange(1, count) / max(count, 1)
        # The middle first, where an obstacle is most likely, as the ends are clear.
        order = np.argsort(np.abs(fractions - 0.5), kind="stable")
        touches, margin = self.clearance.touches, self.margin
        return not any(touches(a + fraction * (b - a), margin) for fraction in fractions[order])

    def motion(self, a: Array, b: Array) -> float:
        """Return sum_i r_i |b_i - a_i| [m], the bound of any distance's change from a to b (7,)."""
        return float(self.radii @ np.abs(b - a))

    def _check(self, name: str, q: Array) -> None:
        """Refuse a pose (7,) outside the limits, or closer than the margin to something."""
        check_limits(self._parameters, q, f"{name}: ")
        if self.clearance.touches(q, self.margin):
            pair, distance = self.clearance.closest(q)
            a, b = self.clearance.pair_names(pair)
            rule = f"a path keeps {1e3 * self.margin:g} mm"
            raise AccordError(f"{name}: {a} and {b} are {1e3 * distance:.1f} mm apart, and {rule}")

    def _search(self, start: Array, goal: Array, rng: np.random.Generator) -> list[Array]:
        """Return a path (poses (7,)) by two trees, which in turn grow and connect to the other."""
        from_start, from_goal = SearchTree(start), SearchTree(goal)
        tree, other = from_start, from_goal
        for _ in range(self.tries):
            new = self._step(tree, self._sample(start, goal, rng))
            if new is not None:
                met = self._connect(other, tree[new])
                if met is not None:
                    i, j = (new, met) if tree is from_start else (met, new)
                    return from_start.path(i) + from_goal.path(j)[::-1]
            tree, other = other, tree
        failure = f"no path found in {self.tries} tries that keeps {1e3 * self.margin:g} mm"
        raise AccordError(f"{failure}: try another seed, or a smaller margin")

    def _sample(self, start: Array, goal: Array, rng: np.random.Generator) -> Array:
        """Return a random pose (7,); tilt, pan and wrist are mostly between start and goal."""
        q: Array = rng.uniform(self._lower, self._upper)
        if rng.random() >= RANDOM_CAMERA_FRACTION:
            q[HAND_JOINTS:] = start[HAND_JOINTS:] + rng.random() * (goal - start)[HAND_JOINTS:]
        return q

    def _step(self, tree: SearchTree, towards: Array, i: int | None = None) -> int | None:
        """Extend a tree by a step from node `i`, or the nearest; return the new node or None."""
        i = tree.nearest(towards, self.radii) if i is None else i
        a = tree[i]
        b = self.towards(a, towards)
        if self.clearance.touches(b, self.margin) or not self.clear(a, b):
            return None
        return tree.add(b, i)

    def towards(self, a: Array, b: Array) -> Array:
        """Return b (7,), or the end of a step from a towards b if b is farther away."""
        path = self.motion(a, b)
        return b if path <= TREE_STEP else a + TREE_STEP / path * (b - a)

    def _connect(self, tree: SearchTree, target: Array) -> int | None:
        """Extend a tree until it reaches a target; return the last node, or None if blocked."""
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
            if quicker and not self._any_blocked(a, b) and self.clear(a, b):
                path = [*path[: i + 1], a, b, *path[j + 1 :]]
        return self._straighten(path)

    def _any_blocked(self, *poses: Array) -> bool:
        """Return whether any of the poses (7,) is closer than the margin to something."""
        return any(self.clearance.touches(q, self.margin) for q in poses)

    def _duration(self, path: list[Array]) -> float:
        """Return the least duration of a path [s]."""
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
    """Return the pose (7,) at a time [s] on line `i` of a path with times of its corners."""
    fraction = (time - times[i]) / (times[i + 1] - times[i])
    return np.asarray(path[i] + fraction * (path[i + 1] - path[i]))

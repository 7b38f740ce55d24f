"""Paths of an arm with failed joints, loose joints following the others.

A path is followed quasi-statically: loose joints follow the others, at zero torque or in contact
with what they lie on. RRT-Connect (rrt.py) plans with frozen joints. Where loose joints matter, a
tree of the equilibria that can be reached grows from the present one.

All constants may be tuned: more samples find more paths and take longer, and change paths that
pages show. test_packbot_recovery checks that each pose of a tree is a rest.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import Array

from packbot.model.parameters import check_limits
from packbot.planning.failed_arm import GAP, FailedArm
from packbot.planning.reaching import ARM, MARGIN
from packbot.planning.rrt import Planner, SearchTree

TRIES = 1500  # samples of a search: the budget of a path
REACHES = 1000  # samples of a tree
BRANCHES = 12  # nodes of a tree, the nearest ones, from which a goal is tried
SHORTCUTS = 40  # that are tried on a path
SWING = 0.15  # rad by which a loose joint may follow in one step; more is a fall
MEETS = 0.02  # rad: poses whose angles differ by less are taken to be the same


class FailedPlanner(Planner):
    """Planner of paths of an arm with failed joints.

    Args:
        arm: with its failures.
        margin: that pairs keep [m], except pairs that are closer at the start or at the goal.
    """

    def __init__(self, arm: FailedArm, *, margin: float = MARGIN) -> None:
        super().__init__(arm.setup, margin=margin, clearance=arm.clearance)
        self.arm, self.tries, self.searches, self.shortcuts = arm, TRIES, 1, SHORTCUTS
        self._lower, self._upper = arm.lower, arm.upper
        self._close = set[tuple[str, str]]()  # pairs of links that may be closer than the margin
        self._leaning = arm.loose[arm.loose < ARM]
        self._sizes, self.radii = self.radii[:ARM], self.radii.copy()
        self.radii[np.concatenate([arm.frozen, arm.loose])] = 0.0

    def plan(self, start: Array, goal: Array, seed: int = 0) -> Array:
        """Return the corners (k, 7) [rad] of a path of an arm whose loose joints do not matter.

        Raises:
            AccordError: if none is found.
        """
        self._allow(start, goal)
        return super().plan(start, goal, seed)

    def explore(self, start: Array, seed: int) -> SearchTree:
        """Return a tree of the equilibria that a start leads to, an RRT [LaValle 1998]."""
        self._allow(start)
        rng, tree = np.random.default_rng(seed), SearchTree(start)
        fixed = np.setdiff1d(np.arange(len(start)), self.arm.active[self.arm.active < ARM])
        for _ in range(REACHES):
            q = rng.uniform(self._lower, self._upper)
            q[fixed] = start[fixed]
            i = tree.nearest(q, self.radii)
            end = self.walk(tree[i], self.towards(tree[i], q))
            if self.motion(tree[i], end) > self.margin:
                tree.add(end, i)
        return tree

    def branch(self, tree: SearchTree, goal: Array) -> list[Array] | None:
        """Return the corners (7,) [rad] of a path from a tree's root to a goal, or None."""
        self._allow(tree[0], goal)
        away = (np.abs(tree.nodes - goal)[:, :ARM] @ self._sizes).argsort(kind="stable")
        for i in away[:BRANCHES].tolist():
            end = self.walk(tree[i], goal)
            if self._met(end, goal):
                return [*tree.path(i), end]
        return None

    def shortened(self, path: list[Array], seed: int) -> Array:
        """Return the corners (k, 7) [rad] of a path of the tree, shorter if possible."""
        self._allow(path[0], path[-1])
        short = self.follow(self._shorten(path, np.random.default_rng(seed)))
        return np.array(short if self._met(short[-1], path[-1]) else path)

    def _allow(self, *poses: Array) -> None:
        """Allow pairs of links closer than the margin if they are so in one of the poses (7,)."""
        self._close = set[tuple[str, str]]().union(*map(self.links_near, poses))

    def links_near(self, q: Array) -> set[tuple[str, str]]:
        """Return the pairs of links closer than the margin that no loose joint moves."""
        if not self.clearance.touches(q, self.margin):
            return set()
        near = self.clearance.near(q, self.margin)
        moved = (self.clearance.reaches[near][:, self._leaning] > 0.0).any(axis=1)
        return {self.clearance.pair_links(i) for i in near[~moved].tolist()}

    def is_free(self, q: Array) -> bool:
        """Return whether a pose keeps the margin, and the active joints can hold it."""
        touches = self.clearance.touches
        if touches(q, self.margin) and touches(q, 0.5 * GAP):
            return False
        return self.links_near(q) <= self._close and self.arm.bears(q)

    def walk(self, a: Array, b: Array) -> Array:
        """Return how far the active joints come from a towards b (7,), loose ones following."""
        count = int(np.ceil(self.motion(a, b) / self.margin))
        line = np.zeros(len(a))
        line[self.arm.active] = ((b - a) / max(count, 1))[self.arm.active]
        q = a
        for _ in range(count):
            rest = self.arm.rest(q + line)
            if rest is None or np.abs(rest - q)[:ARM].max() > SWING or not self.is_free(rest):
                return q
            q = rest
        return q

    def follow(self, corners: list[Array]) -> list[Array]:
        """Return corners with loose joints following, up to the first corner that is not met."""
        path = [corners[0]]
        for corner in corners[1:]:
            path.append(self.walk(path[-1], corner))
            if not self._met(path[-1], corner):
                break
        return path

    def clear(self, a: Array, b: Array) -> bool:
        """Return whether the active joints can go straight from a to b (7,), others following."""
        return self._met(self.walk(a, b), b)

    def _met(self, a: Array, b: Array) -> bool:
        return bool(np.abs(a - b)[:ARM].max() < MEETS)

    def _check(self, name: str, q: Array) -> None:
        check_limits(self._parameters, np.clip(q, self._lower, self._upper), f"{name}: ")

    def _touch(self, *poses: Array) -> bool:
        return not all(self.is_free(q) for q in poses)

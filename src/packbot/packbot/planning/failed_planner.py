"""Paths of an arm with failed joints.

A path is followed so slowly that it is a sequence of equilibria: loose joints (without drive) hang,
or lie on something, while the other joints move. Without loose joints that gravity moves,
RRT-Connect plans (rrt.py). With them, a random tree of equilibria grows from the present one, and a
goal is tried from its nearest nodes.

The constants may be tuned: more samples find more paths and take longer. test_packbot_recovery
checks that each pose of a tree is an equilibrium.

`FailedPlanner` overrides what the search of `Planner` (rrt.py) calls: `clear`, whether a line is
free, `_any_blocked`, whether poses are not, and `_check`, which refuses a bad start or goal.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import Array

from packbot.model.parameters import check_limits
from packbot.planning.failed_arm import CONTACT_GAP, FailedArm
from packbot.planning.reaching import HAND_JOINTS, MARGIN
from packbot.planning.rrt import Planner, SearchTree

# With these four numbers, 98 % of the targets are recovered to which an independent planner with a
# tree of 1,000 points finds a path (docs/packbot_recovery.md); time grows with each.
# Number of samples of a search by RRT-Connect; in `shelf`, with more obstacles, one takes some 600.
MAX_SAMPLES = 1500
TREE_SAMPLES = 1000  # number of samples of a tree of equilibria
MAX_BRANCHES = 12  # number of nearest nodes of a tree from which a goal is tried
# Number of shortcuts on a path; in `shelf` more of them gained nothing (rrt.py)
SHORTCUT_COUNT = 40
# rad; bound of the motion of a loose joint in one step; more is a fall. In a step of MARGIN a joint
# of the pitch turns by at most 0.02 / 0.76 rad, and a hanging one follows by as much.
MAX_FALL = 0.15
# rad; poses whose angles differ by less are the same; the servo of the tips makes up for it, up to
# MOST_OFFSET = 0.15 rad (tip_servo.py)
SAME_POSE_ANGLE = 0.02


class FailedPlanner(Planner):
    """Planner of paths of an arm with failed joints.

    Args:
        arm: the arm with its failures.
        margin: distance that pairs of links keep, unless they are closer at start or goal [m].
    """

    def __init__(self, arm: FailedArm, *, margin: float = MARGIN) -> None:
        super().__init__(arm.setup, margin=margin, clearance=arm.clearance)
        self.arm = arm
        self.tries, self.searches, self.shortcuts = MAX_SAMPLES, 1, SHORTCUT_COUNT
        self._lower, self._upper = arm.lower, arm.upper
        self._close_links = set[tuple[str, str]]()  # pairs that may be closer than the margin
        self._loose_placing = arm.loose[arm.loose < HAND_JOINTS]
        # Weights of the joints in the distance to a goal [m].
        self._weights = self.radii[:HAND_JOINTS].copy()
        # In `motion` and in distances of samples only the active joints count.
        self.radii[np.concatenate([arm.frozen, arm.loose])] = 0.0

    def plan(self, start: Array, goal: Array, seed: int = 0) -> Array:
        """Return the corners (k, 7) [rad] of a path of an arm whose loose joints do not hang.

        Raises:
            AccordError: if none is found.
        """
        self._allow(start, goal)
        return super().plan(start, goal, seed)

    def explore(self, start: Array, seed: int) -> SearchTree:
        """Return a tree of equilibria that can be reached from a start, by RRT [LaValle 1998]."""
        self._allow(start)
        rng, tree = np.random.default_rng(seed), SearchTree(start)
        fixed = np.setdiff1d(np.arange(len(start)), self.arm.active[self.arm.active < HAND_JOINTS])
        for _ in range(TREE_SAMPLES):
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
        distances = np.abs(tree.nodes - goal)[:, :HAND_JOINTS] @ self._weights
        for i in distances.argsort(kind="stable")[:MAX_BRANCHES].tolist():
            end = self.walk(tree[i], goal)
            if self.are_same(end, goal):
                return [*tree.path(i), end]
        return None

    def shortened(self, path: list[Array], seed: int) -> Array:
        """Return the corners (k, 7) [rad] of a path of the tree, shortened if possible."""
        self._allow(path[0], path[-1])
        short = self.follow(self._shorten(path, np.random.default_rng(seed)))
        return np.array(short if self.are_same(short[-1], path[-1]) else path)

    def _allow(self, *poses: Array) -> None:
        """Allow pairs of links closer than the margin if they are so in one of the poses (7,)."""
        self._close_links = set[tuple[str, str]]().union(*map(self.links_near, poses))

    def links_near(self, q: Array) -> set[tuple[str, str]]:
        """Return the pairs of links closer than the margin, without those of loose links."""
        if not self.clearance.touches(q, self.margin):
            return set()
        near = self.clearance.near(q, self.margin)
        moved = (self.clearance.reaches[near][:, self._loose_placing] > 0.0).any(axis=1)
        return {self.clearance.pair_links(i) for i in near[~moved].tolist()}

    def is_free(self, q: Array) -> bool:
        """Return whether a pose keeps the margin, and the active joints can hold it."""
        touches = self.clearance.touches
        if touches(q, self.margin) and touches(q, 0.5 * CONTACT_GAP):
            return False
        return self.links_near(q) <= self._close_links and self.arm.can_hold(q)

    def walk(self, a: Array, b: Array) -> Array:
        """Return the last equilibrium (7,) on the straight way of the active joints from a to b."""
        count = int(np.ceil(self.motion(a, b) / self.margin))
        increment = np.zeros(len(a))
        increment[self.arm.active] = ((b - a) / max(count, 1))[self.arm.active]
        q = a
        for _ in range(count):
            rest = self.arm.resting_pose(q + increment)
            if rest is None or _largest_turn(q, rest) > MAX_FALL or not self.is_free(rest):
                return q
            q = rest
        return q

    def follow(self, corners: list[Array]) -> list[Array]:
        """Return corners with loose joints in equilibrium, up to the first one that is missed."""
        path = [corners[0]]
        for corner in corners[1:]:
            path.append(self.walk(path[-1], corner))
            if not self.are_same(path[-1], corner):
                break
        return path

    def clear(self, a: Array, b: Array) -> bool:
        """Return whether the active joints can go straight from a to b (7,) [rad] (override)."""
        return self.are_same(self.walk(a, b), b)

    def are_same(self, a: Array, b: Array) -> bool:
        """Return whether two poses (7,) agree within `SAME_POSE_ANGLE`, except camera and wrist."""
        return _largest_turn(a, b) < SAME_POSE_ANGLE

    def _check(self, name: str, q: Array) -> None:
        """Refuse a pose (7,) outside the limits (override); pairs that are close are allowed."""
        check_limits(self._parameters, np.clip(q, self._lower, self._upper), f"{name}: ")

    def _any_blocked(self, *poses: Array) -> bool:
        """Return whether any of the poses (7,) is not free (override)."""
        return not all(self.is_free(q) for q in poses)


def _largest_turn(a: Array, b: Array) -> float:
    """Return the largest turn [rad] of a joint that places the hand between two poses (7,)."""
    return float(np.abs(a - b)[:HAND_JOINTS].max())

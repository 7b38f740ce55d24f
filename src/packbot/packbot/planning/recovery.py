"""Reaching with failed joints: a path for the joints that are left, or why there is none.

REASONS are words of results and tables (studies count them): their order and spelling stay. All
other constants, TRIES to HALVINGS, may be tuned: more samples find more paths and take longer, and
change paths that pages show. SWING, what is a fall, too. test_packbot_recovery compares refusals
with closed forms and with sampling, so refuse nothing by a shorter search.

A path is followed quasi-statically: loose joints follow the others, at zero torque or in contact
with what they lie on. RRT-Connect, as `planning.rrt` has it, plans with frozen joints; where
loose joints matter, a tree of the equilibria that can be reached grows from the present one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from roboaccord.contract import AccordError, Array

from packbot.model.parameters import check_limits
from packbot.planning.failed_arm import GAP, NEAR, FailedArm, Goals
from packbot.planning.reaching import ARM, MARGIN
from packbot.planning.rrt import Planner, SearchTree

REASONS = ("out_of_reach", "torque", "collision", "no_path")
TRIES = 1500  # samples of a search: the budget of a path
REACHES = 1000  # samples of a tree
BRANCHES = 12  # nodes of a tree from which a goal is tried
SHORTCUTS = 40  # tried on a path
GOALS = 4  # poses to which a path is planned; a tree is tried for all
SWING = 0.15  # rad by which a loose joint may follow at once; more is a fall
MEETS = 0.02  # rad: loose joints that differ by less have met
NEAREST = 6  # poses tried at the point nearest to a target that is refused
HALVINGS = 6  # to where a pose no longer stands


@dataclass(frozen=True)
class Recovery:
    """Hold what a failed arm can do about a target.

    Args:
        corners: of the path, loose joints at rest (k, 7) [rad]; of that to `nearest` if refused.
        reason: why the target is refused, one of `REASONS`; "" if it is reached.
        nearest: point nearest to the target to which there is a path (3,) [m].
    """

    corners: Array
    reason: str
    nearest: Array


class FailedPlanner(Planner):
    """Plan paths of an arm with failed joints.

    Args:
        arm: with its failures.
        margin: that pairs keep [m], those left out which are nearer at the start or at the goal.
    """

    def __init__(self, arm: FailedArm, *, margin: float = MARGIN) -> None:
        super().__init__(arm.setup, margin=margin, clearance=arm.clearance)
        self.arm, self.tries, self.searches, self.shortcuts = arm, TRIES, 1, SHORTCUTS
        self._lower, self._upper = arm.lower, arm.upper
        self._close = set[tuple[str, str]]()
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
        """Let pairs be closer than the margin that are so in poses (7,)."""
        self._close = set[tuple[str, str]]().union(*map(self.links_near, poses))

    def links_near(self, q: Array) -> set[tuple[str, str]]:
        """Return the pairs of links closer than the margin, but those that loose joints part."""
        if not self.clearance.touches(q, self.margin):
            return set()
        near = self.clearance.near(q, self.margin)
        led = (self.clearance.reaches[near][:, self._leaning] > 0.0).any(axis=1)
        return {self.clearance.pair_links(i) for i in near[~led].tolist()}

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
        """Return corners with loose joints as they come along, as far as the first is not met."""
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


class Recoverer:
    """Reach targets with a failed arm.

    Args:
        arm: with its failures.
        present: angles (7,) [rad] of its resting pose.
        seed: of everything drawn.
        margin: kept from touching [m].
    """

    def __init__(
        self, arm: FailedArm, present: Array, seed: int = 0, margin: float = MARGIN
    ) -> None:
        self.arm, self.seed = arm, seed
        self.present = np.clip(present, arm.lower, arm.upper)
        rest = arm.rest(self.present)
        self.present = self.present if rest is None else rest
        self.goals = Goals(arm, self.present, seed)
        self.planner = FailedPlanner(arm, margin=margin)
        self.tree = self.planner.explore(self.present, seed) if self.goals.heavy else None
        if self.tree is not None:
            self.goals.extend(self.tree.nodes)
        self._known = dict[bytes, tuple[str, list[Array]]]()
        self.speeds = arm.setup.parameters.of_joints("speed_limit")

    def starts_at(self, arm: FailedArm, q: Array) -> bool:
        """Return whether this serves an arm with its failures at angles (7,), to 0.02 rad."""
        mine = [(fault.joint, fault.kind) for fault in self.arm.faults]
        return mine == [(f.joint, f.kind) for f in arm.faults] and bool(
            np.abs(q - self.present)[:ARM].max() < MEETS
        )

    def reach(self, target: Array) -> Recovery:
        """Return a path to a target (3,) [m], or the reason why there is none."""
        reason, path = self.find(target)
        corners = np.array(path)
        if self.tree is not None:
            corners = self.planner.shortened(path, self.seed)
        return Recovery(corners, reason, self.arm.kinematics.tip(corners[-1]))

    def find(self, target: Array) -> tuple[str, list[Array]]:
        """Return "" and a path to a target (3,) [m]; or why there is none, and one to near it."""
        key = target.tobytes()
        if key not in self._known:
            self._known[key] = self._find(target)
        return self._known[key]

    def _find(self, target: Array) -> tuple[str, list[Array]]:
        found = list(self.goals.near(target, self.present))
        reason, poses = self.sift(found, target)
        for q in poses[: GOALS if self.tree is None else None]:
            path = self._path_to(q)
            if path is not None:
                return "", path
        path = self._nearest(target, found)
        there = float(np.linalg.norm(self.arm.kinematics.tip(path[-1]) - target)) < NEAR
        return "" if there else reason or "no_path", path

    def sift(self, found: list[Array], target: Array) -> tuple[str, list[Array]]:
        """Return why no pose of those found serves, or "" and those that do, the soonest first."""
        tip = self.arm.kinematics.tip
        there = [q for q in found if np.linalg.norm(tip(q) - target) < NEAR]
        if not there:
            return self._short(target), []
        held = [q for q in there if self.arm.bears(q)]
        if not held:
            return "torque", []
        clear = [q for q in held if self.stands(q)]
        clear.sort(key=lambda q: float((np.abs(q - self.present) / self.speeds).max()))
        return ("" if clear else "collision"), clear

    def _short(self, target: Array) -> str:
        """Return "torque" if loose joints would reach the target had they any, else why not."""
        if not self.goals.heavy:
            return "out_of_reach"
        tip = self._strong.arm.kinematics.tip
        poses = self._strong.near(target, self.present)
        there = any(np.linalg.norm(tip(q) - target) < NEAR for q in poses)
        return "torque" if there else "out_of_reach"

    @cached_property
    def _strong(self) -> Goals:
        """Poses of the arm whose loose joints had torque."""
        frozen = [fault for fault in self.arm.faults if fault.kind == "frozen"]
        arm = FailedArm(self.arm.setup, frozen, q=self.present, clearance=self.arm.clearance)
        return Goals(arm, self.present, self.seed)

    def stands(self, q: Array) -> bool:
        """Return whether nothing touches but what loose joints rest on, and they do rest.

        Nothing may hide what the camera is to look at.
        """
        arm, touches = self.arm, self.arm.clearance.touches
        if not arm.sees(q):
            return False
        if not touches(q, self.planner.margin):
            return not len(arm.loose) or self._rests(q)
        near = arm.clearance.near(q, self.planner.margin)
        links = {arm.clearance.pair_links(i) for i in near.tolist()}
        props = {arm.clearance.pair_links(i) for i in arm.propping(q).tolist()}
        return bool(props) and links <= props and not touches(q, 0.5 * GAP) and self._rests(q)

    def _rests(self, q: Array) -> bool:
        rest = self.arm.rest(q)
        return rest is not None and self.planner._met(rest, q)

    def _path_to(self, goal: Array) -> list[Array] | None:
        if self.tree is not None:
            return self.planner.branch(self.tree, goal)
        try:
            return list(self.planner.plan(self.present, goal, self.seed))
        except AccordError:
            return None

    def _nearest(self, target: Array, found: list[Array]) -> list[Array]:
        """Return the path to the nearest point to a refused target that has one."""
        tip = self.arm.kinematics.tip
        if self.tree is not None:
            paths = self._tree_paths(self.tree, target)
            return min(paths, key=lambda path: float(np.linalg.norm(tip(path[-1]) - target)))
        others = (self._path_to(q) for q in self._next_best(target, found))
        return next((path for path in others if path is not None), [self.present])

    def _tree_paths(self, tree: SearchTree, target: Array) -> list[list[Array]]:
        """Return paths to nodes of the tree nearest to a target, and on towards it."""
        tip, nodes = self.arm.kinematics.tip, tree.nodes
        away = np.linalg.norm([tip(q) - target for q in nodes], axis=1).argsort(kind="stable")
        return [
            [*tree.path(i), self.planner.walk(nodes[i], self.goals.refine(nodes[i], target))]
            for i in away[:NEAREST].tolist()
        ]

    def _next_best(self, target: Array, found: list[Array]) -> Iterator[Array]:
        """Yield poses that stand, first those nearest to a target, then ever further ones."""

        def away(q: Array) -> float:
            return float(np.linalg.norm(self.arm.kinematics.tip(q) - target))

        seeds = sorted([*found, *self.goals.seeds(target)], key=away)
        near = (self._drawn(q, target) for q in seeds if self.arm.bears(q) and self.stands(q))
        yield from islice(near, NEAREST)
        order = np.linalg.norm(self.goals.tips - target, axis=1).argsort(kind="stable")
        for i in 2 ** np.arange(3, int(np.log2(len(order)))):
            q = self.goals.q[order[i]]
            if self.arm.bears(q) and self.stands(q):
                yield q

    def _drawn(self, q: Array, target: Array) -> Array:
        """Return how far a pose that stands can be drawn to a target and still stand."""
        end = self.goals.refine(q, target)
        if self.arm.bears(end) and self.stands(end):
            return end
        for _ in range(HALVINGS):
            middle = 0.5 * (q + end)
            rest = self.arm.rest(middle) if len(self.arm.loose) else middle
            if rest is not None and self.arm.bears(rest) and self.stands(rest):
                q = rest
            else:
                end = middle
        return q

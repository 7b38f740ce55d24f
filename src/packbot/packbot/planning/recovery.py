"""Reaching with failed joints: a path for the joints that are left, or why there is none.

REASONS are words of results and tables (studies count them): their order and spelling stay. GOALS,
NEAREST and HALVINGS, how many poses are tried, may be tuned. test_packbot_recovery compares
refusals with closed forms and with sampling, so refuse nothing by a shorter search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from roboaccord.contract import AccordError, Array

from packbot.planning.failed_arm import GAP, FailedArm
from packbot.planning.failed_planner import MEETS, FailedPlanner
from packbot.planning.goals import NEAR, Goals
from packbot.planning.reaching import ARM, MARGIN
from packbot.planning.rrt import SearchTree

REASONS = ("out_of_reach", "torque", "collision", "no_path")
GOALS = 4  # poses to which a path is planned; a tree is tried for all
NEAREST = 6  # poses tried at the point nearest to a target that is refused
HALVINGS = 6  # to where a pose no longer stands


@dataclass(frozen=True)
class Recovery:
    """What a failed arm can do about a target.

    Args:
        corners: of the path, loose joints at rest (k, 7) [rad]; of that to `nearest` if refused.
        reason: why the target is refused, one of `REASONS`; "" if it is reached.
        nearest: point nearest to the target to which there is a path (3,) [m].
    """

    corners: Array
    reason: str
    nearest: Array


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
        candidates = list(self.goals.near(target, self.present))
        reason, poses = self.sift(candidates, target)
        for q in poses[: GOALS if self.tree is None else None]:
            path = self._path_to(q)
            if path is not None:
                return "", path
        path = self._nearest(target, candidates)
        there = float(np.linalg.norm(self.arm.kinematics.tip(path[-1]) - target)) < NEAR
        return "" if there else reason or "no_path", path

    def sift(self, candidates: list[Array], target: Array) -> tuple[str, list[Array]]:
        """Return why no pose of those found serves, or "" and those that do, the soonest first."""
        tip = self.arm.kinematics.tip
        there = [q for q in candidates if np.linalg.norm(tip(q) - target) < NEAR]
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

    def _nearest(self, target: Array, candidates: list[Array]) -> list[Array]:
        """Return the path to the nearest point to a refused target that has one."""
        tip = self.arm.kinematics.tip
        if self.tree is not None:
            paths = self._tree_paths(self.tree, target)
            return min(paths, key=lambda path: float(np.linalg.norm(tip(path[-1]) - target)))
        others = (self._path_to(q) for q in self._next_best(target, candidates))
        return next((path for path in others if path is not None), [self.present])

    def _tree_paths(self, tree: SearchTree, target: Array) -> list[list[Array]]:
        """Return paths to nodes of the tree nearest to a target, and on towards it."""
        tip, nodes = self.arm.kinematics.tip, tree.nodes
        away = np.linalg.norm([tip(q) - target for q in nodes], axis=1).argsort(kind="stable")
        return [
            [*tree.path(i), self.planner.walk(nodes[i], self.goals.refine(nodes[i], target))]
            for i in away[:NEAREST].tolist()
        ]

    def _next_best(self, target: Array, candidates: list[Array]) -> Iterator[Array]:
        """Yield poses that stand, first those nearest to a target, then ever further ones."""

        def away(q: Array) -> float:
            return float(np.linalg.norm(self.arm.kinematics.tip(q) - target))

        seeds = sorted([*candidates, *self.goals.seeds(target)], key=away)
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

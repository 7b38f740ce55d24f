"""Reaching a target with failed joints: a path of the remaining joints, or why there is none.

A failed joint is frozen (locked) or loose (without drive, so that gravity moves it). `Recoverer` is
used by the controller `recover` in a thread of its own (controllers/replanning.py).

First, poses at the target are sought (`Goals`). The target is refused if none is within reach, none
can be held by the joints, or none is free of collision. Otherwise a path to the pose that is
reached soonest is planned (`FailedPlanner`). If the target is refused, the path leads to the
nearest point that has a path.

MAX_GOAL_POSES, MAX_NEAR_POSES and BISECTIONS may be tuned, but no target that can be reached may be
refused (test_packbot_recovery). REASONS are words of results and must stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np
from roboaccord.contract import AccordError, Array

from packbot.planning.failed_arm import CONTACT_GAP, FailedArm
from packbot.planning.failed_planner import SAME_POSE_ANGLE, FailedPlanner
from packbot.planning.goals import NEAR, Goals
from packbot.planning.reaching import HAND_JOINTS, MARGIN
from packbot.planning.rrt import SearchTree

REASONS = ("out_of_reach", "torque", "collision", "no_path")
# With the next three, 98 % of the targets are recovered to which an independent planner finds a
# path (docs/packbot_recovery.md); each further pose costs a search of up to MAX_SAMPLES samples
# (failed_planner.py).
# Number of poses to which a path is planned; with a tree of equilibria all are tried
MAX_GOAL_POSES = 4
MAX_NEAR_POSES = 6  # number of poses that are tried near a refused target
# Number of bisections when a pose is moved towards a refused target. By eye: of a distance of 1.6 m
# (the three tubes of the arm) 25 mm remain; each further one costs a search.
BISECTIONS = 6


class Recovery(NamedTuple):
    """Result of planning for a failed arm.

    Args:
        corners: corners of the path, with loose joints at rest (k, 7) [rad].
        reason: why the target is refused, one of `REASONS`; "" if it is reached.
        nearest: end of the path: the target, or the nearest point with a path (3,) [m].
    """

    corners: Array
    reason: str
    nearest: Array


class Recoverer:
    """Planner of reaches of a failed arm.

    Args:
        arm: the arm with its failures.
        q: angles (7,) [rad] of its resting pose.
        seed: seed of all random draws.
        margin: distance that paths keep from contact [m].

    Attributes:
        present: angles (7,) [rad] from which paths begin: q, with loose joints at rest.
        goals: finder of poses at targets.
        tree: equilibria that can be reached from the resting pose; None if gravity moves no loose
            joint.
    """

    def __init__(self, arm: FailedArm, q: Array, seed: int = 0, margin: float = MARGIN) -> None:
        self.arm, self.seed = arm, seed
        self.present = np.clip(q, arm.lower, arm.upper)
        rest = arm.resting_pose(self.present)
        self.present = self.present if rest is None else rest
        self.goals = Goals(arm, self.present, seed)
        self.planner = FailedPlanner(arm, margin=margin)
        self.tree = self.planner.explore(self.present, seed) if self.goals.heavy else None
        if self.tree is not None:
            self.goals.extend(self.tree.nodes)
        self._results = dict[bytes, tuple[str, list[Array]]]()  # of `find`, by target
        self.speeds = arm.setup.parameters.of_joints("speed_limit")

    def starts_at(self, arm: FailedArm, q: Array) -> bool:
        """Return whether this was made for the failures of an arm at angles q (7,) [rad]."""
        failures = [(fault.joint, fault.kind) for fault in self.arm.faults]
        has_same = failures == [(fault.joint, fault.kind) for fault in arm.faults]
        return has_same and bool(np.abs(q - self.present)[:HAND_JOINTS].max() < SAME_POSE_ANGLE)

    def reach(self, target: Array) -> Recovery:
        """Return a path to a target (3,) [m], or the reason why there is none."""
        reason, path = self.find(target)
        corners = np.array(path)
        if self.tree is not None:
            corners = self.planner.shortened(path, self.seed)
        return Recovery(corners, reason, self.arm.kinematics.tip(corners[-1]))

    def find(self, target: Array) -> tuple[str, list[Array]]:
        """Return "" and a path to a target (3,) [m]; or a reason, and a path to a near point."""
        key = target.tobytes()
        if key not in self._results:
            self._results[key] = self._search(target)
        return self._results[key]

    def _search(self, target: Array) -> tuple[str, list[Array]]:
        """Return the result of `find` for a target that was not asked for before."""
        candidates = list(self.goals.near(target, self.present))
        reason, poses = self.possible_poses(candidates, target)
        for q in poses if self.tree is not None else poses[:MAX_GOAL_POSES]:
            path = self._path_to(q)
            if path is not None:
                return "", path
        path = self._nearest_path(target, candidates)
        return "" if self._distance(path[-1], target) < NEAR else reason or "no_path", path

    def _distance(self, q: Array, target: Array) -> float:
        """Return the distance of the finger tips from a target at angles q (7,) [m]."""
        return float(np.linalg.norm(self.arm.kinematics.tip(q) - target))

    def possible_poses(self, candidates: list[Array], target: Array) -> tuple[str, list[Array]]:
        """Return "" and the possible poses of the candidates, the one reached soonest first.

        If none is possible, the reason and an empty list are returned.
        """
        at_target = [q for q in candidates if self._distance(q, target) < NEAR]
        if not at_target:
            return self._out_of_reach_reason(target), []
        bearable = [q for q in at_target if self.arm.can_hold(q)]
        if not bearable:
            return "torque", []
        clear = [q for q in bearable if self.is_possible(q)]
        clear.sort(key=lambda q: float((np.abs(q - self.present) / self.speeds).max()))
        return ("" if clear else "collision"), clear

    def _out_of_reach_reason(self, target: Array) -> str:
        """Return "torque" if loose joints with drives would reach a target, else "out_of_reach"."""
        if not self.goals.heavy:
            return "out_of_reach"
        poses = self._with_drives.near(target, self.present)
        reaches_it = any(self._distance(q, target) < NEAR for q in poses)
        return "torque" if reaches_it else "out_of_reach"

    @cached_property
    def _with_drives(self) -> Goals:
        """Finder of poses of the arm if its loose joints had drives."""
        frozen = [fault for fault in self.arm.faults if fault.kind == "frozen"]
        arm = FailedArm(self.arm.setup, frozen, q=self.present, clearance=self.arm.clearance)
        return Goals(arm, self.present, self.seed)

    def is_possible(self, q: Array) -> bool:
        """Return whether a pose is possible.

        Loose joints are at rest, nothing touches but what they rest on, and the camera sees.
        """
        arm, clearance, margin = self.arm, self.arm.clearance, self.planner.margin
        if not arm.sees(q):
            return False
        if not clearance.touches(q, margin):
            return not len(arm.loose) or self._is_at_rest(q)
        near_links = {clearance.pair_links(i) for i in clearance.near(q, margin).tolist()}
        props = {clearance.pair_links(i) for i in arm.propping_pairs(q).tolist()}
        if not props or near_links - props or clearance.touches(q, 0.5 * CONTACT_GAP):
            return False
        return self._is_at_rest(q)

    def _is_at_rest(self, q: Array) -> bool:
        """Return whether loose joints are at rest in a pose (7,)."""
        rest = self.arm.resting_pose(q)
        return rest is not None and self.planner.are_same(rest, q)

    def _path_to(self, goal: Array) -> list[Array] | None:
        """Return a path to a pose (7,), or None."""
        if self.tree is not None:
            return self.planner.branch(self.tree, goal)
        try:
            return list(self.planner.plan(self.present, goal, self.seed))
        except AccordError:
            return None

    def _nearest_path(self, target: Array, candidates: list[Array]) -> list[Array]:
        """Return a path to the point nearest to a refused target that has one."""
        if self.tree is not None:
            paths = self._tree_paths(self.tree, target)
            return min(paths, key=lambda path: self._distance(path[-1], target))
        attempts = (self._path_to(q) for q in self._poses_by_distance(target, candidates))
        return next((path for path in attempts if path is not None), [self.present])

    def _tree_paths(self, tree: SearchTree, target: Array) -> list[list[Array]]:
        """Return paths to the nodes of the tree nearest to a target, extended towards it."""
        tip, nodes = self.arm.kinematics.tip, tree.nodes
        order = np.linalg.norm([tip(q) - target for q in nodes], axis=1).argsort(kind="stable")
        paths = []
        for i in order[:MAX_NEAR_POSES].tolist():
            end = self.planner.walk(nodes[i], self.goals.refine(nodes[i], target))
            paths.append([*tree.path(i), end])
        return paths

    def _poses_by_distance(self, target: Array, candidates: list[Array]) -> Iterator[Array]:
        """Yield possible poses, first those nearest to a target, then ones ever farther away."""
        seeds = [*candidates, *self.goals.seeds(target)]
        seeds.sort(key=lambda q: self._distance(q, target))
        possible_seeds = (q for q in seeds if self.arm.can_hold(q) and self.is_possible(q))
        for q in islice(possible_seeds, MAX_NEAR_POSES):
            yield self._closest_approach(q, target)
        order = np.linalg.norm(self.goals.tips - target, axis=1).argsort(kind="stable")
        # Of the goals' poses, the 8th nearest, the 16th, the 32nd, and so on.
        for i in 2 ** np.arange(3, int(np.log2(len(order)))):
            q = self.goals.q[order[i]]
            if self.arm.can_hold(q) and self.is_possible(q):
                yield q

    def _closest_approach(self, q: Array, target: Array) -> Array:
        """Return the pose nearest to a target, on the line from q, that is still possible.

        The line ends where least squares brings the tips near the target; it is bisected.
        """
        end = self.goals.refine(q, target)
        if self.arm.can_hold(end) and self.is_possible(end):
            return end
        for _ in range(BISECTIONS):
            middle = 0.5 * (q + end)
            rest = self.arm.resting_pose(middle) if len(self.arm.loose) else middle
            if rest is not None and self.arm.can_hold(rest) and self.is_possible(rest):
                q = rest
            else:
                end = middle
        return q

"""Reaching with failed joints: a path with the joints that are left, or the reason for none.

Poses at the target are looked for first (`Goals`). A target is refused if there is none within
reach, none that the joints can hold, or none that is clear; else a path to the soonest of them is
planned (`FailedPlanner`). For a refused target a path leads to the nearest point that has one.

REASONS are words of results and tables, which studies count: their order and spelling stay. GOALS,
NEAREST and HALVINGS, how many poses are tried, may be tuned. test_packbot_recovery compares
refusals with closed forms and with sampling, so a shorter search must not refuse more.
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
GOALS = 4  # poses to which a path is planned; with a tree all are tried
NEAREST = 6  # poses that are tried near a refused target
HALVINGS = 6  # of the way on which a pose can be drawn towards a refused target


@dataclass(frozen=True)
class Recovery:
    """What a failed arm can do about a target.

    Args:
        corners: of the path, loose joints at rest (k, 7) [rad]; if refused, of that to `nearest`.
        reason: why the target is refused, one of `REASONS`; "" if it is reached.
        nearest: point nearest to the target to which there is a path (3,) [m].
    """

    corners: Array
    reason: str
    nearest: Array


class Recoverer:
    """Planner of reaches of a failed arm.

    Args:
        arm: with its failures.
        present: angles (7,) [rad] of its resting pose.
        seed: of all random draws.
        margin: that paths keep from touching [m].

    Attributes:
        goals: poses at targets.
        tree: of the equilibria that can be reached; None if gravity moves no loose joint.
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
        self._results = dict[bytes, tuple[str, list[Array]]]()  # of `find`, by target
        self.speeds = arm.setup.parameters.of_joints("speed_limit")

    def starts_at(self, arm: FailedArm, q: Array) -> bool:
        """Return whether this was made for the failures of an arm at angles q (7,) [rad]."""
        failures, others = ([(f.joint, f.kind) for f in a.faults] for a in (self.arm, arm))
        return failures == others and bool(np.abs(q - self.present)[:ARM].max() < MEETS)

    def reach(self, target: Array) -> Recovery:
        """Return a path to a target (3,) [m], or the reason why there is none."""
        reason, path = self.find(target)
        corners = np.array(path)
        if self.tree is not None:
            corners = self.planner.shortened(path, self.seed)
        return Recovery(corners, reason, self.arm.kinematics.tip(corners[-1]))

    def find(self, target: Array) -> tuple[str, list[Array]]:
        """Return "" and a path to a target (3,) [m]; or a reason, and a path to a point near it."""
        key = target.tobytes()
        if key not in self._results:
            self._results[key] = self._find(target)
        return self._results[key]

    def _find(self, target: Array) -> tuple[str, list[Array]]:
        candidates = list(self.goals.near(target, self.present))
        reason, poses = self.sift(candidates, target)
        for q in poses[: GOALS if self.tree is None else None]:
            path = self._path_to(q)
            if path is not None:
                return "", path
        path = self._nearest(target, candidates)
        reached = float(np.linalg.norm(self.arm.kinematics.tip(path[-1]) - target)) < NEAR
        return "" if reached else reason or "no_path", path

    def sift(self, candidates: list[Array], target: Array) -> tuple[str, list[Array]]:
        """Return "" and the candidates that serve, the soonest first; or why none does, and []."""
        tip = self.arm.kinematics.tip
        at_target = [q for q in candidates if np.linalg.norm(tip(q) - target) < NEAR]
        if not at_target:
            return self._short(target), []
        bearable = [q for q in at_target if self.arm.bears(q)]
        if not bearable:
            return "torque", []
        clear = [q for q in bearable if self.stands(q)]
        clear.sort(key=lambda q: float((np.abs(q - self.present) / self.speeds).max()))
        return ("" if clear else "collision"), clear

    def _short(self, target: Array) -> str:
        """Return "torque" if loose joints with torque would reach a target; else "out_of_reach"."""
        if not self.goals.heavy:
            return "out_of_reach"
        tip = self._strong.arm.kinematics.tip
        poses = self._strong.near(target, self.present)
        reached = any(np.linalg.norm(tip(q) - target) < NEAR for q in poses)
        return "torque" if reached else "out_of_reach"

    @cached_property
    def _strong(self) -> Goals:
        """Poses of the arm if its loose joints had torque."""
        frozen = [fault for fault in self.arm.faults if fault.kind == "frozen"]
        arm = FailedArm(self.arm.setup, frozen, q=self.present, clearance=self.arm.clearance)
        return Goals(arm, self.present, self.seed)

    def stands(self, q: Array) -> bool:
        """Return whether loose joints rest, nothing else touches, and the camera's view is free."""
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
        """Return a path to the point nearest to a refused target that has one."""
        tip = self.arm.kinematics.tip
        if self.tree is not None:
            paths = self._tree_paths(self.tree, target)
            return min(paths, key=lambda path: float(np.linalg.norm(tip(path[-1]) - target)))
        attempts = (self._path_to(q) for q in self._next_best(target, candidates))
        return next((path for path in attempts if path is not None), [self.present])

    def _tree_paths(self, tree: SearchTree, target: Array) -> list[list[Array]]:
        """Return paths to nodes of the tree nearest to a target, and on towards it."""
        tip, nodes = self.arm.kinematics.tip, tree.nodes
        order = np.linalg.norm([tip(q) - target for q in nodes], axis=1).argsort(kind="stable")
        return [
            [*tree.path(i), self.planner.walk(nodes[i], self.goals.refine(nodes[i], target))]
            for i in order[:NEAREST].tolist()
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
        """Return the pose to which one that stands can be drawn towards a target and stand."""
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

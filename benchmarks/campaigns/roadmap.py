"""Second opinion on what a failed arm can reach: equilibria, contacts, statics and paths by MuJoCo.

`recovery` is judged by it, and shares nothing with it but limits and the pose at the start. Angles
are Halton points; a tree of equilibria grows from the start through `NODES` of them; poses at a
target are found by Gauss-Newton steps on finite differences, and joined to the nearest nodes by
straight lines of the active joints.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from benchmarks.campaigns.statics import (
    CLOSE,
    PACE,
    PROBE,
    FailedStatics,
    with_angle,
)
from packbot.planning.failed_arm import FailedArm
from packbot.planning.reaching import HAND_JOINTS
from roboaccord.contract import Array, Index
from scipy.stats import qmc

NODES = 1000  # samples of the tree: its budget; it bounds the time
DRAWN = 400  # poses apart from it, 40 % of NODES
SEEDS = 24  # poses from which a target is looked for, 6 % of DRAWN
# Nodes from which a pose is joined, the nearest ones; farther ones are joined less often.
JOINS = 12
EDGE = 1.0  # m of motion by which the tree grows at once
THERE = 5e-3  # m from a target, a tenth of a cell (recovery/workspace.CELL)
DROP = 0.15  # rad: a loose joint that moves by more in a step falls: 9 degrees
SAME = 0.02  # rad: 1 degree
TURN = 0.3  # rad of a Gauss-Newton step: 17 degrees, where linear steps are still downhill
STEPS = 15  # of them; any above what converges would do


class Roadmap(FailedStatics):
    """Judge targets of a failed arm.

    Args:
        arm: with its failures, of which names, limits and indices are taken.
        start: angles (7,) [rad] of its resting pose.
        nodes: samples of the tree.
    """

    def __init__(self, arm: FailedArm, start: Array, nodes: int = NODES) -> None:
        super().__init__(arm, start)
        self._grow(nodes)

    @property
    def nodes(self) -> Array:
        """Poses (n, 7) [rad] to which the start leads."""
        return self._nodes[: self._size]

    def verdict(self, target: Array) -> str:
        """Return "" if a target (3,) [m] is reachable, else the reason why not."""
        there = [*self._poses(target)]
        if not there:
            strong = self._poses(target, held=False) if self._loose else ()  # had they torque
            return "torque" if any(True for _ in strong) else "out_of_reach"
        held = [q for q in there if self._bears(q)]
        if not held:
            return "torque"
        clear = [q for q in held if not self._touches(q, 0.5 * CLOSE)]
        if not clear:
            return "collision"
        return "" if any(self._joined(q) for q in clear) else "no_path"

    def _grow(self, count: int) -> None:
        """Grow the tree: each sample extends the nearest node, as far as the path is free."""
        moving = self._moving
        points = qmc.Halton(max(len(moving), 1), seed=7).random(count)
        low, high = self._lower[moving], self._upper[moving]
        self._nodes, self._size = np.tile(self._start, (count + 1, 1)), 1
        for point in points if len(moving) else []:
            goal = self._start.copy()
            goal[moving] = low + point * (high - low)
            (i,) = self._near(goal, 1)
            part = min(1.0, EDGE / self._motion(self._nodes[i], goal))
            end = self._walk(self._nodes[i], self._nodes[i] + part * (goal - self._nodes[i]))
            if self._motion(self._nodes[i], end) > PACE:
                self._nodes[self._size] = end
                self._size += 1
        shares = qmc.Halton(len(self._start), seed=8).random(DRAWN)
        drawn = self._lower + shares * (self._upper - self._lower)
        drawn[:, HAND_JOINTS:] = self._start[HAND_JOINTS:]
        still = [i for i in range(HAND_JOINTS) if i not in self._moving and i not in self._loose]
        drawn[:, still] = self._start[still]
        settled = [self._settle(q) for q in drawn] if self._loose else list(drawn)
        poses = [*self.nodes, *(q for q in settled if q is not None)]
        self._bank, self._tips = np.array(poses), np.array([self._tip(q) for q in poses])

    def _motion(self, a: Array, b: Array) -> float:
        return float(np.abs(b - a)[self._moving] @ self._radii[self._moving])

    def _near(self, q: Array, count: int) -> list[int]:
        away = np.abs(self.nodes - q)[:, :HAND_JOINTS] @ self._radii
        return [int(i) for i in away.argsort(kind="stable")[:count]]

    def _walk(self, a: Array, b: Array) -> Array:
        """Return how far the active joints come from a towards b (7,), loose ones following."""
        count = int(np.ceil(self._motion(a, b) / PACE))
        line, q = np.zeros(len(a)), a
        line[self._moving] = (b - a)[self._moving] / max(count, 1)
        for _ in range(count):
            there = self._settle(q + line) if self._loose else q + line
            if there is None or np.abs(there - q).max() > DROP:
                return q
            if not (self._bears(there) and (self._loose or not self._touches(there))):
                return q
            q = there
        return q

    def _joined(self, q: Array) -> bool:
        ends = (self._walk(self._nodes[i], q) for i in self._near(q, JOINS))
        return any(np.abs(end - q)[:HAND_JOINTS].max() < SAME for end in ends)

    def _poses(self, target: Array, *, held: bool = True) -> Iterator[Array]:
        """Yield poses (7,) with the finger tips at a target, loose joints at rest if `held`."""
        bank, tips = self._bank, self._tips
        base = np.array([self._arm.setup.parameters.base_x, 0.0])
        turning = 0 in self._moving
        flat, aim = tips[:, :2] - base, target[:2] - base
        off = np.linalg.norm(tips - target, axis=1)
        if turning:
            off = np.hypot(np.hypot(*flat.T) - np.hypot(*aim), tips[:, 2] - target[2])
        joints = self._moving if held else np.union1d(self._moving, self._arm.loose)
        for k in off.argsort(kind="stable")[:SEEDS].tolist():
            q = bank[k].copy()
            if turning:
                turn = np.arctan2(aim[1], aim[0]) - np.arctan2(flat[k, 1], flat[k, 0])
                turned = (q[0] + turn + np.pi) % (2.0 * np.pi) - np.pi
                q[0] = np.clip(turned, self._lower[0], self._upper[0])
            there = self._solved(q, target, joints, held=held and bool(self._loose))
            if there is not None:
                yield there

    def _solved(self, q: Array, target: Array, joints: Index, *, held: bool) -> Array | None:
        """Return the pose (7,) to which Gauss-Newton steps lead, if its tips are at the target."""
        for _ in range(STEPS):
            error = target - self._tip(q)
            if np.linalg.norm(error) < 0.2 * THERE:
                break
            lines = np.zeros((3, len(joints)))
            for column, i in enumerate(joints.tolist()):
                probe = PROBE if q[i] + PROBE <= self._upper[i] else -PROBE
                near = with_angle(q, i, q[i] + probe)
                there = self._settle(near) if held else near
                if there is None:
                    return None
                lines[:, column] = (self._tip(there) - target + error) / probe
            step = np.linalg.lstsq(lines, error, rcond=1e-3)[0]
            step *= min(1.0, TURN / max(float(np.abs(step).max(initial=0.0)), 1e-9))
            q = q.copy()
            q[joints] = np.clip(q[joints] + step, self._lower[joints], self._upper[joints])
            rest = self._settle(q) if held else q
            if rest is None:
                return None
            q = rest
        return q if np.linalg.norm(target - self._tip(q)) < THERE else None

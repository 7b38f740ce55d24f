"""Poses of a failed arm whose finger tips are at a target.

Poses are drawn at random, loose joints at rest, and those nearest to the target are refined by
damped least squares [Nakamura, Hanafusa 1986], loose joints following. That serves every set of
failures alike: where too few joints are left, it ends at the point nearest to the target.

NEAR, by which tests judge whether a target is reached, stays. The other constants trade time
against missed poses and may be tuned (test_packbot_recovery compares refusals with sampling).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from roboaccord.contract import Array, Index

from packbot.model.parameters import JOINTS
from packbot.planning.failed_arm import WEIGHTLESS, FailedArm
from packbot.planning.reaching import ARM

POSES = 4000  # that are drawn
PROPPED = 300  # poses that are drawn with loose joints on contacts
SEEDS = 40  # nearest poses, of those drawn and of the others, from which a target is looked for
NEAR = 5e-3  # m from the target within which it counts as reached; half of what a reach allows
EXACT = 1e-5  # m: least progress of an iteration
ITERATIONS = 30  # of the least squares, at most
TURN = 0.3  # rad by which a joint turns in an iteration at most
DAMPING = 1e-3  # m: of motions that move the tips by less than 1 mm/rad
ALIKE = 1e-2  # rad: poses whose angles differ by less are the same


class Goals:
    """Poses of a failed arm at a target.

    Args:
        arm: with its failures.
        present: angles (7,) [rad] whose camera and wrist are kept where they can move.
        seed: of the poses drawn.

    Attributes:
        q: poses at rest (k, 7) [rad] from which targets are looked for: `drawn` ones, loose joints
            hanging, and others.
        tips: their finger tips (k, 3) [m].
        heavy: loose joints that gravity moves.
    """

    def __init__(self, arm: FailedArm, present: Array, seed: int = 0) -> None:
        self.arm = arm
        rng = np.random.default_rng(seed)
        drawn = np.tile(np.where(arm.lower == arm.upper, arm.lower, present), (POSES, 1))
        moving = [i for i in arm.active.tolist() if i < ARM]
        drawn[:, moving] = rng.uniform(arm.lower[moving], arm.upper[moving], (POSES, len(moving)))
        self.heavy = [i for i in arm.loose.tolist() if arm.swing(present, i)[1] > WEIGHTLESS]
        self.drawn = np.array([arm.hang(q) for q in drawn]) if self.heavy else drawn
        self.q, self.tips = np.empty((0, len(JOINTS))), np.empty((0, 3))
        self.extend(self.drawn)
        if self.heavy:
            self.extend(self._fallen(drawn[:PROPPED], rng))

    def extend(self, poses: Iterable[Array]) -> None:
        """Add poses (7,) [rad] from which targets are looked for."""
        q = np.reshape([*poses], (-1, len(JOINTS)))
        tips = np.reshape([self.arm.kinematics.tip(pose) for pose in q], (-1, 3))
        self.q, self.tips = np.concatenate([self.q, q]), np.concatenate([self.tips, tips])

    def _fallen(self, drawn: Array, rng: np.random.Generator) -> Iterator[Array]:
        """Yield poses (7,) with loose joints fallen onto something from anywhere."""
        arm = self.arm
        for q in drawn:
            q[self.heavy] = rng.uniform(arm.lower[self.heavy], arm.upper[self.heavy])
            rest = None if arm.clearance.touches(q) else arm.rest(q)
            if rest is not None and len(arm.propping(rest)):
                yield rest

    def near(self, target: Array, present: Array) -> Iterator[Array]:
        """Yield refined poses (7,), each unlike those before: the best that seeds come to.

        Args:
            target: point in the world (3,) [m].
            present: angles (7,) [rad] with which the search begins.
        """
        refined = list[Array]()
        for q in [present, *self.seeds(target)]:
            pose = self.refine(q, target)
            if all(np.abs(pose - other)[:ARM].max() > ALIKE for other in refined):
                refined.append(pose)
                yield pose

    def seeds(self, target: Array) -> Array:
        """Return the poses (k, 7) whose tips are nearest to a target, turned to it if possible."""
        q, tips = self.q, self.tips
        if 0 not in self.arm.active:
            return np.asarray(q[self._least(np.linalg.norm(tips - target, axis=1))])
        axis = np.array([self.arm.setup.parameters.base_x, 0.0])
        flat, aim = tips[:, :2] - axis, target[:2] - axis
        distances = np.hypot(np.hypot(*flat.T) - np.hypot(*aim), tips[:, 2] - target[2])
        order = self._least(distances)
        chosen, flat = q[order].copy(), flat[order]
        turn = np.arctan2(aim[1], aim[0]) - np.arctan2(flat[:, 1], flat[:, 0])
        turrets = (chosen[:, 0] + turn + np.pi) % (2.0 * np.pi) - np.pi
        chosen[:, 0] = np.clip(turrets, self.arm.lower[0], self.arm.upper[0])
        return np.asarray(chosen)

    def _least(self, distances: Array) -> Index:
        """Return the poses with the least distances (k,): `SEEDS` of those drawn, and of others."""
        drawn = len(self.drawn)
        order = distances.argsort(kind="stable")
        return np.concatenate([order[order < drawn][:SEEDS], order[order >= drawn][:SEEDS]])

    def refine(self, q: Array, target: Array) -> Array:
        """Return the angles (7,) to which damped least squares brings the tips near a target.

        A pose on a contact is not refined further once the contact is lost or another is met.
        """
        arm, best, least = self.arm, q, np.inf
        propped = len(arm.propping(q)) > 0
        for _ in range(ITERATIONS):
            error = target - arm.kinematics.tip(q)
            size = float(np.linalg.norm(error))
            if size >= least - EXACT:
                break
            best, least = q, size
            jacobian = arm.tip_jacobian(q)
            jacobian[:, ((q <= arm.lower) & (jacobian.T @ error < 0.0))] = 0.0
            jacobian[:, ((q >= arm.upper) & (jacobian.T @ error > 0.0))] = 0.0
            damped = jacobian @ jacobian.T + DAMPING**2 * np.eye(3)
            step = jacobian.T @ np.linalg.solve(damped, error)
            step *= min(1.0, TURN / max(float(np.abs(step).max()), TURN))
            q = np.clip(q + step, arm.lower, arm.upper)
            if self.heavy:
                rest = arm.rest(q) if propped else arm.hang(q)
                if rest is None:
                    break
                q = rest
        return best

"""Inverse kinematics of an arm with failed joints: poses whose finger tips are at a target.

A failed joint is frozen (locked) or loose (without drive). The planner of recoveries (recovery.py)
plans paths to the poses that `Goals.near` yields.

Many poses are drawn at random, with loose joints at rest. Those nearest to the target are refined
by damped least squares [Nakamura, Hanafusa 1986], while loose joints follow the others. This works
for any set of failures: if too few joints are left to reach the target, it ends at the nearest
point.

The constants, except NEAR, trade time against missed poses and may be tuned (test_packbot_recovery
compares refusals with sampling). NEAR must stay, as tests judge by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from roboaccord.contract import Array, Index

from packbot.model.parameters import JOINTS
from packbot.planning.failed_arm import TORQUE_ROUNDOFF, FailedArm
from packbot.planning.reaching import HAND_JOINTS

# Measured on eight targets, with elbow 1 frozen and with elbow 2 loose. "Poses" are those at the
# targets that the joints can hold without contact, 37 and 2.
# Number of poses that are drawn: 16,000 reach the same targets, 500 one less with the loose joint.
POSE_COUNT = 4000
# Number of poses that are drawn with loose joints resting on contacts: with 50, 300 and 1,500,
# which take 0.2, 0.4 and 1.1 s, there are poses at 0, 2 and 1 of the targets.
PROPPED_POSE_COUNT = 300
# Number of nearest poses that are refined, of those drawn and of the others each: 10, 40 and 160
# give 29, 37 and 44 poses, and 0, 2 and 3, which take 0.07, 0.46 and 1.3 s a target.
SEED_COUNT = 40
NEAR = 5e-3  # m; a target is reached within this distance, half of what a reach allows
MIN_PROGRESS = 1e-5  # m; the iterations end when one brings the tips nearer by less, 1/500 of NEAR
MAX_ITERATIONS = 30  # bound of the number of iterations; 10 and 100 give the same poses
# rad; bound of the change of an angle in an iteration, for the Jacobian changes, too: with 0.1, 0.3
# and 1 there are 33, 37 and 38 poses, and 1, 2 and 6.
MAX_ANGLE_CHANGE = 0.3
# m; damps motions that move the tips by less than 1 mm/rad: 1e-5 gives the same poses, 0.03 gives
# 26 and 2.
DAMPING = 1e-3
# rad; poses whose angles differ by less are the same: 1e-3 gives 56 and 3, most of them twins, 0.1
# 26 and 2
SAME_POSE_ANGLE = 1e-2


class Goals:
    """Finder of poses of a failed arm at a target.

    Args:
        arm: the arm with its failures.
        present: angles (7,) [rad]; those of camera and wrist are kept.
        seed: seed of the random poses.

    Attributes:
        drawn: random poses, with loose joints hanging (k, 7) [rad].
        q: all poses from which the search may begin: `drawn` and others (k, 7) [rad].
        tips: finger tips of the poses `q` (k, 3) [m].
        heavy: indices of loose joints that gravity moves.
    """

    def __init__(self, arm: FailedArm, present: Array, seed: int = 0) -> None:
        self.arm = arm
        rng = np.random.default_rng(seed)
        drawn = np.tile(np.where(arm.lower == arm.upper, arm.lower, present), (POSE_COUNT, 1))
        moving = [i for i in arm.active.tolist() if i < HAND_JOINTS]
        lower, upper = arm.lower[moving], arm.upper[moving]
        drawn[:, moving] = rng.uniform(lower, upper, (POSE_COUNT, len(moving)))
        amplitudes = {i: arm.pendulum(present, i)[1] for i in arm.loose.tolist()}  # of torques
        self.heavy = [i for i, amplitude in amplitudes.items() if amplitude > TORQUE_ROUNDOFF]
        self.drawn = np.array([arm.hanging_pose(q) for q in drawn]) if self.heavy else drawn
        self.q, self.tips = np.empty((0, len(JOINTS))), np.empty((0, 3))
        self.extend(self.drawn)
        if self.heavy:
            self.extend(self._fallen(drawn[:PROPPED_POSE_COUNT], rng))

    def extend(self, poses: Iterable[Array]) -> None:
        """Add poses (7,) [rad] from which the search may begin."""
        q = np.reshape([*poses], (-1, len(JOINTS)))
        tips = np.reshape([self.arm.kinematics.tip(pose) for pose in q], (-1, 3))
        self.q, self.tips = np.concatenate([self.q, q]), np.concatenate([self.tips, tips])

    def _fallen(self, drawn: Array, rng: np.random.Generator) -> Iterator[Array]:
        """Yield poses (7,) in which loose joints have fallen onto something, from random angles."""
        arm = self.arm
        for q in drawn:
            q[self.heavy] = rng.uniform(arm.lower[self.heavy], arm.upper[self.heavy])
            rest = None if arm.clearance.touches(q) else arm.resting_pose(q)
            if rest is not None and len(arm.propping_pairs(rest)):
                yield rest

    def near(self, target: Array, present: Array) -> Iterator[Array]:
        """Yield the distinct poses (7,) [rad] to which refinement leads from all seeds.

        Args:
            target: point in the world (3,) [m].
            present: angles (7,) [rad] that are the first seed.
        """
        refined = list[Array]()
        for q in [present, *self.seeds(target)]:
            pose = self.refine(q, target)
            if all(np.abs(pose - other)[:HAND_JOINTS].max() > SAME_POSE_ANGLE for other in refined):
                refined.append(pose)
                yield pose

    def seeds(self, target: Array) -> Array:
        """Return the poses (k, 7) whose tips are nearest to a target, turned to it if possible."""
        q, tips = self.q, self.tips
        # With a failed turret (joint 0), the distance is that of the points.
        if 0 not in self.arm.active:
            return np.asarray(q[self._nearest(np.linalg.norm(tips - target, axis=1))])
        # Otherwise it is that of radius and height about the turret, which is then turned.
        axis = np.array([self.arm.setup.parameters.base_x, 0.0])
        horizontal, aim = tips[:, :2] - axis, target[:2] - axis
        distances = np.hypot(np.hypot(*horizontal.T) - np.hypot(*aim), tips[:, 2] - target[2])
        order = self._nearest(distances)
        nearest, horizontal = q[order].copy(), horizontal[order]
        turn = np.arctan2(aim[1], aim[0]) - np.arctan2(horizontal[:, 1], horizontal[:, 0])
        turrets = (nearest[:, 0] + turn + np.pi) % (2.0 * np.pi) - np.pi
        nearest[:, 0] = np.clip(turrets, self.arm.lower[0], self.arm.upper[0])
        return np.asarray(nearest)

    def _nearest(self, distances: Array) -> Index:
        """Return the indices of the poses with the smallest distances (k,).

        `SEED_COUNT` of those drawn, and as many of the others.
        """
        count = len(self.drawn)
        order = distances.argsort(kind="stable")
        drawn, others = order[order < count], order[order >= count]
        return np.concatenate([drawn[:SEED_COUNT], others[:SEED_COUNT]])

    def refine(self, q: Array, target: Array) -> Array:
        """Return the angles (7,) [rad] to which damped least squares leads from q to a target.

        A pose in which loose joints rest on a contact is refined only as long as they do.
        """
        arm, best, smallest = self.arm, q, np.inf
        is_propped = len(arm.propping_pairs(q)) > 0
        for _ in range(MAX_ITERATIONS):
            error = target - arm.kinematics.tip(q)
            distance = float(np.linalg.norm(error))
            if distance >= smallest - MIN_PROGRESS:
                break
            best, smallest = q, distance
            # Joints at a limit do not move beyond it.
            jacobian = arm.tip_jacobian(q)
            jacobian[:, ((q <= arm.lower) & (jacobian.T @ error < 0.0))] = 0.0
            jacobian[:, ((q >= arm.upper) & (jacobian.T @ error > 0.0))] = 0.0
            # dq = J^T (J J^T + DAMPING^2)^-1 e, bounded by MAX_ANGLE_CHANGE.
            damped = jacobian @ jacobian.T + DAMPING**2 * np.eye(3)
            step = jacobian.T @ np.linalg.solve(damped, error)
            step *= min(1.0, MAX_ANGLE_CHANGE / max(float(np.abs(step).max()), MAX_ANGLE_CHANGE))
            q = np.clip(q + step, arm.lower, arm.upper)
            # Loose joints follow.
            if self.heavy:
                rest = arm.resting_pose(q) if is_propped else arm.hanging_pose(q)
                if rest is None:
                    break
                q = rest
        return best

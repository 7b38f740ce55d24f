"""The arm's motion over a tick, linearised about an estimate of its state, load and friction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.state import Array
from roboaccord.scenario.setup import Setup

from packbot.failures.evidence import transition
from packbot.model.arm import Arm
from packbot.simulators.engines import joint_friction

FAST = 0.02  # rad/s: what changes by more in a tick is linearised in its middle
STILL = 1e-9  # rad/s: where friction per rate is taken of a joint that does not turn


class Prediction:
    """Predict the arm, whose payload and viscous friction may be off.

    Args:
        setup: robot and scenario.
        payload: at the finger tips, as known [kg].

    Attributes:
        viscous: friction as known (7,) [N m s/rad].
        breakaway: dry friction below which a joint may stick (7,) [N m].
    """

    def __init__(self, setup: Setup, payload: float) -> None:
        self._arm, self._heavier = Arm.of(setup), Arm.of(setup)
        reach = setup.parameters.gripper_length
        self._arm.carry(payload, reach)
        self._heavier.carry(payload + 1.0, reach)
        self._friction = joint_friction(setup.parameters)
        self.viscous = self._friction.viscous
        stiction = self._friction.stiction
        self.breakaway = self._friction.constant if stiction is None else stiction

    def over(
        self,
        estimate: Array,
        effort: Array,
        period: float,
        held: NDArray[np.int64],
        met: Array | None = None,
    ) -> tuple[Array, Array, Array]:
        """Return motion, pushed and change of `evidence.advance` over a period [s].

        Args:
            estimate: q, qd, error of the payload [kg] and relative ones of friction (22,).
            effort: held (7,) [N m].
            period: [s].
            held: frozen joints, whose locks shape the motion to linearise about, but not `change`.
            met: q and qd measured at its end (14,), to linearise about where contacts shape it.
        """
        point = estimate[:14] if met is None else 0.5 * (estimate[:14] + met)
        for _ in range(2):
            step, weight = self._about(point, estimate, effort, period)
            pushed = np.ascontiguousarray(step[:, 14:21])
            rates = estimate[7 + held] + step[7 + held, -1]
            locks = np.linalg.solve(pushed[np.ix_(7 + held, held)], rates)
            locked = step[:, -1] - pushed[:, held] @ locks
            rate = locked[:7] / period if met is None else point[7:]
            if met is not None:
                break
            point = np.concatenate([estimate[:7] + 0.5 * locked[:7], rate])
            if np.abs(locked[7:]).max() < FAST:
                break
        felt = np.column_stack([weight, np.diag(self.viscous * rate)])
        return np.column_stack([step[:, :14], -pushed @ felt]), pushed, step[:, -1]

    def _about(
        self, point: Array, estimate: Array, effort: Array, period: float
    ) -> tuple[Array, Array]:
        """Return the transition by slopes at q and qd of a point (14,), and effort per payload."""
        q, qd, load, wear = point[:7], point[7:], estimate[14], estimate[15:]
        turning = np.where(np.abs(qd) < STILL, STILL, qd)
        drag = self.viscous * wear - self._friction.efforts(turning) / turning
        mass, more = (arm.mass_matrix(q) for arm in (self._arm, self._heavier))
        inverse = np.linalg.inv(mass + load * (more - mass))
        bias, heavier = (arm.bias(q, qd) for arm in (self._arm, self._heavier))
        change = inverse @ (effort - drag * qd - bias - load * (heavier - bias))
        slopes = [arm.effort_slopes(q, qd, change) for arm in (self._arm, self._heavier)]
        stiffness, damping = ((1.0 - load) * a + load * b for a, b in zip(*slopes, strict=True))
        damping = damping + np.diag(drag)
        weight = (more - mass) @ change + heavier - bias
        off = estimate[:14] - point
        change = change - inverse @ (stiffness @ off[:7] + damping @ off[7:])
        step = transition(inverse, stiffness, damping, estimate[7:14], change, period)
        return np.asarray(step), weight

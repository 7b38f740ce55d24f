"""Servo that moves the finger tips to their target by measured angles, at the end of a path.

Loose joints (without drive) do not hang exactly where the plan expects them. The active joints are
therefore moved on by damped least squares [Nakamura, Hanafusa 1986],

    dq/dt = GAIN J^T (J J^T + DAMPING I)^-1 e,

with the error e of the tips and their Jacobian J by the active joints, while loose ones follow. For
a loose joint that still swings, the angle at which it will hang is used: that of the model, plus,
for an arm that differs from its model, the mean difference of measured and modelled angles.

The constants may be tuned; test_packbot_recovery requires 10 mm in each engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from roboaccord.contract import Array

from packbot.model.parameters import JOINTS

if TYPE_CHECKING:
    from packbot.planning.failed_arm import FailedArm

GAIN = 1.0  # 1/s; slower than a loose link swings: sqrt(g / 0.5 m) = 4.4 rad/s
# rad; bound of what is added to each angle, 0.28 m at the tips of a stretched arm: far more than
# the 10 mm by which drawn arms miss (docs/packbot_recovery.md), but no new path.
MOST_OFFSET = 0.15
# m^2; damps motions that move the tips by less than 1 cm/rad, which would take more than
# MOST_OFFSET for 1.5 mm
DAMPING = 1e-4
LEAN_TIME = 3.0  # s; time constant of the mean difference, two swings of a loose link


class TipServo:
    """Angles that are added to the end of a path so that the tips reach their target.

    Args:
        arm: the arm with its failures.
        period: control period [s].
        uncertain: whether the arm may differ from its model.

    Attributes:
        offset: angles that are added to the desired ones (7,) [rad].
    """

    def __init__(self, arm: FailedArm, period: float, *, uncertain: bool) -> None:
        self._arm, self._period, self._uncertain = arm, period, uncertain
        self.offset = np.zeros(len(JOINTS))
        self._lean = np.zeros(len(JOINTS))  # mean of q - hanging_pose(q), of loose joints [rad]

    def step(self, q: Array, aim: Array) -> float:
        """Advance by a control period, and return the distance of the tips from their aim [m].

        For a healthy arm that differs from its model nothing is added: `torque.Integral` removes
        its error.

        Args:
            q: measured angles (7,) [rad].
            aim: desired position of the tips (3,) [m].
        """
        distance = float(np.linalg.norm(aim - self._arm.kinematics.tip(q)))
        if self._uncertain and not self._arm.faults:
            return distance
        # Loose joints where they will hang, unless they rest on something.
        if not len(self._arm.propping_pairs(q)):
            hanging = self._arm.hanging_pose(q)
            if self._uncertain:
                self._lean += self._period / LEAN_TIME * (q - hanging - self._lean)
                hanging = hanging + self._lean
            q = hanging
        error = aim - self._arm.kinematics.tip(q)
        jacobian = self._arm.tip_jacobian(q)
        step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + DAMPING * np.eye(3), error)
        self.offset += GAIN * self._period * step
        np.clip(self.offset, -MOST_OFFSET, MOST_OFFSET, out=self.offset)
        return distance

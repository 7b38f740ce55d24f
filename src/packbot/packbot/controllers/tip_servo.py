"""Servo that draws the finger tips to their target by what is measured, at the end of a path.

Loose joints do not come to hang exactly where the plan has them, so the active joints are moved on
by damped least squares [Nakamura, Hanafusa 1986],

    dq/dt = SERVO J^T (J J^T + SOFT I)^-1 e,

e the error of the tips and J their Jacobian with the active joints, loose ones following. A loose
joint that swings freely is taken where it comes to hang: by the model, and for an arm that differs
from its model, with the mean difference between measured and hanging angles.

All constants may be tuned; test_packbot_recovery requires 10 mm in each engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from roboaccord.contract import Array

from packbot.model.parameters import JOINTS

if TYPE_CHECKING:
    from packbot.planning.failed_arm import FailedArm

SERVO = 1.0  # 1/s: gain; slower than loose links swing, sqrt(g / 0.5 m) = 4.4 rad/s
SERVED = 0.15  # rad: bound of what is added to each angle, 0.28 m at the tips of a stretched arm
SOFT = 1e-4  # m^2: damping, of motions that move the tips by less than 1 cm/rad
LEAN = 3.0  # s: time constant of that mean, two swings of such a link


class TipServo:
    """Angles that are added to the end of a path so that the tips reach their target.

    Args:
        arm: with its failures.
        period: of control [s].
        uncertain: whether the arm may differ from its model.

    Attributes:
        offset: what is added to the angles to be followed (7,) [rad].
    """

    def __init__(self, arm: FailedArm, period: float, *, uncertain: bool) -> None:
        self._arm, self._period, self._uncertain = arm, period, uncertain
        self.offset = np.zeros(len(JOINTS))
        self._lean = np.zeros(len(JOINTS))  # mean of q - hang(q), of loose joints [rad]

    def step(self, q: Array, aim: Array) -> float:
        """Advance by a period, and return how far the tips are from where they are to be [m].

        A healthy arm that differs from its model is left to `Integral`, as `reach` leaves it.

        Args:
            q: measured angles (7,) [rad].
            aim: where the tips are to be (3,) [m].
        """
        distance = float(np.linalg.norm(aim - self._arm.kinematics.tip(q)))
        if self._uncertain and not self._arm.faults:
            return distance
        if not len(self._arm.propping(q)):
            hanging = self._arm.hang(q)
            if self._uncertain:
                self._lean += self._period / LEAN * (q - hanging - self._lean)
                hanging = hanging + self._lean
            q = hanging
        error = aim - self._arm.kinematics.tip(q)
        jacobian = self._arm.tip_jacobian(q)
        step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + SOFT * np.eye(3), error)
        self.offset += SERVO * self._period * step
        np.clip(self.offset, -SERVED, SERVED, out=self.offset)
        return distance

"""The unknowns x of the arm that each filter estimates: their order, and what is known before.

They are, in this order: efforts that wander (whatever the model leaves out), combinations of
inertial parameters (`uncertainty.effort_basis`), relative errors of torque constants and of viscous
friction, dry friction, and latency. Each block is a slice of x.

LATE may be tuned; then run `make detection` again. Wandering efforts must stay the first seven:
`bank` and `partial` rely on it.
"""

from __future__ import annotations

import numpy as np
from packbot.model.parameters import JOINTS
from roboaccord.contract import Array

from roboaccord_studies.packbot.detection.uncertainty import EXPECTED, UNIFORM, Uncertainty

N = len(JOINTS)
TAPS = 3  # the efforts of this tick and of the last two may be in force
LATE = 0.5  # standard deviation of the fractions of the last two


class EffortUnknowns:
    """Order and prior of the unknowns.

    Args:
        hidden: efforts that dry friction hides (7,) [N m].
        modes: number r of combinations of inertial parameters.
        uncertainty: of the arm.

    Attributes:
        wandering, inertial, torque_constant, viscous, dry, latency: slices of x.
        expected, prior: mean and standard deviations of x (m,).
        of_drives: 1 for unknowns of the drives, which a loose joint does not have, else 0 (m,).
        linear: whether an unknown acts on the rates neither by drives nor by the mass matrix (m,).
    """

    def __init__(self, hidden: Array, modes: int, uncertainty: Uncertainty) -> None:
        deviations = (
            hidden,
            np.ones(modes),
            np.full(N, UNIFORM * uncertainty.torque_constant),
            np.full(N, UNIFORM * uncertainty.viscous),
            UNIFORM * EXPECTED * hidden,
            np.full(TAPS - 1, LATE if uncertainty.latency else 0.0),
        )
        ends = np.cumsum([len(block) for block in deviations]).tolist()
        slices = map(slice, [0, *ends], ends)
        self.wandering, self.inertial, self.torque_constant, *others = slices
        self.viscous, self.dry, self.latency = others
        self.prior = np.concatenate(deviations)
        self.expected, self.of_drives = np.zeros((2, len(self.prior)))
        self.expected[self.dry] = EXPECTED * hidden
        self.of_drives[self.torque_constant] = self.of_drives[self.latency] = 1.0
        self.linear = self.of_drives == 0.0
        self.linear[self.inertial] = False

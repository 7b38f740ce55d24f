"""The unknowns x of the arm that the Kalman filters estimate: their order and their prior.

The detector (detector.py) finds failed joints of the Packbot's arm, from measured joint states and
commanded efforts. Its filters also estimate by how much the arm differs from its model. x is a
vector of six blocks:

    wandering         7       whatever the model leaves out, as a random effort of each joint
    inertial          r       combinations of inertial parameters (`uncertainty.effort_basis`)
    torque_constant   7       relative errors of the torque constants
    viscous           7       relative errors of viscous friction
    dry               7       dry friction that the model does not have [N m]
    latency           2       fractions of the efforts that act one and two ticks late

Wandering efforts must stay the first block, as `bank` and `partial` rely on it. LATE_DEVIATION may
be tuned; run `make detection` again afterwards.
"""

from __future__ import annotations

import numpy as np
from packbot.model.parameters import JOINTS
from roboaccord.contract import Array

from roboaccord_studies.packbot.detection.uncertainty import EXPECTED, UNIFORM, Uncertainty

N = len(JOINTS)
# Number of ticks (control periods) whose efforts may act: this one and the last two; latencies are
# up to 2 ticks (docs/packbot_failures.md).
TAPS = 3
# Prior standard deviation of the fractions of late efforts: half of their range, 0 to 1, so that it
# excludes none of them. 0.25 and 1 report the same of the 12 failures of bank.FROZEN_NOISE.
LATE_DEVIATION = 0.5


class EffortUnknowns:
    """Order and prior of the unknowns.

    Args:
        hidden: uncertainty of the dry friction (7,) [N m]; smaller efforts cannot be noticed.
        modes: number r of combinations of inertial parameters.
        uncertainty: by how much the arm may differ from its model.

    Attributes:
        wandering, inertial, torque_constant, viscous, dry, latency: slices of x.
        expected: prior mean of x (m,).
        prior: prior standard deviations of x (m,).
        of_drives: 1 for unknowns of the drives, which do not act on a loose joint, else 0 (m,).
        linear: whether an unknown acts neither by the drives nor by the mass matrix (m,).
    """

    def __init__(self, hidden: Array, modes: int, uncertainty: Uncertainty) -> None:
        deviations = [hidden, np.ones(modes)]  # prior standard deviations of each block
        deviations.append(np.full(N, UNIFORM * uncertainty.torque_constant))
        deviations.append(np.full(N, UNIFORM * uncertainty.viscous))
        deviations.append(UNIFORM * EXPECTED * hidden)  # of dry friction
        deviations.append(np.full(TAPS - 1, LATE_DEVIATION if uncertainty.latency else 0.0))
        ends = np.cumsum([len(block) for block in deviations]).tolist()
        slices = [slice(start, end) for start, end in zip([0, *ends], ends)]
        self.wandering, self.inertial, self.torque_constant = slices[:3]
        self.viscous, self.dry, self.latency = slices[3:]
        self.prior = np.concatenate(deviations)
        self.expected, self.of_drives = np.zeros((2, len(self.prior)))
        self.expected[self.dry] = EXPECTED * hidden
        self.of_drives[self.torque_constant] = self.of_drives[self.latency] = 1.0
        self.linear = self.of_drives == 0.0
        self.linear[self.inertial] = False

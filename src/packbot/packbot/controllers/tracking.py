"""Computed torque control [Craig 2005, section 10.4].

With angles r(t) to be followed, the error e = r - q, a bandwidth w, and the efforts tau of rigid
bodies (RNEA) and f of the joints' friction,

    effort = tau(q, qd, a) + f(qd + k T a),   a = r'' + 2 w e' + w^2 e,

so that e'' = -2 w e' - w^2 e.

Efforts are held for a period T, in which the friction b of a light joint with the inertia m can
brake it wholly (x = b T / m is 8 for the wrist). Friction is therefore taken at the rate by which
qd changes by T a in a period exactly: k = 1 / (1 - exp(-x)) - 1 / x, between 1/2 and 1.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract.checks import clip_efforts
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.scenario.setup import Setup

from packbot.model.arm import Arm
from packbot.simulators.engines import joint_friction

LEAST = 1e-6  # of x, below which k is 1/2 to round-off


class ComputedTorque:
    """Compute the efforts that track a motion.

    Args:
        setup: robot and scenario.
        bandwidth: w, of the error's decay [rad/s].

    Raises:
        ValueError: if the control period is too long for the bandwidth.
    """

    def __init__(self, setup: Setup, bandwidth: float) -> None:
        self._period = setup.scenario.control_period
        if not 0.0 < bandwidth * self._period <= 0.5:
            most = 0.5 / self._period
            raise ValueError(f"bandwidth must be positive, up to {most:g} rad/s at this period")
        self._arm = Arm.of(setup)
        self._friction = joint_friction(setup.parameters)
        self._limits = setup.effort_limits
        self._bandwidth = bandwidth

    def command(self, state: RobotState, r: Array, rate: Array, change: Array) -> Command:
        """Return the command for angles r, their rates and accelerations (7,) to be followed."""
        q, qd, w = state.q, state.qd, self._bandwidth
        a = change + 2.0 * w * (rate - qd) + w * w * (r - q)
        x = self._friction.viscous * self._period / np.diag(self._arm.mass_matrix(q))
        x = np.maximum(x, LEAST)
        k = 1.0 / -np.expm1(-x) - 1.0 / x
        friction = self._friction.efforts(qd + k * self._period * a)
        return Command(clip_efforts(self._arm.efforts(q, qd, a) - friction, self._limits))

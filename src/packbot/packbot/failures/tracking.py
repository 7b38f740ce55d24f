"""Computed torque for an arm with failed joints [Spong 1994, partial feedback linearisation].

Active joints follow as they are asked to; a loose one has the acceleration that leaves it without
effort,

    M_pp q_p'' = f_p - h_p - M_pa q_a'' + J_p^T l,

M the mass matrix, h gravity, Coriolis and centrifugal efforts, f friction. Where it lies on
something, l is the force of the contact, whose gap stays: J q'' = 0. A frozen joint is a lock.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.scenario.setup import Setup

from packbot.controllers.tracking import ComputedTorque
from packbot.failures.arm import FailedArm

AT_STOP = 2e-3  # rad


class FailedTorque(ComputedTorque):
    """Compute the efforts that track a motion of the active joints.

    Args:
        setup: robot and scenario.
        arm: with its failures.
        bandwidth: of the error's decay [rad/s].
    """

    def __init__(self, setup: Setup, arm: FailedArm, bandwidth: float) -> None:
        super().__init__(setup, bandwidth)
        self._failed = arm

    def efforts(self, q: Array, qd: Array, a: Array) -> Array:
        """Return the efforts (7,) [N m]; those of failed joints are 0."""
        arm, loose = self._failed, self._failed.loose
        a = a.copy()
        a[arm.frozen] = a[loose] = 0.0
        pressed = np.zeros(len(a))
        if len(loose):
            mass = self._arm.mass_matrix(q)
            open_ = self._arm.bias(q, qd) - self._friction.efforts(qd) + mass @ a
            pressed = self._fall(q, a, mass, open_)
        efforts = super().efforts(q, qd, a) - pressed
        efforts[arm.frozen] = efforts[loose] = 0.0
        return efforts

    def _fall(self, q: Array, a: Array, mass: Array, open_: Array) -> Array:
        """Fill in the accelerations of loose joints; return the efforts (7,) of their contacts.

        Args:
            q: angles (7,) [rad].
            a: accelerations (7,) [rad/s^2], 0 of loose joints.
            mass: matrix (7, 7) [kg m^2].
            open_: efforts (7,) [N m] that the accelerations take so.
        """
        arm = self._failed
        down = arm.gravity(q)
        stopped = ((q - arm.lower < AT_STOP) & (down > 0.0)) | (
            (arm.upper - q < AT_STOP) & (down < 0.0)
        )
        loose = arm.loose[~stopped[arm.loose]]
        pairs = arm.propping(q)
        if len(pairs) and len(loose):
            lines = arm.clearance.witness(q, pairs[:1]).jacobian
            change = -np.linalg.lstsq(lines[:, loose], lines @ a, rcond=None)[0]
            need = open_[loose] + mass[np.ix_(loose, loose)] @ change
            force = np.linalg.lstsq(lines[:, loose].T, need, rcond=None)[0]
            if (force > 0.0).all():
                a[loose] = change
                return np.asarray(force @ lines)
        a[loose] = -np.linalg.solve(mass[np.ix_(loose, loose)], open_[loose])
        return np.zeros(len(a))

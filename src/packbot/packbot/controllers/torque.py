"""Computed torque control of the arm, also with failed joints [Craig 2005, section 10.4].

With angles r(t) to be followed, the error e = r - q, a bandwidth w, and the efforts tau of rigid
bodies (RNEA) and f of the joints' friction,

    effort = tau(q, qd, a) + f(qd + k T a),   a = r'' + 2 w e' + w^2 e,

so that e'' = -2 w e' - w^2 e.

Efforts are held for a period T, in which the friction b of a light joint with the inertia m can
brake it wholly (x = b T / m is 8 for the wrist). Friction is therefore taken at the rate by which
qd changes by T a in a period exactly: k = 1 / (1 - exp(-x)) - 1 / x, between 1/2 and 1.

If there is less friction than assumed, light joints run away with that compensation. For an
uncertain arm friction is therefore taken at the wanted rate r' + w e, and `Integral` removes the
error that gravity leaves, for example of an unknown payload.

The laws are textbook ones and fixed: test_packbot_controllers checks how errors decay. INTEGRAL,
MOST_ADDED and AT_STOP may be tuned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from roboaccord.contract import Array, Command, RobotState, clip_efforts
from roboaccord.scenario import Setup

from packbot.model import compiled
from packbot.model.parameters import JOINTS
from packbot.simulators.engines import joint_friction

if TYPE_CHECKING:
    from packbot.planning.failed_arm import FailedArm

AT_STOP = 2e-3  # rad from its limit within which a joint counts as being at its stop
LEAST = 1e-6  # of x; for smaller ones k is 1/2 to round-off
INTEGRAL = 0.2  # gain k of `Integral` over the bandwidth, a tenth of where it becomes unstable
MOST_ADDED = 1.0  # rad that the integral adds to an angle at most, against wind-up


def braking_weight(x: Array) -> Array:
    """Return k, by the periods x (7,) over the time constants m / b in which friction brakes.

    k is also the weight of the last rate in the mean rate over the period, 1 - k that of the first.
    """
    x = np.maximum(x, LEAST)
    return np.asarray(1.0 / -np.expm1(-x) - 1.0 / x)


class ComputedTorque:
    """Compute the efforts that track a motion.

    Args:
        setup: robot and scenario.
        bandwidth: w, of the error's decay [rad/s].
        uncertain: whether the arm's friction may be less than assumed.

    Raises:
        ValueError: if the control period is too long for the bandwidth.
    """

    def __init__(self, setup: Setup, bandwidth: float, *, uncertain: bool = False) -> None:
        self._uncertain = uncertain
        self._period = setup.scenario.control_period
        if not 0.0 < bandwidth * self._period <= 0.5:
            most = 0.5 / self._period
            raise ValueError(f"bandwidth must be positive, up to {most:g} rad/s at this period")
        with compiled("computed torque"):
            from packbot.model.arm import Arm
        self._arm = Arm.of(setup)
        self._friction = joint_friction(setup.parameters)
        self._limits = setup.effort_limits
        self._bandwidth = bandwidth

    def command(self, state: RobotState, r: Array, rate: Array, change: Array) -> Command:
        """Return the command for angles r, their rates and accelerations (7,) to be followed."""
        q, qd, w = state.q, state.qd, self._bandwidth
        a = change + 2.0 * w * (rate - qd) + w * w * (r - q)
        wanted = rate + w * (r - q) if self._uncertain else None
        return Command(clip_efforts(self.efforts(q, qd, a, wanted), self._limits))

    def efforts(self, q: Array, qd: Array, a: Array, wanted: Array | None = None) -> Array:
        """Return the efforts (7,) [N m] of accelerations a (7,) [rad/s^2], friction included.

        Friction is that of the `wanted` rates (7,) [rad/s], if any are given.
        """
        if wanted is not None:
            return np.asarray(self._arm.efforts(q, qd, a) - self._friction.efforts(wanted))
        x = self._friction.viscous * self._period / np.diag(self._arm.mass_matrix(q))
        k = braking_weight(x)
        friction = self._friction.efforts(qd + k * self._period * a)
        return np.asarray(self._arm.efforts(q, qd, a) - friction)


class Integral:
    """Integral of the error, added to the angles to be followed.

    With r + s in place of r and s' = k e, the error has the poles of z^3 + 2 w z^2 + w^2 z + k w^2,
    stable for k < 2 w; k is w / 5.

    Args:
        bandwidth: w [rad/s].
        period: of control [s].

    Attributes:
        sum: s, what is added (7,) [rad].
    """

    def __init__(self, bandwidth: float, period: float) -> None:
        self._gain = INTEGRAL * bandwidth * period
        self.reset()

    def reset(self) -> None:
        """Begin with nothing."""
        self.sum = np.zeros(len(JOINTS))

    def added(self, r: Array, q: Array) -> Array:
        """Integrate the error of angles q (7,), and return r (7,) with the integral added [rad]."""
        self.sum = np.clip(self.sum + self._gain * (r - q), -MOST_ADDED, MOST_ADDED)
        return r + self.sum


class FailedTorque(ComputedTorque):
    """Compute the efforts that track a motion of the active joints [Spong 1994].

    A loose joint has the acceleration that leaves it without effort,

        M_pp q_p'' = f_p - h_p - M_pa q_a'' + J_p^T l,

    M the mass matrix, h gravity, Coriolis and centrifugal efforts, f friction. Where it lies on
    something, l is the force of the contact, whose gap stays: J q'' = 0. A frozen joint is a lock.

    Args:
        setup: robot and scenario.
        arm: with its failures.
        bandwidth: of the error's decay [rad/s].
    """

    def __init__(
        self, setup: Setup, arm: FailedArm, bandwidth: float, *, uncertain: bool = False
    ) -> None:
        super().__init__(setup, bandwidth, uncertain=uncertain)
        self._failed = arm

    def efforts(self, q: Array, qd: Array, a: Array, wanted: Array | None = None) -> Array:
        """Return the efforts (7,) [N m]; those of failed joints are 0."""
        arm, loose = self._failed, self._failed.loose
        a = a.copy()
        a[arm.frozen] = a[loose] = 0.0
        by_contact = np.zeros(len(a))
        if len(loose):
            mass = self._arm.mass_matrix(q)
            needed = self._arm.bias(q, qd) - self._friction.efforts(qd) + mass @ a
            by_contact = self._fall(q, a, mass, needed)
        efforts = super().efforts(q, qd, a, wanted) - by_contact
        efforts[arm.frozen] = efforts[loose] = 0.0
        return efforts

    def _fall(self, q: Array, a: Array, mass: Array, needed: Array) -> Array:
        """Fill in the accelerations of loose joints; return the efforts (7,) of their contacts.

        Args:
            q: angles (7,) [rad].
            a: accelerations (7,) [rad/s^2], 0 of loose joints.
            mass: matrix (7, 7) [kg m^2].
            needed: efforts (7,) [N m] of the motion if loose joints had no acceleration.
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
            lacking = needed[loose] + mass[np.ix_(loose, loose)] @ change
            force = np.linalg.lstsq(lines[:, loose].T, lacking, rcond=None)[0]
            if (force > 0.0).all():
                a[loose] = change
                return np.asarray(force @ lines)
        a[loose] = -np.linalg.solve(mass[np.ix_(loose, loose)], needed[loose])
        return np.zeros(len(a))

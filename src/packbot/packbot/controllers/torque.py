"""Computed torque control of the arm, also with failed joints [Craig 2005, section 10.4].

The desired angles r(t) are followed with the error e = r - q and the bandwidth w by

    effort = tau(q, qd, a) - f(qd + k T a),   a = r'' + 2 w e' + w^2 e,

so that e'' = -2 w e' - w^2 e. Here tau are the efforts of the rigid bodies by inverse dynamics
(RNEA), and f the efforts by which friction acts on the joints, opposite to their rates.

The effort is held for a control period T. In this time the viscous friction b of a light joint with
the inertia m can stop it (x = b T / m is 8 for the wrist). Friction is therefore evaluated at the
rate qd + k T a for which qd changes by exactly T a in a period: k = 1 / (1 - exp(-x)) - 1 / x,
which lies between 1/2 and 1.

If the joints have less friction than assumed, this compensation makes light joints run away. For an
uncertain arm friction is therefore evaluated at the desired rate r' + w e instead, and `Integral`
removes the error that remains, for example by an unknown payload.

The laws must stay: test_packbot_controllers checks how errors decay. The constants may be tuned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from roboaccord.contract import Array, Command, RobotState, clip_efforts
from roboaccord.scenario import Setup

from packbot.model import compiled
from packbot.model.parameters import JOINTS
from packbot.simulators.engines import joint_friction

if TYPE_CHECKING:
    from packbot.planning.failed_arm import FailedArm

# rad; a joint closer to its limit than that is taken to be at its stop: the stops of engines give
# way. Wrongly taken so, it moves the tips by at most 4 mm, less than a reach allows.
STOP_TOLERANCE = 2e-3
# Smallest x for which k is computed; below it, k = 1/2 + x / 12 is 1/2 to 1e-7, while the round-off
# of the two terms, 1e-16 / x, grows
LEAST_X = 1e-6
# Gain k of `Integral` over the bandwidth, a tenth of where it becomes unstable
INTEGRAL_RATIO = 0.2
# rad; bound of what the integral adds to an angle, against wind-up: 2 kg at the tips of a stretched
# arm, 36 N m, take 0.17 rad of the shoulder (inertia 2.1 kg m^2) at 10 rad/s
MAX_ADDED_ANGLE = 1.0


def braking_weight(x: Array) -> Array:
    """Return k (7,) for the ratios x = b T / m (7,) of the period and the friction's time constant.

    The mean rate of a joint over a period is k times the last rate plus 1 - k times the first.
    """
    x = np.maximum(x, LEAST_X)
    return np.asarray(1.0 / -np.expm1(-x) - 1.0 / x)


class ComputedTorque:
    """Compute the efforts that track a motion.

    Args:
        setup: robot and scenario.
        bandwidth: w, with which the error decays [rad/s].
        uncertain: whether the arm's friction may be less than assumed.

    Raises:
        ValueError: if the control period is too long for the bandwidth.
    """

    def __init__(self, setup: Setup, bandwidth: float, *, uncertain: bool = False) -> None:
        self._uncertain = uncertain
        self._period = setup.scenario.control_period
        if not 0.0 < bandwidth * self._period <= 0.5:
            largest = 0.5 / self._period
            raise ValueError(f"bandwidth must be positive, up to {largest:g} rad/s at this period")
        with compiled("computed torque"):
            from packbot.model.arm import Arm
        self._arm = Arm.of(setup)
        self._friction = joint_friction(setup.parameters)
        self._limits = setup.effort_limits
        self._bandwidth = bandwidth

    def command(self, state: RobotState, r: Array, rd: Array, rdd: Array) -> Command:
        """Return the command that follows a motion from a measured state.

        Args:
            state: measured state.
            r, rd, rdd: desired angles, rates and accelerations (7,) [rad, rad/s, rad/s^2].
        """
        q, qd, w = state.q, state.qd, self._bandwidth
        a = rdd + 2.0 * w * (rd - qd) + w * w * (r - q)
        friction_rates = rd + w * (r - q) if self._uncertain else None
        return Command(clip_efforts(self.efforts(q, qd, a, friction_rates), self._limits))

    def efforts(self, q: Array, qd: Array, a: Array, friction_rates: Array | None = None) -> Array:
        """Return the efforts (7,) [N m] for accelerations a (7,) [rad/s^2], friction included.

        Friction is evaluated at `friction_rates` (7,) [rad/s], or, without them, at qd + k T a.
        """
        if friction_rates is not None:
            return np.asarray(self._arm.efforts(q, qd, a) - self._friction.efforts(friction_rates))
        x = self._friction.viscous * self._period / np.diag(self._arm.mass_matrix(q))
        k = braking_weight(x)
        friction = self._friction.efforts(qd + k * self._period * a)
        return np.asarray(self._arm.efforts(q, qd, a) - friction)


class Integral:
    """Integral of the error, which is added to the desired angles.

    The desired angles are r + s instead of r, with s' = k e. The poles of the error are then the
    zeros of z^3 + 2 w z^2 + w^2 z + k w^2, which are stable for k < 2 w (Routh); k is w / 5.

    Args:
        bandwidth: w [rad/s].
        period: control period [s].

    Attributes:
        sum: s (7,) [rad].
    """

    def __init__(self, bandwidth: float, period: float) -> None:
        self._gain = INTEGRAL_RATIO * bandwidth * period
        self.reset()

    def reset(self) -> None:
        """Set the integral to 0."""
        self.sum = np.zeros(len(JOINTS))

    def added(self, r: Array, q: Array) -> Array:
        """Integrate the error of angles q (7,), and return r (7,) with the integral added [rad]."""
        self.sum = np.clip(self.sum + self._gain * (r - q), -MAX_ADDED_ANGLE, MAX_ADDED_ANGLE)
        return r + self.sum


def with_weak_drives(setup: Setup, command: Command, strengths: Mapping[str, float]) -> Command:
    """Return a command with the efforts of weak drives divided by their remaining strength.

    Args:
        setup: robot and scenario, with the effort limits.
        command: for drives of full strength.
        strengths: remaining fraction of each weak drive's strength, by the name of its joint.
    """
    effort = np.array(command.effort)
    for joint, strength in strengths.items():
        effort[setup.joints.index(joint)] /= strength
    return Command(clip_efforts(effort, setup.effort_limits))


class FailedTorque(ComputedTorque):
    """Compute the efforts that track a motion of the active joints [Spong 1994].

    The drive of a loose (passive) joint gives no effort. The accelerations of the loose joints p
    follow from those of the active ones a by

        M_pp q_p'' = f_p - h_p - M_pa q_a'' + J_p^T l,

    with the mass matrix M, efforts h of gravity, Coriolis and centrifugal terms, and friction f. If
    a loose link rests on something, l is the force of this contact, and its gap does not change:
    J q'' = 0 with the gradient J of the gap. Otherwise l is 0. A frozen joint is a lock.

    Args:
        setup: robot and scenario.
        arm: the arm with its failed joints.
        bandwidth: w, with which the error decays [rad/s].
        uncertain: whether the arm's friction may be less than assumed.
    """

    def __init__(
        self, setup: Setup, arm: FailedArm, bandwidth: float, *, uncertain: bool = False
    ) -> None:
        super().__init__(setup, bandwidth, uncertain=uncertain)
        self._failed = arm

    def efforts(self, q: Array, qd: Array, a: Array, friction_rates: Array | None = None) -> Array:
        """Return the efforts (7,) [N m]; those of failed joints are 0."""
        arm, loose = self._failed, self._failed.loose
        a = a.copy()
        a[arm.frozen] = a[loose] = 0.0
        by_contact = np.zeros(len(a))
        if len(loose):
            mass = self._arm.mass_matrix(q)
            # h - f + M_pa q_a'', for all joints.
            needed = self._arm.bias(q, qd) - self._friction.efforts(qd) + mass @ a
            by_contact = self._accelerate_loose(q, a, mass, needed)
        efforts = super().efforts(q, qd, a, friction_rates) - by_contact
        efforts[arm.frozen] = efforts[loose] = 0.0
        return efforts

    def _accelerate_loose(self, q: Array, a: Array, mass: Array, needed: Array) -> Array:
        """Fill in the accelerations of loose joints, and return J^T l of their contact (7,) [N m].

        Args:
            q: angles (7,) [rad].
            a: accelerations (7,) [rad/s^2], 0 for loose joints; these are filled in.
            mass: mass matrix M (7, 7) [kg m^2].
            needed: efforts h - f + M a for the given accelerations a (7,) [N m].
        """
        # Loose joints that gravity holds against a stop do not accelerate.
        arm = self._failed
        holding = arm.gravity(q)  # efforts that would hold the arm, opposite to gravity's
        at_lower_stop = (q - arm.lower < STOP_TOLERANCE) & (holding > 0.0)
        at_upper_stop = (arm.upper - q < STOP_TOLERANCE) & (holding < 0.0)
        loose = arm.loose[~(at_lower_stop | at_upper_stop)[arm.loose]]
        # On a contact: accelerations by J q'' = 0, and l by the equation of the class.
        pairs = arm.propping_pairs(q)
        if len(pairs) and len(loose):
            jacobian = arm.clearance.witness(q, pairs[:1]).jacobian
            accelerations = -np.linalg.lstsq(jacobian[:, loose], jacobian @ a, rcond=None)[0]
            required = needed[loose] + mass[np.ix_(loose, loose)] @ accelerations  # J_p^T l
            force = np.linalg.lstsq(jacobian[:, loose].T, required, rcond=None)[0]
            if (force > 0.0).all():
                a[loose] = accelerations
                return np.asarray(force @ jacobian)
        # In free fall, or where the contact opens: l = 0.
        a[loose] = -np.linalg.solve(mass[np.ix_(loose, loose)], needed[loose])
        return np.zeros(len(a))

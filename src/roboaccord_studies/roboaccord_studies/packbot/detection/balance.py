"""Equation of motion of the arm over one tick, by which the filters predict the joint rates.

The detector (detector.py) finds failed joints of the Packbot's arm, from measured joint states and
commanded efforts. A tick is one control period T. As in observers of the generalised momentum [De
Luca, Mattone 2005; with a Kalman filter Wahrburg et al. 2018], the rates qd+ at the end of a tick
follow from the rates qd at its start by

    (M + W D T) qd+ = (M - (1 - W) D T) qd + T (tau + C x - h),

with the mass matrix M, viscous friction D (diagonal), the motors' efforts tau, the efforts h of
gravity, Coriolis terms and dry friction, and the efforts C x by the unknowns x of the arm
(effort_unknowns.py). W (diagonal) is the weight of qd+ in the mean rate over the tick, see
`packbot.controllers.torque.braking_weight`. In the form that the filters use,

    qd+ = keep qd + free (modelled + motor + C x),  keep = (M + W D T)^-1 (M - (1 - W) D T),
                                                    free = (M + W D T)^-1 T.

M and h belong to the inertial parameters as estimated so far. All rates and accelerations in them
are predicted, not measured: the noise of measured rates would look like efforts.

The balance, of second order in T, must stay (test_detector compares it with forward dynamics). The
constants may be tuned; run `make detection` again afterwards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from packbot.controllers.torque import braking_weight
from packbot.model.arm import Arm
from packbot.simulators.engines import joint_friction
from roboaccord.contract import Array
from roboaccord.scenario import Setup

from roboaccord_studies.packbot.detection.effort_unknowns import TAPS, EffortUnknowns, N
from roboaccord_studies.packbot.detection.uncertainty import EXPECTED, Uncertainty, effort_basis

# Wandering efforts are whatever the model leaves out; they are a random process that fades.
# s; time constant of wandering efforts (docs/packbot_failures.md): longer than a failure takes to
# be found, shorter than a motion.
WANDER_TIME = 0.3
# Standard deviation of their change in one tick, over their own; about what the process itself
# changes by, sqrt(2 T / WANDER_TIME) = 0.26 for T = 10 ms.
WANDER_AT_ONCE = 0.2
# Part of the motors' efforts that the size of wandering efforts grows by, as the 1 % of the effort
# limit in the table of docs/packbot_failures.md.
MODEL_ERROR = 0.01
# rad/s; unknown dry friction is multiplied by tanh(rate / DRY_RATE): two standard deviations of
# the rates' noise, so that its sign is known.
DRY_RATE = 0.02
# Part of the efforts of uncertain inertial parameters that is not linear in them: products of
# errors of 10 % are 1 %, over 10 %.
NONLINEAR_SHARE = 0.1
# Width of the interval at which the bisection in `_physical` ends: 2 % of a correction. By choice:
# the bound that it looks for, LIGHTEST, may be anything from 0.1 to 0.5.
PRECISION = 0.02
# Least eigenvalue of the mass matrix as estimated, over that of the model. It keeps estimates
# physical, for which any from 0.1 to 0.5 would do.
LIGHTEST = 0.3
# s; time constant of mean accelerations: noise in C would make unknowns seem known: ten ticks
# divide its variance by 20.
SMOOTHING_TIME = 0.1


class Tick(NamedTuple):
    """Terms of the balance over one tick, as `filters.advance` takes them.

    Args:
        keep: matrix from the rates before to those after (7, 7).
        free: matrix from efforts to the rates after (7, 7) [rad/s per N m].
        modelled: efforts of the model: -h, and those of estimated inertia in M (7,) [N m].
        motor: commanded efforts (7,) [N m].
        effects: C, the efforts by each unknown (7, m).
        white: variances of efforts that are independent from tick to tick (7,) [(N m)^2].
        fade: factor on each unknown in a tick (m,).
        drift: variance that each unknown gains in a tick (m,).
        touched: whether a contact or a joint's stop may have pushed the arm.
        noise: standard deviation of the measured rates [rad/s].
    """

    keep: Array
    free: Array
    modelled: Array
    motor: Array
    effects: Array
    white: Array
    fade: Array
    drift: Array
    touched: bool = False
    noise: float = 0.0


class Belief(NamedTuple):
    """What filter 0, the likeliest one, takes the state of the arm to be.

    Args:
        state: joint rates [rad/s], then unknowns (7 + m,).
        spread: covariance of that state (7 + m, 7 + m).
        loose: whether each joint is loose, without effort of its drive (7,).
    """

    state: Array
    spread: Array
    loose: NDArray[np.bool_]


class Balance:
    """Balance of the efforts of an arm, computed tick by tick.

    Args:
        setup: robot and scenario.
        payload: known payload at the finger tips [kg].
        uncertainty: by how much the arm may differ from its model.

    Attributes:
        unknowns: order and prior of the unknowns x.
        sticking: dry friction that may hold a joint at rest (7,) [N m].
        angles: last measured angles (7,) [rad], at the start of the next tick.
    """

    def __init__(self, setup: Setup, payload: float, uncertainty: Uncertainty) -> None:
        self._arm = Arm.of(setup)
        self._is_late = uncertainty.latency > 0.0
        self._arm.carry(payload + EXPECTED * uncertainty.payload, setup.parameters.gripper_length)
        self._friction = joint_friction(setup.parameters)
        stiction = self._friction.stiction
        self._hidden = uncertainty.hidden(setup.effort_limits)
        self.sticking = self._hidden + (self._friction.constant if stiction is None else stiction)
        self._basis = effort_basis(setup, self._arm, uncertainty, self._hidden)
        self.unknowns = EffortUnknowns(self._hidden, self._basis.shape[1], uncertainty)
        self._parameters = self._arm.parameters
        self._lightest = LIGHTEST * np.linalg.eigvalsh(self._arm.mass_matrix(np.zeros(N)))[0]
        self.reset()

    def reset(self) -> None:
        """Forget the last state."""
        self._efforts = np.zeros((TAPS, N))  # commanded in the last ticks, newest first [N m]
        self._effects = np.zeros((N, len(self.unknowns.prior)))  # C of the last tick
        self._qdd = np.zeros(N)  # mean accelerations over `SMOOTHING_TIME` [rad/s^2]
        self.angles = np.zeros(N)

    def tick(self, q: Array, belief: Belief, effort: Array, period: float, noise: float) -> Tick:
        """Return the terms of the balance over a tick.

        Args:
            q: measured angles at the end of the tick (7,) [rad].
            belief: state of the arm at the start of the tick.
            effort: commanded over the tick (7,) [N m].
            period: length of the tick [s].
            noise: standard deviation of the angles [rad].
        """
        # Angles in the middle of the tick.
        middle = 0.5 * (self.angles + q)
        self.angles = q
        motor = self._motor_efforts(effort)
        # Mass matrix with the estimated inertial parameters, and with it `keep` and `free`.
        rate, unknowns = belief.state[:N], belief.state[N:]
        inertial = unknowns[self.unknowns.inertial]
        mass, in_mass = self._physical(middle, inertial)
        weight, keep, free = self._rate_changes(mass, period)
        # -h: dry friction alone (viscous friction is in `keep`), less gravity and Coriolis terms.
        dry = self._friction.efforts(rate) + self._friction.viscous * rate
        modelled = dry - self._arm.bias(middle, rate)
        # Predicted rates at the end. Inertial parameters are in `mass` and `bias` already; of those
        # that were not physical, the static efforts are subtracted.
        by_linear, drives = self._estimated_efforts(unknowns, motor)
        remainder = self._basis @ (inertial - in_mass)
        static = self._arm.regressor(middle, rate, np.zeros(N)) @ remainder
        drives = np.where(belief.loose, 0.0, drives)
        end = keep @ rate + free @ (modelled + by_linear - static + drives)
        # C of this tick, at the mean accelerations and rates. What the arm's model contains of the
        # inertial unknowns is added back, because C x contains all of them.
        self._qdd += min(1.0, period / SMOOTHING_TIME) * ((end - rate) / period - self._qdd)
        regressor = self._arm.regressor(middle, 0.5 * (rate + end), self._qdd) @ self._basis
        modelled = modelled + regressor @ in_mass
        mean_rate = weight * end + (1.0 - weight) * rate
        self._effects = self._effects_by(regressor, motor, mean_rate)
        # Wandering efforts: a first-order process of the time constant WANDER_TIME.
        deviation = self._hidden + MODEL_ERROR * np.abs(motor)  # of the process [N m]
        fade, drift = np.ones(len(self.unknowns.prior)), np.zeros(len(self.unknowns.prior))
        fade[:N] = np.exp(-period / WANDER_TIME)
        drift[:N] = (1.0 - fade[0] ** 2) * deviation**2
        # Efforts that are new in each tick: part of the wandering ones, those by noise of the
        # angles, and those by which inertial parameters do not act linearly.
        white = (WANDER_AT_ONCE * deviation) ** 2 + (noise * np.abs(modelled)) ** 2
        block = belief.spread[N:, N:][self.unknowns.inertial, self.unknowns.inertial]
        white += NONLINEAR_SHARE**2 * np.einsum("ij,jk,ik->i", regressor, block, regressor)
        return Tick(keep, free, modelled, motor, self._effects, white, fade, drift)

    def _motor_efforts(self, effort: Array) -> Array:
        """Return the efforts (7,) [N m] that act in a tick, by those commanded over it (7,).

        With unknown latency, it is the mean of the last TAPS ones, about which the unknowns of
        latency are fractions.
        """
        self._efforts = np.roll(self._efforts, 1, axis=0)
        self._efforts[0] = effort
        newest, one_late, two_late = self._efforts
        return np.asarray((newest + one_late + two_late) / TAPS if self._is_late else newest)

    def _estimated_efforts(self, unknowns: Array, motor: Array) -> tuple[Array, Array]:
        """Return the efforts by linear unknowns (7,), and those of the drives (7,) [N m].

        By C of the last tick, the estimated unknowns (m,), and the commanded efforts (7,).
        """
        linear, of_drives = self.unknowns.linear, self.unknowns.of_drives > 0.0
        by_linear = self._effects[:, linear] @ unknowns[linear]
        return by_linear, motor + self._effects[:, of_drives] @ unknowns[of_drives]

    def _rate_changes(self, mass: Array, period: float) -> tuple[Array, Array, Array]:
        """Return the diagonal of W (7,), `keep` and `free` (7, 7) for a mass matrix (7, 7)."""
        viscous = self._friction.viscous
        weight = braking_weight(period * viscous * np.diag(np.linalg.inv(mass)))
        inverse = np.asarray(np.linalg.inv(mass + period * np.diag(weight * viscous)), dtype=float)
        keep = inverse @ (mass - period * np.diag((1.0 - weight) * viscous))
        return weight, keep, period * inverse

    def _effects_by(self, regressor: Array, motor: Array, mean_rate: Array) -> Array:
        """Return C (7, m), the efforts by each unknown, in the order of `EffortUnknowns`.

        Args:
            regressor: efforts by the combinations of inertial parameters (7, r).
            motor: commanded efforts (7,) [N m].
            mean_rate: mean rates over the tick (7,) [rad/s].
        """
        newest, one_late, two_late = self._efforts
        viscous, dry = self._friction.viscous * mean_rate, np.tanh(mean_rate / DRY_RATE)
        latency = np.column_stack([newest - one_late, two_late - one_late])
        # Wandering efforts, inertial parameters, torque constants, viscous and dry friction,
        # latency.
        blocks = [np.eye(N), -regressor, np.diag(motor), -np.diag(viscous), -np.diag(dry), latency]
        return np.hstack(blocks)

    def _physical(self, q: Array, inertial: Array) -> tuple[Array, Array]:
        """Give the arm the estimated inertial parameters, scaled down until they are physical.

        They are physical if no eigenvalue of the mass matrix is below the fraction LIGHTEST of the
        model's smallest one. The largest such scale between 0 and 1 is found by bisection.

        Args:
            q: angles (7,) [rad].
            inertial: estimated inertial unknowns (r,).

        Returns:
            the mass matrix at q (7, 7), and the inertial unknowns that the arm was given (r,).
        """
        low, high = 0.0, 1.0
        mass = self._mass_with(q, inertial)
        if np.linalg.eigvalsh(mass)[0] > self._lightest:
            return mass, inertial
        while high - low > PRECISION:
            middle = 0.5 * (low + high)
            if np.linalg.eigvalsh(self._mass_with(q, middle * inertial))[0] > self._lightest:
                low = middle
            else:
                high = middle
        return self._mass_with(q, low * inertial), low * inertial

    def _mass_with(self, q: Array, inertial: Array) -> Array:
        """Give the arm inertial unknowns (r,), and return its mass matrix at q (7, 7)."""
        self._arm.change(self._parameters + self._basis @ inertial)
        return self._arm.mass_matrix(q)

"""Balance of the arm's efforts over a tick, by which the filters predict its rates.

As observers of the generalised momentum do [De Luca, Mattone 2005; with a Kalman filter Wahrburg et
al. 2018], the rates qd+ at the end of a tick follow from those before by

    (M + W D T) qd+ = (M - (1 - W) D T) qd + T (tau + C x - h),

M the mass matrix, D viscous friction, h gravity, Coriolis efforts and dry friction, T the period, W
the weight of the last rate in the mean rate of a joint that friction brakes within T, and C the
efforts by the unknowns x (effort_unknowns.py). Mass matrix and h are those of the inertial
parameters as estimated so far. Rates and accelerations are predicted ones: noise of measured rates
would be taken for efforts.

The balance, of second order in T, is fixed: test_detector compares it with forward dynamics. All
constants are choices that may be tuned; then run `make detection` again.
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

WANDER = 0.3  # s in which wandering efforts forget what they were
WANDER_AT_ONCE = 0.2  # of wandering efforts, the fraction that is new in each tick
MODEL = 0.01  # of the motors' efforts, the fraction that wanders besides what friction hides
TURNING = 0.02  # rad/s: dry friction of slower joints may be less, by tanh
BENT = 0.1  # of what inertial parameters may still change, the fraction that is not linear
PRECISION = 0.02  # to which the fraction of the estimates is found that is physical
LIGHTEST = 0.3  # of the mass matrix's least eigenvalue, the fraction that estimates must leave
SMOOTH = 0.1  # s: average of accelerations; noise of one tick would make unknowns seem known


class Tick(NamedTuple):
    """Terms of the balance over a tick, as `filters.advance` takes them, and how it was measured.

    Args:
        keep, free: change of the rates by those before (7, 7), and by efforts (7, 7).
        modelled, motor: efforts of the model, and commanded ones (7,) [N m].
        effects: C, the efforts by the unknowns (7, m).
        white: variances of efforts that are new in each tick (7,) [(N m)^2].
        fade, drift: of the unknowns in a tick: factor, and variance gained (m,).
        touched: whether contact or a stop may have pushed.
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


class Balance:
    """Balance of the efforts of an arm, tick by tick.

    Args:
        setup: robot and scenario.
        payload: at the finger tips, as known [kg].
        uncertainty: of the arm.

    Attributes:
        unknowns: their order and prior.
        sticking: dry friction that may hold a joint (7,) [N m].
        angles: as measured last (7,) [rad].
    """

    def __init__(self, setup: Setup, payload: float, uncertainty: Uncertainty) -> None:
        self._arm, self._late = Arm.of(setup), uncertainty.latency > 0.0
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
        self._efforts = np.zeros((TAPS, N))  # of the last ticks, the newest first [N m]
        self._effects = np.zeros((N, len(self.unknowns.prior)))  # of the last tick
        self._qdd = np.zeros(N)  # accelerations, as a mean over `SMOOTH` [rad/s^2]
        self.angles = np.zeros(N)

    def begin(self, q: Array) -> None:
        """Go on from measured angles (7,) [rad]."""
        self.angles = q

    def tick(
        self, q: Array, state: Array, spread: Array, loose: NDArray[np.bool_], effort: Array,
        period: float, noise: float,
    ) -> Tick:  # fmt: skip
        """Return the terms of a tick.

        Args:
            q: measured at the end of the tick (7,) [rad].
            state, spread: of the likeliest filter at its start (7 + m,), (7 + m, 7 + m).
            loose: joints without effort in it (7,).
            effort: commanded over the tick (7,) [N m].
            period: [s].
            noise: standard deviation of the angles [rad].
        """
        middle, self.angles = 0.5 * (self.angles + q), q
        self._efforts = np.roll(self._efforts, 1, axis=0)
        self._efforts[0] = effort
        now, once, twice = self._efforts
        motor = (now + once + twice) / TAPS if self._late else now
        rate, inertial = state[:N], state[N:][self.unknowns.inertial]
        mass, in_mass = self._physical(middle, inertial)
        weight, keep, free = self._rate_changes(mass, period)
        dry = self._friction.efforts(rate) + self._friction.viscous * rate
        modelled = dry - self._arm.bias(middle, rate)
        # By the effects of the last tick; inertial parameters in the mass matrix count once.
        linear, of_drives = self.unknowns.linear, self.unknowns.of_drives > 0.0
        others = self._effects[:, linear] @ state[N:][linear]
        drives = motor + self._effects[:, of_drives] @ state[N:][of_drives]
        static = self._arm.regressor(middle, rate, np.zeros(N)) @ (
            self._basis @ (inertial - in_mass)
        )
        end = keep @ rate + free @ (modelled + others - static + np.where(loose, 0.0, drives))
        self._qdd += min(1.0, period / SMOOTH) * ((end - rate) / period - self._qdd)
        regressor = self._arm.regressor(middle, 0.5 * (rate + end), self._qdd) @ self._basis
        modelled = modelled + regressor @ in_mass
        mean = weight * end + (1.0 - weight) * rate
        self._effects = self._effects_by(regressor, motor, mean)
        size = self._hidden + MODEL * np.abs(motor)  # of wandering efforts
        fade, drift = np.ones(len(self.unknowns.prior)), np.zeros(len(self.unknowns.prior))
        fade[:N] = np.exp(-period / WANDER)
        drift[:N] = (1.0 - fade[0] ** 2) * size**2
        white = (WANDER_AT_ONCE * size) ** 2 + (noise * np.abs(modelled)) ** 2
        block = spread[N:, N:][self.unknowns.inertial, self.unknowns.inertial]
        white += BENT**2 * np.einsum("ij,jk,ik->i", regressor, block, regressor)
        return Tick(keep, free, modelled, motor, self._effects, white, fade, drift)

    def _rate_changes(self, mass: Array, period: float) -> tuple[Array, Array, Array]:
        """Return the weights W (7,), and `keep` and `free` of a tick, for a mass matrix (7, 7)."""
        viscous = self._friction.viscous
        weight = braking_weight(period * viscous * np.diag(np.linalg.inv(mass)))
        inverse = np.asarray(np.linalg.inv(mass + period * np.diag(weight * viscous)), dtype=float)
        keep = inverse @ (mass - period * np.diag((1.0 - weight) * viscous))
        return weight, keep, period * inverse

    def _effects_by(self, regressor: Array, motor: Array, mean: Array) -> Array:
        """Return the efforts by the unknowns (7, m), block by block in their order.

        Args:
            regressor: efforts by the combinations of inertial parameters (7, r).
            motor: commanded efforts (7,) [N m].
            mean: rates over the tick (7,) [rad/s].
        """
        now, once, twice = self._efforts
        viscous, dry = self._friction.viscous * mean, np.tanh(mean / TURNING)
        latency = np.column_stack([now - once, twice - once])
        blocks = [np.eye(N), -regressor, np.diag(motor), -np.diag(viscous), -np.diag(dry), latency]
        return np.hstack(blocks)

    def _physical(self, q: Array, inertial: Array) -> tuple[Array, Array]:
        """Give the arm the estimated inertial parameters, or as much of them as is physical.

        Returns:
            the mass matrix at q (7, 7), and the estimates that the arm was given (r,).
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

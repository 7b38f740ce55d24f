"""Kalman filters of the arm, healthy and with each failure, side by side.

The balance below and its second order in T are fixed (test_detector, against forward dynamics). The
sizes of what is not modelled, from LOCK to LATE, may be tuned; then run `make detection` again. The
order of the unknowns x is made in `Balance`, and `bank` and `diagnosis` rely on efforts that wander
being its first seven. HEALTHY, LOOSE and FROZEN, numbers in compiled code, stay.

Each estimates the joints' rates together with what is not known of the arm, by the balance of
efforts over a tick, as observers of the generalised momentum do [De Luca, Mattone 2005; with a
Kalman filter Wahrburg et al. 2018],

    (M + W D T) qd+ = (M - (1 - W) D T) qd + T (tau + C x - h),

M the mass matrix, D viscous friction, h gravity, Coriolis and dry friction, T the period, W the
part of the last rate in the mean of a joint that friction brakes within T. C are the efforts by
the unknowns x: efforts that wander (what is left out), the inertial parameters, torque constants,
viscous and dry friction, and latency. All but the rates are measured values.

A loose joint is a healthy one without its effort; a frozen one bears an unknown effort besides, and
does not turn.
"""

from __future__ import annotations

import numpy as np
from packbot.model.arm import Arm
from packbot.model.parameters import JOINTS
from packbot.simulators.engines import joint_friction
from roboaccord.contract import Array
from roboaccord.numerics import kernel
from roboaccord.scenario import Setup

from roboaccord_studies.packbot.detection.uncertainty import (
    EXPECTED,
    UNIFORM,
    Uncertainty,
    effort_basis,
)

N = len(JOINTS)
HEALTHY, LOOSE, FROZEN = range(3)
LOCK = 3.0  # rad/s: what a lock may take of a joint's rate in a tick
CREEP = 1e-3  # rad/s: of a frozen joint
WANDER = 0.3  # s in which unmodelled efforts forget what they were
TURNING = 0.02  # rad/s: of a joint that is slower, dry friction may be less
MODEL = 0.01  # part of the efforts that is not modelled
WHITE = 0.2  # part of what wanders that is new in each tick
TAPS = 3  # efforts of the last ticks that may be in force
BENT = 0.1  # part of what the inertial parameters may still change that is not linear
PART = 0.02  # of the estimates, to which that is found which can be taken
LIGHTEST = 0.3  # part of the least eigenvalue of the mass matrix that must be left
SMOOTH = 0.1  # s: accelerations of one tick are noise, by which unknowns would seem to be known
LATE = 0.5  # standard deviation of the part of each
LEAST = 1e-6  # of x in `mean_weight`, below which it is 1/2 to round-off


@kernel
def advance(
    faults, keep, free, modelled, motor, effects, driven, unknown, jolts, fade, drift, seen,
    variance, states, spreads, fits,
):  # fmt: skip
    """Predict each filter over a tick and correct it by the rates that are seen.

    Args:
        faults: kind of each joint's failure by filter (k, 7).
        keep, free: changes of the rates by those before (7, 7) and by efforts (7, 7).
        modelled, motor: efforts of the model, and commanded ones (7,) [N m].
        effects: efforts by the unknowns (7, m).
        driven: 1 for those of the drives (m,).
        unknown: covariance of efforts that are anything (7, 7) [(N m)^2].
        jolts: variances of the rates by impacts within the tick (7,).
        fade, drift: of the unknowns in a tick: factor, and variance gained (m,).
        seen, variance: measured rates (7,) [rad/s] and their variance.
        states, spreads: of the filters, rates before unknowns (k, 7 + m), (k, 7 + m, 7 + m);
            updated.
        fits: filled with the logarithm of the normalisation, and the error of each rate over its
            standard deviation (k, 1 + 7).
    """
    n, m = effects.shape
    size = n + m
    slope = np.zeros((n, size))
    slope[:, :n] = keep
    scaled = np.empty((n, m))
    gain = np.empty(size)
    for f in range(len(states)):
        state, spread = states[f], spreads[f]
        effort = modelled.copy()
        for j in range(n):
            loose = faults[f, j] == LOOSE
            effort[j] += 0.0 if loose else motor[j]
            for i in range(m):
                scaled[j, i] = 0.0 if loose and driven[i] > 0.0 else effects[j, i]
        slope[:, n:] = free @ scaled
        ahead = slope @ state + free @ effort
        rows = slope @ spread
        block = rows @ slope.T + free @ unknown @ free.T
        for j in range(n):
            block[j, j] += jolts[j]
            if faults[f, j] == FROZEN:
                lock = LOCK / free[j, j]
                for a in range(n):
                    for b in range(n):
                        block[a, b] += lock * lock * free[a, j] * free[b, j]
        for a in range(n):
            state[a] = ahead[a]
            for b in range(n):
                spread[a, b] = 0.5 * (block[a, b] + block[b, a])
            for i in range(m):
                spread[a, n + i] = spread[n + i, a] = rows[a, n + i] * fade[i]
        for i in range(m):
            state[n + i] *= fade[i]
            for k in range(m):
                spread[n + i, n + k] *= fade[i] * fade[k]
            spread[n + i, n + i] += drift[i]
        fits[f] = 0.0
        for step in range(2 * n):
            j = step % n
            pinned = step < n
            if pinned and faults[f, j] != FROZEN:
                continue
            error = (0.0 if pinned else seen[j]) - state[j]
            total = spread[j, j] + (CREEP**2 if pinned else variance)
            if not pinned:
                fits[f, 0] += np.log(total)
                fits[f, 1 + j] = error / np.sqrt(total)
            for i in range(size):
                gain[i] = spread[j, i] / total
            for i in range(size):
                state[i] += gain[i] * error
                by = gain[i] * total
                for k in range(size):
                    spread[i, k] -= by * gain[k]


def mean_weight(x: Array) -> Array:
    """Return the part of the last rate in the mean over a period, x its length over the decay's."""
    x = np.maximum(x, LEAST)
    return np.asarray(1.0 / -np.expm1(-x) - 1.0 / x)


class Balance:
    """Balance the arm's efforts over a tick.

    Args:
        setup: robot and scenario.
        payload: at the finger tips, as known [kg].
        uncertainty: of the arm.

    Attributes:
        sticking: dry friction that may hold a joint (7,) [N m].
        angles: as measured last (7,) [rad].
        expected, prior: mean and standard deviations of the unknowns (m,).
        driven: 1 for the unknowns of the drives (m,).
    """

    def __init__(self, setup: Setup, payload: float, uncertainty: Uncertainty) -> None:
        self._arm, self._uncertainty = Arm.of(setup), uncertainty
        more = EXPECTED * uncertainty.payload
        self._arm.carry(payload + more, setup.parameters.gripper_length)
        self._friction = joint_friction(setup.parameters)
        stiction = self._friction.stiction
        self._hidden = uncertainty.hidden(setup.effort_limits)
        self.sticking = self._hidden + (self._friction.constant if stiction is None else stiction)
        self._basis = effort_basis(setup, self._arm, uncertainty, self._hidden)
        r = self._basis.shape[1]
        u = uncertainty
        self.prior = np.concatenate(
            [
                self._hidden,
                np.ones(r),
                np.full(N, UNIFORM * u.torque_constant),
                np.full(N, UNIFORM * u.viscous),
                UNIFORM * EXPECTED * self._hidden,
                np.full(TAPS - 1, LATE if u.latency else 0.0),
            ]
        )
        self.expected = np.zeros(len(self.prior))
        self.expected[3 * N + r : 4 * N + r] = EXPECTED * self._hidden
        self._inertial = slice(2 * N, 2 * N + r)
        self._parameters = self._arm.parameters
        self._lightest = LIGHTEST * np.linalg.eigvalsh(self._arm.mass_matrix(np.zeros(N)))[0]
        self.driven = np.concatenate(
            [np.zeros(N + r), np.ones(N), np.zeros(2 * N), np.ones(TAPS - 1)]
        )
        self._others = self.driven == 0.0
        self._others[N : N + r] = False
        self.reset()

    def reset(self) -> None:
        """Forget the last state."""
        self._efforts = np.zeros((TAPS, N))
        self._effects = np.zeros((N, len(self.prior)))
        self._qdd = np.zeros(N)  # as a mean over `SMOOTH`
        self._q: Array | None = None

    def begin(self, q: Array) -> None:
        """Go on from measured angles (7,) [rad]."""
        self._q = q

    def over(
        self,
        q: Array,
        state: Array,
        spread: Array,
        loose: Array,
        effort: Array,
        period: float,
        noise: float,
    ) -> tuple[Array, ...]:
        """Return keep, free, known, motor, effects, white, fade and drift of a tick.

        Those of `advance`; white are the variances of efforts that are new in each tick. Rates and
        accelerations are those that the state predicts: noise of measured ones would be taken for
        efforts.

        Args:
            q: measured at the end of the tick (7,) [rad].
            state, spread: of the likeliest filter at its start (7 + m,), (7 + m, 7 + m).
            loose: joints without effort in it (7,).
            effort: commanded over the tick (7,) [N m].
            period: [s].
            noise: standard deviation of the angles [rad].
        """
        assert self._q is not None
        self._efforts = np.roll(self._efforts, 1, axis=0)
        self._efforts[0] = effort
        now, once, twice = self._efforts
        self.angles = q
        late = self._uncertainty.latency > 0.0
        motor = (now + once + twice) / TAPS if late else now
        middle, self._q = 0.5 * (self._q + q), q
        arm, viscous, rate = self._arm, self._friction.viscous, state[:N]
        unknowns = state[self._inertial]
        mass, taken = self._taken(middle, unknowns)
        weight = mean_weight(period * viscous * np.diag(np.linalg.inv(mass)))
        inverse = np.asarray(np.linalg.inv(mass + period * np.diag(weight * viscous)), dtype=float)
        keep = inverse @ (mass - period * np.diag((1.0 - weight) * viscous))
        free = period * inverse
        dry = self._friction.efforts(rate) + viscous * rate
        modelled = dry - arm.bias(middle, rate)
        # The inertial parameters that are estimated are in the arm already.
        rest = self._effects[:, self._others] @ state[N:][self._others]
        drives = motor + self._effects[:, self.driven > 0.0] @ state[N:][self.driven > 0.0]
        weights = arm.regressor(middle, rate, np.zeros(N)) @ (self._basis @ (unknowns - taken))
        end = keep @ rate + free @ (modelled + rest - weights + np.where(loose, 0.0, drives))
        mean = weight * end + (1.0 - weight) * rate
        self._qdd += min(1.0, period / SMOOTH) * ((end - rate) / period - self._qdd)
        regressor = arm.regressor(middle, 0.5 * (rate + end), self._qdd) @ self._basis
        modelled = modelled + regressor @ taken
        self._effects = np.hstack(
            [
                np.eye(N),
                -regressor,
                np.diag(motor),
                -np.diag(viscous * mean),
                -np.diag(np.tanh(mean / TURNING)),
                np.column_stack([now - once, twice - once]),
            ]
        )
        size = self._hidden + MODEL * np.abs(motor)
        fade, drift = np.ones(len(self.prior)), np.zeros(len(self.prior))
        fade[:N] = np.exp(-period / WANDER)
        drift[:N] = (1.0 - fade[0] ** 2) * size**2
        white = (WHITE * size) ** 2 + (noise * np.abs(modelled)) ** 2
        block = spread[self._inertial, self._inertial]
        white += BENT**2 * np.einsum("ij,jk,ik->i", regressor, block, regressor)
        return keep, free, modelled, motor, self._effects, white, fade, drift

    def _taken(self, q: Array, unknowns: Array) -> tuple[Array, Array]:
        """Let the arm have inertial parameters as estimated, or as much of them as is physical.

        Returns:
            the mass matrix at q (7, 7), and the unknowns that were taken (r,).
        """
        low, high = 0.0, 1.0
        mass = self._with(q, unknowns)
        if np.linalg.eigvalsh(mass)[0] > self._lightest:
            return mass, unknowns
        while high - low > PART:
            middle = 0.5 * (low + high)
            if np.linalg.eigvalsh(self._with(q, middle * unknowns))[0] > self._lightest:
                low = middle
            else:
                high = middle
        return self._with(q, low * unknowns), low * unknowns

    def _with(self, q: Array, unknowns: Array) -> Array:
        """Let the arm have unknowns (r,), and return its mass matrix at q (7, 7)."""
        self._arm.change(self._parameters + self._basis @ unknowns)
        return self._arm.mass_matrix(q)

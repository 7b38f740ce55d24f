"""Estimate of the arm's unknowns x (masses, friction, ...; see unknowns.py) from a motion.

The equation of motion with the measured angles q, rates qd and accelerations qdd is

    tau(t - d) = (Y(q - z, qd, qdd) pi + b qd + c qd / sqrt(qd^2 + e^2)) / k,

with the commanded efforts tau, their delay d, the regressor Y of the inertial parameters pi,
encoder zeros z, viscous and dry friction b and c (which falls below the rate e), and gains k of the
torque constants. Both sides are multiplied by sines that vanish at start and end of the motion, and
integrated over time (modulating functions [Shinbrot 1957]). These integrals, here called moments,
are the equations for x, one for each joint and sine below the frequency BAND. They need no
derivative of an effort: q is a spline through angles and rates, and the delay shifts the sines.

The residuals of the equations are correlated, because noise of the sensors is filtered by the arm.
Their spectrum is estimated from themselves [Zellner 1962; Hannan 1963]. With it and the prior, x is
found by the Gauss-Newton method.

The constants may be tuned, but intervals must still contain the truth (test_identification;
benchmarks/campaigns/identified_arms.py for the figures of docs/packbot_identification.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from roboaccord.contract import Array
from roboaccord.scenario import Setup
from scipy.interpolate import BSpline

from roboaccord_studies.packbot.detection.noise import CHI2_MEDIAN
from roboaccord_studies.packbot.identification.base_parameters import State
from roboaccord_studies.packbot.identification.unknowns import BLOCKS, SIZE, N, Prior, Unknowns
from roboaccord_studies.packbot.recorded import Motion

# Those that are measured were varied on two drawn arms (`recorded` of test_identification, seeds 10
# and 11), of which 112 intervals are identified, and all hold the truth.
# Hz; highest frequency of the sines: with 1 there are 111 intervals, with 4 there are 115, of which
# 98 % hold.
BAND = 2.0
# s; time between the knots of the splines: they follow 5 Hz, more than BAND; 0.05 and 0.2 identify
# as many (measured)
KNOT_SPACING = 0.1
# Of the splines, whose second derivatives, the accelerations, are cubic then; 3 and 7 identify as
# many (measured).
DEGREE = 5
# Ticks; rigid-body efforts are computed at every fourth state only, to save time: 40 ms, a twelfth
# of a period at BAND.
STATE_STRIDE = 4
# Number of Gauss-Newton iterations; any above what it settles in would do: 4 and 16 identify as
# many, 3 one less (measured).
ITERATIONS = 8
# Number of neighbouring sines whose residuals may be correlated; the arm filters noise over a few,
# and the weights fall to 0. 6 and 24 identify as many (measured).
LAGS = 12
# Standard deviation of friction from its law, as a part of the effort limits: a thirtieth of the
# prior of dry friction (1 %). With 1e-4 there are 116 intervals, of which 98 % hold, with 1e-3
# there are 105.
UNMODELLED = 3e-4
# Hz; width over which the spectrum is averaged, six sines to either side for a motion of 10 s.
SPECTRUM_WIDTH = 0.3
# Lower bound of the part of a residual's variance that is left by the fit, against division by 0.
# 0.02 and 0.5 identify as many (measured).
MIN_UNEXPLAINED = 0.1
# Size of the residuals that is assumed in the first iteration, as a part of the effort limits: the
# prior of dry friction.
FIRST_RESIDUAL = 0.01
THIRD_DIFFERENCE = 20.0  # variance of a third difference over that of independent samples
LEAST_NOISE = 1e-5  # rad, rad/s; lower bound of the noise; a tenth of noise.NOISE_FLOOR


class Estimate(NamedTuple):
    """An estimate of the unknowns, with its covariance.

    Args:
        x: unknowns (u,).
        covariance: covariance of x, by the spectrum of the residuals (u, u).
        robust: covariance of x by the residuals themselves, which may be correlated (u, u).
    """

    x: Array
    covariance: Array
    robust: Array

    def deviation(self, slopes: Array) -> Array:
        """Return standard deviations of quantities (k,) with derivatives by x (k, u).

        Of the two covariances, the one that gives the larger deviation counts.
        """
        covariances = (self.covariance, self.robust)
        squares = np.max([((slopes @ c) * slopes).sum(axis=1) for c in covariances], axis=0)
        return np.asarray(np.sqrt(squares))


def noise_of(motion: Motion) -> Array:
    """Return the standard deviations of angles and rates (2, 7) [rad, rad/s].

    By the median of squared third differences in time, to which a smooth motion adds little.
    """
    squares = [np.median(np.diff(y, 3, axis=0) ** 2, axis=0) for y in (motion.q, motion.qd)]
    return np.sqrt(np.array(squares) / (THIRD_DIFFERENCE * CHI2_MEDIAN))


def smooth(motion: Motion, noise: Array) -> State:
    """Return angles, rates and accelerations (k, 7) of splines fitted to the measurements.

    Args:
        motion: measured motion of k states.
        noise: standard deviations of angles and rates (2, 7), by which both are weighted.
    """
    # Basis functions of the splines and their derivatives at the measured times (k, number).
    time = motion.time
    count = max(round((time[-1] - time[0]) / KNOT_SPACING), 1)
    inner = np.linspace(time[0], time[-1], count + 1)
    knots = np.concatenate([[time[0]] * DEGREE, inner, [time[-1]] * DEGREE])
    basis = BSpline(knots, np.eye(len(knots) - DEGREE - 1), DEGREE)
    shapes = [basis.derivative(order)(time) if order else basis(time) for order in range(3)]
    # Weighted least squares, joint by joint.
    of_angles, of_rates, _ = shapes
    angle_gram, rate_gram = of_angles.T @ of_angles, of_rates.T @ of_rates
    coefficients = []
    for j, (angle_weight, rate_weight) in enumerate(noise.T**-2):
        normal = angle_weight * angle_gram + rate_weight * rate_gram
        right = angle_weight * of_angles.T @ motion.q[:, j]
        right += rate_weight * of_rates.T @ motion.qd[:, j]
        coefficients.append(np.linalg.solve(normal, right))
    q, qd, qdd = [shape @ np.array(coefficients).T for shape in shapes]
    return State(q, qd, qdd)


class MotionBalance:
    """Equations of motion multiplied by m sines and integrated over a motion.

    Args:
        setup: robot and scenario.
        motion: measured motion of k states.

    Attributes:
        unknowns: unknowns of the arm.
        noise: standard deviations of angles and rates (2, 7) [rad, rad/s].
        frequencies: of the sines (m,) [Hz].
    """

    def __init__(self, setup: Setup, motion: Motion) -> None:
        self.unknowns = Unknowns(setup)
        self.noise = np.maximum(noise_of(motion), LEAST_NOISE)
        self._motion = motion
        state = smooth(motion, self.noise)
        self._rate = state.qd  # (k, 7) [rad/s]
        self._friction_speed = setup.parameters.friction_speed  # e [rad/s]
        # Change of the viscous friction in a physics step (k, 7) [N m].
        self._rise = setup.scenario.physics_step * self.unknowns.viscous * state.qdd
        strided = [values[::STATE_STRIDE] for values in state]  # angles, rates and accelerations
        self._states = list(map(State, *strided))
        self._period = float(np.diff(motion.time).mean())
        self._length = float(motion.time[-1] - motion.time[0])
        count = int(2.0 * BAND * self._length)
        self._omega = np.pi * np.arange(1, count + 1) / self._length  # of the sines (m,) [rad/s]
        self.frequencies = np.asarray(self._omega / (2.0 * np.pi), dtype=np.float64)
        # Sines at the measured times (m, k), normalised so that white noise stays white.
        sines = np.sin(np.outer(self._omega, motion.time - motion.time[0]))
        self._weighted_sines = self._period * np.sqrt(2.0 / self._length) * sines

    def efforts(self, x: Array) -> tuple[Array, Array]:
        """Return the moments of the delayed efforts (m, 7), and their derivatives by the delay.

        The delay is a number of ticks (control periods).
        """
        time = self._motion.time - self._motion.time[0]
        delay = float(x[BLOCKS["latency"]][0])
        middle = time + self._period * (delay - 0.5)
        # An effort is held for a period, over which the sine is averaged.
        mean = np.sinc(self._omega * self._period / (2.0 * np.pi))[:, None]
        scale = self._period * np.sqrt(2.0 / self._length)
        phase = np.outer(self._omega, middle)
        inside = (middle > 0.0) & (middle < self._length)
        moments = (np.sin(phase) * inside) @ self._motion.effort
        slopes = (self._omega[:, None] * np.cos(phase) * inside) @ self._motion.effort
        size = np.asarray(scale * mean, dtype=float)
        return size * moments, self._period * size * slopes

    def residuals(self, x: Array) -> tuple[Array, Array]:
        """Return the residuals of the moments (m, 7), and their derivatives by x (m, 7, u)."""
        # Left side of the equation of motion: efforts. Right side: rigid bodies and friction.
        gain, viscous = 1.0 + x[BLOCKS["gain"]], 1.0 + x[BLOCKS["viscous"]]
        moments, by_latency = self.efforts(x)
        # Sines at the states of rigid-body efforts, which stand for STATE_STRIDE states each.
        sines = STATE_STRIDE * self._weighted_sines[:, ::STATE_STRIDE]
        rate, rise = self._rate, self._weighted_sines @ self._rise
        drag = self._weighted_sines @ (self.unknowns.viscous * rate) + x[BLOCKS["instant"]] * rise
        e_squared = (self._friction_speed * np.exp(x[BLOCKS["knee"]])) ** 2
        dry = self._weighted_sines @ (rate / np.sqrt(rate**2 + e_squared))
        by_knee = self._weighted_sines @ (-e_squared * rate / (rate**2 + e_squared) ** 1.5)
        rigid = sines @ self.unknowns.efforts(x, self._states)
        needed = rigid + viscous * drag + x[BLOCKS["coulomb"]] * dry
        # Derivatives by each block of the unknowns; those by the inertial ones come first.
        slopes = np.tensordot(sines, self.unknowns.slopes(x, self._states), 1)
        joint = np.arange(N)
        slopes[:, joint, BLOCKS["viscous"].start + joint] += drag
        slopes[:, joint, BLOCKS["coulomb"].start + joint] += dry
        slopes[:, joint, BLOCKS["instant"].start + joint] += viscous * rise
        slopes[:, joint, BLOCKS["knee"].start + joint] += x[BLOCKS["coulomb"]] * by_knee
        slopes[:, joint, BLOCKS["gain"].start + joint] -= needed / gain
        slopes /= -gain[:, None]
        slopes[:, :, BLOCKS["latency"].start] += by_latency
        return moments - needed / gain, slopes


def estimate(setup: Setup, motion: Motion, prior: Prior) -> Estimate:
    """Estimate the unknowns of the arm from a motion and a prior.

    Each iteration is a Gauss-Newton step x - C (R^T W r + P (x - mean)), with the residuals r,
    their derivatives, the inverse P of the prior's covariance, and the covariance C of x. The
    weights W of the next iteration follow from the residuals that remain.
    """
    balance, x = MotionBalance(setup, motion), prior.mean.copy()
    information = np.diag(prior.deviation**-2)
    floor = UNMODELLED * setup.effort_limits / np.sqrt(2.0 * BAND)
    first = np.diag(1.0 / (FIRST_RESIDUAL * setup.effort_limits))
    weights = np.tile(first, (len(balance.frequencies), 1, 1))
    for _ in range(ITERATIONS):
        residuals, slopes = balance.residuals(x)
        rows = weights @ slopes
        flat = rows.reshape(-1, SIZE)
        covariance = np.linalg.inv(flat.T @ flat + information)
        weighted = (weights @ residuals[:, :, None]).ravel()
        change = -covariance @ (flat.T @ weighted + information @ (x - prior.mean))
        x = x + change
        # The fit has made the residuals smaller than the errors: they are scaled up again.
        unexplained = np.maximum(1.0 - ((flat @ covariance) * flat).sum(axis=1), MIN_UNEXPLAINED)
        remaining = (residuals + slopes @ change) / np.sqrt(unexplained.reshape(-1, N))
        scores = np.einsum("mij,mj,miu->mu", weights, remaining, rows)
        weights = whitening(remaining, balance.frequencies, floor)
    robust = covariance @ (long_run(scores) + information) @ covariance
    return Estimate(x, np.asarray(covariance, dtype=float), np.asarray(robust, dtype=float))


def long_run(scores: Array) -> Array:
    """Return the covariance (u, u) of the sum of correlated scores (m, u) [Newey, West 1987]."""
    spectrum = scores.T @ scores
    for lag in range(1, LAGS):
        product = scores[lag:].T @ scores[:-lag]
        spectrum += (1.0 - lag / LAGS) * (product + product.T)
    return np.asarray(spectrum)


def whitening(residuals: Array, frequencies: Array, floor: Array) -> Array:
    """Return for each sine the matrix (m, 7, 7) by which residuals become white.

    The covariance of the residuals of a sine has, for each joint, the mean square of the residuals
    of sines within SPECTRUM_WIDTH, and one correlation of the joints for all sines.

    Args:
        residuals: (m, 7) [N m].
        frequencies: of the sines (m,) [Hz].
        floor: lower bound of the standard deviations (7,) [N m].
    """
    near = np.abs(frequencies[:, None] - frequencies) <= SPECTRUM_WIDTH
    power = near @ residuals**2 / near.sum(axis=1)[:, None]
    deviation = np.hypot(np.sqrt(power), floor)
    scaled = residuals / deviation
    correlation = scaled.T @ scaled / len(residuals)
    correlation[np.diag_indices(N)] = 1.0
    inverse = np.linalg.inv(np.linalg.cholesky(correlation))
    return np.asarray(inverse[None] / deviation[:, None, :])

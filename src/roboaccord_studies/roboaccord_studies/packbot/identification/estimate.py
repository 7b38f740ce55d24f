"""Estimate of the arm's unknowns from its motion.

The balance of the efforts,

    tau(t - d) = (Y(q - z, qd, qdd) pi + b qd + c qd / sqrt(qd^2 + e^2)) / k,

holds at all times, so also for its moments against sines that vanish at both ends [Shinbrot 1957],
of which those below `BAND` are taken. No derivative of an effort and no sample of an acceleration
is needed: q is a spline through the measured angles and rates, and the delay d moves the sines. z
are encoder zeros, k gains, b and c viscous and dry friction.

Noise of the sensors, filtered by the arm, makes residuals whose spectrum is estimated from them
[Zellner 1962; Hannan 1963]. With it and the prior, x is found by Gauss and Newton.

The constants may be tuned; UNMODELLED is an assumption on friction. Intervals depend on them and
must still contain the truth (test_identification for one arm, and for a hundred
benchmarks/campaigns/identified_arms.py, whose figures are in docs/packbot_identification.md). The
unknowns and their order are in `unknowns`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from roboaccord.contract import Array
from roboaccord.scenario import Setup
from scipy.interpolate import BSpline

from roboaccord_studies.packbot.detection.noise import MIDDLE
from roboaccord_studies.packbot.identification.base_parameters import State
from roboaccord_studies.packbot.identification.unknowns import PLACES, SIZE, N, Prior, Unknowns
from roboaccord_studies.packbot.recorded import Motion

BAND = 2.0  # Hz: highest frequency of a sine
KNOTS, DEGREE = 0.1, 5  # s between the knots of the splines, and their degree
EVERY = 4  # ticks between states at which rigid bodies are balanced
ROUNDS = 8  # iterations of Gauss and Newton
LAGS = 12  # moments over which residuals may be correlated
UNMODELLED = 3e-4  # of the effort limits: by which friction wanders about its law
SPAN = 0.3  # Hz over which the spectrum is averaged
LEAST = 0.1  # least fraction of a residual's variance that the estimate is taken to leave
FIRST = 0.01  # of the effort limits: residuals to begin with
THIRD_DIFFERENCE = 20.0  # variance of a third difference over that of independent samples
LEAST_NOISE = 1e-5  # rad, rad/s


@dataclass(frozen=True)
class Estimate:
    """An estimate of the unknowns, with its covariance.

    Args:
        x: unknowns (u,).
        covariance: of them (u, u), by the spectrum of the residuals.
        robust: covariance (u, u) by the residuals themselves, which may be correlated.
    """

    x: Array
    covariance: Array
    robust: Array

    def deviation(self, slopes: Array) -> Array:
        """Return standard deviations of quantities (k,) with slopes (k, u): the larger."""
        covariances = (self.covariance, self.robust)
        squares = np.max([((slopes @ c) * slopes).sum(axis=1) for c in covariances], axis=0)
        return np.asarray(np.sqrt(squares))


def noise_of(motion: Motion) -> Array:
    """Return standard deviations of angles and rates (2, 7), by their third differences."""
    squares = [np.median(np.diff(y, 3, axis=0) ** 2, axis=0) for y in (motion.q, motion.qd)]
    return np.sqrt(np.array(squares) / (THIRD_DIFFERENCE * MIDDLE))


def smooth(motion: Motion, noise: Array) -> State:
    """Return angles, rates and accelerations (k, 7) of splines through what was measured."""
    time = motion.time
    count = max(round((time[-1] - time[0]) / KNOTS), 1)
    inner = np.linspace(time[0], time[-1], count + 1)
    knots = np.concatenate([[time[0]] * DEGREE, inner, [time[-1]] * DEGREE])
    basis = BSpline(knots, np.eye(len(knots) - DEGREE - 1), DEGREE)
    shapes = [basis.derivative(order)(time) if order else basis(time) for order in range(3)]
    grams = [shape.T @ shape for shape in shapes[:2]]
    coefficients = []
    for j, (angle, rate) in enumerate(noise.T**-2):  # weights of angles and of rates
        moments = angle * shapes[0].T @ motion.q[:, j] + rate * shapes[1].T @ motion.qd[:, j]
        coefficients.append(np.linalg.solve(angle * grams[0] + rate * grams[1], moments))
    return State(*(shape @ np.array(coefficients).T for shape in shapes))


class MotionBalance:
    """Balance of the efforts of a motion, as moments against m sines.

    Args:
        setup: robot and scenario.
        motion: as measured.

    Attributes:
        unknowns: of the arm.
        noise: standard deviations of angles and rates (2, 7).
    """

    def __init__(self, setup: Setup, motion: Motion) -> None:
        self.unknowns = Unknowns(setup)
        self.noise = np.maximum(noise_of(motion), LEAST_NOISE)
        self._motion, state = motion, smooth(motion, self.noise)
        self._rate, self._speed = state.qd, setup.parameters.friction_speed
        # What viscous friction changes in a physics step (k, 7) [N m].
        self._rise = setup.scenario.physics_step * self.unknowns.viscous * state.qdd
        self._states = list(map(State, *(values[::EVERY] for values in state)))  # of rigid bodies
        self._period = float(np.diff(motion.time).mean())
        self._length = float(motion.time[-1] - motion.time[0])
        count = int(2.0 * BAND * self._length)
        self._waves = np.pi * np.arange(1, count + 1) / self._length  # angular frequencies [rad/s]
        self._ticks = self._sines(motion.time - motion.time[0])  # at the ticks (m, k), normalised
        self._ticks *= self._period * np.sqrt(2.0 / self._length)

    def _sines(self, time: Array) -> Array:
        return np.asarray(np.sin(np.outer(self._waves, time)))

    @property
    def frequencies(self) -> Array:
        """Frequencies of the sines (m,) [Hz]."""
        return np.asarray(self._waves / (2.0 * np.pi))

    def efforts(self, x: Array) -> tuple[Array, Array]:
        """Return the moments of efforts (m, 7) after the delay, and their derivative by it."""
        time = self._motion.time - self._motion.time[0]
        delay = float(x[PLACES["latency"]][0])
        middle = time + self._period * (delay - 0.5)
        # An effort is held for a period, over which the sine is averaged.
        mean = np.sinc(self._waves * self._period / (2.0 * np.pi))[:, None]
        scale = self._period * np.sqrt(2.0 / self._length)
        phase = np.outer(self._waves, middle)
        inside = (middle > 0.0) & (middle < self._length)
        moments = (np.sin(phase) * inside) @ self._motion.effort
        slopes = (self._waves[:, None] * np.cos(phase) * inside) @ self._motion.effort
        size = np.asarray(scale * mean, dtype=float)
        return size * moments, self._period * size * slopes

    def residuals(self, x: Array) -> tuple[Array, Array]:
        """Return the moments that are missing (m, 7), and their derivatives by x (m, 7, u)."""
        gain, viscous = 1.0 + x[PLACES["gain"]], 1.0 + x[PLACES["viscous"]]
        moments, by_latency = self.efforts(x)
        sines = EVERY * self._ticks[:, ::EVERY]  # at the states of rigid bodies
        rate, rise = self._rate, self._ticks @ self._rise
        drag = self._ticks @ (self.unknowns.viscous * rate) + x[PLACES["instant"]] * rise
        square = (self._speed * np.exp(x[PLACES["knee"]])) ** 2  # e^2
        dry = self._ticks @ (rate / np.sqrt(rate**2 + square))
        by_knee = self._ticks @ (-square * rate / (rate**2 + square) ** 1.5)
        rigid = sines @ self.unknowns.efforts(x, self._states)
        needed = rigid + viscous * drag + x[PLACES["coulomb"]] * dry
        slopes = np.tensordot(sines, self.unknowns.slopes(x, self._states), 1)
        joint = np.arange(N)
        slopes[:, joint, PLACES["viscous"].start + joint] += drag
        slopes[:, joint, PLACES["coulomb"].start + joint] += dry
        slopes[:, joint, PLACES["instant"].start + joint] += viscous * rise
        slopes[:, joint, PLACES["knee"].start + joint] += x[PLACES["coulomb"]] * by_knee
        slopes[:, joint, PLACES["gain"].start + joint] -= needed / gain
        slopes /= -gain[:, None]
        slopes[:, :, PLACES["latency"].start] += by_latency
        return moments - needed / gain, slopes


def estimate(setup: Setup, motion: Motion, prior: Prior) -> Estimate:
    """Estimate the unknowns of the arm from a motion and a prior."""
    balance, x = MotionBalance(setup, motion), prior.mean.copy()
    information = np.diag(prior.deviation**-2)
    floor = UNMODELLED * setup.effort_limits / np.sqrt(2.0 * BAND)
    first = np.diag(1.0 / (FIRST * setup.effort_limits))
    weights = np.tile(first, (len(balance.frequencies), 1, 1))
    for _ in range(ROUNDS):
        missing, slopes = balance.residuals(x)
        rows = weights @ slopes
        flat = rows.reshape(-1, SIZE)
        covariance = np.linalg.inv(flat.T @ flat + information)
        weighted = (weights @ missing[:, :, None]).ravel()
        change = -covariance @ (flat.T @ weighted + information @ (x - prior.mean))
        x = x + change
        # The estimate takes some of each residual's variance with it.
        unexplained = np.maximum(1.0 - ((flat @ covariance) * flat).sum(axis=1), LEAST)
        residuals = (missing + slopes @ change) / np.sqrt(unexplained.reshape(-1, N))
        scores = np.einsum("mij,mj,miu->mu", weights, residuals, rows)
        weights = whitening(residuals, balance.frequencies, floor)
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
    """Return by moment what makes residuals white (m, 7, 7).

    Their spectrum is that of each joint near its frequency, and one correlation for all.
    """
    near = np.abs(frequencies[:, None] - frequencies) <= SPAN
    power = near @ residuals**2 / near.sum(axis=1)[:, None]
    deviation = np.hypot(np.sqrt(power), floor)
    scaled = residuals / deviation
    correlation = scaled.T @ scaled / len(residuals)
    correlation[np.diag_indices(N)] = 1.0
    inverse = np.linalg.inv(np.linalg.cholesky(correlation))
    return np.asarray(inverse[None] / deviation[:, None, :])

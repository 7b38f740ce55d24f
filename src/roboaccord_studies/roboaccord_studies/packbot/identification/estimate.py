"""Estimate of the arm's unknowns from its motion.

BAND, KNOTS and LAGS may be tuned, and UNMODELLED is an assumption on friction: intervals depend on
all of them, and must still hold the truth (test_identification, for one arm; for a hundred
benchmarks/campaigns/identified_arms.py, whose figures are in docs/packbot_identification.md). What
the unknowns are, and in which order, is in `unknowns`.

The balance of the efforts,

    tau(t - d) = (Y(q - z, qd, qdd) pi + b qd + c qd / sqrt(qd^2 + e^2)) / k,

holds at all times, so also for its moments against sines that vanish at both ends [Shinbrot 1957],
of which those below `BAND` are taken. No derivative of an effort and no sample of an
acceleration is needed: q is a spline through the measured angles and rates, and the delay d moves
the sines.
Noise of sensors, filtered by the arm, makes residuals whose spectrum is estimated from them
[Zellner 1962; Hannan 1963]; with it and the prior, x is found by Gauss and Newton.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from roboaccord.contract import Array
from roboaccord.scenario import Setup
from scipy.interpolate import BSpline

from roboaccord_studies.packbot.identification.base_parameters import State
from roboaccord_studies.packbot.identification.unknowns import PLACES, SIZE, N, Prior, Unknowns
from roboaccord_studies.packbot.recorded import Motion

BAND = 2.0  # Hz
KNOTS, DEGREE = 0.1, 5  # s between the knots of the splines
EVERY = 4  # ticks between states at which rigid bodies are balanced
ROUNDS = 8  # of Gauss and Newton
LAGS = 12  # moments over which residuals may be correlated
UNMODELLED = 3e-4  # part of the effort limits that friction wanders by beside its law
SPAN = 0.3  # Hz over which the spectrum is averaged
LEAST = 0.1  # of a residual that the estimate leaves
FIRST = 0.01  # of the effort limits: residuals to begin with


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
        both = (self.covariance, self.robust)
        squares = np.max([((slopes @ each) * slopes).sum(axis=1) for each in both], axis=0)
        return np.asarray(np.sqrt(squares))


def noise_of(motion: Motion) -> Array:
    """Return standard deviations of angles and rates (2, 7), by their third differences."""
    return np.array(
        [
            np.sqrt(np.median(np.diff(y, 3, axis=0) ** 2, axis=0) / (20.0 * 0.455))
            for y in motion[1:3]
        ]
    )


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
    for j, (angle, rate) in enumerate(noise.T**-2):
        seen = angle * shapes[0].T @ motion.q[:, j] + rate * shapes[1].T @ motion.qd[:, j]
        coefficients.append(np.linalg.solve(angle * grams[0] + rate * grams[1], seen))
    return State(*(shape @ np.array(coefficients).T for shape in shapes))


class MotionBalance:
    """Balance the efforts of a motion.

    Args:
        setup: robot and scenario.
        motion: as measured.
    """

    def __init__(self, setup: Setup, motion: Motion) -> None:
        self.unknowns = Unknowns(setup)
        self.noise = np.maximum(noise_of(motion), 1e-5)
        self._motion, state = motion, smooth(motion, self.noise)
        self._rate, self._speed = state.qd, setup.parameters.friction_speed
        self._rise = setup.scenario.physics_step * self.unknowns.viscous * state.qdd
        self._states = [State(*each) for each in zip(*(x[::EVERY] for x in state), strict=True)]
        self._period = float(np.diff(motion.time).mean())
        self._length = float(motion.time[-1] - motion.time[0])
        count = int(2.0 * BAND * self._length)
        self._waves = np.pi * np.arange(1, count + 1) / self._length  # rad/s
        self._ticks = self._sines(motion.time - motion.time[0])
        self._ticks *= self._period * np.sqrt(2.0 / self._length)

    def _sines(self, time: Array) -> Array:
        return np.asarray(np.sin(np.outer(self._waves, time)))

    @property
    def frequencies(self) -> Array:
        """[Hz]."""
        return np.asarray(self._waves / (2.0 * np.pi))

    def efforts(self, x: Array) -> tuple[Array, Array]:
        """Return the moments of efforts (m, 7) after the delay, and their slope with it."""
        time = self._motion.time - self._motion.time[0]
        delay = float(x[PLACES["latency"]][0])
        middle = time + self._period * (delay - 0.5)
        wide = np.sinc(self._waves * self._period / (2.0 * np.pi))[:, None]
        scale = self._period * np.sqrt(2.0 / self._length)
        phase = np.outer(self._waves, middle)
        inside = (middle > 0.0) & (middle < self._length)
        moments = (np.sin(phase) * inside) @ self._motion.effort
        slopes = (self._waves[:, None] * np.cos(phase) * inside) @ self._motion.effort
        size = np.asarray(scale * wide, dtype=float)
        return size * moments, self._period * size * slopes

    def residuals(self, x: Array) -> tuple[Array, Array]:
        """Return the moments that are missing (m, 7), and how they change with x (m, 7, u)."""
        gain, viscous = 1.0 + x[PLACES["gain"]], 1.0 + x[PLACES["viscous"]]
        moments, late = self.efforts(x)
        few = EVERY * self._ticks[:, ::EVERY]
        rate = self._rate
        rise = self._ticks @ self._rise
        lost = self._ticks @ (self.unknowns.viscous * rate) + x[PLACES["instant"]] * rise
        knee = (self._speed * np.exp(x[PLACES["knee"]])) ** 2
        dry = self._ticks @ (rate / np.sqrt(rate**2 + knee))
        knee = self._ticks @ (-knee * rate / (rate**2 + knee) ** 1.5)
        rigid = few @ self.unknowns.efforts(x, self._states)
        taken = rigid + viscous * lost + x[PLACES["coulomb"]] * dry
        slopes = np.tensordot(few, self.unknowns.slopes(x, self._states), 1)
        joint = np.arange(N)
        slopes[:, joint, PLACES["viscous"].start + joint] += lost
        slopes[:, joint, PLACES["coulomb"].start + joint] += dry
        slopes[:, joint, PLACES["instant"].start + joint] += viscous * rise
        slopes[:, joint, PLACES["knee"].start + joint] += x[PLACES["coulomb"]] * knee
        slopes[:, joint, PLACES["gain"].start + joint] -= taken / gain
        slopes /= -gain[:, None]
        slopes[:, :, PLACES["latency"].start] += late
        return moments - taken / gain, slopes


def estimate(setup: Setup, motion: Motion, prior: Prior) -> Estimate:
    """Estimate the unknowns of the arm from a motion, beside what is known before."""
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
        seen = (weights @ missing[:, :, None]).ravel()
        change = -covariance @ (flat.T @ seen + information @ (x - prior.mean))
        x = x + change
        unseen = np.maximum(1.0 - ((flat @ covariance) * flat).sum(axis=1), LEAST)
        left = (missing + slopes @ change) / np.sqrt(unseen.reshape(-1, N))
        scores = np.einsum("mij,mj,miu->mu", weights, left, rows)
        weights = whitening(left, balance.frequencies, floor)
    robust = covariance @ (long_run(scores) + information) @ covariance
    return Estimate(x, np.asarray(covariance, dtype=float), np.asarray(robust, dtype=float))


def long_run(scores: Array) -> Array:
    """Return the covariance (u, u) of the sum of correlated scores (m, u) [Newey, West 1987]."""
    spectrum = scores.T @ scores
    for lag in range(1, LAGS):
        both = scores[lag:].T @ scores[:-lag]
        spectrum += (1.0 - lag / LAGS) * (both + both.T)
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

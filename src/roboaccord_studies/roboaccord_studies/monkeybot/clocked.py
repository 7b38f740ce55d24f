"""Fast search of clocked gaits for maps: each gait is found from a neighbouring one.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. A clocked gait has a constant torque, and its hands
change by the clock. A gait that repeats is a fixed point of the Poincare map P, which takes the
state after one change of hands to that after the next. The maps of stability.py and design.py need
some ten thousand such gaits, each close to another one. So `find_step` starts from a neighbour and
its derivative, and improves both by Broyden's method. `follow` goes to a distant setting in steps,
which are halved if a gait is too far from where it was expected, or beyond a fold, a turning point
of the family at which two branches meet. (`orbits.find_orbit` is slower, and finds gaits of any
kind to the last digit.)

The constants may be tuned: they trade speed against how far gaits can be followed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from monkeybot.gaits.gait import evaluate, wrap
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract import AccordError, Array, Quantity

from roboaccord_studies.monkeybot.kinds import clocked
from roboaccord_studies.monkeybot.orbits import shipped_gait

TOLERANCE = 1e-10  # of the integrator, a tenth of MAX_RESIDUAL
# rad, rad/s, N m: step of the central differences, whose error is its square: 1e-8, and round-off
# TOLERANCE / DIFFERENCE_STEP = 1e-6; Broyden's method corrects both.
DIFFERENCE_STEP = 1e-4
MAX_RESIDUAL = 1e-9  # rad, rad/s, m: largest residual of a gait that repeats, as in orbits.py
# Largest number of steps of Broyden's method; beyond it the guess was too far off. 6 and 24 find
# the same 139 gaits about the shipped one (0.91 to 0.96 s, 0.6 to 0.8 N m).
SEARCH_STEPS = 12
# rad, rad/s: largest distance of a new gait from its guess; beyond it, steps are halved: 6 degrees;
# farther off it may be another gait.
MAX_LEAP = 0.1
# rad, rad/s: a search that has gone farther from its guess is given up; the step would be halved
# anyway.
MAX_DEPARTURE = 3.0 * MAX_LEAP
# Of a step along a course, before the gait counts as lost: to a sixteenth of it. 2 and 8 find the
# same 139 gaits.
HALVINGS = 4
# Derivative of x in P(x) - x; the rise has none.
STATE_IDENTITY = np.diag([1.0, 1.0, 1.0, 1.0, 0.0])


class Setting(NamedTuple):
    """The robot of a gait, and the gait's controls.

    Args:
        parameters: of the robot.
        period: from one change of hands to the next [s].
        torque: on the elbow [N m]; None for the torque with which the robot keeps its height.
    """

    parameters: MonkeyBotParameters
    period: float
    torque: float | None = None

    @property
    def unknowns(self) -> int:
        """Number of unknowns of a search: the state, and the torque if it is free."""
        return 5 if self.torque is None else 4


RADIUS = "spectral radius, at that period and torque"


@dataclass(frozen=True)
class Step:
    """One step of a gait that repeats.

    Args:
        period, torque: its controls.
        start: (th1, th2, w1, w2) right after the impact (4,) [rad, rad/s].
        slope: derivative of (th1, th2, w1, w2, rise) at the next change of hands with respect to
            (th1, th2, w1, w2, torque) at this one (5, 5).
        stride: forwards [m].
        drop: downwards [m].
        signs: of two determinants, for a torque that is given and for one that is solved for; a
            determinant changes its sign at a fold.
    """

    period: Annotated[float, Quantity("s", form=".4f")]
    torque: Annotated[float, Quantity("N m", form=".4f")]
    start: Array
    slope: Array
    stride: float
    drop: float
    signs: tuple[float, float]

    @property
    def radius(self) -> Annotated[float, Quantity("1", RADIUS, form=".4f")]:
        """Spectral radius of the Poincare map: below 1 the gait is stable."""
        return float(np.abs(np.linalg.eigvals(self.slope[:4, :4])).max())


Course = Callable[[float], Setting]  # settings from one, at 0, to another one, at 1


def shipped_step(parameters: MonkeyBotParameters) -> Step:
    """Return the shipped clocked gait.

    Raises:
        AccordError: for parameters with which no such gait is near.
    """
    orbit = shipped_gait("clocked", parameters)
    period, torque = orbit.controls["period"], orbit.controls["torque"]
    setting, z = Setting(parameters, period, torque), np.array([*orbit.start, torque])
    step = _step_with_figures(setting, z, _step_ends(setting, torque, orbit.start[None])[0])
    if step is None:
        raise AccordError("the shipped clocked gait has no derivative with these parameters")
    return step


def find_step(setting: Setting, start: Array, torque: float, slope: Array) -> Step | None:
    """Find the gait that repeats near a guess, by Broyden's method; None if there is none.

    Args:
        setting: of the gait.
        start: guess of the state after the impact (4,).
        torque: guess of the torque, if the setting leaves it open [N m].
        slope: `Step.slope` of a gait near by (5, 5); to compute it would take as long as ten steps
            of the gait.
    """
    # z (5,): the state, and the torque, which is an unknown if the setting leaves it open.
    z = np.array([*start, torque if setting.torque is None else setting.torque])
    n = setting.unknowns
    jacobian = (slope - STATE_IDENTITY)[:n, :n]
    step = np.zeros(n)
    for _ in range(SEARCH_STEPS):
        end = _step_ends(setting, z[4], z[None, :4])[0]
        # Changes of the state in a step, and the rise, which is to be 0 if the torque is open.
        residual = np.array([*wrap(end[:2] - z[:2]), *(end[2:4] - z[2:4]), end[4]])[:n]
        if not np.isfinite(residual).all():
            return None
        if np.abs(residual).max() < MAX_RESIDUAL:
            return _step_with_figures(setting, z, end)
        # Broyden's update by the residual that the last step has left.
        if step.any():
            jacobian = jacobian + np.outer(residual, step) / (step @ step)
        try:
            step = np.linalg.solve(jacobian, -residual)
        except np.linalg.LinAlgError:
            return None
        z[:n] += step
        # Far from the guess motions are wild and take long, or belong to another branch.
        if np.linalg.norm(z[:4] - start) > MAX_DEPARTURE:
            return None
    return None


def follow(step: Step, course: Course, pieces: int) -> Step | None:
    """Follow a gait along a course of settings; return None if the family ends before.

    Each new gait must be close to the extrapolation of the last two, and on the same side of a
    fold; otherwise the step to it is halved.

    Args:
        step: the gait at the beginning of the course.
        course: settings from 0, that of `step`, to 1.
        pieces: number of steps, if none is halved.
    """
    position, length = 0.0, 1.0 / pieces
    previous: tuple[float, Step] | None = None  # position and gait before `step`
    while position < 1.0 - 1e-9:
        next_position = min(1.0, position + length)
        guess, torque = step.start, step.torque
        if previous is not None:
            previous_position, previous_step = previous
            ratio = (next_position - position) / (position - previous_position)
            guess = guess + ratio * (guess - previous_step.start)
            torque += ratio * (torque - previous_step.torque)
        setting = course(next_position)
        next_step = find_step(setting, guess, torque, step.slope)
        if next_step is None or not _continues(step, next_step, guess, setting):
            length *= 0.5
            if length * pieces < 0.5**HALVINGS:
                return None
            continue
        previous = (position, step)
        step, position = next_step, next_position
    return step


def follow_to(
    step: Step, end: Setting, longest: tuple[float, float] = (math.inf, math.inf)
) -> Step | None:
    """Follow a gait to another setting, in pieces no longer than `longest` [s, N m]."""
    period_change = end.period - step.period
    torque_change = 0.0 if end.torque is None else end.torque - step.torque

    def course(share: float) -> Setting:
        """Return the setting at a share, 0 to 1, of the way to the other one."""
        torque = None if end.torque is None else step.torque + share * torque_change
        return Setting(end.parameters, step.period + share * period_change, torque)

    return follow(step, course, pieces_of((period_change, longest[0]), (torque_change, longest[1])))


def pieces_of(*changes: tuple[float, float]) -> int:
    """Return the smallest number of steps for pairs of a change and the longest step of it."""
    return max(1, *(math.ceil(abs(change) / longest - 1e-9) for change, longest in changes))


def _continues(step: Step, next_step: Step, guess: Array, setting: Setting) -> bool:
    """Return whether a gait is near its guess (4,), and on the same side of a fold as the last."""
    unknown_torque = setting.unknowns - 4  # 0 or 1: index in `Step.signs`
    is_near = np.linalg.norm(next_step.start - guess) <= MAX_LEAP
    return bool(is_near) and next_step.signs[unknown_torque] == step.signs[unknown_torque]


def _step_with_figures(setting: Setting, z: Array, end: Array) -> Step | None:
    """Return a gait with its figures, from unknowns z and its end; None without a derivative.

    A gait has no derivative if a neighbouring start misses an event.
    """
    slope = _slope(setting, z)
    if not np.isfinite(slope).all():
        return None
    jacobian = slope - STATE_IDENTITY
    of_given_torque = float(np.sign(np.linalg.det(jacobian[:4, :4])))
    of_solved_torque = float(np.sign(np.linalg.det(jacobian)))
    rise, stride = end[4:].tolist()
    drop, signs = -rise, (of_given_torque, of_solved_torque)
    return Step(setting.period, float(z[4]), z[:4].copy(), slope, stride, drop, signs)


def _slope(setting: Setting, z: Array) -> Array:
    """Return the derivative of (th1, th2, w1, w2, rise) after a step with respect to z (5, 5)."""
    shifts = DIFFERENCE_STEP * np.eye(4)
    by_state = _step_ends(setting, z[4], np.concatenate([z[:4] + shifts, z[:4] - shifts]))
    stronger = _step_ends(setting, z[4] + DIFFERENCE_STEP, z[None, :4])[0]
    weaker = _step_ends(setting, z[4] - DIFFERENCE_STEP, z[None, :4])[0]
    change = np.column_stack([(by_state[:4] - by_state[4:]).T, stronger - weaker])[:5]
    change[:2] = wrap(change[:2])
    return change / (2.0 * DIFFERENCE_STEP)


def _step_ends(setting: Setting, torque: float, starts: Array) -> Array:
    """Return (th1, th2, w1, w2, rise, stride) after a step from each start (k, 6)."""
    gait = clocked(setting.period, float(torque))
    steps = evaluate(gait, setting.parameters, starts, tolerance=TOLERANCE)
    return np.column_stack([steps.final, steps.travel[:, ::-1]])  # travel is (stride, rise)

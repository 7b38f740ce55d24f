"""Continuation of clocked gaits over grids: fixed points of the Poincare map.

Maps need gaits of one kind, constant torque and hands that change by the clock: some ten thousand
of them, each close to the one before. `find_step` therefore starts from a neighbour and its
derivative, by Broyden's method, and `follow` goes to a new setting in steps that are halved where
a gait strays or a fold is crossed. (`orbits.find_orbit` finds a gait of any kind to the last
digit.)

The constants below trade speed for reach, and may be tuned as long as the gaits of a map stay those
of the fine search in orbits.py and none is followed round a fold (test_stability_maps). `Setting`
and `Step` are what `stability`, `level` and `design` build on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from monkeybot.gaits.gait import evaluate, wrap
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract import AccordError, Array, Quantity

from roboaccord_studies.monkeybot.kinds import clocked
from roboaccord_studies.monkeybot.orbits import shipped_gait

TOLERANCE = 1e-10  # of the integrator
SMALL = 1e-4  # rad, rad/s, N m: of the differences, whose error is of its square
CLOSED = 1e-9  # rad, rad/s, m: what an orbit may be off
SEARCH_STEPS = 12  # of Broyden's method at most
LEAP = 0.1  # rad, rad/s: a step to an orbit further off is made of smaller ones
ASTRAY = 3.0 * LEAP  # rad, rad/s: a search that has gone further from its guess is given up
HALVINGS = 4  # of a step along a course, before the gait counts as lost
IDENTITY = np.diag([1.0, 1.0, 1.0, 1.0, 0.0])  # what P(x) - x has beside the derivative of P


@dataclass(frozen=True)
class Setting:
    """Specify whose gait it is, and its controls.

    Args:
        parameters: of the robot.
        period: from one change of hands to the next [s].
        torque: on the elbow [N m]; None for the one that keeps the height.
    """

    parameters: MonkeyBotParameters
    period: float
    torque: float | None = None

    @property
    def unknowns(self) -> int:
        """Number of unknowns of a search: the state, and the torque if it is free."""
        return 5 if self.torque is None else 4


@dataclass(frozen=True)
class Step:
    """One step of a gait that repeats.

    Args:
        period, torque: its controls.
        start: (th1, th2, w1, w2) right after the impact (4,) [rad, rad/s].
        slope: derivative of (th1, th2, w1, w2, rise) at the next change by (th1, th2, w1, w2,
            torque) (5, 5).
        stride: forwards [m].
        drop: downwards [m].
        sides: signs of the determinants that vanish where a sheet of such gaits folds back: for a
            torque that is given, and for one that is open.
    """

    period: Annotated[float, Quantity("s", form=".4f")]
    torque: Annotated[float, Quantity("N m", form=".4f")]
    start: Array
    slope: Array
    stride: float
    drop: float
    sides: tuple[float, float]

    @property
    def radius(
        self,
    ) -> Annotated[float, Quantity("1", "spectral radius, at that period and torque", form=".4f")]:
        """Spectral radius of the Poincare map: below 1 the gait is stable."""
        return float(np.abs(np.linalg.eigvals(self.slope[:4, :4])).max())


Course = Callable[[float], Setting]


def shipped_step(parameters: MonkeyBotParameters) -> Step:
    """Return the shipped clocked gait.

    Raises:
        AccordError: for parameters with which there is none near by.
    """
    orbit = shipped_gait("clocked", parameters)
    period, torque = orbit.controls["period"], orbit.controls["torque"]
    setting, z = Setting(parameters, period, torque), np.array([*orbit.start, torque])
    step = _described(setting, z, _steps(setting, torque, orbit.start[None])[0])
    if step is None:
        raise AccordError("the shipped clocked gait has no derivative with these parameters")
    return step


def find_step(setting: Setting, start: Array, torque: float, slope: Array) -> Step | None:
    """Find the gait that repeats next to a guess by Broyden's method; None if there is none.

    Args:
        setting: of the gait.
        start: guess of the state after the impact (4,).
        torque: guess of the torque, where the setting leaves it open [N m].
        slope: of a gait near by (5, 5): a derivative takes as long as ten steps.
    """
    z = np.array([*start, torque if setting.torque is None else setting.torque])
    n = setting.unknowns
    jacobian = (slope - IDENTITY)[:n, :n]
    step = np.zeros(n)
    for _ in range(SEARCH_STEPS):
        end = _steps(setting, z[4], z[None, :4])[0]
        residual = np.array([*wrap(end[:2] - z[:2]), *(end[2:4] - z[2:4]), end[4]])[:n]
        if not np.isfinite(residual).all():
            return None
        if np.abs(residual).max() < CLOSED:
            return _described(setting, z, end)
        if step.any():
            jacobian = jacobian + np.outer(residual, step) / (step @ step)
        try:
            step = np.linalg.solve(jacobian, -residual)
        except np.linalg.LinAlgError:
            return None
        z[:n] += step
        # A search that strays ends in wild motions, which take long, and at best on another sheet.
        if np.linalg.norm(z[:4] - start) > ASTRAY:
            return None
    return None


def follow(step: Step, course: Course, pieces: int) -> Step | None:
    """Follow a gait along a course of settings; None where it ends before.

    Each new gait must be close to where the last two point, and on the same side of a fold, or
    the step to it is halved.

    Args:
        step: where the course begins.
        course: from 0, the setting of `step`, to 1.
        pieces: in which it is done, if all goes well.
    """
    at, before, length = 0.0, None, 1.0 / pieces
    while at < 1.0 - 1e-9:
        to = min(1.0, at + length)
        guess, torque = step.start, step.torque
        if before is not None:
            ahead = (to - at) / (at - before[0])
            guess = guess + ahead * (guess - before[1].start)
            torque += ahead * (torque - before[1].torque)
        setting = course(to)
        next_step = find_step(setting, guess, torque, step.slope)
        near = next_step and np.linalg.norm(next_step.start - guess) <= LEAP
        if next_step is None or not near or not _same(next_step, step, setting):
            length *= 0.5
            if length * pieces < 0.5**HALVINGS:
                return None
            continue
        before, step, at = (at, step), next_step, to
    return step


def follow_to(
    step: Step, end: Setting, longest: tuple[float, float] = (math.inf, math.inf)
) -> Step | None:
    """Follow a gait to another setting, in pieces no longer than `longest` [s, N m]."""
    longer = end.period - step.period
    stronger = 0.0 if end.torque is None else end.torque - step.torque

    def course(share: float) -> Setting:
        torque = None if end.torque is None else step.torque + share * stronger
        return Setting(end.parameters, step.period + share * longer, torque)

    return follow(step, course, pieces_of((longer, longest[0]), (stronger, longest[1])))


def pieces_of(*changes: tuple[float, float]) -> int:
    """Return in how many pieces to go, from changes and the longest that is done at once."""
    return max(1, *(math.ceil(abs(change) / longest - 1e-9) for change, longest in changes))


def _same(one: Step, other: Step, setting: Setting) -> bool:
    """Return whether two gaits are on the same side of a fold."""
    return one.sides[setting.unknowns - 4] == other.sides[setting.unknowns - 4]


def _described(setting: Setting, z: Array, end: Array) -> Step | None:
    """Return a gait that repeats with its figures; None beside one that has no derivative."""
    slope = _slope(setting, z)
    if not np.isfinite(slope).all():
        return None
    given, open_ = (float(np.sign(np.linalg.det((slope - IDENTITY)[:n, :n]))) for n in (4, 5))
    return Step(
        setting.period, float(z[4]), z[:4].copy(), slope, float(end[5]), -float(end[4]),
        (given, open_),
    )  # fmt: skip


def _slope(setting: Setting, z: Array) -> Array:
    """Return the derivative of (th1, th2, w1, w2, rise) after a step by z, by differences."""
    sides = SMALL * np.eye(4)
    by_state = _steps(setting, z[4], np.concatenate([z[:4] + sides, z[:4] - sides]))
    stronger, weaker = (_steps(setting, z[4] + side, z[None, :4])[0] for side in (SMALL, -SMALL))
    change = np.column_stack([(by_state[:4] - by_state[4:]).T, stronger - weaker])[:5]
    change[:2] = wrap(change[:2])
    return change / (2.0 * SMALL)


def _steps(setting: Setting, torque: float, starts: Array) -> Array:
    """Return (th1, th2, w1, w2, rise, stride) after a step from each start (k, 6)."""
    gait = clocked(setting.period, float(torque))
    steps = evaluate(gait, setting.parameters, starts, tolerance=TOLERANCE)
    return np.column_stack([steps.final, steps.travel[:, ::-1]])

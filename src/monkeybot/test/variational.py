"""Monodromy matrix of a gait by variational equations and saltation matrices.

Along a phase the derivative of the state by the start, W, goes with the motion: W' = (df/dX) W. A
phase that an event g ends takes longer by dt = -dg / g', so it adds f dt; what the magnets do then
multiplies by the derivative of flip and impact. `return_map` takes differences of motions instead,
by other equations and another integrator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from linearised import (
    ANGLES,
    FROM_LINKS,
    HAND,
    MOVED,
    SIZE,
    TO_LINKS,
    Links,
    energy,
    flip,
    impact,
    links,
    motion,
)
from monkeybot.gaits.gait import Gait
from monkeybot.model.events import ENERGY, LEVEL, NO_EVENT, StateEvent, direction
from monkeybot.model.hybrid import Phase, Then
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array

TOLERANCE = 1e-13  # of each step, relative and absolute
GRAZING = 1e-9  # rate of an event over the size of its gradient times the motion's

Watch = Callable[[Array], tuple[float, Array, Array]]


@dataclass(frozen=True)
class Passage:
    """Hold one cycle of a gait with its derivative.

    Args:
        final: (th1, th2, w1, w2) at the end, seen from the hand that is held then (4,).
        slope: derivative of `final` by the start (4, 4).
        times: duration of each phase; 0 for those that a stop leaves out (n,) [s].
        travel: of the held hand from start to end, to the right and up (2,) [m].
    """

    final: Array
    slope: Array
    times: Array
    travel: Array


def variational_slope(gait: Gait, parameters: MonkeyBotParameters, start: Array) -> Array:
    """Return the monodromy matrix of a gait (4, 4), by variational equations.

    Args:
        gait: any.
        parameters: of the robot.
        start: (th1, th2, w1, w2) (4,).

    Raises:
        AccordError: where the gait misses an event, or only grazes one.
    """
    return passage(gait, parameters, start).slope


def passage(gait: Gait, parameters: MonkeyBotParameters, start: Array) -> Passage:
    """Run a gait once from a start, with its derivative; for arguments see `variational_slope`."""
    run = _Run(parameters, np.asarray(start, dtype=float))
    times = np.zeros(len(gait.phases))
    for i, phase in enumerate(gait.phases):
        times[i], stopped = run.phase(phase, gait.stop)
        if stopped:
            break
        run.then(phase.then)
    return Passage(FROM_LINKS @ run.X[MOVED], FROM_LINKS @ run.W[MOVED], times, run.X[HAND])


class _Run:
    """A motion in progress: state X (8,), derivative W by the start (8, 4)."""

    def __init__(self, parameters: MonkeyBotParameters, start: Array) -> None:
        self._views = links(parameters, 0), links(parameters, 1)
        self._hand, self._flight = 0, False
        self.X, self.W = np.zeros(SIZE), np.zeros((SIZE, 4))
        self.X[MOVED], self.W[MOVED] = TO_LINKS @ start, TO_LINKS
        value, slope = energy(self._view, self.X)
        self._base = value, slope @ self.W

    @property
    def _view(self) -> Links:
        return self._views[self._hand]

    def then(self, then: Then) -> None:
        """Do with the magnets what ends a phase."""
        if then is Then.RELEASE:
            self._flight = True
        elif then is not Then.NOTHING:
            if then is not Then.GRIP:
                self._turn(*flip(self._view, self.X))
                self._hand = 1 - self._hand
            self._turn(*impact(self._view, self.X))
            self._flight = False

    def phase(self, phase: Phase, stop: StateEvent) -> tuple[float, bool]:
        """Move on to the end of a phase; return its duration [s] and whether it was the stop."""
        until = self._watch(phase.until)
        if phase.until.row[0] == ENERGY and until(self.X)[0] >= 0.0:
            return 0.0, False  # an impact that took no energy
        watched = {phase.until: until}
        if phase.may_stop:
            watched[stop] = self._watch(stop)
        watched.pop(NO_EVENT, None)
        time, event = self._advance(phase, watched)
        if event is not None:
            time += self._meet(watched[event], phase.torque)
        elif phase.until is not NO_EVENT:
            raise AccordError(f"the gait misses the event {phase.until.name}")
        return time, event is not None and event is not phase.until

    def _turn(self, new: Array, slope: Array) -> None:
        self.X, self.W = new, slope @ self.W

    def _watch(self, event: StateEvent) -> Watch:
        """Return what gives an event's value, gradient (8,) and its derivative by the start."""
        kind, *factors, offset = event.row
        view, fixed = self._view, np.zeros(4)

        def watch(X: Array) -> tuple[float, Array, Array]:
            a, b = X[ANGLES]
            slope = np.zeros(SIZE)
            if kind == ENERGY:
                value, slope = energy(view, X)
                return value - self._base[0] - offset, slope, self._base[1]
            if kind == LEVEL:
                l1, l2, c = view.l1, view.l2, math.cos(a - b)
                square = l1 * l1 + l2 * l2 + 2.0 * l1 * l2 * c
                slope[ANGLES] = l1 * (l1 + l2 * c) / square, l2 * (l2 + l1 * c) / square
                return direction(l1, l2, a, b - a) - 0.5 * math.pi - offset, slope, fixed
            slope[MOVED] = np.array(factors) @ FROM_LINKS
            return float(slope @ X) - offset, slope, fixed

        return watch

    def _advance(
        self, phase: Phase, watched: dict[StateEvent, Watch]
    ) -> tuple[float, StateEvent | None]:
        """Integrate X and W until an event of those watched, or the end of the duration."""
        if phase.duration <= 0.0:
            return 0.0, None
        solver = self._solver(phase.torque, phase.duration)
        values = {event: watch(self.X)[0] for event, watch in watched.items()}
        while solver.status == "running":
            solver.step()
            if solver.status == "failed":
                raise AccordError(f"the motion of the gait fails {solver.t:g} s into a phase")
            crossed = {}
            for event, watch in watched.items():
                before, values[event] = values[event], watch(solver.y[:SIZE])[0]
                if before < 0.0 <= values[event]:
                    crossed[_crossing(solver, watch)] = event
            if crossed:
                time = min(crossed)
                solver = self._solver(phase.torque, time)
                while solver.status == "running":
                    solver.step()
                self._take(solver)
                return time, crossed[time]
        self._take(solver)
        return phase.duration, None

    def _solver(self, torque: float, duration: float) -> scipy.integrate.DOP853:
        """Return what integrates X and W from where they are."""
        view, flight = self._view, self._flight

        def rate(_: float, y: Array) -> Array:
            rate, slope = motion(view, y[:SIZE], torque, flight=flight)
            return np.concatenate([rate, (slope @ y[SIZE:].reshape(SIZE, 4)).ravel()])

        y = np.concatenate([self.X, self.W.ravel()])
        return scipy.integrate.DOP853(rate, 0.0, y, duration, rtol=TOLERANCE, atol=TOLERANCE)

    def _take(self, solver: scipy.integrate.DOP853) -> None:
        self.X, self.W = solver.y[:SIZE].copy(), solver.y[SIZE:].reshape(SIZE, 4).copy()

    def _meet(self, watch: Watch, torque: float) -> float:
        """Shift X onto an event near by, and W with it; return the time of the shift [s]."""
        rate, _ = motion(self._view, self.X, torque, flight=self._flight)
        value, gradient, base = watch(self.X)
        speed = float(gradient @ rate)
        if speed <= GRAZING * float(np.abs(gradient) @ np.abs(rate)):
            raise AccordError("the gait only grazes an event: its return map has no derivative")
        self.X = self.X - rate * value / speed
        self.W = self.W - np.outer(rate, (gradient @ self.W - base) / speed)
        return -value / speed


def _crossing(solver: scipy.integrate.DOP853, watch: Watch) -> float:
    """Return the time at which an event's value rises through 0 in the last step [s]."""
    place = solver.dense_output()
    low, high = solver.t_old, solver.t
    ends = [watch(place(time)[:SIZE])[0] for time in (low, high)]
    if ends[0] >= 0.0 or ends[1] <= 0.0:  # by round-off at an end
        return float(low if ends[0] >= 0.0 else high)
    return float(
        scipy.optimize.brentq(lambda time: watch(place(time)[:SIZE])[0], low, high, xtol=1e-15)
    )

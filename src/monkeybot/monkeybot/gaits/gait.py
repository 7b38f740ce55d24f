"""Gaits, the steps of the robot from hand to hand, and their evaluation from many starts.

A gait is a list of phases (model/hybrid.py), pieces of motion that end at an event, where a magnet
may switch and the motor's torque change. So the phases are also the gait's controller. An event may
stop the gait early, and an error measures how far its end is from its start; a gait with error 0
repeats. `evaluate` simulates a gait from many starts, eight at once if the equations allow it
(`has_series`). Searches, landscapes (errors over a grid of starts) and return maps take any gait.

The kernels have a state as eight numbers in the frame of a hand, th1, th2, w1, w2 (angles and rates
of both links) and x, y, vx, vy (position and velocity of that hand): see model/dynamics.py.

A gait of your own is a function like `horizontal` that returns a Gait (docs/monkeybot.md makes
one). `distance` is the report's error and `horizontal` its gait (4.1, 4.2); both stay.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from roboaccord.contract import AccordError, Array, Quantity
from roboaccord.numerics import COMPILES

from monkeybot.model.events import LEVEL, NO_EVENT, VERTICAL, StateEvent, energy_restored, level
from monkeybot.model.hybrid import LIMIT, TOLERANCE, Phase, Then, run_many
from monkeybot.model.parameters import MonkeyBotParameters

# Smallest number of starts that are run eight at once. That takes a sixth of the time from eight
# starts on (measured), but needs numba, whose import takes 0.4 s; searches, with up to 16 starts at
# a time, do without.
ENSEMBLE = 64
# A function of starts and ends (k, 4) that returns errors (k,).
Errors = Callable[[Array, Array], Array]


def wrap(angle: Array) -> Array:
    """Return angles plus multiples of 2 pi that bring them into [-pi, pi) [rad]."""
    return np.asarray((angle + np.pi) % (2.0 * np.pi) - np.pi)


def distance(starts: Array, finals: Array) -> Array:
    """Return the report's error: th2^2 + (w1 - w1')^2 + (w2 - w2')^2, at th1 = 0 (k,).

    Args:
        starts, finals: (th1, th2, w1, w2) before and after (k, 4).
    """
    angle = wrap(finals[:, 1] - starts[:, 1])
    change = finals[:, 2:] - starts[:, 2:]
    return np.asarray(angle**2 + (change**2).sum(axis=1))


@dataclass(frozen=True)
class Gait:
    """One gait, from hand A to hand B.

    Args:
        name: for pictures.
        phases: played one after the other.
        stop: event that ends the gait early in the phases that allow it.
        error: function of starts and ends, rows of th1, th2, w1, w2 (k, 4), each in the frame of
            the hand that holds then.
    """

    name: str
    phases: tuple[Phase, ...]
    stop: StateEvent = NO_EVENT
    error: Errors = distance


@dataclass(frozen=True)
class Figures:
    """Figures of one start of a gait."""

    error: Annotated[float, Quantity("rad^2, rad^2/s^2", "what does not repeat", form=".8g")]
    switch_time: Annotated[float, Quantity("s", form=".8f")]
    motor_time: Annotated[float, Quantity("s", form=".8f")]


@dataclass(frozen=True)
class Evaluation:
    """Results of k starts of a gait; NaN for those that missed an event.

    Args:
        error: (k,).
        times: duration of every phase (k, n) [s].
        final: (th1, th2, w1, w2) at the end, in the frame of the hand that holds then (k, 4).
        travel: from the hand that holds at the start to the one that holds at the end, to the
            right and up (k, 2) [m].
        switch_time: until the magnets first change [s] (k,).
        motor_time: with torque on the elbow [s] (k,).
    """

    error: Array
    times: Array
    final: Array
    travel: Array
    switch_time: Array
    motor_time: Array

    @property
    def figures(self) -> Figures:
        """The figures of the first start."""
        return Figures(float(self.error[0]), float(self.switch_time[0]), float(self.motor_time[0]))


def evaluate(
    gait: Gait, parameters: MonkeyBotParameters, starts: Array, *, tolerance: float = TOLERANCE
) -> Evaluation:
    """Simulate a gait from many starts on hand A.

    Args:
        gait: any.
        parameters: of the robot.
        starts: rates (w1, w2) at th1 = th2 = 0 (k, 2), or (th1, th2, w1, w2) (k, 4).
        tolerance: of each step of the integrator.
    """
    full = full_starts(starts)
    k, n = len(full), len(gait.phases)
    phases = np.array([phase.row for phase in gait.phases])
    times, finals, counts = np.empty((k, n)), np.empty((k, 8)), np.empty(k, dtype=np.int64)
    if k >= ENSEMBLE and has_series(gait, parameters):
        from monkeybot.model.ensemble import run_ensemble  # imports numba

        rows, stop, hands = parameters.rows, gait.stop.row, np.zeros(k, dtype=np.int64)
        run_ensemble(rows, full, hands, phases[None], stop, tolerance, times, finals, counts)
    else:
        run_many(parameters.rows, full, phases, gait.stop.row, tolerance, times, finals, counts)
    # Numbers of the phases at whose end the magnets switch, and of those with a torque.
    changing = [i for i, phase in enumerate(gait.phases) if phase.then is not Then.NOTHING]
    driven = [i for i, phase in enumerate(gait.phases) if phase.torque]
    motor_time = times[:, driven].sum(axis=1)
    switch_time = np.full(k, np.nan)
    if changing:
        switch_time = times[:, : changing[0] + 1].sum(axis=1)
    final = finals[:, :4]  # th1, th2, w1, w2
    travel = finals[:, 4:6] - full[:, 4:6]  # x, y
    error = gait.error(full[:, :4], final)
    return Evaluation(error, times, final, travel, switch_time, motor_time)


def has_series(gait: Gait, parameters: MonkeyBotParameters) -> bool:
    """Return whether model/ensemble.py can simulate a gait.

    That needs numba, no friction, no flight, and events that are linear in the angles: the event
    `level` is linear only for links of equal length.
    """
    events = [gait.stop, *(phase.until for phase in gait.phases)]
    no_flight = all(phase.then in (Then.NOTHING, Then.CHANGE) for phase in gait.phases)
    equal_lengths = parameters.length_a == parameters.length_b
    linear = equal_lengths or all(event.row[0] != LEVEL for event in events)
    return COMPILES and parameters.frictionless and no_flight and linear


def full_starts(starts: Array) -> Array:
    """Return starts as states of the kernels (k, 8).

    Args:
        starts: rates (w1, w2) or (th1, th2, w1, w2), as rows (k, 2), (k, 4), or a single row.
    """
    rows = np.atleast_2d(np.asarray(starts, dtype=float))
    full = np.zeros((len(rows), 8))
    first = 2 if rows.shape[1] == 2 else 0  # rates alone begin with w1, at index 2
    full[:, first:4] = rows
    return full


def horizontal(torque: float, *, limit: float = LIMIT) -> Gait:
    """Return the report's gait (4.1, 4.2).

    Swing up until the free hand is level with the held one, and change hands. Apply a torque until
    the energy is back at that of the start; coast until the held link hangs straight down. If the
    link hangs straight down before the energy is restored, the gait ends there.

    Args:
        torque: of the motor, in the frame of the held hand [N m].
        limit: longest time of a phase [s].

    Raises:
        AccordError: for no torque.
    """
    if torque == 0 or not math.isfinite(torque):
        effect = "cannot restore the energy that the impact takes"
        raise AccordError(f"torque is {torque:g} N m, and {effect}")
    swing = Phase(level(), then=Then.CHANGE, duration=limit)
    push = Phase(energy_restored(), torque, may_stop=True, duration=limit)
    coast = Phase(VERTICAL, duration=limit)
    return Gait(f"horizontal, {torque:g} N m", (swing, push, coast), stop=VERTICAL)


def timed(gait: Gait, times: Array, *, clock: str = "reset") -> Gait:
    """Return a gait whose phases end at given times instead of events.

    Args:
        gait: the gait with events.
        times: duration of each phase (n,) [s].
        clock: `reset`: the last phase keeps its event, at which the clock starts again; `pure`: all
            phases are timed.
    """
    phases = [
        replace(phase, until=NO_EVENT, duration=float(time), may_stop=False)
        for phase, time in zip(gait.phases, times, strict=True)
    ]
    if clock == "reset":
        phases[-1] = gait.phases[-1]
    return Gait(f"{gait.name}, {clock} clock", tuple(phases), error=gait.error)

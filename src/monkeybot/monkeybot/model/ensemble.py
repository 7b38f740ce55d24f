"""Ensembles of gaits, eight side by side in the lanes of vectors, by Taylor series.

Each lane runs one motion, phase by phase. In a round all eight lanes take a step together
(`series.take_step`), each as long as its tolerance and its phase allow. Then every lane is judged
alone: its phase goes on; or an event, the stop or the end of its time has ended the phase, and the
next one begins; or the motion has missed its event. A lane whose motion has ended takes the next
start, until there are none. Friction, flight and events of level with links of two lengths are left
to `hybrid.run_many`.

An event enters by its factors in `_set_event`; an effect that the equations lack (series.py), such
as friction, must be excluded in `has_series` (gaits/gait.py). test_ensemble compares every motion
with `hybrid.run_many` to 1e-8.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.numerics import kernel

from monkeybot.model import hybrid, series
from monkeybot.model.crossings import rise
from monkeybot.model.dynamics import energies, impact
from monkeybot.model.events import ENERGY, LEVEL, LINEAR
from monkeybot.model.hybrid import change_frame, event_of
from monkeybot.model.integrator import EVENT, MAX_STEPS, SHORTEST_STEP, STOP, TIME
from monkeybot.model.series import take_step
from monkeybot.model.simd import WIDTH

ONGOING = 3  # beside TIME, EVENT and STOP of `integrator`: the phase goes on after the step
# What a lane does: nothing; a motion whose phase is still to begin; a motion amid a phase.
IDLE, BEGINS, RUNS = 0, 1, 2
# Rows of `lanes` (LANE_ROWS, 8): what each lane does; which start its motion came from; the hand
# that holds, 0 or 1; which phase it is in; the steps that the motion has taken.
DOES, START, HAND, PHASE, STEPS = range(5)
LANE_ROWS = 5


@kernel
def _rows(count):
    """Return rows of lanes, on a boundary of 64 bytes, at which vectors are loaded fastest."""
    space = np.zeros(count * WIDTH + 7)
    first = (-(space.ctypes.data // 8)) % 8
    return space[first : first + count * WIDTH].reshape(count, WIDTH)


@kernel
def _set_event(m, first, lane, event, surplus, torque, th2):
    """Fill a lane's factors of an event in m from row `first` on: of a, b, p and q, and a constant.

    `surplus` is the energy at the start of the phase above that of the motion's [J], and `th2` the
    elbow's angle there. An event of energy follows from the work of the motor, torque on th2, for
    without friction nothing else does any.
    """
    of_th1 = of_th2 = of_w1 = of_w2 = 0.0
    constant = -1.0
    kind, th1_factor, th2_factor, w1_factor, w2_factor, above = event
    if kind == LINEAR:
        of_th1, of_th2, of_w1, of_w2 = th1_factor, th2_factor, w1_factor, w2_factor
        constant = -above
    elif kind == LEVEL:
        of_th1, of_th2, constant = 1.0, 0.5, -0.5 * math.pi - above
    elif kind == ENERGY:
        of_th2, constant = torque, surplus - torque * th2 - above
    m[first, lane], m[first + 1, lane] = of_th1 - of_th2, of_th2
    m[first + 2, lane], m[first + 3, lane] = of_w1 - of_w2, of_w2
    m[first + 4, lane] = constant


@kernel
def _begin_phase(p, u, phase, stop, start_energy, lane, x, m):
    """Set the constants, the events and the state of a lane for a phase that begins.

    Args:
        p: parameters, those of the link with the held hand first.
        u: state at the start of the phase (8,).
        phase: (11,).
        stop: event that ends the motion in the phases that allow it.
        start_energy: at the start of the motion, to which events of energy refer [J].
        lane, x, m: which lane, and the arrays of `series`.
    """
    first_moment = p.m1 * p.r1 + p.m2 * p.l1
    m[series.MA, lane] = p.i1 + p.m1 * p.r1 * p.r1 + p.m2 * p.l1 * p.l1
    m[series.MB, lane] = p.i2 + p.m2 * p.r2 * p.r2
    m[series.MC, lane] = p.m2 * p.l1 * p.r2
    m[series.G1, lane], m[series.G2, lane] = p.gravity * first_moment, p.gravity * p.m2 * p.r2
    m[series.PUSH, lane], m[series.REMAINING, lane] = phase[hybrid.TORQUE], phase[hybrid.DURATION]
    kinetic, potential = energies(p, u)
    surplus = kinetic + potential - start_energy
    halt = stop if phase[hybrid.MAY_STOP] != 0.0 else hybrid.NEVER_ROW
    _set_event(m, series.WATCH, lane, event_of(phase), surplus, phase[hybrid.TORQUE], u[1])
    _set_event(m, series.HALT, lane, halt, surplus, phase[hybrid.TORQUE], u[1])
    x[series.A, lane], x[series.B, lane] = u[0], u[0] + u[1]
    x[series.P, lane], x[series.Q, lane] = u[2], u[2] + u[3]


@kernel
def _state_at(x, lane, t, u):
    """Fill the angles and rates of u with a lane's state at a time in its step."""
    a = b = p = q = 0.0
    for k in range(series.ORDER, -1, -1):
        a, b = a * t + x[series.A + k, lane], b * t + x[series.B + k, lane]
        p, q = p * t + x[series.P + k, lane], q * t + x[series.Q + k, lane]
    u[0], u[1], u[2], u[3] = a, b - a, p, q - p


@kernel
def run_ensemble(both, starts, hands, phases, stop, tolerance, times, finals, counts):
    """Run phases from many starts, as `hybrid.run` does from one.

    Takes neither friction nor flight, and events of level for links of one length alone.

    Args:
        both, stop, tolerance: as in `run`.
        starts: states (k, 8) in the frame of the hand that holds.
        hands: which that is, 0 or 1 (k,); filled with the one at the end.
        phases: of each start (k, n, 11), or of all (1, n, 11).
        times: filled with the duration of every phase (k, n) [s].
        finals: filled with the states at the end (k, 8); NaN for a motion that missed an event.
        counts: filled with what `run` returns (k,).
    """
    x, m, e = _rows(series.SERIES * series.COUNT), _rows(series.CONSTANTS), _rows(series.STEP_ROWS)
    m[series.MA], m[series.MB] = 1.0, 1.0  # idle lanes take steps, too: with a mass matrix
    lanes, states = np.zeros((LANE_ROWS, WIDTH), np.int64), np.empty((WIDTH, 8))
    start_energy, elapsed = np.zeros(WIDTH), np.zeros(WIDTH)  # J; s since the phase began
    flipped, coefficients = np.empty(8), np.empty(series.COUNT)
    n, following = phases.shape[1], 0
    phases_differ = 1 if len(phases) > 1 else 0
    while True:
        running = False
        for lane in range(WIDTH):
            if lanes[DOES, lane] == IDLE and following < len(starts):
                lanes[START, lane], lanes[HAND, lane] = following, hands[following]
                lanes[DOES, lane], lanes[PHASE, lane], lanes[STEPS, lane] = BEGINS, 0, 0
                states[lane], times[following] = starts[following], 0.0
                kinetic, potential = energies(both[lanes[HAND, lane]], states[lane])
                start_energy[lane] = kinetic + potential
                following += 1
            if lanes[DOES, lane] == BEGINS:
                _begin_phase(
                    both[lanes[HAND, lane]], states[lane],
                    phases[phases_differ * lanes[START, lane], lanes[PHASE, lane]], stop,
                    start_energy[lane], lane, x, m,
                )  # fmt: skip
                lanes[DOES, lane], elapsed[lane] = RUNS, 0.0
            running |= lanes[DOES, lane] == RUNS
        if not running:
            return
        # The order is read from an array, lest the compiler unroll all loops over it.
        take_step(x, m, x.shape[0] // series.SERIES - 1, tolerance, e)
        for lane in range(WIDTH):
            if lanes[DOES, lane] == IDLE:
                continue
            start, number, size = lanes[START, lane], lanes[PHASE, lane], e[series.SIZE, lane]
            phase = phases[phases_differ * start, number]
            restored = (
                phase[hybrid.KIND] == ENERGY
                and elapsed[lane] == 0.0
                and e[series.WATCH_ENDS, lane] >= 0.0
            )
            # What ends the phase in this step, if anything. As a kernel of its own this costs 30 %.
            duration, reason = size, TIME if size >= m[series.REMAINING, lane] else ONGOING
            if restored:  # where an impact takes no energy there is none to restore
                duration, reason = 0.0, EVENT
            else:
                at_event = rise(x, m, e, series.WATCH, series.WATCH_ENDS, lane, coefficients)
                if at_event <= size:
                    duration, reason = at_event, EVENT
                at_stop = rise(x, m, e, series.HALT, series.HALT_ENDS, lane, coefficients)
                if at_stop < duration or (at_stop <= duration and reason != EVENT):
                    duration, reason = at_stop, STOP
            elapsed[lane] += duration
            lanes[STEPS, lane] += 1
            missed = reason == TIME and phase[hybrid.TIMED] == 0.0
            stuck = not (size >= m[series.REMAINING, lane] or size > SHORTEST_STEP)
            if missed or stuck or lanes[STEPS, lane] > MAX_STEPS:
                counts[start], lanes[DOES, lane] = hybrid.MISSED, IDLE
                finals[start] = np.nan
                times[start] = np.nan
            elif reason == ONGOING:  # the next step starts where this one ended
                for row in range(4):
                    x[series.A + row * series.COUNT, lane] = e[series.END + row, lane]
                m[series.REMAINING, lane] = phase[hybrid.DURATION] - elapsed[lane]
            else:
                u = states[lane]
                _state_at(x, lane, duration, u)
                times[start, number] = elapsed[lane]
                lanes[DOES, lane], lanes[PHASE, lane] = BEGINS, number + 1
                if reason != STOP and phase[hybrid.THEN] != hybrid.NOTHING:
                    lanes[HAND, lane] = change_frame(both, u, lanes[HAND, lane], flipped)
                    impact(both[lanes[HAND, lane]], u)
                if reason == STOP or number + 1 == n:
                    finals[start], counts[start], lanes[DOES, lane] = u, number + 1, IDLE
                    hands[start] = lanes[HAND, lane]

"""Fast simulation of many gaits: eight motions side by side in the lanes of vectors.

It computes the same as `hybrid.run_many`, many times faster, by the Taylor series of series.py.
Each of eight lanes runs one motion, phase by phase. In a round all lanes take a step together
(`series.take_step`), each as long as its own tolerance and phase allow. Then every lane is checked
by itself: its phase goes on; or an event, the stop or the end of its time has ended the phase, and
the next one begins; or the motion has missed its event. When the motion of a lane has ended, the
lane gets the next start, until there are none.

The series know neither friction nor flight, nor the event `level` for links of different lengths;
`has_series` (gaits/gait.py) leaves such gaits to `hybrid.run_many`. A new event needs its factors
in `_set_event`.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.numerics import kernel

from monkeybot.model import hybrid, series
from monkeybot.model.crossings import rise_time
from monkeybot.model.dynamics import energies, impact
from monkeybot.model.events import ENERGY, LEVEL, LINEAR
from monkeybot.model.hybrid import change_frame, event_of
from monkeybot.model.integrator import EVENT, MAX_STEPS, SHORTEST_STEP, STOP, TIME
from monkeybot.model.series import Workspace, take_step
from monkeybot.model.simd import WIDTH

ONGOING = 3  # the phase goes on after the step; what ends it are TIME, EVENT, STOP of `integrator`
# State of a lane: no motion; a motion whose next phase is to begin; a motion within a phase.
IDLE, BEGINS, RUNS = 0, 1, 2
# Rows of `lanes` (LANE_ROWS, 8): the state of each lane; the number of its motion's start; the hand
# that holds, 0 or 1; the number of the phase; the number of steps that the motion has taken.
DOES, START, HAND, PHASE, STEPS = range(5)
LANE_ROWS = 5


@kernel
def run_ensemble(both, starts, hands, phases, stop, tolerance, times, finals, counts):
    """Simulate phases from many starts, as `hybrid.run` does from one.

    Args:
        both: parameters with hand A first and with hand B first, two `parameters.Row`.
        starts: states (k, 8) in the frame of the hand that holds.
        hands: the hand that holds, 0 or 1 (k,); filled with the one that holds at the end.
        phases: for each start (k, n, 11), or the same for all (1, n, 11).
        stop: event that ends a motion in the phases that allow it, a tuple of 6 (`events`).
        tolerance: of each step, relative and absolute.
        times: filled with the duration of every phase (k, n) [s].
        finals: filled with the states at the end (k, 8); NaN for a motion that missed an event.
        counts: filled with what `run` returns (k,).
    """
    x, constants = _rows(series.SERIES * series.COUNT), _rows(series.CONSTANTS)
    ends = _rows(series.STEP_ROWS)
    work = Workspace(x, constants, ends)
    constants[series.MA], constants[series.MB] = 1.0, 1.0  # idle lanes step, with a mass matrix
    lanes, states = np.zeros((LANE_ROWS, WIDTH), np.int64), np.empty((WIDTH, 8))
    start_energy, elapsed = np.zeros(WIDTH), np.zeros(WIDTH)  # J; s since the phase began
    flipped, coefficients = np.empty(8), np.empty(series.COUNT)
    n, following = phases.shape[1], 0
    phases_differ = 1 if len(phases) > 1 else 0
    while True:
        # Give idle lanes the next start, and begin phases.
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
                    start_energy[lane], lane, work,
                )  # fmt: skip
                lanes[DOES, lane], elapsed[lane] = RUNS, 0.0
            running |= lanes[DOES, lane] == RUNS
        if not running:
            return
        # All lanes take a step. The order is computed from the size of an array so that the
        # compiler does not unroll the loops over it.
        take_step(work, x.shape[0] // series.SERIES - 1, tolerance)
        for lane in range(WIDTH):
            if lanes[DOES, lane] == IDLE:
                continue
            start, number, size = lanes[START, lane], lanes[PHASE, lane], ends[series.SIZE, lane]
            phase = phases[phases_differ * start, number]
            restored = (
                phase[hybrid.KIND] == ENERGY
                and elapsed[lane] == 0.0
                and ends[series.WATCH_ENDS, lane] >= 0.0
            )
            # What ends the phase in this step, if anything, and when. As a separate kernel this
            # would cost 30 % of the time.
            duration, reason = size, TIME if size >= constants[series.REMAINING, lane] else ONGOING
            if restored:  # the impact took no energy, so the phase that restores it ends at once
                duration, reason = 0.0, EVENT
            else:
                at_event = rise_time(work, series.WATCH, series.WATCH_ENDS, lane, coefficients)
                if at_event <= size:
                    duration, reason = at_event, EVENT
                at_stop = rise_time(work, series.HALT, series.HALT_ENDS, lane, coefficients)
                if at_stop < duration or (at_stop <= duration and reason != EVENT):
                    duration, reason = at_stop, STOP
            elapsed[lane] += duration
            lanes[STEPS, lane] += 1
            missed = reason == TIME and phase[hybrid.TIMED] == 0.0
            stuck = not (size >= constants[series.REMAINING, lane] or size > SHORTEST_STEP)
            if missed or stuck or lanes[STEPS, lane] > MAX_STEPS:
                counts[start], lanes[DOES, lane] = hybrid.MISSED, IDLE
                finals[start] = np.nan
                times[start] = np.nan
            elif reason == ONGOING:  # the next step starts where this one ended
                for row in range(4):
                    x[series.A + row * series.COUNT, lane] = ends[series.END + row, lane]
                constants[series.REMAINING, lane] = phase[hybrid.DURATION] - elapsed[lane]
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


@kernel
def _begin_phase(p, u, phase, stop, start_energy, lane, work):
    """Set the constants, the events and the state of a lane for a phase that begins.

    Args:
        p: parameters, the link with the held hand first (`parameters.Row`).
        u: state at the start of the phase (8,).
        phase: torque, duration and event of the phase (11,), indexed by the names of `hybrid`.
        stop: event that ends the motion in the phases that allow it.
        start_energy: at the start of the motion, to which events of energy refer [J].
        lane, work: which lane, and the arrays that are filled (`series.Workspace`).
    """
    x, constants, _ = work
    first_moment = p.m1 * p.r1 + p.m2 * p.l1
    constants[series.MA, lane] = p.i1 + p.m1 * p.r1 * p.r1 + p.m2 * p.l1 * p.l1
    constants[series.MB, lane] = p.i2 + p.m2 * p.r2 * p.r2
    constants[series.MC, lane] = p.m2 * p.l1 * p.r2
    constants[series.G1, lane] = p.gravity * first_moment
    constants[series.G2, lane] = p.gravity * p.m2 * p.r2
    constants[series.PUSH, lane] = phase[hybrid.TORQUE]
    constants[series.REMAINING, lane] = phase[hybrid.DURATION]
    kinetic, potential = energies(p, u)
    surplus = kinetic + potential - start_energy
    halt = stop if phase[hybrid.MAY_STOP] != 0.0 else hybrid.NEVER_ROW
    _set_event(constants, series.WATCH, lane, event_of(phase), surplus, phase[hybrid.TORQUE], u[1])
    _set_event(constants, series.HALT, lane, halt, surplus, phase[hybrid.TORQUE], u[1])
    x[series.A, lane], x[series.B, lane] = u[0], u[0] + u[1]
    x[series.P, lane], x[series.Q, lane] = u[2], u[2] + u[3]


@kernel
def _set_event(constants, first, lane, event, surplus, torque, th2):
    """Fill rows of the constants with an event, as factors of a, b, p and q and a constant.

    An event of energy becomes linear: without friction only the motor does work, so the energy is
    that at the start of the phase plus torque times the change of th2.

    Args:
        constants: of the lanes (`series.Workspace`).
        first, lane: first row, WATCH or HALT, and column.
        event: tuple of 6 (`events`).
        surplus: energy at the start of the phase minus that at the start of the motion [J].
        torque: on the elbow [N m].
        th2: angle of the elbow at the start of the phase [rad].
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
    constants[first, lane], constants[first + 1, lane] = of_th1 - of_th2, of_th2
    constants[first + 2, lane], constants[first + 3, lane] = of_w1 - of_w2, of_w2
    constants[first + 4, lane] = constant


@kernel
def _state_at(x, lane, t, u):
    """Fill angles and rates of u (8,) with a lane's state, t [s] after the start of its step."""
    a = b = p = q = 0.0
    for k in range(series.ORDER, -1, -1):
        a, b = a * t + x[series.A + k, lane], b * t + x[series.B + k, lane]
        p, q = p * t + x[series.P + k, lane], q * t + x[series.Q + k, lane]
    u[0], u[1], u[2], u[3] = a, b - a, p, q - p


@kernel
def _rows(count):
    """Return zeros (count, 8) that begin at a multiple of 64 bytes, where vectors load fastest."""
    space = np.zeros(count * WIDTH + 7)
    first = (-(space.ctypes.data // 8)) % 8
    return space[first : first + count * WIDTH].reshape(count, WIDTH)

"""Fast simulation of many gaits: eight motions side by side in the lanes of vectors.

It computes the same as `hybrid.run_many`, many times faster, by the Taylor series of series.py.
Each of eight lanes runs one motion, phase by phase; a phase is a piece of motion up to an event
(hybrid.py). In a round all lanes take a step together (`series.take_step`), each as long as its own
tolerance and phase allow. Then every lane is checked by itself: its phase goes on; or an event, the
stop or the end of its time has ended the phase, and the next one begins; or the motion has missed
its event. When the motion of a lane has ended, the lane gets the next start, until there are none.

The series know neither friction nor flight, nor the event `level` for links of different lengths;
`has_series` (gaits/gait.py) leaves such gaits to `hybrid.run_many`. A new event needs its factors
in `_set_event`.
"""

import math
from typing import NamedTuple

import numpy as np
from roboaccord.contract import Array, Index
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
IDLE, BEGINS, RUNS = 0, 1, 2  # what a lane does: nothing; its next phase begins; it is in a phase


class Results(NamedTuple):
    """What `run_ensemble` fills for each of k motions, and describes."""

    hands: Index
    times: Array
    finals: Array
    counts: Index


class LaneStates(NamedTuple):
    """The motions in the eight lanes, one entry each.

    Attributes:
        does: IDLE, BEGINS or RUNS (8,).
        start: number of the motion's start (8,).
        hand: the hand that holds, 0 or 1 (8,).
        phase: number of the phase (8,).
        steps: number of steps that the motion has taken (8,).
        state: at the start of the phase, in the frame of the hand that holds (8, 8).
        start_energy: of the motion, to which events of energy refer (8,) [J].
        elapsed: time since the phase began (8,) [s].
    """

    does: Index
    start: Index
    hand: Index
    phase: Index
    steps: Index
    state: Array
    start_energy: Array
    elapsed: Array


@kernel
def run_ensemble(rows, starts, hands, phases, stop, tolerance, times, finals, counts):
    """Simulate phases from many starts, as `hybrid.run` does from one.

    Args:
        rows: parameters with hand A first and with hand B first, two `parameters.Row`.
        starts: states (k, 8) in the frame of the hand that holds.
        hands: the hand that holds, 0 or 1 (k,); filled with the one that holds at the end.
        phases: for each start (k, n, 11), or the same for all (1, n, 11).
        stop: event that ends a motion in the phases that allow it, a tuple of 6 (`events`).
        tolerance: of each step, relative and absolute.
        times: filled with the duration of every phase (k, n) [s].
        finals: filled with the states at the end (k, 8); NaN for a motion that missed an event.
        counts: filled with what `run` returns (k,).
    """
    x = _rows(series.SERIES * series.COUNT)
    constants = _rows(series.CONSTANTS)
    ends = _rows(series.STEP_ROWS)
    work = Workspace(x, constants, ends)
    constants[series.MA] = constants[series.MB] = 1.0  # idle lanes step, too: mass matrix not 0
    lanes, results = _idle_lanes(), Results(hands, times, finals, counts)
    scratch = np.empty(series.COUNT)  # of `rise_time`
    following = 0  # number of the next start that gets a lane
    while True:
        following = _begin_motions(lanes, rows, starts, results, following)
        for lane in range(WIDTH):
            if lanes.does[lane] == BEGINS:
                phase = _phase_of(lanes, lane, phases)
                _begin_phase(rows[lanes.hand[lane]], phase, stop, lanes, lane, work)
        if (lanes.does == IDLE).all():
            return
        # All lanes take a step. The order is computed from the size of an array so that the
        # compiler does not unroll the loops over it.
        take_step(work, x.shape[0] // series.SERIES - 1, tolerance)
        for lane in range(WIDTH):
            if lanes.does[lane] == IDLE:
                continue
            phase = _phase_of(lanes, lane, phases)
            size = ends[series.STEP_SIZE, lane]  # s
            is_last = size >= constants[series.REMAINING, lane]  # the step reaches the longest time
            # What ends the phase in this step, if anything, and when [s after its start]: the first
            # of event, stop and longest time, in this order where they coincide. As a separate
            # kernel this would cost 30 % of the time.
            duration, reason = size, TIME if is_last else ONGOING
            at_once = lanes.elapsed[lane] == 0.0 and ends[series.PHASE_ENDS, lane] >= 0.0
            if phase[hybrid.KIND] == ENERGY and at_once:  # the impact took no energy to restore
                duration, reason = 0.0, EVENT
            else:
                at_event = rise_time(work, series.PHASE_EVENT, series.PHASE_ENDS, lane, scratch)
                if at_event <= size:
                    duration, reason = at_event, EVENT
                at_stop = rise_time(work, series.STOP_EVENT, series.STOP_ENDS, lane, scratch)
                if at_stop < duration or (at_stop <= duration and reason != EVENT):
                    duration, reason = at_stop, STOP
            lanes.elapsed[lane] += duration
            lanes.steps[lane] += 1
            has_missed = reason == TIME and phase[hybrid.TIMED] == 0.0
            is_stuck = not (is_last or size > SHORTEST_STEP)
            if has_missed or is_stuck or lanes.steps[lane] > MAX_STEPS:
                _abandon_motion(lanes, lane, results)
            elif reason == ONGOING:  # the next step starts where this one ended
                for row in range(4):  # of the four series a, b, p and q
                    x[series.A + row * series.COUNT, lane] = ends[series.END_A + row, lane]
                constants[series.REMAINING, lane] = phase[hybrid.DURATION] - lanes.elapsed[lane]
            else:
                _state_at(x, lane, duration, lanes.state[lane])
                _end_phase(lanes, lane, rows, phase[hybrid.THEN], reason == STOP, results)


@kernel
def _phase_of(lanes, lane, phases):
    """Return the phase (11,) that a lane is in; a single row of phases is that of all motions."""
    return phases[min(lanes.start[lane], len(phases) - 1), lanes.phase[lane]]


@kernel
def _abandon_motion(lanes, lane, results):
    """Note that the motion of a lane has missed its event, and make the lane idle."""
    start = lanes.start[lane]
    results.times[start] = np.nan
    results.finals[start] = np.nan
    results.counts[start] = hybrid.MISSED
    lanes.does[lane] = IDLE


@kernel
def _end_phase(lanes, lane, rows, action, is_stopped, results):
    """End the phase of a lane: change hands, and note the results if the motion is over.

    Args:
        lanes: states of the motions (`LaneStates`), the one of `lane` at the end of its phase.
        lane: number of the lane.
        rows: parameters, as in `run_ensemble`.
        action: of the magnets, a number of `hybrid.Then`; any but NOTHING changes hands.
        is_stopped: whether the stop has ended the motion; then the magnets do not act.
        results: filled (`Results`).
    """
    u, start = lanes.state[lane], lanes.start[lane]
    results.times[start, lanes.phase[lane]] = lanes.elapsed[lane]
    lanes.phase[lane] += 1
    if not is_stopped and action != hybrid.NOTHING:
        lanes.hand[lane] = change_frame(rows, u, lanes.hand[lane], np.empty(8))
        impact(rows[lanes.hand[lane]], u)
    lanes.does[lane] = BEGINS
    if is_stopped or lanes.phase[lane] == results.times.shape[1]:
        results.finals[start] = u
        results.hands[start] = lanes.hand[lane]
        results.counts[start] = lanes.phase[lane]
        lanes.does[lane] = IDLE


@kernel
def _idle_lanes():
    """Return lanes without motions."""
    numbers, state = np.zeros((5, WIDTH), np.int64), np.empty((WIDTH, 8))
    does, start, hand, phase, steps = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    return LaneStates(does, start, hand, phase, steps, state, np.zeros(WIDTH), np.zeros(WIDTH))


@kernel
def _begin_motions(lanes, rows, starts, results, following):
    """Give the next starts to idle lanes; return the number of the start that follows.

    `rows` and `starts` are those of `run_ensemble`; the first `following` starts have had their
    lane.
    """
    for lane in range(WIDTH):
        if lanes.does[lane] == IDLE and following < len(starts):
            lanes.does[lane] = BEGINS
            lanes.start[lane], lanes.hand[lane] = following, results.hands[following]
            lanes.phase[lane] = lanes.steps[lane] = 0
            lanes.state[lane] = starts[following]
            results.times[following] = 0.0
            kinetic, potential = energies(rows[lanes.hand[lane]], lanes.state[lane])
            lanes.start_energy[lane] = kinetic + potential
            following += 1
    return following


@kernel
def _begin_phase(p, phase, stop, lanes, lane, work):
    """Set the constants, the events and the state of a lane for a phase that begins.

    Args:
        p: parameters, the link with the held hand first (`parameters.Row`).
        phase: torque, duration and event of the phase (11,), indexed by the names of `hybrid`.
        stop: event that ends the motion in the phases that allow it.
        lanes: states of the motions (`LaneStates`).
        lane: which of them.
        work: arrays that are filled (`series.Workspace`).
    """
    x, constants, u = work.x, work.constants, lanes.state[lane]
    # The equations of series.py: masses A, B and C, and weights G1 and G2.
    first_moment = p.m1 * p.r1 + p.m2 * p.l1
    constants[series.MA, lane] = p.i1 + p.m1 * p.r1 * p.r1 + p.m2 * p.l1 * p.l1
    constants[series.MB, lane] = p.i2 + p.m2 * p.r2 * p.r2
    constants[series.MC, lane] = p.m2 * p.l1 * p.r2
    constants[series.G1, lane] = p.gravity * first_moment
    constants[series.G2, lane] = p.gravity * p.m2 * p.r2
    torque = phase[hybrid.TORQUE]
    constants[series.TORQUE, lane] = torque
    constants[series.REMAINING, lane] = phase[hybrid.DURATION]
    kinetic, potential = energies(p, u)
    surplus = kinetic + potential - lanes.start_energy[lane]
    halt = stop if phase[hybrid.MAY_STOP] != 0.0 else hybrid.NEVER_ROW
    _set_event(constants, series.PHASE_EVENT, lane, event_of(phase), surplus, torque, u[1])
    _set_event(constants, series.STOP_EVENT, lane, halt, surplus, torque, u[1])
    x[series.A, lane], x[series.B, lane] = u[0], u[0] + u[1]
    x[series.P, lane], x[series.Q, lane] = u[2], u[2] + u[3]
    lanes.does[lane] = RUNS
    lanes.elapsed[lane] = 0.0


@kernel
def _set_event(constants, first, lane, event, surplus, torque, th2):
    """Fill rows of the constants with an event, as factors of a, b, p and q and a constant.

    An event of energy becomes linear: without friction only the motor does work, so the energy is
    that at the start of the phase plus torque times the change of th2.

    Args:
        constants: of the lanes (`series.Workspace`).
        first, lane: first row, PHASE_EVENT or STOP_EVENT, and column.
        event: tuple of 6 (`events`).
        surplus: energy at the start of the phase minus that at the start of the motion [J].
        torque: on the elbow [N m].
        th2: angle of the elbow at the start of the phase [rad].
    """
    of_th1 = of_th2 = of_w1 = of_w2 = 0.0
    offset = -1.0  # of an event that never happens: its value stays negative
    kind, th1_factor, th2_factor, w1_factor, w2_factor, above = event
    if kind == LINEAR:
        of_th1, of_th2, of_w1, of_w2 = th1_factor, th2_factor, w1_factor, w2_factor
        offset = -above
    elif kind == LEVEL:
        of_th1, of_th2, offset = 1.0, 0.5, -0.5 * math.pi - above
    elif kind == ENERGY:
        of_th2, offset = torque, surplus - torque * th2 - above
    constants[first + series.OF_A, lane] = of_th1 - of_th2
    constants[first + series.OF_B, lane] = of_th2
    constants[first + series.OF_P, lane] = of_w1 - of_w2
    constants[first + series.OF_Q, lane] = of_w2
    constants[first + series.OFFSET, lane] = offset


@kernel
def _state_at(x, lane, t, u):
    """Fill angles and rates of u (8,) with a lane's state, t [s] after the start of its step.

    The series are those of a, b, p and q: the links' angles from hanging down, and their rates.
    """
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

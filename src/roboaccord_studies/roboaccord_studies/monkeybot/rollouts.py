"""Simulation of many walks: a gait repeated from many starts, with errors in time and torque.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. A gait is a sequence of phases, each of which lasts for
a time or until an event; an orbit is a motion of a gait that repeats exactly (orbits.py). `walk`
takes an orbit and the starts of k walks, and returns how each of them ended; basin.py counts them.

The robot cannot fall, since a magnet always holds; but it can lose its gait. A walk has lost its
gait in the first cycle in which it misses an event, its elbow makes a full turn, or the hand that
grips is not further forwards. A walk survives if it keeps its gait to the end and then is within
SURVIVAL_DISTANCE of the orbit. The kernels' states (8,) are (th1, th2, w1, w2, x, y, vx, vy),
angles and rates in the frame of the hand that holds, and position and velocity of this hand.
`walk_block` simulates one walk after the other; `walk_together` simulates all at once, where the
equations of monkeybot/model/ensemble.py allow it. A change of one needs the same change of the
other.

BLOCK_SIZE may be tuned. SURVIVAL_DISTANCE and `_lost` define which walks survive, and so the
results of `accord monkeybot basin` and `robust`; they stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVarTuple

import numpy as np
from monkeybot.gaits.gait import ENSEMBLE, full_starts, has_series, wrap
from monkeybot.gaits.landscape import Done
from monkeybot.model.hybrid import DURATION, LIMIT, MISSED, TIMED, TOLERANCE, TORQUE, run
from monkeybot.model.integrator import SCRATCH
from monkeybot.model.parameters import MonkeyBotParameters, Row
from numpy.typing import NDArray
from roboaccord.contract import Array
from roboaccord.numerics import kernel
from roboaccord.run import run_pieces

from roboaccord_studies.monkeybot.orbits import Orbit

BLOCK_SIZE = 256  # walks that a thread simulates at a time: some 0.1 s of work with 100 steps
# rad, rad/s: largest distance of the end of a surviving walk from its orbit, in th1, th2, w1 and
# w2: ten standard deviations of the starts of `accord monkeybot gaits`, four of the larger ones in
# docs/monkeybot_gaits.md.
SURVIVAL_DISTANCE = np.array([0.2, 0.2, 1.0, 1.0])

Ts = TypeVarTuple("Ts")


class Feedback(NamedTuple):
    """A law that changes the times of a gait by the state at the beginning of a cycle.

    Args:
        gains: by how many seconds each phase lasts longer per deviation of (th1, th2, w1, w2)
            (n, 4); they act on timed phases only.
        sample: period to whose multiples the times are rounded [s]; 0: not rounded.
    """

    gains: Array
    sample: float = 0.0


class Walks(NamedTuple):
    """The results of k walks.

    Args:
        cycles: number of cycles before each walk lost its gait (k,).
        final: (th1, th2, w1, w2) at the end (k, 4).
        displacement: of the held hand from the start to the end, to the right and up (k, 2) [m].
        survived: whether each walk kept its gait and ended near the orbit (k,).
    """

    cycles: NDArray[np.int64]
    final: Array
    displacement: Array
    survived: NDArray[np.bool_]


def walk(
    orbit: Orbit,
    parameters: MonkeyBotParameters,
    starts: Array,
    cycles: int,
    feedback: Feedback | None = None,
    *,
    jitter: Array | None = None,
    factors: Array | None = None,
    tolerance: float = TOLERANCE,
) -> Walks:
    """Repeat an orbit's gait from many starts.

    Args:
        orbit: the gait, and the motion to be kept.
        parameters: of the robot that walks, which may differ from that of the orbit.
        starts: (th1, th2, w1, w2) at the beginning of a cycle (k, 4).
        cycles: number of cycles.
        feedback: on the times of the n phases of the gait.
        jitter: added to the time of every timed phase (k, cycles, n) [s].
        factors: of all torques (k,).
        tolerance: of each step of the integrator.
    """
    phases = np.array([phase.row for phase in orbit.gait.phases])
    law = feedback or Feedback(np.zeros((len(phases), 4)))
    forwards = math.copysign(1.0, orbit.stride)
    stop, target = orbit.gait.stop.row, orbit.start
    gait = RepeatedGait(
        parameters.rows, phases, stop, target, forwards, law.gains, law.sample, tolerance
    )
    full = full_starts(starts)
    k = len(full)
    jitter = np.zeros((k, cycles, len(phases))) if jitter is None else jitter
    factors = np.ones(k) if factors is None else factors
    cycles_walked, finals = np.zeros(k, dtype=np.int64), np.empty((k, 8))
    can_walk_together = k >= ENSEMBLE and has_series(orbit.gait, parameters)
    simulate = walk_together if can_walk_together else walk_block
    simulate(gait, full, jitter, factors, cycles_walked, finals)
    deviation = finals[:, :4] - orbit.start
    deviation[:, 0] = wrap(deviation[:, 0])
    survived = (cycles_walked == cycles) & (np.abs(deviation) <= SURVIVAL_DISTANCE).all(axis=1)
    return Walks(cycles_walked, finals[:, :4], finals[:, 4:6], survived)


def run_walks(
    function: Callable[[*Ts], Walks], calls: Iterable[tuple[*Ts]], done: Done | None
) -> Walks:
    """Call a function several times in parallel, and return all walks together.

    Args:
        function: a function at the top level of a module, which returns walks.
        calls: arguments of each call.
        done: called after each call with its number of walks.
    """

    def count(walks: Walks) -> None:
        """Report the number of walks of a finished call."""
        if done:
            done(len(walks.cycles))

    pieces = run_pieces(function, calls, threads=True, done=count)
    fields = zip(*pieces, strict=True)  # each field of all pieces
    return Walks(*(np.concatenate(values) for values in fields))


class RepeatedGait(NamedTuple):
    """A gait with its feedback as the kernels take it, and the orbit that walks are to keep.

    Attributes:
        rows: the robot's parameters with hand A first, and with hand B first.
        phases: of the gait (n, 11), as in `hybrid.run`; DURATION, TIMED and TORQUE are columns.
        stop: event that ends a cycle early, a tuple of 6.
        target: state of the orbit at the beginning of a cycle (4,) [rad, rad/s].
        forwards: sign of the orbit's motion along x.
        gains: by how much longer a timed phase lasts per deviation from `target` (n, 4) [s/rad,
            s^2].
        sample: period to whose multiples the times are rounded [s]; 0: not rounded.
        tolerance: of the integrator.
    """

    rows: tuple[Row, Row]
    phases: Array
    stop: tuple[float, ...]
    target: Array
    forwards: float
    gains: Array
    sample: float
    tolerance: float


def walk_together(
    gait: RepeatedGait,
    starts: Array,
    jitter: Array,
    factors: Array,
    cycles: NDArray[np.int64],
    finals: Array,
) -> None:
    """Do the same as `walk_block`, cycle by cycle for all walks that still have their gait.

    The only difference: a walk that misses an event ends in the state at which the cycle began.

    Args:
        gait: the gait and its orbit.
        starts: states (k, 8) on hand A.
        jitter: errors added to the times of the phases (k, cycles, n) [s].
        factors: of all torques (k,).
        cycles: filled with the number of cycles until the gait was lost (k,).
        finals: filled with the state at the end, in the frame of the hand that holds (k, 8).
    """
    from monkeybot.model.ensemble import run_ensemble  # imports numba

    finals[:], cycles[:] = starts, 0
    alive = np.arange(len(starts))  # indices of the walks that still have their gait
    hands = np.zeros(len(starts), dtype=np.int64)  # 0 or 1: the hand that holds
    for cycle in range(jitter.shape[1]):
        before, k = finals[alive], len(alive)
        phases = _disturbed_phases(gait, before, jitter[alive, cycle], factors[alive])
        # `run_ensemble` fills the states and hands at the end, counts of phases, and times.
        ends, counts, held = np.empty((k, 8)), np.empty(k, dtype=np.int64), hands[alive]
        times = np.empty(phases.shape[:2])
        run_ensemble(
            gait.rows, before, held, phases, gait.stop, gait.tolerance, times, ends, counts
        )
        finished = counts != MISSED
        finals[alive[finished]] = ends[finished]
        hands[alive] = held
        # As in `_lost`; states that are not finite fail both comparisons.
        goes_on = finished & (np.abs(ends[:, 1] - gait.target[1]) <= math.pi)
        goes_on &= (ends[:, 4] - before[:, 4]) * gait.forwards > 0.0
        alive = alive[goes_on]
        cycles[alive] = cycle + 1
        if not len(alive):
            return


def _disturbed_phases(
    gait: RepeatedGait, states: Array, jitter: Array, factors: Array
) -> NDArray[np.float64]:
    """Return the phases of each of k walks in a cycle (k, n, 11).

    Args:
        gait: the gait, with its feedback.
        states: at the beginning of the cycle (k, 8).
        jitter: added to the times (k, n) [s].
        factors: of all torques (k,).
    """
    phases = np.tile(gait.phases, (len(states), 1, 1))
    phases[:, :, TORQUE] *= factors[:, None]
    durations = gait.phases[:, DURATION] + (states[:, :4] - gait.target) @ gait.gains.T
    if gait.sample > 0.0:
        durations = gait.sample * np.floor(durations / gait.sample + 0.5)
    is_timed = gait.phases[:, TIMED] != 0.0
    phases[:, is_timed, DURATION] = np.clip(durations + jitter, 0.0, LIMIT)[:, is_timed]
    return phases


@kernel
def walk_block(gait, starts, jitter, factors, cycles, finals):
    """Repeat a gait from many starts, each walk until it loses the gait.

    Args:
        gait: the gait and its orbit (`RepeatedGait`).
        starts: states (k, 8) on hand A.
        jitter: errors added to the times of the phases (k, cycles, n) [s].
        factors: of all torques (k,).
        cycles: filled with the number of cycles until the gait was lost (k,).
        finals: filled with the state at the end, in the frame of the hand that holds (k, 8).
    """
    phases, target, sample, tol = gait.phases, gait.target, gait.sample, gait.tolerance
    n = phases.shape[0]
    # What `hybrid.run` fills, of which only the hands in `marks` are used.
    work, times = np.empty((SCRATCH, 8)), np.empty(n)
    states, marks = np.empty((n, 8)), np.empty((n, 4))
    disturbed, u = phases.copy(), np.empty(8)
    for i in range(starts.shape[0]):
        u[:] = starts[i]
        hand, cycles[i] = 0, 0
        for j in range(jitter.shape[1]):
            x_before = u[4]
            # Torques and durations of this cycle.
            for m in range(n):
                disturbed[m, TORQUE] = factors[i] * phases[m, TORQUE]
                if phases[m, TIMED] != 0.0:
                    time = phases[m, DURATION]
                    for c in range(4):
                        time += gait.gains[m, c] * (u[c] - target[c])
                    if sample > 0.0:
                        time = sample * math.floor(time / sample + 0.5)
                    disturbed[m, DURATION] = min(LIMIT, max(0.0, time + jitter[i, j, m]))
            count = run(
                gait.rows, u, hand, False, disturbed, gait.stop, tol, work, times, states, marks
            )
            if count == MISSED or _lost(u, target, x_before, gait.forwards):
                break
            hand = int(marks[count - 1, 0])
            cycles[i] = j + 1
        finals[i] = u


@kernel
def _lost(u, target, x_before, forwards):
    """Return whether a walk has lost its gait in a cycle.

    Args:
        u: state at the end of the cycle (8,).
        target: state of the orbit there (4,).
        x_before: x of the held hand at the beginning of the cycle [m].
        forwards: sign of the motion along x.
    """
    for i in range(4):
        if not math.isfinite(u[i]):
            return True
    return abs(u[1] - target[1]) > math.pi or (u[4] - x_before) * forwards <= 0.0

"""Simulation of many walks: a gait repeated from many starts, with errors in time and torque.

The robot cannot fall, since a magnet always holds; but it can lose its gait. A walk has lost its
gait in the first cycle in which it misses an event, its elbow makes a full turn, or the hand that
grips is not further forwards. A walk survives if it keeps its gait to the end and then is within
NEAR of the orbit, the motion of the gait that repeats exactly. `walk_block` simulates one walk
after the other; `walk_together` simulates all at once, where the equations of
monkeybot/model/ensemble.py allow it. A change of one needs the same change of the other.

BLOCK may be tuned. NEAR and `_lost` define which walks survive, and so the results of `accord
monkeybot basin` and `robust`; they stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
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

BLOCK = 256  # walks that a thread simulates at a time: some 0.1 s of work with 100 steps
# Ten standard deviations of the starts of `gaits`, four of the larger ones in
# docs/monkeybot_gaits.md.
NEAR = np.array([0.2, 0.2, 1.0, 1.0])  # rad, rad/s: largest distance of a walk's end from its orbit

Ts = TypeVarTuple("Ts")


@dataclass(frozen=True)
class Feedback:
    """A law that changes the times of a gait by the state at the beginning of a cycle.

    Args:
        gains: by how many seconds each phase lasts longer per deviation of (th1, th2, w1, w2)
            (n, 4); they act on timed phases only.
        sample: period to whose multiples the times are rounded [s]; 0: not rounded.
    """

    gains: Array
    sample: float = 0.0


@dataclass(frozen=True)
class Walks:
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
    orbit: Orbit, parameters: MonkeyBotParameters, starts: Array, cycles: int,
    feedback: Feedback | None = None, *, jitter: Array | None = None, factors: Array | None = None,
    tolerance: float = TOLERANCE,
) -> Walks:  # fmt: skip
    """Repeat an orbit's gait from many starts.

    Args:
        orbit: the gait, and the motion to be kept.
        parameters: of the robot that walks, which may differ from that of the orbit.
        starts: (th1, th2, w1, w2) at the beginning of a cycle (k, 4).
        cycles: number of cycles.
        feedback: on the times of the phases.
        jitter: added to the time of every timed phase (k, cycles, n) [s].
        factors: of all torques (k,).
        tolerance: of each step of the integrator.
    """
    full, phases = full_starts(starts), np.array([phase.row for phase in orbit.gait.phases])
    k, n = len(full), len(phases)
    law = feedback or Feedback(np.zeros((n, 4)))
    gait = RepeatedGait(
        rows=parameters.rows, phases=phases, stop=orbit.gait.stop.row, target=orbit.start,
        forwards=math.copysign(1.0, orbit.stride), gains=law.gains, sample=law.sample,
        tolerance=tolerance,
    )  # fmt: skip
    jitter = np.zeros((k, cycles, n)) if jitter is None else jitter
    factors = np.ones(k) if factors is None else factors
    walked, finals = np.zeros(k, dtype=np.int64), np.empty((k, 8))
    can_walk_together = k >= ENSEMBLE and has_series(orbit.gait, parameters)
    simulate = walk_together if can_walk_together else walk_block
    simulate(gait, full, jitter, factors, walked, finals)
    deviation = finals[:, :4] - orbit.start
    deviation[:, 0] = wrap(deviation[:, 0])
    return Walks(
        cycles=walked,
        final=finals[:, :4],
        displacement=finals[:, 4:6],
        survived=(walked == cycles) & (np.abs(deviation) <= NEAR).all(axis=1),
    )


def run_walks(
    function: Callable[[*Ts], Walks], calls: Iterable[tuple[*Ts]], done: Done | None
) -> Walks:
    """Call a function several times in parallel, and return all walks together.

    Args:
        function: a function at the top level of a module, which returns walks.
        calls: arguments of each call.
        done: called after each call with its number of walks.
    """
    count = (lambda walks: done(len(walks.cycles))) if done else None
    pieces = run_pieces(function, calls, threads=True, done=count)
    return Walks(
        *map(np.concatenate, zip(*(vars(piece).values() for piece in pieces), strict=True))
    )


class RepeatedGait(NamedTuple):
    """A gait with its feedback as the kernels take it, and the orbit that walks are to keep.

    Attributes:
        rows: the robot's parameters with hand A first, and with hand B first.
        phases: of the gait (n, 11), as in `hybrid.run`.
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
    gait: RepeatedGait, starts: Array, jitter: Array, factors: Array, cycles: NDArray[np.int64],
    finals: Array,
) -> None:  # fmt: skip
    """Do the same as `walk_block`, cycle by cycle for all walks that still have their gait.

    The only difference: a walk that misses an event ends in the state at which the cycle began.
    """
    from monkeybot.model.ensemble import run_ensemble  # imports numba

    phases, sample = gait.phases, gait.sample
    finals[:], cycles[:] = starts, 0
    alive = np.arange(len(starts))
    hands = np.zeros(len(alive), dtype=np.int64)
    timed = phases[:, TIMED] != 0.0
    for j in range(jitter.shape[1]):
        u, k = finals[alive], len(alive)
        disturbed = np.broadcast_to(phases, (k, *phases.shape)).copy()
        disturbed[:, :, TORQUE] *= factors[alive, None]
        durations = phases[:, DURATION] + (u[:, :4] - gait.target) @ gait.gains.T
        if sample > 0.0:
            durations = sample * np.floor(durations / sample + 0.5)
        clipped = np.clip(durations + jitter[alive, j], 0.0, LIMIT)
        disturbed[:, timed, DURATION] = clipped[:, timed]
        ends, counts, side = np.empty((k, 8)), np.empty(k, dtype=np.int64), hands[alive]
        run_ensemble(
            gait.rows, u, side, disturbed, gait.stop, gait.tolerance,
            np.empty(disturbed.shape[:2]), ends, counts,
        )  # fmt: skip
        finished = counts != MISSED
        finals[alive[finished]], hands[alive] = ends[finished], side
        goes_on = finished & (np.abs(ends[:, 1] - gait.target[1]) <= math.pi)
        goes_on &= (ends[:, 4] - u[:, 4]) * gait.forwards > 0.0
        alive = alive[goes_on]
        cycles[alive] = j + 1
        if not len(alive):
            return


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
    phases, target, sample = gait.phases, gait.target, gait.sample
    n = phases.shape[0]
    work, states, marks = np.empty((SCRATCH, 8)), np.empty((n, 8)), np.empty((n, 4))
    times, disturbed, u = np.empty(n), phases.copy(), np.empty(8)
    for i in range(starts.shape[0]):
        u[:] = starts[i]
        hand, cycles[i] = 0, 0
        for j in range(jitter.shape[1]):
            before = u[4]
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
                gait.rows, u, hand, False, disturbed, gait.stop, gait.tolerance, work, times,
                states, marks,
            )  # fmt: skip
            if count == MISSED or _lost(u, target, before, gait.forwards):
                break
            hand = int(marks[count - 1, 0])
            cycles[i] = j + 1
        finals[i] = u


@kernel
def _lost(u, target, before, forwards):
    """Return whether a walk has lost its gait in a cycle.

    Args:
        u: state at the end of the cycle (8,).
        target: state of the orbit there (4,).
        before: x of the held hand at the beginning of the cycle [m].
        forwards: sign of the motion along x.
    """
    for i in range(4):
        if not math.isfinite(u[i]):
            return True
    return abs(u[1] - target[1]) > math.pi or (u[4] - before) * forwards <= 0.0

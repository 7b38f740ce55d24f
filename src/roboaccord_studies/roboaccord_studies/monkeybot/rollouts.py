"""Ensembles of walks: a gait repeated from many starts, disturbed in time and torque.

A robot with magnets always holds on to something; what it can lose is its gait. It has lost it in
the first cycle in which it misses an event, in which its elbow has gone round, or after which the
hand that grips is not further forwards. It is still on its orbit if at the end it is within NEAR of
it. `walk_block` takes one walk after the other, `walk_together` all at once in the lanes of vectors
where the equations allow it.

BLOCK, of speed alone, may be tuned. NEAR and `_lost` define who survives, and so the shares of
`accord monkeybot basin` and `robust`: they stay. Both ways to walk must be changed together
(test_basin compares them).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVarTuple

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

BLOCK = 256  # walks that a thread takes at once: some 0.1 s of work with 100 steps
NEAR = np.array([0.2, 0.2, 1.0, 1.0])  # rad, rad/s: how far from the orbit a walk may end

Ts = TypeVarTuple("Ts")


@kernel
def _lost(u, target, before, forwards):
    """Return whether a walk has lost its gait in the cycle that began at a place x of the hand."""
    for i in range(4):
        if not math.isfinite(u[i]):
            return True
    return abs(u[1] - target[1]) > math.pi or (u[4] - before) * forwards <= 0.0


@kernel
def walk_block(
    both, starts, phases, stop, target, gains, sample, jitter, factors, forwards, tolerance,
    cycles, finals,
):  # fmt: skip
    """Repeat the phases of a gait from many starts, each until it has lost it.

    Args:
        both, phases, stop, tolerance: as in `hybrid.run`.
        starts: states (k, 8) on hand A.
        target: state (4,) of the orbit, where a cycle begins.
        gains: what a phase that is timed lasts longer, by deviation from `target` (n, 4).
        sample: to whole numbers of which the times are rounded [s]; 0 rounds nothing.
        jitter: added to the times after that (k, cycles, n) [s].
        factors: of all torques (k,).
        forwards: sign of the motion along x.
        cycles: filled with how many were walked (k,).
        finals: filled with the state at the end, in the frame of the hand that holds (k, 8).
    """
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
                        time += gains[m, c] * (u[c] - target[c])
                    if sample > 0.0:
                        time = sample * math.floor(time / sample + 0.5)
                    disturbed[m, DURATION] = min(LIMIT, max(0.0, time + jitter[i, j, m]))
            count = run(
                both, u, hand, False, disturbed, stop, tolerance, work, times, states, marks
            )
            if count == MISSED or _lost(u, target, before, forwards):
                break
            hand = int(marks[count - 1, 0])
            cycles[i] = j + 1
        finals[i] = u


def walk_together(
    both: tuple[Row, Row], starts: Array, phases: Array, stop: tuple[float, ...], target: Array,
    gains: Array, sample: float, jitter: Array, factors: Array, forwards: float, tolerance: float,
    cycles: NDArray[np.int64], finals: Array,
) -> None:  # fmt: skip
    """Do what `walk_block` does, cycle by cycle with all walks that go on, as an ensemble.

    A walk that misses an event ends where the cycle began.
    """
    from monkeybot.model.ensemble import run_ensemble  # imports numba

    finals[:], cycles[:] = starts, 0
    alive = np.arange(len(starts))
    hands = np.zeros(len(alive), dtype=np.int64)
    timed = phases[:, TIMED] != 0.0
    for j in range(jitter.shape[1]):
        u, k = finals[alive], len(alive)
        disturbed = np.broadcast_to(phases, (k, *phases.shape)).copy()
        disturbed[:, :, TORQUE] *= factors[alive, None]
        durations = phases[:, DURATION] + (u[:, :4] - target) @ gains.T
        if sample > 0.0:
            durations = sample * np.floor(durations / sample + 0.5)
        clipped = np.clip(durations + jitter[alive, j], 0.0, LIMIT)
        disturbed[:, timed, DURATION] = clipped[:, timed]
        ends, counts, side = np.empty((k, 8)), np.empty(k, dtype=np.int64), hands[alive]
        run_ensemble(
            both, u, side, disturbed, stop, tolerance, np.empty(disturbed.shape[:2]), ends, counts,
        )  # fmt: skip
        finished = counts != MISSED
        finals[alive[finished]], hands[alive] = ends[finished], side
        goes_on = finished & (np.abs(ends[:, 1] - target[1]) <= math.pi)
        goes_on &= (ends[:, 4] - u[:, 4]) * forwards > 0.0
        alive = alive[goes_on]
        cycles[alive] = j + 1
        if not len(alive):
            return


@dataclass(frozen=True)
class Feedback:
    """A law that changes the times of a gait by the state where its cycle begins.

    Args:
        gains: seconds that each phase lasts longer per deviation of (th1, th2, w1, w2) (n, 4);
            only phases that are timed heed them.
        sample: to whole numbers of which the times are rounded [s]; 0 rounds nothing.
    """

    gains: Array
    sample: float = 0.0


@dataclass(frozen=True)
class Walks:
    """The results of k walks.

    Args:
        cycles: that each walked before it lost its gait (k,).
        final: (th1, th2, w1, w2) at the end (k, 4).
        displacement: of the held hand, forwards and up (k, 2) [m].
        survived: whether each walked all cycles and is near the orbit at the end (k,).
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
        orbit: whose gait it is, and whose path is to be kept.
        parameters: of the robot that walks, which need not be the orbit's.
        starts: (th1, th2, w1, w2) where a cycle begins (k, 4).
        cycles: how many.
        feedback: on the times of the phases.
        jitter: added to the time of every timed phase (k, cycles, n) [s].
        factors: of all torques (k,).
        tolerance: of each step of the integrator.
    """
    full, phases = full_starts(starts), np.array([phase.row for phase in orbit.gait.phases])
    k, n = len(full), len(phases)
    law = feedback or Feedback(np.zeros((n, 4)))
    walked, finals = np.zeros(k, dtype=np.int64), np.empty((k, 8))
    together = k >= ENSEMBLE and has_series(orbit.gait, parameters)
    (walk_together if together else walk_block)(
        parameters.rows, full, phases, orbit.gait.stop.row, orbit.start, law.gains, law.sample,
        np.zeros((k, cycles, n)) if jitter is None else jitter,
        np.ones(k) if factors is None else factors,
        math.copysign(1.0, orbit.stride), tolerance, walked, finals,
    )  # fmt: skip
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
    """Return the walks of several calls of a function as one.

    Args:
        function: of a module.
        calls: its arguments.
        done: called with the number of walks that a call has added.
    """
    count = (lambda walks: done(len(walks.cycles))) if done else None
    pieces = run_pieces(function, calls, threads=True, done=count)
    return Walks(
        *map(np.concatenate, zip(*(vars(piece).values() for piece in pieces), strict=True))
    )

"""Ensembles of walks: a gait repeated from many starts, disturbed in time and torque.

NEAR and `_lost` define who survives, and so the shares of `accord monkeybot basin` and `robust`:
they stay; BLOCK, of speed alone, may be tuned. `walk_block` and `walk_together` do the same with
one walk at a time and with all: both must be changed together (test_basin compares them).

A robot with magnets always holds on to something; what it can lose is its gait. It has lost it in
the first cycle in which it misses an event, in which its elbow has gone round, or after which the
hand that grips is not further forwards. It is still on its orbit if at the end it is NEAR it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVarTuple

import numpy as np
from monkeybot.gaits.gait import ENSEMBLE, full_starts, has_series, wrap
from monkeybot.gaits.landscape import Done
from monkeybot.model.hybrid import LIMIT, TOLERANCE, run
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
    times, now, u = np.empty(n), phases.copy(), np.empty(8)
    for i in range(starts.shape[0]):
        u[:] = starts[i]
        hand, cycles[i] = 0, 0
        for j in range(jitter.shape[1]):
            before = u[4]
            for m in range(n):
                now[m, 0] = factors[i] * phases[m, 0]
                if phases[m, 2] != 0.0:
                    time = phases[m, 1]
                    for c in range(4):
                        time += gains[m, c] * (u[c] - target[c])
                    if sample > 0.0:
                        time = sample * math.floor(time / sample + 0.5)
                    now[m, 1] = min(LIMIT, max(0.0, time + jitter[i, j, m]))
            count = run(both, u, hand, False, now, stop, tolerance, work, times, states, marks)
            if count < 0 or _lost(u, target, before, forwards):
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
    timed = phases[:, 2] != 0.0
    for j in range(jitter.shape[1]):
        u, k = finals[alive], len(alive)
        now = np.broadcast_to(phases, (k, *phases.shape)).copy()
        now[:, :, 0] *= factors[alive, None]
        late = phases[:, 1] + (u[:, :4] - target) @ gains.T
        if sample > 0.0:
            late = sample * np.floor(late / sample + 0.5)
        now[:, timed, 1] = np.clip(late + jitter[alive, j], 0.0, LIMIT)[:, timed]
        ends, counts, side = np.empty((k, 8)), np.empty(k, dtype=np.int64), hands[alive]
        run_ensemble(
            both, u, side, now, stop, tolerance, np.empty(now.shape[:2]), ends, counts,
        )  # fmt: skip
        ran = counts >= 0
        finals[alive[ran]], hands[alive] = ends[ran], side
        on = ran & (np.abs(ends[:, 1] - target[1]) <= math.pi)
        on &= (ends[:, 4] - u[:, 4]) * forwards > 0.0
        alive = alive[on]
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
    away = finals[:, :4] - orbit.start
    away[:, 0] = wrap(away[:, 0])
    return Walks(
        cycles=walked,
        final=finals[:, :4],
        displacement=finals[:, 4:6],
        survived=(walked == cycles) & (np.abs(away) <= NEAR).all(axis=1),
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
    parts = run_pieces(function, calls, threads=True, done=count)
    return Walks(*map(np.concatenate, zip(*(vars(part).values() for part in parts), strict=True)))

"""Symmetry of a gait: is each swing the mirror image of itself in reversed time?

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. The robot without friction is reversible: if q(t) =
(th1, th2) is a motion under the torque u(t), then -q(-t) is a motion under -u(-t). A swing from 0
to T is called symmetric if q(T - t) = -q(t), modulo full turns. Half-way it then hangs straight,
th1 = th2 = 0, or with a link folded up.

A passive gait without impact is always symmetric: it starts and ends at rest with both hands level,
in poses that are mirror images because the energy is the same, and only one motion starts from a
pose at rest. A gait with an impact is never symmetric, since the impact changes the energy; nor is
a gait under a constant torque.

SAMPLES may be changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from monkeybot.gaits.gait import wrap
from monkeybot.model.hybrid import Then
from monkeybot.model.motion import Motion
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract import Array

from roboaccord_studies.monkeybot.kinds import gait_of
from roboaccord_studies.monkeybot.orbits import FINE_TOLERANCE, Orbit

# Number of intervals of a swing, at whose ends its halves are compared: 5 ms each, in which a
# smooth motion bends little.
SAMPLES = 200


class Asymmetry(NamedTuple):
    """How far a gait is from symmetric; of several swings, the largest value.

    Args:
        mirror: largest |q(t) + q(T - t)| of a joint, modulo full turns [rad].
        straight: smallest distance from hanging straight, the larger of |th1| and |th2| [rad].
    """

    mirror: float
    straight: float


def asymmetry(orbit: Orbit, parameters: MonkeyBotParameters) -> Asymmetry | None:
    """Return the asymmetry of a gait; None if it has a flight, or starts within a swing."""
    swings = _swings(orbit, parameters)
    if swings is None:
        return None
    return Asymmetry(
        mirror=max(float(np.abs(wrap(q + q[::-1])).max()) for q in swings),
        straight=max(float(np.abs(wrap(q)).max(axis=1).min()) for q in swings),
    )


def _swings(orbit: Orbit, parameters: MonkeyBotParameters) -> list[Array] | None:
    """Return the angles of each swing at evenly spaced times (SAMPLES + 1, 2) [rad]."""
    phases = gait_of(orbit.kind, orbit.controls).phases
    if any(phase.then in (Then.RELEASE, Then.GRIP_OTHER) for phase in phases):
        return None
    start = np.concatenate([orbit.start, np.zeros(4)])
    motion = Motion(parameters, start, tolerance=FINE_TOLERANCE)
    swings = list[Array]()
    pieces = list[tuple[float, float]]()  # duration [s] and torque [N m] of phases of a swing
    for phase, duration in zip(phases, orbit.times.tolist(), strict=True):
        pieces.append((duration, phase.torque))
        if phase.then is Then.CHANGE:
            swings.append(_sample_swing(motion, pieces))
            motion.end_phase(phase.then)
            pieces = []
    if pieces and swings:  # the cycle starts within a swing, which it would cut in two
        return None
    return swings


def _sample_swing(motion: Motion, pieces: list[tuple[float, float]]) -> Array:
    """Return the angles at SAMPLES + 1 times of a swing (SAMPLES + 1, 2) [rad].

    Args:
        motion: at the start of the swing; moved to its end. `hand_state` begins with (th1, th2).
        pieces: duration [s] and torque [N m] of each phase of the swing.
    """
    ends = np.cumsum([duration for duration, _ in pieces])
    times = np.linspace(0.0, ends[-1], SAMPLES + 1)
    angles, now = [motion.hand_state[:2].copy()], 0.0
    for time in times[1:].tolist():
        for end, (_, torque) in zip(ends.tolist(), pieces, strict=True):
            if now < min(end, time):
                motion.advance(min(end, time) - now, torque)
                now = min(end, time)
        angles.append(motion.hand_state[:2].copy())
    return np.array(angles)

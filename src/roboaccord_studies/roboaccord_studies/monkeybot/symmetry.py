"""Symmetry of a gait about the vertical, in which its swing is its own mirror image in time.

The robot without friction is reversible: with q(t) = (th1, th2) a motion under the torque u(t),
-q(-t) is one under -u(-t). A swing from 0 to T is symmetric if q(T - t) = -q(t), modulo full turns:
half-way it hangs straight, th1 = th2 = 0, or with a link folded up. A passive gait without impact
always is: it starts and ends at rest with both hands level, at mirror images of one pose because
the energy is kept, and the motion from a pose at rest is unique. A gait with an impact never is,
since its energy after the change is not that before, nor one under a constant torque.

SAMPLES may be changed: how many points of a swing are compared. `mirror` is fixed by the definition
above, and test_asymmetry compares it with an integration of its own; `accord monkeybot find` prints
both figures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from monkeybot.gaits.gait import wrap
from monkeybot.model.hybrid import Then
from monkeybot.model.motion import Motion
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract import Array

from roboaccord_studies.monkeybot.kinds import gait_of
from roboaccord_studies.monkeybot.orbits import FINE, Orbit

SAMPLES = 200  # intervals of a swing in which its halves are compared


@dataclass(frozen=True)
class Asymmetry:
    """Measure how far a gait is from being symmetric; the most of its swings.

    Args:
        mirror: largest |q(t) + q(T - t)| of a joint, modulo full turns [rad].
        straight: least distance from hanging straight, the larger of |th1| and |th2| [rad].
    """

    mirror: float
    straight: float


def asymmetry(orbit: Orbit, parameters: MonkeyBotParameters) -> Asymmetry | None:
    """Return the asymmetry of a periodic gait; None with a flight, or a start within a swing."""
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
    motion = Motion(parameters, np.concatenate([orbit.start, np.zeros(4)]), tolerance=FINE)
    swings, pieces = list[Array](), list[tuple[float, float]]()
    for phase, duration in zip(phases, orbit.times.tolist(), strict=True):
        pieces.append((duration, phase.torque))
        if phase.then is Then.CHANGE:
            swings.append(_sampled(motion, pieces))
            motion.then(phase.then)
            pieces = []
    if pieces and swings:  # a cycle that does not start at a change: its ends are one swing
        return None
    return swings


def _sampled(motion: Motion, pieces: list[tuple[float, float]]) -> Array:
    """Return the angles over phases of a swing, each of a duration [s] and under a torque [N m]."""
    ends = np.cumsum([duration for duration, _ in pieces])
    times = np.linspace(0.0, ends[-1], SAMPLES + 1)
    angles, now = [motion.held[:2].copy()], 0.0
    for time in times[1:].tolist():
        for end, (_, torque) in zip(ends.tolist(), pieces, strict=True):
            if now < min(end, time):
                motion.advance(min(end, time) - now, torque)
                now = min(end, time)
        angles.append(motion.held[:2].copy())
    return np.array(angles)

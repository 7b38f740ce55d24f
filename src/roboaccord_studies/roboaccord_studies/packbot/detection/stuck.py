"""Encoders that are stuck, told from joints that stopped.

A stuck encoder repeats its reading to the bit, which noise never does. Where there is no noise, a
joint that really stopped within a tick has passed on an impulse to the other joints; one with a
stuck encoder has not. Encoders in counts, whose rates are differences, repeat at rest as well: they
are not looked at, and a stuck one seems to be a frozen joint.

REPEATS, PASSED and SILENT may be tuned (test_diagnosis, test_counts).
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import Array, RobotState

from roboaccord_studies.packbot.detection.balance import Tick
from roboaccord_studies.packbot.detection.filters import N
from roboaccord_studies.packbot.detection.noise import ADAPT, QUIET, SETTLED

REPEATS = 5  # of a reading, to the bit, after which an encoder is called stuck
PASSED = 0.5  # fraction of the impulse expected of a stop, above which there was one
SILENT = 10.0 * QUIET[1]  # rad/s: changes of rates smaller than that show no impulse


class StuckEncoders:
    """Counts of repeated readings, and whether each joint passed on an impulse as it stopped.

    Args:
        rate_noise: standard deviation of the rates that is assumed at first [rad/s].
    """

    def __init__(self, rate_noise: float) -> None:
        self._rate_noise = rate_noise
        self.reset(0.0)

    def reset(self, time: float) -> None:
        """Begin at a time [s]."""
        self._begun = time
        self._repeats = np.zeros(N, dtype=np.int64)
        self._impulse = np.ones(N, dtype=np.bool_)

    def see(
        self, before: RobotState, after: RobotState, tick: Tick, unknowns: Array, noise: float,
        *, counted: bool,
    ) -> int | None:  # fmt: skip
        """Return the joint whose encoder is stuck, if there is one.

        Args:
            before, after: measured states at the ends of the tick.
            tick: between them.
            unknowns: of the arm before it (m,).
            noise: estimated standard deviation of the rates before readings repeated [rad/s].
            counted: whether the encoders are in counts, whose readings repeat at rest.
        """
        repeated = (after.q == before.q) & (after.qd == 0.0) & (not counted)
        elapsed = after.time - self._begun
        for j in np.flatnonzero(repeated & (self._repeats == 0)).tolist():
            # Before that, no impulse can be expected of the arm.
            settled = after.time > self._begun + SETTLED
            self._impulse[j] = not settled or _passes(j, unknowns, tick, before.qd, after.qd)
        self._repeats = np.where(repeated, self._repeats + 1, 0)
        # What was assumed of the noise at first fades from the estimate.
        noisy = noise > 2.0 * (QUIET[1] + self._rate_noise * np.exp(-0.5 * elapsed / ADAPT))
        stuck = (self._repeats == REPEATS) & (noisy | ~self._impulse)
        return int(stuck.argmax()) if stuck.any() else None


def _passes(joint: int, unknowns: Array, tick: Tick, before: Array, after: Array) -> bool:
    """Return whether the other joints show the impulse by which a joint has stopped in a tick.

    Args:
        joint: index.
        unknowns: of the arm (m,).
        tick: in which it stopped.
        before, after: rates at its ends (7,) [rad/s].
    """
    efforts = tick.modelled + tick.motor + tick.effects @ unknowns
    expected = tick.keep @ before + tick.free @ efforts
    shape = np.delete(tick.free[:, joint] / tick.free[joint, joint], joint)
    jump = np.delete(after - expected, joint)
    full = -float(expected[joint]) * float(shape @ shape)  # of `shape @ jump`, if it stopped
    return abs(full) < SILENT or float(shape @ jump) / full > PASSED

"""Detection of stuck encoders, which have to be distinguished from joints that really stopped.

The diagnosis of the Packbot's arm (diagnosis.py) watches joint states for failures. A stuck encoder
repeats its reading exactly, which noisy readings never do. Without noise, an impulse decides: a
joint that really stops within a tick (control period) jerks the other joints, one with a stuck
encoder does not. Encoders that measure in counts repeat their readings at rest as well; these are
not examined, so that a stuck one is taken for a frozen joint.

REPEATS, IMPULSE_SHARE and LEAST_CHANGE may be tuned (test_diagnosis, test_counts).
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import Array, RobotState

from roboaccord_studies.packbot.detection.balance import Tick
from roboaccord_studies.packbot.detection.filters import N
from roboaccord_studies.packbot.detection.noise import ADAPTATION_TIME, NOISE_FLOOR, SETTLING_TIME

# Number of exact repetitions of a reading after which an encoder is stuck; noise of doubles never
# repeats, and sensors that are read twice as often as they measure do once.
REPEATS = 5
# Part of the impulse expected of a stop; with a larger one the joint stopped. It is 1 of a joint
# that stopped and 0 of a stuck encoder: the middle.
IMPULSE_SHARE = 0.5
# rad/s; smaller changes of rates cannot show an impulse, ten times the noise.
LEAST_CHANGE = 10.0 * NOISE_FLOOR[1]


class StuckEncoders:
    """Counter of repeated readings, which also notes whether stopping joints gave an impulse.

    Args:
        rate_noise: initially assumed standard deviation of the rates [rad/s].
    """

    def __init__(self, rate_noise: float) -> None:
        self._rate_noise = rate_noise
        self.reset(0.0)

    def reset(self, time: float) -> None:
        """Begin at a time [s]."""
        self._start_time = time
        self._repeats = np.zeros(N, dtype=np.int64)  # how often each reading has been repeated
        self._has_impulse = np.ones(N, dtype=np.bool_)  # whether each joint stopped with an impulse

    def update(
        self,
        before: RobotState,
        after: RobotState,
        tick: Tick,
        unknowns: Array,
        noise: float,
        *,
        counted: bool,
    ) -> int | None:
        """Return the index of the joint whose encoder is stuck, if there is one.

        Args:
            before, after: measured states at the ends of the tick.
            tick: between them.
            unknowns: of the arm before it (m,).
            noise: estimated standard deviation of the rates before readings repeated [rad/s].
            counted: whether the encoders are in counts, whose readings repeat at rest.
        """
        repeated = (after.q == before.q) & (after.qd == 0.0) & (not counted)
        elapsed = after.time - self._start_time
        for j in np.flatnonzero(repeated & (self._repeats == 0)).tolist():
            # Before the unknowns of the arm are estimated, no impulse can be predicted.
            self._has_impulse[j] = True
            if after.time > self._start_time + SETTLING_TIME:
                self._has_impulse[j] = _shows_impulse(j, unknowns, tick, before.qd, after.qd)
        self._repeats = np.where(repeated, self._repeats + 1, 0)
        # Readings are noisy if the noise exceeds twice its lower bound and the initial assumption,
        # which fades from the estimate.
        initial_noise = self._rate_noise * np.exp(-0.5 * elapsed / ADAPTATION_TIME)
        noisy = noise > 2.0 * (NOISE_FLOOR[1] + initial_noise)
        stuck = (self._repeats == REPEATS) & (noisy | ~self._has_impulse)
        return int(stuck.argmax()) if stuck.any() else None


def _shows_impulse(joint: int, unknowns: Array, tick: Tick, before: Array, after: Array) -> bool:
    """Return whether the other joints show the impulse by which a joint has stopped in a tick.

    An impulse on a joint changes all rates in proportion to its column of `tick.free`. The measured
    change is projected on this column, without the joint itself, and compared with the change that
    would have stopped the joint.

    Args:
        joint: index of the joint.
        unknowns: estimated unknowns of the arm (m,).
        tick: terms of the balance of the tick in which it stopped.
        before, after: measured rates at its ends (7,) [rad/s].
    """
    efforts = tick.modelled + tick.motor + tick.effects @ unknowns
    expected = tick.keep @ before + tick.free @ efforts
    shape = np.delete(tick.free[:, joint] / tick.free[joint, joint], joint)
    jump = np.delete(after - expected, joint)
    at_stop = -float(expected[joint]) * float(shape @ shape)  # value of `shape @ jump` after a stop
    return abs(at_stop) < LEAST_CHANGE or float(shape @ jump) / at_stop > IMPULSE_SHARE

"""Detection of rest: whether the joints that place the hand have stopped.

The controller `recover` (recovery.py) stops the arm when a joint fails, and waits for rest before
it plans a new path. The arm is at rest when the rates of all these joints have stayed below
`MAX_RESTING_RATE` for the time `MIN_RESTING_TIME`. Noisy rates are averaged first. Camera and wrist
are ignored, because they do not move the hand.

The constants may be tuned. test_packbot_recovery runs the arm to rest.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import RobotState

from packbot.model.parameters import JOINTS
from packbot.planning.reaching import HAND_JOINTS

# rad/s; twice the noise of measured rates; a joint moves the tips by up to 37 mm/s
MAX_RESTING_RATE = 0.02
# s; time constant of the average of noisy rates, 15 control periods: it divides white noise by
# sqrt(30), and is half of MIN_RESTING_TIME
RATE_AVERAGING_TIME = 0.15
# s; rates must be small for this time, as they are also where a swing reverses: for so long if a
# loose elbow 2, w = 4.3 rad/s, swings by no more than 2 MAX_RESTING_RATE / (0.3 w^2) = 7 mrad.
MIN_RESTING_TIME = 0.3
# s; an arm that still swings after this time is taken to be at rest. A loose elbow 2 with viscous
# friction b and inertia I = 0.76 kg m^2 decays in 2 I / b = 3 s, so that 7 % are left.
MAX_SWINGING_TIME = 8.0


class RestWatch:
    """Times since the arm last moved, and since it was last told to stop.

    Args:
        period: control period [s].
        noisy: whether the measured rates are averaged over `RATE_AVERAGING_TIME`.

    Attributes:
        moved: time at which the arm last moved [s].
    """

    def __init__(self, period: float, *, noisy: bool) -> None:
        # Weight of the newest rate in the average.
        self._weight = period / (period + RATE_AVERAGING_TIME) if noisy else 1.0
        self.reset()

    def reset(self) -> None:
        """Return to the state at the start of a run."""
        self._rate = np.zeros(len(JOINTS))  # averaged [rad/s]
        self.restart(0.0)

    def restart(self, time: float) -> None:
        """Begin to wait for the arm to come to rest, at a time [s]."""
        self._stopping_since = self.moved = time

    def add(self, state: RobotState) -> None:
        """Add a measured state, and note whether the arm moves in it."""
        self._rate = (1.0 - self._weight) * self._rate + self._weight * state.qd
        if np.abs(self._rate[:HAND_JOINTS]).max() > MAX_RESTING_RATE:
            self.moved = state.time

    def at_rest(self, time: float) -> bool:
        """Return whether the arm has been at rest for `MIN_RESTING_TIME`."""
        return time - self.moved >= MIN_RESTING_TIME

    def has_settled(self, time: float) -> bool:
        """Return whether the arm is at rest, or still swings after `MAX_SWINGING_TIME`."""
        return self.at_rest(time) or time - self._stopping_since >= MAX_SWINGING_TIME

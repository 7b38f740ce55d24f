"""Whether the arm is at rest, by the rates of the joints that place the hand.

The arm is at rest when all these rates have stayed below `STILL` for `REST`. Where rates are noisy
they are averaged first. Camera and wrist are not looked at: they do not move the hand.

STILL, SMOOTH, REST and PATIENCE may be tuned. test_packbot_recovery runs the arm to rest.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import RobotState

from packbot.model.parameters import JOINTS
from packbot.planning.reaching import ARM

STILL = 0.02  # rad/s: twice the noise of measured rates; a joint moves the tips by 37 mm/s at most
SMOOTH = 0.15  # s: time constant of the average of noisy rates, 15 control periods
REST = 0.3  # s for which the rates must be small: the arm also stops where it turns round
PATIENCE = 8.0  # s after which an arm that still swings is taken to be at rest


class RestWatch:
    """Times since the arm last moved, and since it was last told to stop.

    Args:
        period: of control [s].
        noisy: whether the measured rates are averaged over `SMOOTH`.

    Attributes:
        moved: time at which the arm last moved [s].
    """

    def __init__(self, period: float, *, noisy: bool) -> None:
        self._weight = period / (period + SMOOTH) if noisy else 1.0  # of the newest rate
        self.reset()

    def reset(self) -> None:
        """Begin with an arm at rest."""
        self._rate = np.zeros(len(JOINTS))  # averaged [rad/s]
        self.restart(0.0)

    def restart(self, time: float) -> None:
        """Wait anew for the arm to come to rest from a time [s] on."""
        self._stopping_since = self.moved = time

    def see(self, state: RobotState) -> None:
        """Take in a measured state."""
        self._rate = (1.0 - self._weight) * self._rate + self._weight * state.qd
        if np.abs(self._rate[:ARM]).max() > STILL:
            self.moved = state.time

    def at_rest(self, time: float) -> bool:
        """Return whether the arm has been at rest for `REST`, without patience for a swing."""
        return time - self.moved >= REST

    def may_go_on(self, time: float) -> bool:
        """Return whether the arm is at rest, or was waited for long enough."""
        return self.at_rest(time) or time - self._stopping_since >= PATIENCE

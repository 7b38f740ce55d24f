"""Events of joints that reach their stops, the same in every simulator.

A stop is the end of a joint's range. Simulators have a `StopWatch`, which compares the positions
with the stops after each control tick. STOP_MARGIN and RELEASE decide which contacts with a stop
are separate events, and may be tuned (test_engines).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from roboaccord.contract import Array, Event
from roboaccord.description.tree import Tree
from roboaccord.numerics.jit import kernel

# [rad or m] A joint reaches its stop when it is closer than this to the limit: far above round-off,
# far below RELEASE.
STOP_MARGIN = 1e-6
# [rad or m] A joint leaves its stop when it is farther than this from the limit: more than impacts
# of other joints move it.
RELEASE = 1e-4


class StopWatch:
    """Make an event for each joint that reaches its stop.

    A joint reaches its stop when it is within `STOP_MARGIN` of a limit, or beyond it, at a control
    tick, and leaves it when it is `RELEASE` away from both limits. In between there is one event.

    Args:
        joints: names; n of them.
        lower, upper: limits of their positions (n,) [rad or m].

    Attributes:
        free_range: if all positions are smaller in size than this, no joint is at its stop.
        any_stopped: whether a joint was at its stop at the last tick.
    """

    def __init__(self, joints: Sequence[str], lower: Array, upper: Array) -> None:
        self._joints = tuple(joints)
        self._lower, self._upper = np.array(lower, float), np.array(upper, float)
        self._stopped, self._just_stopped = np.zeros((2, len(self._joints)), dtype=bool)
        self.free_range = float(np.minimum(-lower, upper).min(initial=np.inf)) - STOP_MARGIN
        self.any_stopped = False

    @classmethod
    def of(cls, tree: Tree, joints: Sequence[str]) -> StopWatch:
        """Return the watch of joints of a description."""
        described = {joint.name: joint for joint in tree.moving}
        lower = np.array([described[name].lower for name in joints])
        return cls(joints, lower, np.array([described[name].upper for name in joints]))

    def reset(self, q: Array) -> None:
        """Start at positions (n,); joints that are at their stops there make no event."""
        self._stopped = (q > self._upper - STOP_MARGIN) | (q < self._lower + STOP_MARGIN)
        self.any_stopped = bool(self._stopped.any())

    def new_stops(self, q: Array) -> Sequence[int]:
        """Return the numbers of the joints that reach their stops at positions q (n,)."""
        flags = self._stopped, self._just_stopped
        stopped_count, new_count = update_stopped(q, self._lower, self._upper, *flags)
        self.any_stopped = stopped_count > 0
        return np.flatnonzero(self._just_stopped).tolist() if new_count else ()

    @property
    def limits(self) -> tuple[Array, Array]:
        """Lower and upper limits of the positions (n,)."""
        return self._lower, self._upper

    def beyond(self, q: Array) -> str:
        """Return the name of a joint beyond its limits at positions q (n,), or ""."""
        beyond = np.flatnonzero((q > self._upper) | (q < self._lower))
        return self._joints[beyond[0]] if beyond.size else ""

    def event(self, joint: int, time: float, impulse: float = 0.0) -> Event:
        """Return the event of joint number `joint` reaching its stop at a time [s]."""
        return Event(time, "joint_stop", self._joints[joint], impulse)


@kernel
def update_stopped(q, lower, upper, stopped, just_stopped):
    """Update which joints are at their stops, and fill which of them have just reached them.

    Args:
        q, lower, upper: positions and their limits (n,) [rad or m].
        stopped: whether each joint was at its stop, and is (n,).
        just_stopped: whether it is and was not, filled (n,).

    Returns:
        number of joints at their stops, and of those that have just reached them.
    """
    stopped_count, new_count = 0, 0
    for i in range(q.shape[0]):
        high, low = upper[i], lower[i]
        is_at_stop = q[i] > high - STOP_MARGIN or q[i] < low + STOP_MARGIN
        is_near_stop = q[i] > high - RELEASE or q[i] < low + RELEASE
        just_stopped[i] = is_at_stop and not stopped[i]
        stopped[i] = just_stopped[i] or (is_near_stop and stopped[i])
        stopped_count += stopped[i]
        new_count += just_stopped[i]
    return stopped_count, new_count

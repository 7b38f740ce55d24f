"""Events of joints that reach their stops, the same in every simulator.

`StopWatch` looks at the positions after each control tick. STOP_MARGIN and RELEASE decide what
counts as one event, and may be tuned (test_engines).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Event
from roboaccord.description.tree import Tree
from roboaccord.numerics.jit import kernel

# rad or m: closer to its limit, a joint is at its stop: far above round-off, far below RELEASE
STOP_MARGIN = 1e-6
# rad or m: a joint is at its stop until it is this far away; more than impacts of other joints move
# it
RELEASE = 1e-4


@kernel
def look(q, lower, upper, stopped, come):
    """Update `stopped`, which joints are at their stops, and fill `come`, which just reached them.

    Args:
        q, lower, upper: positions and their limits (n,).
        stopped, come: flags (n,).

    Returns:
        number of joints at their stops, and of those that have just reached them.
    """
    stopped_count, come_count = 0, 0
    for i in range(q.shape[0]):
        above, below = upper[i], lower[i]
        come[i] = not stopped[i] and (q[i] > above - STOP_MARGIN or q[i] < below + STOP_MARGIN)
        stopped[i] = come[i] or (stopped[i] and (q[i] > above - RELEASE or q[i] < below + RELEASE))
        stopped_count += stopped[i]
        come_count += come[i]
    return stopped_count, come_count


class StopWatch:
    """Make an event for each joint that reaches its stop.

    A joint reaches its stop when it is within `STOP_MARGIN` of a limit, or beyond it, at a control
    tick, and leaves it when it is `RELEASE` away from both limits. In between there is one event.

    Args:
        joints: names; n of them.
        lower, upper: limits of their positions (n,) [rad or m].

    Attributes:
        nearest: if all positions are smaller in size than this, no joint is at its stop.
        any: whether a joint was at its stop at the last tick.
    """

    def __init__(self, joints: Sequence[str], lower: Array, upper: Array) -> None:
        self._joints = tuple(joints)
        self._lower, self._upper = np.array(lower, float), np.array(upper, float)
        self._stopped, self._just_stopped = np.zeros((2, len(self._joints)), dtype=bool)
        self.nearest = float(np.minimum(-lower, upper).min(initial=np.inf)) - STOP_MARGIN
        self.any = False

    @classmethod
    def of(cls, tree: Tree, joints: Sequence[str]) -> StopWatch:
        """Return the watch of joints of a description."""
        described = {joint.name: joint for joint in tree.moving}
        lower = np.array([described[name].lower for name in joints])
        return cls(joints, lower, np.array([described[name].upper for name in joints]))

    def reset(self, q: Array) -> None:
        """Start at positions (n,); joints that are at their stops there make no event."""
        self._stopped = (q > self._upper - STOP_MARGIN) | (q < self._lower + STOP_MARGIN)
        self.any = bool(self._stopped.any())

    def see(self, q: Array) -> Sequence[int]:
        """Return the numbers of the joints that reach their stops at positions q (n,)."""
        stopped, come_count = look(q, self._lower, self._upper, self._stopped, self._just_stopped)
        self.any = stopped > 0
        return np.flatnonzero(self._just_stopped).tolist() if come_count else ()

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

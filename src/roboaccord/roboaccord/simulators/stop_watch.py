"""Events of joints that reach their stops, alike in every simulator.

STOP_MARGIN and RELEASE may be tuned: they decide what counts as one event (test_engines).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Event
from roboaccord.description.tree import Tree
from roboaccord.numerics.jit import kernel

STOP_MARGIN = 1e-6  # rad: a joint this close to its limit is at its stop; far above round-off
# rad: a joint stays at its stop until it is this far away; more than impacts of others shake it by
RELEASE = 1e-4


@kernel
def look(q, lower, upper, stopped, come):
    """Update which joints are at their stops, and fill which have just reached them (n,).

    Returns:
        how many are at their stops, and how many have just reached them.
    """
    there, new = 0, 0
    for i in range(q.shape[0]):
        high, low = upper[i], lower[i]
        come[i] = not stopped[i] and (q[i] > high - STOP_MARGIN or q[i] < low + STOP_MARGIN)
        stopped[i] = come[i] or (stopped[i] and (q[i] > high - RELEASE or q[i] < low + RELEASE))
        there += stopped[i]
        new += come[i]
    return there, new


class StopWatch:
    """Make an event for each joint that reaches its stop.

    A joint reaches its stop when it is within `STOP_MARGIN` of a limit, or beyond it, at a control
    tick, and leaves it when it is `RELEASE` away from both limits. In between there is one event.

    Args:
        joints: names; n of them.
        lower, upper: limits of their positions (n,) [rad or m].

    Attributes:
        nearest: while all positions are smaller in size than this, no joint is at its stop.
        any: whether a joint was at its stop at the last tick.
    """

    def __init__(self, joints: Sequence[str], lower: Array, upper: Array) -> None:
        self._joints = tuple(joints)
        self._lower, self._upper = np.array(lower, float), np.array(upper, float)
        self._stopped, self._come = np.zeros((2, len(self._joints)), dtype=bool)
        self.nearest = float(np.minimum(-lower, upper).min(initial=np.inf)) - STOP_MARGIN
        self.any = False

    @classmethod
    def of(cls, tree: Tree, joints: Sequence[str]) -> StopWatch:
        """Return the watch of joints of a description."""
        described = {joint.name: joint for joint in tree.moving}
        lower = np.array([described[name].lower for name in joints])
        return cls(joints, lower, np.array([described[name].upper for name in joints]))

    def reset(self, q: Array) -> None:
        """Begin at positions (n,); joints that are at their stops there make no event."""
        self._stopped = (q > self._upper - STOP_MARGIN) | (q < self._lower + STOP_MARGIN)
        self.any = bool(self._stopped.any())

    def see(self, q: Array) -> Sequence[int]:
        """Return the numbers of the joints that reach their stops at positions q (n,)."""
        stopped, come = look(q, self._lower, self._upper, self._stopped, self._come)
        self.any = stopped > 0
        return np.flatnonzero(self._come).tolist() if come else ()

    @property
    def limits(self) -> tuple[Array, Array]:
        """Lower and upper limits of the positions (n,)."""
        return self._lower, self._upper

    def beyond(self, q: Array) -> str:
        """Return the name of a joint beyond its limits at positions q (n,); "" where none is."""
        over = np.flatnonzero((q > self._upper) | (q < self._lower))
        return self._joints[over[0]] if over.size else ""

    def event(self, joint: int, time: float, impulse: float = 0.0) -> Event:
        """Return the event of joint number `joint` reaching its stop at a time [s]."""
        return Event(time, "joint_stop", self._joints[joint], impulse)

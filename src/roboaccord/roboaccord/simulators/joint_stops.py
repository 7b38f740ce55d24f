"""Joint stop events at control ticks, alike in every simulator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Event
from roboaccord.description.tree import Tree
from roboaccord.numerics.jit import kernel

STOP_MARGIN = 1e-6  # rad: a joint this close to its limit is at its stop
RELEASE = 1e-4  # rad: and stays there until it is this far away; impacts elsewhere shake it


@kernel
def look(q, lower, upper, stopped, come):
    """Bring up to date which joints are at their stops, and fill which have come to them (n,).

    Returns:
        how many are there, and how many have come.
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
    """Make an event of each joint that comes to its stop.

    A joint has come when it is within `STOP_MARGIN` of a limit, or beyond it, at a control tick,
    and has left when it is `RELEASE` from both at one. So there is one event as long as it stays.

    Args:
        joints: names, n of them.
        lower, upper: limits of their positions (n,) [rad or m].

    Attributes:
        nearest: no joint is at its stop while all positions are less than this, in size.
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
        """Return what watches joints of a description."""
        described = {joint.name: joint for joint in tree.moving}
        lower = np.array([described[name].lower for name in joints])
        return cls(joints, lower, np.array([described[name].upper for name in joints]))

    def reset(self, q: Array) -> None:
        """Begin at positions (n,); joints that are at their stops have not come to them."""
        self._stopped = self._within(q, STOP_MARGIN)
        self.any = bool(self._stopped.any())

    def see(self, q: Array) -> Sequence[int]:
        """Return the numbers of the joints that have come to their stops by now, at positions q."""
        stopped, come = look(q, self._lower, self._upper, self._stopped, self._come)
        self.any = stopped > 0
        return np.flatnonzero(self._come).tolist() if come else ()

    def beyond(self, q: Array) -> str:
        """Return the name of a joint beyond its limits at positions q (n,); "" where none is."""
        over = np.flatnonzero((q > self._upper) | (q < self._lower))
        return self._joints[over[0]] if over.size else ""

    def event(self, joint: int, time: float, impulse: float = 0.0) -> Event:
        """Return the event of a joint, by its number, that comes to its stop at a time [s]."""
        return Event(time, "joint_stop", self._joints[joint], impulse)

    def _within(self, q: Array, distance: float) -> NDArray[np.bool_]:
        return np.asarray((q > self._upper - distance) | (q < self._lower + distance))

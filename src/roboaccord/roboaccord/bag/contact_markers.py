"""Contact points of a simulator as marker messages, at a viewer's rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_typestore

from roboaccord.cdr import encode_contacts
from roboaccord.cdr.messages import ARROW
from roboaccord.contract.contact import ContactPoint
from roboaccord.contract.interfaces import Observer
from roboaccord.contract.state import Array, RobotState
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

PERIOD = 1.0 / 30.0  # s of simulated time
_ROUND_OFF = 1e-9  # s


Find = Callable[[RobotState], Sequence[ContactPoint]]


def contact_finder(setup: Setup, simulator: Simulator | None) -> Find | None:
    """Return a function that finds the contacts of a state.

    They are the simulator's own. Where there is no simulator, but Gazebo that tells of none, they
    are those that the robot's geometry shows.

    Args:
        setup: robot and scenario.
        simulator: that is in the state, or None.

    Returns:
        None where nothing touches, or nobody can tell.
    """
    if setup.contact is None:
        return None
    if simulator is None:
        return setup.robot.contact_points(setup)
    return None if simulator.contacts() is None else lambda _: simulator.contacts() or ()


def read_arrows(messages: Sequence[bytes]) -> tuple[Array, list[Array]]:
    """Return times (m,) [s] and the arrows (k, 2, 3) [m] of contacts in recorded messages."""
    store = _typestore()
    times, arrows = list[float](), list[Array]()
    for data in messages:
        markers = store.deserialize_cdr(data, "visualization_msgs/msg/MarkerArray").markers
        if markers:
            stamp = markers[0].header.stamp
            times.append(stamp.sec + 1e-9 * stamp.nanosec)
            ends = [[(p.x, p.y, p.z) for p in m.points] for m in markers if m.type == ARROW]
            arrows.append(np.array([pair for pair in ends if len(pair) == 2]).reshape(-1, 2, 3))
    return np.array(times), arrows


@cache
def _typestore() -> Any:
    """Return what reads messages; a new one compiles the code for each type again, for 20 ms."""
    return get_typestore(Stores.ROS2_JAZZY)


class ContactMarkers(Observer):
    """Publish contacts at a fixed rate; an observer.

    Args:
        find: finds the contacts of the state that is observed.
        send: takes the state and message bytes.
        wanted: whether anybody listens.
    """

    def __init__(
        self,
        find: Find,
        send: Callable[[RobotState, bytes], None],
        wanted: Callable[[], bool | int] = lambda: True,
    ) -> None:
        self._find, self._send, self._wanted = find, send, wanted
        self._next = self._last = 0.0

    def on_state(self, state: RobotState) -> None:
        """Give the contacts of a state, if they are due."""
        again = state.time < self._last  # the simulation was reset
        self._last = state.time
        if (again or state.time >= self._next - _ROUND_OFF) and self._wanted():
            self._next = state.time + PERIOD
            self._send(state, encode_contacts(state.time, self._find(state)))

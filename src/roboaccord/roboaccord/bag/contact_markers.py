"""Contact points of a run as messages of markers, for viewers: found, published and read back.

A marker is a shape that viewers of ROS draw, here an arrow for the force at a contact point.
`contact_finder` returns the function that finds the contacts in a state, `ContactMarkers` publishes
them every PERIOD during a run, and `read_arrows` reads them from the messages of a bag. Shape and
colour of the markers are decided in cdr/messages.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from roboaccord.bag.resampling import SLACK
from roboaccord.bag.typestore import typestore
from roboaccord.cdr import encode_contacts
from roboaccord.cdr.messages import ARROW
from roboaccord.contract import Array, ContactPoint, Observer, RobotState
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

PERIOD = 1.0 / 30.0  # s of simulated time between messages of contacts: the frame rate of a viewer

# A function that returns the contacts in a state.
Find = Callable[[RobotState], Sequence[ContactPoint]]


def contact_finder(setup: Setup, simulator: Simulator | None) -> Find | None:
    """Return a function that finds the contacts in a state.

    They are those that the simulator reports. Gazebo reports none: there they follow from the
    robot's geometry.

    Args:
        setup: robot and scenario.
        simulator: which is in the state that is asked for; None for Gazebo.

    Returns:
        the function; None for a robot without contacts, or if they are not known.
    """
    if setup.contact is None:
        return None
    if simulator is None:
        return setup.robot.contact_points(setup)
    return None if simulator.contacts() is None else lambda _: simulator.contacts() or ()


class ContactMarkers(Observer):
    """Observer that publishes contacts every PERIOD of simulated time.

    Args:
        find: returns the contacts in a state.
        send: called with the state and the bytes of the message.
        has_subscriber: returns whether anybody wants the message.
    """

    def __init__(
        self,
        find: Find,
        send: Callable[[RobotState, bytes], None],
        has_subscriber: Callable[[], bool | int] = lambda: True,
    ) -> None:
        self._find, self._send, self._has_subscriber = find, send, has_subscriber
        self._next_time = 0.0  # from which on a message is due [s]
        self._last_time = 0.0  # of the last state [s]

    def on_state(self, state: RobotState) -> None:
        """Send the contacts in a state, if a message is due."""
        was_reset = state.time < self._last_time
        self._last_time = state.time
        if (was_reset or state.time >= self._next_time - SLACK) and self._has_subscriber():
            self._next_time = state.time + PERIOD
            self._send(state, encode_contacts(state.time, self._find(state)))


def read_arrows(messages: Sequence[bytes]) -> tuple[Array, list[Array]]:
    """Return times (m,) [s] and, for each, start and end of the contacts' arrows (k, 2, 3) [m]."""
    store = typestore()
    times, arrows = list[float](), list[Array]()
    for data in messages:
        markers = store.deserialize_cdr(data, "visualization_msgs/msg/MarkerArray").markers
        if not markers:
            continue
        stamp = markers[0].header.stamp
        times.append(stamp.sec + 1e-9 * stamp.nanosec)
        points = [[(p.x, p.y, p.z) for p in m.points] for m in markers if m.type == ARROW]
        ends = [pair for pair in points if len(pair) == 2]
        arrows.append(np.array(ends).reshape(-1, 2, 3))
    return np.array(times), arrows

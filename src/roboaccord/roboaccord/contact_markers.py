"""The contacts of a simulator as messages, at a rate that a viewer can use."""

from __future__ import annotations

from collections.abc import Callable

from roboaccord.assembly import Setup
from roboaccord.cdr import encode_contacts
from roboaccord.contact import Touching
from roboaccord.interfaces import Simulator
from roboaccord.state import Command, RobotState
from roboaccord.trajectory import Event

PERIOD = 1.0 / 30.0  # s of simulated time
_ROUND_OFF = 1e-9  # s


def touching(setup: Setup, simulator: Simulator) -> Touching | None:
    """Return a simulator that tells of contacts; None where it does not, or nothing touches."""
    return simulator if isinstance(simulator, Touching) and setup.contact is not None else None


class ContactMarkers:
    """Give the contacts when they are due; an observer.

    Args:
        simulator: in the state that is observed.
        send: takes the state and message bytes.
        wanted: whether anybody listens.
    """

    def __init__(
        self,
        simulator: Touching,
        send: Callable[[RobotState, bytes], None],
        wanted: Callable[[], object] = lambda: True,
    ) -> None:
        self._simulator, self._send, self._wanted = simulator, send, wanted
        self._next = self._last = 0.0

    def on_state(self, state: RobotState) -> None:
        """Give the contacts of a state, if they are due."""
        again = state.time < self._last  # the simulation was reset
        self._last = state.time
        if (again or state.time >= self._next - _ROUND_OFF) and self._wanted():
            self._next = state.time + PERIOD
            self._send(state, encode_contacts(state.time, self._simulator.contacts()))

    def on_command(self, state: RobotState, command: Command) -> None:
        """Do nothing."""

    def on_event(self, event: Event) -> None:
        """Do nothing."""

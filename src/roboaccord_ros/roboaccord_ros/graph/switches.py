"""The switches of a robot: the services that set them, and their state over time, from events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from rclpy.node import Node
from roboaccord.contract.state import NO_SWITCHES
from roboaccord.contract.trajectory import Event
from std_srvs.srv import SetBool


class SwitchServices:
    """Offer `/R/SWITCH/set` of each switch; what is asked for acts with the next command.

    Args:
        node, robot: where it lives.
        names: of the switches.
    """

    def __init__(self, node: Node, robot: str, names: Iterable[str]) -> None:
        self._asked: dict[str, bool] = {}
        for name in names:
            node.create_service(SetBool, f"{robot}/{name}/set", partial(self._set, name))

    def take(self) -> Mapping[str, bool]:
        """Return what was asked for since the last call."""
        if not self._asked:
            return NO_SWITCHES
        asked, self._asked = self._asked, {}
        return asked

    def _set(
        self, name: str, request: SetBool.Request, response: SetBool.Response
    ) -> SetBool.Response:
        self._asked[name] = bool(request.data)
        response.success = True
        return response


class SwitchLog:
    """Follow the switches of a robot through a run.

    Args:
        initial: the switches at the start.
    """

    def __init__(self, initial: Mapping[str, bool]) -> None:
        self._initial = initial
        self._to_come: list[Event] = []
        self.now = dict(initial)

    def reset(self) -> None:
        """Go back to the start."""
        self._to_come, self.now = [], dict(self._initial)

    def note(self, event: Event) -> None:
        """Take an event, if it is one of a switch."""
        if event.subject in self.now:
            self._to_come.append(event)

    def advance(self, until: float) -> Mapping[str, bool]:
        """Follow the events before a time [s], and return the switches that they set."""
        due = [event for event in self._to_come if event.time < until]
        self._to_come = [event for event in self._to_come if event.time >= until]
        changes = {event.subject: event.kind.endswith("_on") for event in due}
        self.now = {**self.now, **changes}
        return changes

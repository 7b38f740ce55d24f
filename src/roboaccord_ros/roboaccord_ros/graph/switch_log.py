"""State of the switches over time, from events, because their messages have no stamp."""

from __future__ import annotations

from collections.abc import Mapping

from roboaccord.contract.trajectory import Event


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

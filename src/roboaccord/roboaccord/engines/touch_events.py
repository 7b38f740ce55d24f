"""Contacts by pairs of names, and the events of pairs that begin to touch.

Engines report contacts in an order of their own; `Pairs` gives them that of the contract. APART
decides what counts as one contact event, and may be tuned. An event has the time at which its pair
begins to touch and the normal impulse until it is taken (test_contact_events).
"""

from __future__ import annotations

from collections.abc import Sequence

from roboaccord.contract.contact import Contact, ContactPoint
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Event

# s: a pair that parts for less has not begun to touch again. Tunable: longer than a bounce of
# penalty contacts, a few physics steps, and shorter than a stride.
APART = 0.01


class Pairs:
    """Pairs of bodies that can touch, in either order.

    Args:
        contact: that names the pairs.
    """

    def __init__(self, contact: Contact) -> None:
        self._pairs = {frozenset(pair): pair for pair in contact.pairs}

    def has(self, one: str, other: str) -> bool:
        """Return whether two bodies can touch."""
        return frozenset((one, other)) in self._pairs

    def check(self, shaped: Sequence[str]) -> None:
        """Refuse a pair with a body that has no shape.

        Args:
            shaped: names of all links and fixtures that have one.

        Raises:
            AccordError: naming the first.
        """
        for pair in self._pairs.values():
            for name in pair:
                if name not in shaped:
                    raise AccordError(f"contact of {pair[0]} and {pair[1]}: {name} has no shape")

    def point(
        self, names: tuple[str, str], position: Array, normal: Array, force: float, depth: float
    ) -> ContactPoint:
        """Return a contact point whose pair is in the order of the contact.

        Args:
            names: of the two bodies, in the engine's order.
            position: in the world (3,) [m].
            normal: unit vector from the first of `names` into the second (3,).
            force: along the normal [N].
            depth: of the overlap [m].
        """
        pair = self._pairs[frozenset(names)]
        return ContactPoint(pair, position, normal if pair == names else -normal, force, depth)


class TouchWatch:
    """Make an event for each pair that begins to touch.

    Args:
        physics_step: [s].
    """

    def __init__(self, physics_step: float) -> None:
        self._step = physics_step
        self._last: dict[tuple[str, str], float] = {}
        self._begun: dict[tuple[str, str], tuple[float, float]] = {}

    def reset(self) -> None:
        """Forget all contacts."""
        self._last.clear()
        self._begun.clear()

    def see(self, time: float, points: Sequence[ContactPoint]) -> None:
        """Take the contacts of the physics step that began at `time` [s]."""
        impulses = dict[tuple[str, str], float]()
        for point in points:
            impulses[point.pair] = impulses.get(point.pair, 0.0) + self._step * point.force
        for pair, impulse in impulses.items():
            if time - self._last.get(pair, -1.0) > APART:
                self._begun.setdefault(pair, (time, 0.0))
            self._last[pair] = time
            if pair in self._begun:
                start, so_far = self._begun[pair]
                self._begun[pair] = start, so_far + impulse

    def take(self) -> list[Event]:
        """Return the pairs that began to touch, with their normal impulses since [N s]."""
        events = [
            Event(round(time, 9), "contact", " ".join(pair), impulse)
            for pair, (time, impulse) in self._begun.items()
        ]
        self._begun.clear()
        return events

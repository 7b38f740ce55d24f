"""Contact events: pairs in contact by name, and pairs that begin to touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from roboaccord.contract.contact import Contact, ContactPoint
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Event

APART = 0.01  # s: two things that part for less do not begin to touch anew


class Pairs:
    """Know the pairs of a contact in either order.

    Args:
        contact: whose pairs they are.
    """

    def __init__(self, contact: Contact) -> None:
        self._pairs = {frozenset(pair): pair for pair in contact.pairs}

    def has(self, one: str, other: str) -> bool:
        """Return whether two bodies can touch."""
        return frozenset((one, other)) in self._pairs

    def check(self, shaped: Sequence[str]) -> None:
        """Refuse pairs of what has no shape.

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
        """Return a contact point, turned round where the contact names its pair so.

        Takes names and normal in the engine's order; the normal is from its first into its second.
        """
        pair = self._pairs[frozenset(names)]
        return ContactPoint(pair, position, normal if pair == names else -normal, force, depth)


class TouchWatch:
    """Make an event of each pair that begins to touch.

    Args:
        physics_step: [s].
    """

    def __init__(self, physics_step: float) -> None:
        self._step = physics_step
        self._last: dict[tuple[str, str], float] = {}
        self._begun: dict[tuple[str, str], tuple[float, float]] = {}

    def reset(self) -> None:
        """Forget what touched."""
        self._last.clear()
        self._begun.clear()

    def see(self, time: float, points: Sequence[ContactPoint]) -> None:
        """Take the contacts of the physics step that began at `time` [s]."""
        for pair, impulse in _impulses(points, self._step).items():
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


def _impulses(points: Sequence[ContactPoint], step: float) -> Mapping[tuple[str, str], float]:
    sums: dict[tuple[str, str], float] = {}
    for point in points:
        sums[point.pair] = sums.get(point.pair, 0.0) + step * point.force
    return sums

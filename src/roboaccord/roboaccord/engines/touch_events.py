"""Contacts by pairs of bodies, and an event for each pair that begins to touch.

`Pairs`, used by the contact modules of the engines, converts an engine's contact to a
`ContactPoint`: engines name the two bodies in an order of their own, and the order and sign of the
contract are those of `Contact.pairs`.

`TouchWatch`, used by `EngineSimulator` (base.py), receives the contacts of every physics step and
makes an event for each pair that begins to touch: with the time of the first touch, and the normal
impulse from then until the end of the control tick, when the events are fetched
(test_contact_events).
"""

from __future__ import annotations

from collections.abc import Sequence

from roboaccord.contract import AccordError, Array, Contact, ContactPoint, Event

# [s] A pair makes a new event only if it was separated for longer than this. It is longer than the
# bounce of a penalty contact, which lasts a few physics steps of 1 ms, and shorter than a stride.
APART = 0.01
# [s] Stands for the time of the last contact of a pair that has not touched yet: more than APART
# before the start of a run.
NEVER = -1.0
Names = tuple[str, str]


class Pairs:
    """Pairs of bodies that can touch, in either order.

    Args:
        contact: names the pairs.
    """

    def __init__(self, contact: Contact) -> None:
        self._pairs = {frozenset(pair): pair for pair in contact.pairs}

    def has(self, one: str, other: str) -> bool:
        """Return whether two bodies can touch."""
        return frozenset((one, other)) in self._pairs

    def check(self, bodies_with_shape: Sequence[str]) -> None:
        """Check that all bodies of the pairs have shapes.

        Args:
            bodies_with_shape: names of all links and fixtures that have a shape.

        Raises:
            AccordError: naming the first body without one.
        """
        for pair in self._pairs.values():
            for name in pair:
                if name not in bodies_with_shape:
                    raise AccordError(f"contact of {pair[0]} and {pair[1]}: {name} has no shape")

    def point(
        self, names: Names, at: Array, normal: Array, force: float, depth: float, friction: Array
    ) -> ContactPoint:
        """Return a contact point whose pair, normal and friction are in the contract's order.

        Args:
            names: the two bodies, in the engine's order.
            at: position in the world (3,) [m].
            normal: unit vector from the first of `names` into the second (3,).
            force: along the normal [N].
            depth: overlap of the bodies [m].
            friction: tangential force of the first of `names` on the second (3,) [N].
        """
        pair = self._pairs[frozenset(names)]
        if pair != names:
            normal, friction = -normal, -friction
        return ContactPoint(pair, at, normal, force, depth, friction)


class TouchWatch:
    """Make an event for each pair of bodies that begins to touch.

    Args:
        physics_step: length of a physics step [s].
    """

    def __init__(self, physics_step: float) -> None:
        self._physics_step = physics_step
        self._last_contact_times: dict[Names, float] = {}  # by pair [s]
        # By pair that began to touch since the last event: time [s], and impulse since then [N s].
        self._new_touches: dict[Names, tuple[float, float]] = {}

    def reset(self) -> None:
        """Forget all contacts."""
        self._last_contact_times.clear()
        self._new_touches.clear()

    def add_step(self, time: float, points: Sequence[ContactPoint]) -> None:
        """Record the contacts of the physics step that began at `time` [s]."""
        impulses = dict[Names, float]()
        for point in points:
            impulses[point.pair] = impulses.get(point.pair, 0.0) + self._physics_step * point.force
        for pair, impulse in impulses.items():
            if time - self._last_contact_times.get(pair, NEVER) > APART:
                self._new_touches.setdefault(pair, (time, 0.0))
            self._last_contact_times[pair] = time
            if pair in self._new_touches:
                start, impulse_so_far = self._new_touches[pair]
                self._new_touches[pair] = start, impulse_so_far + impulse

    def take_events(self) -> list[Event]:
        """Return an event for each pair that began to touch since the last call.

        The size of an event is the pair's normal impulse since it began to touch [N s].
        """
        events = [
            Event(round(time, 9), "contact", " ".join(pair), impulse)
            for pair, (time, impulse) in self._new_touches.items()
        ]
        self._new_touches.clear()
        return events

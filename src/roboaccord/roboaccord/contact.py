"""What can touch what in an engine: links that collide, things that stand still, and friction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from roboaccord.state import Array


@dataclass(frozen=True, kw_only=True)
class Fixture:
    """Hold a box that stands still in the world, the ground say.

    Args:
        name: of it, beside the links' names.
        size: along x, y and z (3,) [m].
        position: of its centre (3,) [m].
    """

    name: str
    size: Array
    position: Array


@dataclass(frozen=True, kw_only=True)
class Contact:
    """Say what an engine's own contact solver is to deal with; restitution is 0.

    Args:
        pairs: names of links or fixtures that can touch; nothing else does.
        friction: coefficient of each name; a pair has the smaller of its two.
        fixtures: what stands still.
    """

    pairs: tuple[tuple[str, str], ...]
    friction: Mapping[str, float]
    fixtures: tuple[Fixture, ...] = ()

    def mu(self, pair: tuple[str, str]) -> float:
        """Return the coefficient of friction of a pair."""
        return min(self.friction[name] for name in pair)

"""The point of a robot that pictures of its motion are about."""

from __future__ import annotations

from dataclasses import dataclass

from roboaccord.contract.state import Array


@dataclass(frozen=True)
class Aim:
    """Hold a point of a robot whose speed and path are shown, and where it is to be.

    Args:
        name: of the point, `tips` say.
        link: to which it is fixed.
        offset: from the link's origin, in its frame (3,) [m].
        target: where it is to be (3,) [m]; None for nowhere.
    """

    name: str
    link: str
    offset: Array
    target: Array | None = None

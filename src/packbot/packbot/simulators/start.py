"""Checks of an initial state: joint limits, and penetration of hulls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.contract.errors import AccordError
from roboaccord.scenario.setup import Setup

from packbot.model.poses import check_limits

if TYPE_CHECKING:
    from packbot.contact.clearance import Clearance


def check_start(setup: Setup, clearance: Clearance) -> None:
    """Refuse a start with joints outside their limits or penetrating hulls.

    Raises:
        AccordError: naming the joint, or the pair and its depth.
    """
    q = setup.initial.q
    check_limits(setup.parameters, q, "initial.q.")
    pair, distance = clearance.closest(q)
    if distance < 0.0:
        links, names = clearance.pair_links(pair), clearance.pair_names(pair)
        a, b = (f"{link}/{name}" for link, name in zip(links, names, strict=True))
        raise AccordError(f"start in collision: {a} is {-1e3 * distance:.3g} mm deep in {b}")


def refuse_bad_start(setup: Setup) -> None:
    """Check a start for a simulator that would start anyhow.

    Without a contact law, or without the libraries that measure distances, all is let be.

    Raises:
        AccordError: as `check_start`.
    """
    if setup.contact is None:
        return
    try:
        from packbot.contact.clearance import Clearance
    except ImportError:
        return
    check_start(setup, Clearance.of(setup))

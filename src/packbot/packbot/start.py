"""Whether a scenario can start, for simulators that would start anyhow."""

from __future__ import annotations

from roboaccord.assembly import Setup


def refuse_bad_start(setup: Setup) -> None:
    """Refuse a scenario that starts outside of limits or in collision, as the reference does.

    Without a contact law, or without the libraries that measure distances, all is let be.

    Raises:
        AccordError: naming the joint, or the pair and its depth.
    """
    if setup.contact is None:
        return
    try:
        from packbot.clearance import Clearance
        from packbot.reference import check_start
    except ImportError:
        return
    check_start(setup, Clearance.of(setup))

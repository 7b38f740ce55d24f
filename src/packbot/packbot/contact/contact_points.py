"""Contact points by geometry alone, for simulators that report none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from roboaccord.contract.contact import ContactPoint
from roboaccord.contract.state import RobotState
from roboaccord.scenario.setup import Setup

from packbot.model.libraries import compiled

CLOSE = 1e-3  # m: a gap below it is shown as a contact


def contact_points(setup: Setup) -> Callable[[RobotState], Sequence[ContactPoint]]:
    """Return a function that finds points where hulls are closer than `CLOSE`; forces are 0.

    Raises:
        AccordError: without pinocchio and coal.
    """
    with compiled("showing contacts"):
        from packbot.contact.clearance import Clearance
    clearance = Clearance.of(setup)

    def find(state: RobotState) -> list[ContactPoint]:
        found = clearance.witness(state.q, clearance.near(state.q, CLOSE))
        return [
            ContactPoint(clearance.pair_links(int(pair)), 0.5 * (a + b), normal, 0.0, -distance)
            for pair, a, b, normal, distance in zip(
                found.pairs, found.on_a, found.on_b, found.normals, found.distances.tolist()
            )
        ]

    return find

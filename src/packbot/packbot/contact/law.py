"""Contact laws of the arm, as named by a scenario's `friction.law`."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

from roboaccord.contract import Contact
from roboaccord.description import share
from roboaccord.scenario import Setup

from packbot.hulls.collisions import Fixtures

LEAST_MARGIN = 1e-4  # m: the least at which the reference keeps hulls apart


@dataclass(frozen=True, kw_only=True)
class ArmContact(Contact):
    """Specify contact of the arm with itself and with obstacles.

    Args:
        margin: at which the reference takes hulls as touching [m]; they stay apart by it, where
            normals are well defined (the report's figure 5 shows what happens below).
    """

    margin: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ClampContact(ArmContact):
    """Specify the report's contact scheme, in which joints are stopped; in the reference alone.

    Args:
        proximity: closer than which a pair stays active [m].
    """

    proximity: float = 0.0


def normal(
    setup: Setup, mu: float = 0.0, restitution: float = 0.0, margin: float = 5e-4
) -> ArmContact:
    """Make contact along the normal, mapped to the joints by the contact Jacobian.

    Args:
        setup: robot and scenario.
        mu: coefficient of friction of every pair.
        restitution: speed of parting over speed of approach, 0 to 1.
        margin: at which the reference takes hulls as touching [m].
    """
    if mu < 0:
        raise ValueError("mu is negative")
    if not 0 <= restitution <= 1:
        raise ValueError(f"restitution is {restitution:g}, and must be between 0 and 1")
    if not margin >= LEAST_MARGIN:
        raise ValueError(
            f"margin is {margin:g} m, and must be at least {LEAST_MARGIN:g}: nearer to touching, "
            "hulls have no steady normals"
        )
    return ArmContact(margin=margin, restitution=restitution, **_touching(setup, mu))


def joint_clamp(setup: Setup, proximity: float = 2e-3) -> ClampContact:
    """Make the report's scheme: stop the joints between two bodies that touch, and hold them.

    Args:
        setup: robot and scenario.
        proximity: closer than which a pair stays active [m]; the report names the tolerance
            without its value.
    """
    if not proximity > 0:
        raise ValueError("proximity must be positive")
    return ClampContact(proximity=proximity, **_touching(setup, 0.0))


@cache
def never_touching() -> frozenset[frozenset[str]]:
    """Return the pairs of links whose collisions config/packbot.srdf disables."""
    top = ET.parse(share("packbot") / "config" / "packbot.srdf").getroot()
    pairs = [(e.attrib["link1"], e.attrib["link2"]) for e in top.findall("disable_collisions")]
    return frozenset(frozenset(pair) for pair in pairs)


def _touching(setup: Setup, mu: float) -> dict[str, Any]:
    """Return colliding pairs (no link with its parent, none of the SRDF), friction and fixtures."""
    tree = setup.tree
    fixtures: Fixtures = setup.terrain
    links = [link.name for link in tree.links if link.name != "world"]
    names = [fixture.name for fixture in fixtures]
    never = {frozenset((j.parent, j.child)) for j in tree.joints} | never_touching()
    pairs = [*combinations(links, 2), *((a, b) for a in links[1:] for b in names)]
    return {
        "pairs": tuple(pair for pair in pairs if frozenset(pair) not in never),
        "friction": dict.fromkeys([*links, *names], mu),
        "fixtures": fixtures,
    }

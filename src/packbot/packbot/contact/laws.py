"""Contact laws of the arm, by `friction.law`: `normal`, and the report's `joint_clamp`.

A law is a function of the setup that returns a contact: which pairs of links can touch, with which
coefficients. Its further arguments are keys of `friction`. Links touch neither their parents nor
the links that config/packbot.srdf lists.

A law may be added: a function like `normal`, registered in robot.py. `joint_clamp` is fixed by the
report (3.4, appendix C); its `proximity` of 2 mm, which the report does not give, and the margin
of 0.5 mm may be changed.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

from roboaccord import description
from roboaccord.contract import Contact
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from packbot.contact.collisions import Fixtures

LEAST_MARGIN = 1e-4  # m: normals of hulls that are closer jump with rounding


@dataclass(frozen=True, kw_only=True)
class ArmContact(Contact):
    """Contact of the arm with itself and with obstacles.

    Args:
        margin: distance at which hulls touch in the reference [m]. They stay apart by it, so that
            their normals are well defined; the report's figure 5 shows the errors below it.
    """

    margin: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ClampContact(ArmContact):
    """The report's contact scheme, in which joints are stopped; only the reference has it.

    Args:
        proximity: distance below which a pair stays active [m].
    """

    proximity: float = 0.0


def normal(
    setup: Setup, mu: float = 0.0, restitution: float = 0.0, margin: si.Metres = 5e-4
) -> ArmContact:
    """Make contact along the normal, mapped to the joints by the contact Jacobian.

    Args:
        setup: robot and scenario.
        mu: coefficient of friction of every pair.
        restitution: speed of parting over speed of approach, 0 to 1.
        margin: at which the reference takes hulls as touching.
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


def joint_clamp(setup: Setup, proximity: si.Metres = 2e-3) -> ClampContact:
    """Make the report's scheme: stop the joints between two bodies that touch, and hold them.

    Args:
        setup: robot and scenario.
        proximity: distance below which a pair stays active; the report names this tolerance but
            not its value.
    """
    if not proximity > 0:
        raise ValueError("proximity must be positive")
    return ClampContact(proximity=proximity, **_touching(setup, 0.0))


@cache
def never_touching() -> frozenset[frozenset[str]]:
    """Return the pairs of links whose collisions config/packbot.srdf disables."""
    top = ET.parse(description.share("packbot") / "config" / "packbot.srdf").getroot()
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

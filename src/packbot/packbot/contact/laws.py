"""Contact laws of the arm: `normal`, and `joint_clamp` of the source report.

The key `friction.law` of a scenario names the law. A law is a function of the setup that returns a
contact: which pairs of links can touch, and with which coefficients. Its other arguments are
further keys of `friction`. Links cannot touch their parents, nor links with which
config/packbot.srdf disables collisions.

`joint_clamp` follows the report (3.4, appendix C). Its `proximity` of 2 mm, which the report does
not give, and the margin of 0.5 mm may be tuned. Another law is registered in robot.py.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import Any

from roboaccord import description
from roboaccord.contract import AccordError, Contact
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from packbot.contact.collisions import Fixtures

# m; smallest margin: the normals of closer hulls jump by rounding. Ten times the gap below which
# clearance.py checks coal's normals.
LEAST_MARGIN = 1e-4


@dataclass(frozen=True, kw_only=True)
class ArmContact(Contact):
    """Contact of the arm with itself and with obstacles.

    Args:
        margin: distance at which hulls touch in the engine `reference` [m]. It keeps hulls apart,
            so that their normals are well defined; the report's figure 5 shows the errors of
            smaller distances.
    """

    margin: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ClampContact(ArmContact):
    """The report's contact scheme, which stops joints; only the engine `reference` offers it.

    Args:
        proximity: distance below which a pair stays active [m].
    """

    proximity: float = 0.0


def normal(
    setup: Setup, mu: float = 0.0, restitution: float = 0.0, margin: si.Metres = 5e-4
) -> ArmContact:
    """Return rigid contact along the normal, with the contact Jacobian's transpose to the joints.

    Args:
        setup: robot and scenario.
        mu: coefficient of friction of every pair.
        restitution: speed of parting over speed of approach, 0 to 1.
        margin: distance at which hulls touch in the engine `reference`.
    """
    if mu < 0:
        raise ValueError("mu is negative")
    if not 0 <= restitution <= 1:
        raise ValueError(f"restitution is {restitution:g}, and must be between 0 and 1")
    if not margin >= LEAST_MARGIN:
        why = "nearer to touching, hulls have no steady normals"
        raise ValueError(f"margin is {margin:g} m, and must be at least {LEAST_MARGIN:g}: {why}")
    return ArmContact(margin=margin, restitution=restitution, **_contact_arguments(setup, mu))


def joint_clamp(setup: Setup, proximity: si.Metres = 2e-3) -> ClampContact:
    """Return the report's scheme: joints between two bodies that touch are stopped and held.

    Args:
        setup: robot and scenario.
        proximity: distance below which a pair stays active; the report names this tolerance but
            not its value.
    """
    if not proximity > 0:
        raise ValueError("proximity must be positive")
    return ClampContact(proximity=proximity, **_contact_arguments(setup, 0.0))


@cache
def never_touching() -> frozenset[frozenset[str]]:
    """Return the pairs of links whose collisions config/packbot.srdf disables."""
    top = ET.parse(description.share("packbot") / "config" / "packbot.srdf").getroot()
    pairs = [(e.attrib["link1"], e.attrib["link2"]) for e in top.findall("disable_collisions")]
    return frozenset(frozenset(pair) for pair in pairs)


def _contact_arguments(setup: Setup, mu: float) -> dict[str, Any]:
    """Return the arguments of a contact: pairs that can touch, friction and fixtures."""
    tree = setup.tree
    fixtures: Fixtures = setup.terrain
    links = [link.name for link in tree.links if link.name != "world"]
    names = [fixture.name for fixture in fixtures]
    bodies = [body.name for body in setup.bodies]
    for name in bodies:
        if name in (*links, *names, "world"):
            raise AccordError(f"bodies: the name {name} is taken")
    never = {frozenset((j.parent, j.child)) for j in tree.joints} | never_touching()
    pairs = [*combinations(links, 2), *((a, b) for a in links[1:] for b in names)]
    pairs += [*product(bodies, [*links, *names]), *combinations(bodies, 2)]
    possible_pairs = tuple(pair for pair in pairs if frozenset(pair) not in never)
    friction = dict.fromkeys([*links, *names, *bodies], mu)
    own = {name: spec.friction for name, spec in setup.scenario.bodies.items()}
    friction |= {name: value for name, value in own.items() if value is not None}
    return {
        "pairs": possible_pairs,
        "friction": friction,
        "fixtures": fixtures,
        "bodies": setup.bodies,
    }

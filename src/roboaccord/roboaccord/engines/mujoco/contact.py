"""MuJoCo's contact: pairs of geometries, solver parameters, and contact points."""

from __future__ import annotations

import math
from itertools import product

import mujoco
import numpy as np

from roboaccord.contract.contact import Contact, ContactPoint
from roboaccord.contract.errors import AccordError
from roboaccord.engines.mujoco.fixtures import stand_still
from roboaccord.engines.touch import Pairs

# A contact that slips is loaded as its pressing says, so it need not be as rigid as a stop.
CONTACT_IMPEDANCE = (0.99, 0.999, 1e-4, 0.5, 2.0)
IMPEDANCE_RATIO = 10.0  # of friction over normal impedance: what grips creeps less


def collide(
    spec: mujoco.MjSpec, contact: Contact, contact_time: float, damping_ratio: float
) -> None:
    """Add what stands still, and the pairs that can touch: all geometries of both bodies.

    A contact is a spring and a damper that cannot pull, so what hits it parts with `rebound` of
    the speed.

    Raises:
        AccordError: for restitution, or a pair of what has no shape.
    """
    if contact.restitution:
        raise AccordError(
            "MuJoCo has no coefficient of restitution: use 0, or dart or the reference"
        )
    for fixture in contact.fixtures:
        stand_still(spec, fixture)
    names: dict[str, list[str]] = {}
    for body in spec.bodies:
        for number, geom in enumerate(body.geoms):
            geom.name = f"{body.name}:{number}"
            names.setdefault(body.name, []).append(geom.name)
    Pairs(contact).check([*names])
    for pair in contact.pairs:
        mu = contact.mu(pair)
        for first, second in product(names[pair[0]], names[pair[1]]):
            spec.add_pair(
                geomname1=first,
                geomname2=second,
                condim=3 if mu > 0.0 else 1,
                friction=[mu, mu, 0.0, 0.0, 0.0],
                solref=[contact_time, damping_ratio],
                solimp=CONTACT_IMPEDANCE,
            )
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = IMPEDANCE_RATIO


def rebound(damping_ratio: float) -> float:
    """Return the restitution of a contact of a damping ratio of 1 or more.

    Where r'' + 2 zeta w r' + w^2 r = 0, r(0) = 0, cannot pull it ends at r'' = 0. With x > 1 the
    ratio of both roots, r' is then x^((1 + x) / (1 - x)) of its first value, and e^-2 for x = 1.
    """
    if damping_ratio == 1.0:
        return math.exp(-2.0)
    x = (damping_ratio + math.sqrt(damping_ratio**2 - 1.0)) ** 2
    return float(x ** ((1.0 + x) / (1.0 - x)))


class MujocoContact:
    """Read the active contacts.

    Args:
        model: of MuJoCo, with the pairs.
        contact: whose pairs they are.
    """

    def __init__(self, model: mujoco.MjModel, contact: Contact) -> None:
        self._model = model
        self._pairs = Pairs(contact)
        self._names = [model.body(body).name for body in model.geom_bodyid]

    def points(self, data: mujoco.MjData) -> list[ContactPoint]:
        """Return the contacts of the last step."""
        found, wrench = [], np.zeros(6)
        for i in range(data.ncon):
            touch = data.contact[i]
            one, other = (self._names[geom] for geom in touch.geom)
            mujoco.mj_contactForce(self._model, data, i, wrench)
            normal, point = np.array(touch.frame[:3]), np.array(touch.pos)
            depth = -float(touch.dist)
            found.append(self._pairs.point((one, other), point, normal, float(wrench[0]), depth))
        return found

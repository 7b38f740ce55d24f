"""Certificate of contact: how far a motion is from the laws of rigid contact with dry friction.

A simulator that gives its contact forces can be checked without any other: whatever its solver
does, forces and motion must satisfy, at each contact with gap g, normal force f_n, friction f_t and
sliding velocity v_t,

    signorini      0 <= g,  0 <= f_n,  g f_n = 0        no overlap, no pull, no force from afar
    cone           |f_t| <= mu f_n                      Coulomb's bound
    dissipation    f_t . v_t = -mu f_n |v_t|            of all forces in the cone, friction takes
                                                        the most energy from the motion

(Le Lidec et al., "Contact models in robotics: a comparative analysis", arXiv 2304.06372; Horak and
Trinkle, "On the similarities and differences among contact models in robot simulation", 2019), and
the robot as a whole the balances of momentum and energy. `Certifier` keeps the worst residual of
each, and when it was. The contact laws are those of contacts that the simulator reports: one that
it misses leaves no residual here, except what its overlap does later.

Residuals are shown and not judged, because simulators soften these laws on purpose. Formulas and
keys stay: `--json`, summary.json and the contact bench have them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Annotated, NamedTuple

import numpy as np

from roboaccord.contract.checks import check_positive
from roboaccord.contract.results import Json, Quantity, to_json, unit_of
from roboaccord.contract.state import Array

# [m] Gap that counts as much as a normal force of the robot's weight, in the residual of Signorini.
GAP_OF_WEIGHT = 1.0


@dataclass(frozen=True, slots=True)
class ContactForce:
    """The force of one contact, and the motion at it.

    Args:
        normal: unit vector in the world, from the first body into the second (3,).
        force: on the second body, friction included, in the world (3,) [N].
        gap: distance of the bodies [m]; negative for an overlap.
        velocity: of the second body relative to the first, at the point, in the world (3,) [m/s].
        mu: coefficient of friction.
    """

    normal: Array
    force: Array
    gap: float
    velocity: Array
    mu: float

    @property
    def pressing(self) -> float:
        """Normal force f_n [N]; negative for a pull."""
        return float(self.normal @ self.force)

    @property
    def friction(self) -> Array:
        """Tangential force f_t on the second body (3,) [N]."""
        return self.force - self.pressing * self.normal

    @property
    def slip(self) -> Array:
        """Tangential velocity v_t of the second body relative to the first (3,) [m/s]."""
        return self.velocity - float(self.normal @ self.velocity) * self.normal

    def signorini(self, weight: float) -> float:
        """Return |min(g, f_n / weight x 1 m)| [m], the natural residual of the complementarity.

        It is the overlap, the smaller of gap and force of a contact that presses from afar, or the
        pull of one that does not part.
        """
        return float(abs(np.minimum(self.gap, self.pressing / weight * GAP_OF_WEIGHT)))

    def cone(self, weight: float) -> float:
        """Return by how much friction exceeds Coulomb's bound, max(0, |f_t| - mu f_n) / weight."""
        excess = float(np.linalg.norm(self.friction)) - self.mu * self.pressing
        return max(excess, 0.0) / weight  # in this order, NaN stays

    def dissipation(self, weight: float) -> float:
        """Return the power that friction takes less than it could, over the weight [m/s].

        That is (mu f_n |v_t| + f_t . v_t) / weight: 0 if the contact sticks, or if its friction is
        mu f_n against the slip. Friction beyond the cone is that residual's, and 0 here.
        """
        most = self.mu * self.pressing * float(np.linalg.norm(self.slip))
        return max(most + float(self.friction @ self.slip), 0.0) / weight


class Worst(NamedTuple):
    """Worst residual of a quantity.

    Attributes:
        value: in the quantity's unit; NaN if it was never measured, infinite if it was NaN.
        time: when it was first that large [s].
    """

    value: float = math.nan
    time: float = math.nan


@dataclass(frozen=True)
class Certificate:
    """Worst residuals of a run.

    Args:
        signorini, cone, dissipation: of any contact, as `ContactForce` defines them.
        momentum: change of the robot's momentum in a step less the impulses of contacts, gravity
            and other known efforts, over weight x step.
        energy: largest rise of the energy, beyond the work of efforts and wrench, since any instant
            before: contact may only take energy.
    """

    signorini: Annotated[Worst, Quantity("m", "overlap, pull or force from afar", form=".2g")]
    cone: Annotated[Worst, Quantity("1", "friction beyond Coulomb's cone", form=".2g")]
    dissipation: Annotated[Worst, Quantity("m/s", "dissipation that friction lacks", form=".2g")]
    momentum: Annotated[Worst, Quantity("1", "force that nothing explains", form=".2g")]
    energy: Annotated[Worst, Quantity("J", "energy that appeared", form=".2g")]

    def to_json(self) -> dict[str, Json]:
        """Return value, time and unit of each quantity; null for what was not measured."""
        return {
            name: to_json({**getattr(self, name)._asdict(), "unit": unit_of(Certificate, name)})
            for name in RESIDUALS
        }


RESIDUALS = tuple(field.name for field in fields(Certificate))


class Certifier:
    """Keep the worst residuals of a motion, of which each step is added.

    Args:
        weight: of the robot, m g [N]; the scale of forces.
    """

    def __init__(self, weight: float) -> None:
        check_positive({"weight": weight})
        self._weight = weight
        self._worst = dict.fromkeys(RESIDUALS, Worst())
        self._rise = 0.0  # of the energy since its lowest value, less work [J]

    def add(
        self,
        time: float,
        contacts: Iterable[ContactForce],
        momentum_residual: float | None = None,
        energy_residual: float | None = None,
    ) -> None:
        """Add a physics step, or a control tick.

        Args:
            time: of its end [s].
            contacts: their forces in the step, and gaps and velocities at its end.
            momentum_residual: |change of momentum less impulses of contacts, gravity and other
                known efforts| over the step [N]; None where it is not known.
            energy_residual: change of the energy less the work of efforts and wrench in the step
                [J], below 0 where contact took some; None where it is not known.
        """
        contacts, weight = tuple(contacts), self._weight
        for name in ("signorini", "cone", "dissipation"):
            for value in (0.0, *(getattr(contact, name)(weight) for contact in contacts)):
                self._keep(name, time, value)
        if momentum_residual is not None:
            self._keep("momentum", time, momentum_residual / weight)
        if energy_residual is not None:
            self._rise = max(self._rise + energy_residual, 0.0)
            self._keep("energy", time, self._rise)

    def _keep(self, name: str, time: float, value: float) -> None:
        """Keep a residual if it is the largest so far; NaN counts as infinite."""
        value = math.inf if math.isnan(value) else value
        if not value <= self._worst[name].value:
            self._worst[name] = Worst(value, time)

    def result(self) -> Certificate:
        """Return the worst residuals so far."""
        return Certificate(**self._worst)

    def as_dict(self) -> dict[str, Json]:
        """Return them as `{"signorini": {"value": ..., "time": ..., "unit": "m"}, ...}`."""
        return self.result().to_json()

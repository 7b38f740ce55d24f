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

Residuals of engines are shown and not judged, because engines soften these laws on purpose; those
of a reference are judged by its own tolerances (crosscheck/certificate.py). Formulas and keys stay:
`--json`, summary.json and other packages have them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from roboaccord.contract.results import Json, by_fields
from roboaccord.contract.state import Array

# Units of the residuals; those of a contact come first.
UNITS = {"signorini": "m", "cone": "1", "dissipation": "m/s", "momentum": "1", "energy": "J"}


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

    def residuals(self, weight: float) -> tuple[float, float, float]:
        """Return the residuals of the three laws, relative to a weight [N].

        Returns:
            signorini: |min(g, f_n / weight x 1 m)| [m], the natural residual of a complementarity:
                overlap, pull, or the smaller of gap and force of a force from afar.
            cone: max(0, |f_t| - mu f_n) / weight.
            dissipation: max(0, mu f_n |v_t| + f_t . v_t) / weight [m/s], the power that friction
                takes less than it could: 0 if the contact sticks, or if friction is mu f_n against
                the slip or beyond the cone.
        """
        force, slip = (
            v - float(v @ self.normal) * self.normal for v in (self.force, self.velocity)
        )
        pressing = float(self.normal @ self.force)
        beyond = float(np.linalg.norm(force)) - self.mu * pressing
        lacking = self.mu * pressing * float(np.linalg.norm(slip)) + float(force @ slip)
        signorini = float(abs(np.minimum(self.gap, pressing / weight)))
        return signorini, max(beyond, 0.0) / weight, max(lacking, 0.0) / weight  # NaN stays


@dataclass(frozen=True)
class Worst:
    """Worst residual of a quantity.

    Args:
        value: in `unit`; NaN if it was never measured, infinite if it was NaN.
        time: when it was first that large [s].
        unit: of the value.
    """

    value: float
    time: float
    unit: str


@dataclass(frozen=True)
class Certificate:
    """Worst residuals of a run.

    Args:
        signorini, cone, dissipation: of any contact, as `ContactForce.residuals` defines them.
        momentum: change of the robot's momentum in a step less the impulses of contacts, gravity
            and other known efforts, over weight x step.
        energy: largest rise of the energy, beyond the work of efforts and wrench, since any instant
            before: contact may only take energy.
    """

    signorini: Worst
    cone: Worst
    dissipation: Worst
    momentum: Worst
    energy: Worst


class Certifier:
    """Keep the worst residuals of a motion, of which each step is added.

    Args:
        weight: of the robot, m g [N], above 0; the scale of forces.
    """

    def __init__(self, weight: float) -> None:
        # Rise of the energy since its lowest value, less work [J].
        self._weight, self._rise = weight, 0.0
        self._worst = {name: Worst(math.nan, math.nan, unit) for name, unit in UNITS.items()}

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
        for residuals in ((0.0, 0.0, 0.0), *(c.residuals(self._weight) for c in contacts)):
            for name, value in zip(UNITS, residuals, strict=False):
                self._keep(name, time, value)
        if momentum_residual is not None:
            self._keep("momentum", time, momentum_residual / self._weight)
        if energy_residual is not None:
            self._rise = max(self._rise + energy_residual, 0.0)
            self._keep("energy", time, self._rise)

    def _keep(self, name: str, time: float, value: float) -> None:
        """Keep a residual if it is the largest so far; NaN counts as infinite."""
        value = math.inf if math.isnan(value) else value
        if not value <= self._worst[name].value:
            self._worst[name] = Worst(value, time, UNITS[name])

    def result(self) -> Certificate:
        """Return the worst residuals so far."""
        return Certificate(**self._worst)

    def as_dict(self) -> dict[str, Json]:
        """Return them as `{"signorini": {"value": ..., "time": ..., "unit": "m"}, ...}`."""
        return by_fields(self.result())

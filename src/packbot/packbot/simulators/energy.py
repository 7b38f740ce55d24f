"""Energy balance of a run: mechanical energy, work of the efforts, losses and spurious gain."""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract.contact import Index
from roboaccord.contract.state import Array
from roboaccord.numerics.runge_kutta import Step
from roboaccord.simulators.joints import JointFriction
from roboaccord.simulators.losses import DAMPING, FRICTION, IMPACTS, STOPS, LossAccount

from packbot.contact.features import LOWER
from packbot.model.arm import Arm

# Lobatto's rule with four points on (0, 1): exact for polynomials of degree 5.
POINTS = (0.0, 0.5 - 0.1 * math.sqrt(5.0), 0.5 + 0.1 * math.sqrt(5.0), 1.0)
WEIGHTS = (1 / 12, 5 / 12, 5 / 12, 1 / 12)


class EnergyBook:
    """Accumulate rises of the energy beyond the work of the efforts.

    Friction and impacts take energy, and contact gives none: what rises is an error.

    Args:
        arm: whose energy it is.
        losses: account of what took energy, which is kept where it is asked for.

    Attributes:
        rise: sum of all rises [J].
        largest: of them [J].
        metered: whether it is asked for.
    """

    def __init__(self, arm: Arm, losses: LossAccount) -> None:
        self._arm, self.losses = arm, losses
        self.rise = self.largest = 0.0
        self._last, self.metered = 0.0, False
        self._q: Array = np.zeros(0)

    def start(self, q: Array, v: Array) -> None:
        """Begin anew at a state."""
        self.rise = self.largest = 0.0
        self._q, self._last = q, self._arm.energy(q, v)

    def note(self, q: Array, v: Array, efforts: Array) -> None:
        """Record the state after a step or an event under held `efforts` (n,) [N m]."""
        energy = self._arm.energy(q, v)
        work = float(efforts @ (q - self._q))
        rise = max(0.0, energy - self._last - work)
        self.rise += rise
        self.largest = max(self.largest, rise)
        self._q, self._last = q, energy

    def note_step(self, step: Step, friction: JointFriction, slides: tuple[float, float]) -> None:
        """Record a step: losses in joint friction and in contact friction.

        Args:
            step: with its states in between.
            friction: of the joints.
            slides: power that the friction of contacts takes before and after it [W].
        """
        n = len(step.start) // 2
        rates = [step.at(point)[n:] for point in POINTS]
        power = [-float(friction.efforts(v) @ v) for v in rates]
        self.losses.add(DAMPING, step.size * float(np.dot(WEIGHTS, power)))
        self.losses.add(FRICTION, 0.5 * step.size * sum(slides))

    def note_impact(
        self, features: Index, jacobian: Array, impulses: Array, before: Array, after: Array
    ) -> None:
        """Record an impact: an impulse's work is its product with the mean of the rates around it.

        Args:
            features: that were hit.
            jacobian: of their gaps (m, n).
            impulses: along the normals (m,) [N s].
            before, after: velocities (n,), friction apart.
        """
        taken = -0.5 * impulses * (jacobian @ (before + after))
        stops = features[:, 0] >= LOWER
        self.losses.add(STOPS, float(taken[stops].sum()))
        self.losses.add(IMPACTS, float(taken[~stops].sum()))

    def note_stop(self, mass: Array, before: Array, after: Array) -> None:
        """Count a drop of kinetic energy between two velocities (n,) as contact friction."""
        lost = 0.5 * float(before @ mass @ before - after @ mass @ after)
        self.losses.add(FRICTION, lost)

"""Energy balance of a run: rises of energy beyond the work of the efforts, and losses.

Friction and impacts dissipate energy, and contacts do not supply any. A rise of the energy beyond
the work of the efforts is therefore an error of the integration. The losses are added up by channel
(joint friction, contact friction, impacts, stops) if they are asked for. The integrator
(stepping.py) records each step and each impact.

test_packbot_energy tests that the balance closes.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract import Array, Index
from roboaccord.numerics import Step
from roboaccord.simulators import JointFriction, losses

from packbot.contact.features import KIND, LOWER
from packbot.model.arm import Arm

# Lobatto's quadrature with four points on (0, 1): exact for polynomials of degree 5.
POINTS = (0.0, 0.5 - 0.1 * math.sqrt(5.0), 0.5 + 0.1 * math.sqrt(5.0), 1.0)
WEIGHTS = (1 / 12, 5 / 12, 5 / 12, 1 / 12)


class EnergyBook:
    """Sum of the rises of energy, and the account of losses.

    Args:
        arm: dynamics of the arm.
        account: account of losses by channel.

    Attributes:
        rise: sum of all rises beyond the work of the efforts [J].
        largest: largest of these rises [J].
        metered: whether losses are asked for.
        losses: the account.
    """

    def __init__(self, arm: Arm, account: losses.LossAccount) -> None:
        self._arm, self.losses = arm, account
        self.metered = False

    def start(self, q: Array, v: Array) -> None:
        """Restart at a state with angles q [rad] and rates v [rad/s] (n,)."""
        self.rise = self.largest = 0.0
        self._q, self._energy = q, self._arm.energy(q, v)  # of the last state [rad, J]

    def record(self, q: Array, v: Array, efforts: Array) -> None:
        """Record the state after a step or an event, under constant `efforts` (n,) [N m]."""
        energy = self._arm.energy(q, v)
        work = float(efforts @ (q - self._q))
        rise = max(0.0, energy - self._energy - work)
        self.rise += rise
        self.largest = max(self.largest, rise)
        self._q, self._energy = q, energy

    def record_step(self, step: Step, friction: JointFriction, powers: tuple[float, float]) -> None:
        """Record the losses of a step by joint friction and by contact friction.

        Args:
            step: the step, with its states in between.
            friction: friction of the joints.
            powers: power dissipated by contact friction at both ends of the step [W].
        """
        n = len(step.start) // 2
        rates = [step.at(point)[n:] for point in POINTS]
        joint_powers = [-float(friction.efforts(v) @ v) for v in rates]
        self.losses.add(losses.DAMPING, step.size * float(np.dot(WEIGHTS, joint_powers)))
        self.losses.add(losses.FRICTION, 0.5 * step.size * sum(powers))

    def record_impact(
        self, features: Index, jacobian: Array, impulses: Array, before: Array, after: Array
    ) -> None:
        """Record the losses of an impact along the normals.

        The work of an impulse is its product with the mean of the gap's rates before and after it.

        Args:
            features: contacts and stops that were hit (m, 6).
            jacobian: Jacobian of their gaps (m, n).
            impulses: impulses along the normals (m,) [N s].
            before, after: joint rates (n,) [rad/s], without the friction of the impact.
        """
        loss = -0.5 * impulses * (jacobian @ (before + after))
        stops = features[:, KIND] >= LOWER
        self.losses.add(losses.STOPS, float(loss[stops].sum()))
        self.losses.add(losses.IMPACTS, float(loss[~stops].sum()))

    def record_slip_stop(self, mass: Array, before: Array, after: Array) -> None:
        """Record the drop of kinetic energy between two joint rates (n,) as contact friction."""
        lost = 0.5 * float(before @ mass @ before - after @ mass @ after)
        self.losses.add(losses.FRICTION, lost)

"""Energy balance of a run, and equations of motion with active contacts, for the integrator.

Nothing here may be tuned: POINTS and WEIGHTS are fixed by Lobatto's rule, STILL is a bound of
rounding. A loss of energy may be added: a `note_...` in EnergyBook with a channel, and its call in
stepping.py; test_packbot_energy tests that the book closes. A new force belongs in
`ConstrainedDynamics.slope`, and in `friction_rates` if it is stiff.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract import Array, DivergedError, Index
from roboaccord.numerics import SOLVED, Step
from roboaccord.simulators import JointFriction, losses

from packbot.contact.features import LOWER
from packbot.contact.forces import GIVE, SOFT, Sliding, accelerate
from packbot.contact.gaps import ClosedGaps, GapFunctions
from packbot.model.arm import Arm

# Lobatto's rule with four points on (0, 1): exact for polynomials of degree 5.
POINTS = (0.0, 0.5 - 0.1 * math.sqrt(5.0), 0.5 + 0.1 * math.sqrt(5.0), 1.0)
WEIGHTS = (1 / 12, 5 / 12, 5 / 12, 1 / 12)


class EnergyBook:
    """Accumulate rises of the energy beyond the work of the efforts.

    Friction and impacts take energy, and contact gives none: what rises is an error.

    Args:
        arm: whose energy it is.
        account: of what took energy, which is kept where it is asked for.

    Attributes:
        rise: sum of all rises [J].
        largest: of them [J].
        metered: whether it is asked for.
    """

    def __init__(self, arm: Arm, account: losses.LossAccount) -> None:
        self._arm, self.losses = arm, account
        self.rise = self.largest = 0.0
        self._last, self.metered = 0.0, False
        self._q: Array = np.zeros(0)

    def start(self, q: Array, v: Array) -> None:
        """Restart at a state."""
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
        self.losses.add(losses.DAMPING, step.size * float(np.dot(WEIGHTS, power)))
        self.losses.add(losses.FRICTION, 0.5 * step.size * sum(slides))

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
        self.losses.add(losses.STOPS, float(taken[stops].sum()))
        self.losses.add(losses.IMPACTS, float(taken[~stops].sum()))

    def note_stop(self, mass: Array, before: Array, after: Array) -> None:
        """Count a drop of kinetic energy between two velocities (n,) as contact friction."""
        lost = 0.5 * float(before @ mass @ before - after @ mass @ after)
        self.losses.add(losses.FRICTION, lost)


STILL = 1e-7  # m/s, rad/s: a gap that opens or closes slower does neither


class JammedError(DivergedError):
    """Jamming: no finite forces satisfy the active contacts with friction."""


class ConstrainedDynamics:
    """Compute the derivative of a state x = (q, v) with active contacts.

    Args:
        arm: dynamics.
        friction: of the joints.
        gap_functions: measures the gaps.
        sliding: friction where hulls touch.

    Attributes:
        closed: gaps that may press.
        forces: of the closed gaps at the last slope (m,) [N, N m].
        efforts: held by the joints (n,) [N m].
        dry: whether there is dry friction, which can be stiff.
    """

    def __init__(
        self, arm: Arm, friction: JointFriction, gap_functions: GapFunctions, sliding: Sliding
    ) -> None:
        self.arm, self.friction = arm, friction
        self.gap_functions, self.sliding = gap_functions, sliding
        self.dry = friction.any_dry or sliding.any
        self.efforts = np.zeros(arm.model.nv)
        self.closed = ClosedGaps()
        self.forces = np.zeros(0)

    def slope(self, x: Array) -> Array:
        """Return (v, a) of a state (2n,)."""
        q, v = x.reshape(2, -1)
        total = self.efforts + self.friction.efforts(v)
        out = np.empty_like(x)
        rates, accelerations = out.reshape(2, -1)
        rates[:] = v
        closed = self.closed
        if not len(closed.features):
            self.forces = np.zeros(0)
            accelerations[:] = self.arm.acceleration(q, v, total)
            return out
        _, jacobian, witnesses, bias = self.gap_functions.measure_turning(closed.features, q, v)
        sliding = self.sliding
        directions = (
            sliding.force_directions(closed.features, q, v, jacobian, witnesses)
            if sliding.any
            else jacobian
        )
        total = total - self.arm.bias(q, v)
        self.forces = np.empty(len(jacobian))
        answer = accelerate(
            self.arm.mass_matrix(q), total, jacobian, directions, bias, GIVE, closed.active,
            self.forces, accelerations,
        )  # fmt: skip
        if answer != SOLVED:
            raise JammedError("no contact forces were found: the contacts contradict each other")
        return out

    def friction_rates(self, x: Array) -> Array:
        """Return by how much accelerations fall with the rates through friction (n, n) [1/s].

        In the state of the last slope: what presses there holds its gaps.
        """
        q, v = x.reshape(2, -1)
        damping = np.diag(self.friction.damping(v))
        response = np.linalg.inv(self.arm.mass_matrix(q))
        hold = self.forces > 0.0
        if hold.any():
            _, jacobian, witnesses = self.gap_functions.measure(self.closed.features, q)
            if self.sliding.any:
                damping += self.sliding.damping(
                    self.closed.features, q, v, witnesses, self.forces
                )  # fmt: skip
            pressed = response @ jacobian[hold].T
            delassus = jacobian[hold] @ pressed
            delassus[np.diag_indices_from(delassus)] *= 1.0 + GIVE
            response = response - pressed @ np.linalg.solve(delassus, pressed.T)
        return np.asarray(response @ damping)

    def sliding_power(self, x: Array) -> float:
        """Return the power dissipated by contact friction in the state of the last slope [W]."""
        features = self.closed.features
        if not len(features):
            return 0.0
        q, v = x.reshape(2, -1)
        _, jacobian, witnesses = self.gap_functions.measure(features, q)
        across = self.sliding.force_directions(features, q, v, jacobian, witnesses) - jacobian
        return -float(self.forces @ (across @ v))

    def stop(self, x: Array) -> Array:
        """Return a state whose closed gaps neither slip nor close."""
        q, v = x.reshape(2, -1)
        features, mass = self.closed.features, self.arm.mass_matrix(q)
        _, jacobian, witnesses = self.gap_functions.measure(features, q)
        return np.concatenate([q, self.sliding.stop(mass, features, q, v, witnesses, jacobian)])

    def project(self, x: Array, tolerance: float) -> Array:
        """Return a state projected onto the active contacts, in position and velocity.

        Angles go along M^-1 J^T to where the gaps are 0 if one is off by half a tolerance. The
        velocities lose what changes the gaps, orthogonally in the metric of M: that never adds
        kinetic energy. Where it would close another closed gap, that is held as well.
        """
        hold = self.forces > 0.0
        if not hold.any():
            return x
        q, v = x.reshape(2, -1)
        features = self.closed.features
        gaps, jacobian, _ = self.gap_functions.measure(features, q)
        if np.abs(gaps[hold]).max() > 0.5 * tolerance:
            q = q + self._least(q, jacobian[hold], -gaps[hold])
            _, jacobian, _ = self.gap_functions.measure(features, q)
        while True:
            held = v + self._least(q, jacobian[hold], -(jacobian[hold] @ v))
            closing = ~hold & (jacobian @ held < -STILL)
            if not closing.any():
                return np.concatenate([q, held])
            hold |= closing

    def _least(self, q: Array, jacobian: Array, wanted: Array) -> Array:
        """Return the smallest change (n,) in the metric of M that changes the gaps as required."""
        responses = np.linalg.solve(self.arm.mass_matrix(q), jacobian.T)
        delassus = jacobian @ responses
        delassus[np.diag_indices_from(delassus)] *= 1.0 + SOFT
        return np.asarray(responses @ np.linalg.solve(delassus, wanted))

"""Equations of motion with active contacts, for the event-driven integrator (stepping.py).

`slope` solves for the accelerations together with the forces of the closed gaps. `project` removes
the numerical drift of gaps that press, and `stop_slip` the slip of contacts for which friction
leaves no finite forces (they jam). `stiff_jacobian` is the stiff part of the derivative of the
slope, for implicit steps (stiff.py). IMPLICIT_RATIO may be tuned.

A new force belongs in `ConstrainedDynamics.slope`, and in `friction_rates` if it is stiff.
test_packbot_reference and test_packbot_events check forces, impacts and steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from roboaccord.contract import Array, DivergedError
from roboaccord.numerics import SOLVED
from roboaccord.simulators import JointFriction

from packbot.contact.features import Contacts
from packbot.contact.forces import COMPLIANCE, SOFTNESS, accelerate
from packbot.contact.friction import ContactFriction
from packbot.contact.gaps import ClosedGaps, GapFunctions
from packbot.model.arm import Arm

# m/s, rad/s; slower opening or closing of a gap is rounding: of speeds of approach up to 10 m/s an
# impact leaves 1e-9 (SOFTNESS), 1e-8 m/s.
STILL = 1e-7
# Largest product of rate and step size for which explicit steps are stable: the real interval of
# Dormand and Prince's method of order 5 ends at -3.306.
EXPLICIT_STABILITY = 3.3
# Steps are implicit if explicit ones would have to be that many times shorter. Measured with dry
# friction of the wrist for which they are 1.9, 5.7 and 11 times shorter: a run of implicit ones
# takes 2.7, 1.25 and 0.73 times as long, so that any from 4 to 10 would do.
IMPLICIT_RATIO = 4.0


class JammedError(DivergedError):
    """Jamming: no finite forces satisfy the active contacts with friction."""


@dataclass(eq=False)
class ConstrainedDynamics:
    """Derivative of a state x = (q, v) with active contacts.

    Args:
        arm: dynamics of the arm.
        friction: friction of the joints.
        gap_functions: measures the gaps.
        contact_friction: friction of contacts.

    Attributes:
        closed: gaps whose contacts may press.
        forces: forces of the closed gaps at the last slope (m,) [N, N m].
        efforts: efforts of the drives (n,) [N m].
    """

    arm: Arm
    friction: JointFriction
    gap_functions: GapFunctions
    contact_friction: ContactFriction

    def __post_init__(self) -> None:

        self.efforts = np.zeros(self.arm.model.nv)
        self.closed = ClosedGaps()
        self.forces = np.zeros(0)

    def slope(self, x: Array) -> Array:
        """Return (v, a) of a state (2n,)."""
        q, v = x.reshape(2, -1)
        efforts = self.efforts + self.friction.efforts(v)
        slope = np.empty_like(x)
        rates, accelerations = slope.reshape(2, -1)
        rates[:] = v
        features, active = self.closed.features, self.closed.active
        if not len(features):
            self.forces = np.zeros(0)
            accelerations[:] = self.arm.acceleration(q, v, efforts)
            return slope
        _, jacobian, witnesses, bias = self.gap_functions.measure_turning(features, q, v)
        directions = jacobian
        if self.contact_friction.is_present:
            contacts = Contacts(features, jacobian, witnesses)
            directions = self.contact_friction.force_directions(contacts, q, v)
        efforts = efforts - self.arm.bias(q, v)
        mass = self.arm.mass_matrix(q)
        self.forces = forces = np.empty(len(jacobian))
        status = accelerate(
            mass, efforts, jacobian, directions, bias, COMPLIANCE, active, forces, accelerations
        )
        if status != SOLVED:
            raise JammedError("no contact forces were found: the contacts contradict each other")
        return slope

    def stiff_jacobian(self, x: Array, max_step: float) -> Array | None:
        """Return the derivative of the slope by dry friction (2n, 2n).

        None if explicit steps of up to `max_step` [s] are nearly stable. x is the state (2n,) of
        the last slope.
        """
        if not (self.friction.any_dry or self.contact_friction.is_present):
            return None
        rates = self.friction_rates(x)
        fastest = np.abs(np.linalg.eigvals(rates)).max()
        if fastest * max_step < IMPLICIT_RATIO * EXPLICIT_STABILITY:
            return None
        return np.pad(-rates, (len(rates), 0))  # the other derivatives are left 0

    def friction_rates(self, x: Array) -> Array:
        """Return minus the derivative of the accelerations by the rates through friction (n, n).

        In 1/s, at the state of the last slope. The contacts that press there keep their gaps: with
        D the derivative of the friction efforts, this is P M^-1 D, P the projection on motions that
        leave these gaps unchanged.
        """
        q, v = x.reshape(2, -1)
        damping = np.diag(self.friction.damping(v))
        response = np.linalg.inv(self.arm.mass_matrix(q))
        pressing = self.forces > 0.0
        if pressing.any():
            contacts = self.gap_functions.contacts(self.closed.features, q)
            if self.contact_friction.is_present:
                damping += self.contact_friction.damping(contacts, q, v, self.forces)
            jacobian = contacts.jacobian[pressing]
            by_force = response @ jacobian.T
            delassus = jacobian @ by_force
            delassus[np.diag_indices_from(delassus)] *= 1.0 + COMPLIANCE
            response = response - by_force @ np.linalg.solve(delassus, by_force.T)
        return np.asarray(response @ damping)

    def sliding_forces(self, x: Array) -> Array:
        """Return the friction on hull b of each closed gap at the last slope (m, 3) [N]."""
        q, v = x.reshape(2, -1)
        contacts = self.gap_functions.contacts(self.closed.features, q)
        return self.contact_friction.forces(contacts, q, v, self.forces)

    def sliding_power(self, x: Array) -> float:
        """Return the power dissipated by contact friction in the state of the last slope [W]."""
        if not len(self.closed.features):
            return 0.0
        q, v = x.reshape(2, -1)
        contacts = self.gap_functions.contacts(self.closed.features, q)
        directions = self.contact_friction.force_directions(contacts, q, v)
        return -float(self.forces @ ((directions - contacts.jacobian) @ v))

    def stop_slip(self, x: Array) -> Array:
        """Return the state (2n,) with the nearest rates at which no closed gap slips or closes."""
        q, v = x.reshape(2, -1)
        contacts = self.gap_functions.contacts(self.closed.features, q)
        rates = self.contact_friction.rates_without_slip(self.arm.mass_matrix(q), contacts, q, v)
        return np.concatenate([q, rates])

    def project(self, x: Array, tolerance: float) -> Array:
        """Return a state projected onto the contacts that press, in position and velocity.

        If a gap differs from 0 by more than half a tolerance, the angles move along M^-1 J^T to
        where all are 0. The part of the rates that changes the gaps is removed, orthogonally in the
        metric of M, which never adds kinetic energy. If another closed gap would close by that, it
        is kept as well.
        """
        is_kept = self.forces > 0.0
        if not is_kept.any():
            return x
        q, v = x.reshape(2, -1)
        features = self.closed.features
        gaps, jacobian, _ = self.gap_functions.measure(features, q)
        if np.abs(gaps[is_kept]).max() > 0.5 * tolerance:
            q = q + self._smallest_change(q, jacobian[is_kept], -gaps[is_kept])
            _, jacobian, _ = self.gap_functions.measure(features, q)
        while True:
            kept = jacobian[is_kept]
            projected = v + self._smallest_change(q, kept, -(kept @ v))
            is_closing = ~is_kept & (jacobian @ projected < -STILL)
            if not is_closing.any():
                return np.concatenate([q, projected])
            is_kept |= is_closing

    def _smallest_change(self, q: Array, jacobian: Array, opening: Array) -> Array:
        """Return the smallest vector d (n,) in the metric of M with J d = `opening` (m,).

        d = M^-1 J^T (J M^-1 J^T)^-1 opening.
        """
        responses = np.linalg.solve(self.arm.mass_matrix(q), jacobian.T)
        delassus = jacobian @ responses
        delassus[np.diag_indices_from(delassus)] *= 1.0 + SOFTNESS
        return np.asarray(responses @ np.linalg.solve(delassus, opening))

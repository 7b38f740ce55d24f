"""Inelastic stops of joints in a reference: impacts at the times at which they occur.

Where a joint reaches a stop within a physics step, the time is found (`_free_motion`). There an
impulse stops it, and with it all joints that the impulse would drive into their own stops: Moreau's
law of impact with a restitution of 0 (`_strike`). A joint at rest at its stop is held exactly in
each step at whose start the stop has to push (`_resting`). Between impacts the integrator keeps its
order; a joint that would leave its stop within a step leaves it at the start of the next.

The law of impact is fixed: another would be another reference. test_stops compares a closed form,
the complementarity after an impact, and the order over impacts. Bounds of searches may be tuned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description import bodies
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.numerics.pivoting import solve_in_box
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.simulators.faults import LOCK_INERTIA

MOST = 100  # impacts in a physics step: a few are physical, more mean that the step is too long
EXACT = 1e-14  # fraction of a step: error of the time of an impact, which is round-off
NEAR = 1e-12  # rad or m: closer to its stop, a joint is at it; above the round-off of positions
TRIES = 200  # iterations for the time of an impact; bisection alone needs 47 to reach EXACT


@dataclass(frozen=True)
class Impact:
    """Impact of a joint at its stop.

    Args:
        joint: its number.
        time: since the start of the motion [s].
        impulse: of the stop [N m s or N s].
    """

    joint: int
    time: float
    impulse: float


class Stops:
    """Advance a tree whose joints have stops.

    Args:
        dynamics: of the tree; its locks are used and released.
        lower, upper: limits of the positions (n,) [rad or m].

    Attributes:
        any: whether any joint has a stop.
        taken: energy that the impacts of the last motion took [J].
    """

    def __init__(self, dynamics: TreeDynamics, lower: Array, upper: Array) -> None:
        self._dynamics, self._lower, self._upper = dynamics, lower, upper
        self.any = bool(np.isfinite([lower, upper]).any())
        self.taken = 0.0

    def advance(
        self,
        y: Array,
        effort: Array,
        step: float,
        count: int,
        wrench: Array | None,
        locked: Sequence[int] = (),
    ) -> list[Impact]:
        """Take steps [s] of a state y (13 + 2 n,) as `TreeDynamics.advance` does, in place.

        Args:
            y, effort, step, count, wrench: as of `TreeDynamics.advance`.
            locked: joints that are locked for other reasons, and stay so.

        Returns:
            The impacts.
        """
        impacts = list[Impact]()
        self.taken = 0.0
        for i in range(count):
            remaining = step
            for _ in range(MOST):
                # Hold the joints at rest at their stops, move on to the next impact, and strike.
                resting = self._resting(y, effort, wrench, locked)
                for joint in resting:
                    self._dynamics.lock(joint, LOCK_INERTIA)
                elapsed = self._free_motion(y, effort, remaining, wrench, [*resting, *locked])
                for joint in resting:
                    self._dynamics.lock(joint, 0.0)
                y[-len(effort) :][resting] = 0.0
                remaining -= elapsed
                if remaining <= EXACT * step:
                    break
                impulses = self._strike(y, locked)
                impacts += [Impact(j, (i + 1) * step - remaining, size) for j, size in impulses]
            else:
                raise AccordError(
                    f"reference: more than {MOST} impacts at stops in a step: take a smaller "
                    "physics_step"
                )
        return impacts

    def _at(self, y: Array, locked: Sequence[int]) -> tuple[list[int], Array]:
        """Return the k joints at their stops, and the sign of the motion that leaves each (k,)."""
        q = self._q(y)
        at_lower, at_upper = q <= self._lower + NEAR, q >= self._upper - NEAR
        joints = [int(j) for j in np.flatnonzero(at_lower | at_upper) if j not in locked]
        return joints, np.where(at_lower[joints], 1.0, -1.0)

    def _resting(
        self, y: Array, effort: Array, wrench: Array | None, locked: Sequence[int]
    ) -> list[int]:
        """Return the joints at rest at their stops that efforts press against them."""
        joints, out = self._at(y, locked)
        at_rest = np.abs(self._qd(y)[joints]) == 0.0
        joints, out = [j for j, s in zip(joints, at_rest, strict=True) if s], out[at_rest]
        if not joints:
            return []
        qdd = self._acceleration(y, effort, wrench)
        pushes = _pushes(self._responses(y, joints)[:, -len(effort) :], joints, out, qdd[joints])
        return [j for j, size in zip(joints, pushes, strict=True) if size > 0.0]

    def _free_motion(
        self, y: Array, effort: Array, time: float, wrench: Array | None, held: Sequence[int]
    ) -> float:
        """Advance y to the first time at which a joint reaches its stop, or by `time` at most.

        Args:
            y, effort, wrench: as of `TreeDynamics.advance`.
            time: longest motion [s].
            held: joints that do not count.

        Returns:
            The time by which the state has advanced [s].
        """
        start = y.copy()
        is_free = np.ones(len(effort), bool)
        is_free[list(held)] = False

        def beyond(fraction: float) -> float:
            """Advance by a fraction of the time; return the largest way beyond a stop, or < 0."""
            y[:] = start
            self._dynamics.advance(y, effort, fraction * time, 1, wrench)
            q = self._q(y)
            excess = np.maximum(self._lower - q, q - self._upper)[is_free]
            return float(excess.max(initial=-np.inf))

        if beyond(1.0) <= 0.0:
            return time
        # Root of `beyond` between two fractions, by the Illinois method (false position, in which
        # the value at an end that stays is halved), and bisection where that leaves the bracket.
        low, high, at_low, at_high = 0.0, 1.0, beyond(0.0), beyond(1.0)
        for _ in range(TRIES):
            if high - low <= EXACT:
                break
            fraction = (
                0.5 * (low + high)
                if at_low >= 0.0
                else high - at_high * (high - low) / (at_high - at_low)
            )
            if not low < fraction < high:
                fraction = 0.5 * (low + high)
            excess_here = beyond(fraction)
            if excess_here > 0.0:
                high, at_high, at_low = fraction, excess_here, 0.5 * at_low
            else:
                low, at_low, at_high = fraction, excess_here, 0.5 * at_high
            if abs(excess_here) <= 0.1 * NEAR:
                break
        # The state at the end of the bracket, with positions within their limits.
        beyond(high)
        q = self._q(y)
        y[bodies.Q : bodies.Q + len(q)] = np.clip(q, self._lower, self._upper)
        return high * time

    def _strike(self, y: Array, locked: Sequence[int]) -> list[tuple[int, float]]:
        """Stop the joints that run into their stops; return their numbers and impulses.

        A joint at rest at its stop may get an impulse, too, but is not returned.
        """
        # Impulses after which no joint moves into its stop.
        joints, outward = self._at(y, locked)
        n = len(self._lower)
        responses, rates = self._responses(y, joints), self._qd(y)[joints]
        sizes = _pushes(responses[:, -n:], joints, outward, rates)
        # Velocities after the impact, and the energy that it took: -P . (v0 + v1) / 2.
        change = (sizes * outward) @ responses
        y[bodies.Q + n : bodies.Q + n + 6] += change[:6]
        y[-n:] += change[6:]
        after = y[-n:][joints]
        self.taken -= float((sizes * outward) @ (rates + after)) / 2.0
        pushed = sizes > 0.0
        y[-n:][np.array(joints)[pushed]] = 0.0
        struck = pushed & (outward * rates < 0.0)
        return [(j, float(size)) for j, size, new in zip(joints, sizes, struck, strict=True) if new]

    def _q(self, y: Array) -> Array:
        """Return the joints' positions in a state (n,)."""
        return np.array(y[bodies.Q : bodies.Q + len(self._lower)])

    def _qd(self, y: Array) -> Array:
        """Return the joints' rates in a state (n,)."""
        return np.array(y[-len(self._lower) :])

    def _acceleration(self, y: Array, effort: Array, wrench: Array | None) -> Array:
        """Return the accelerations of the joints (n,)."""
        n = len(effort)
        base = y[:3], quaternion_matrix(y[3 : bodies.Q]), y[bodies.Q + n : bodies.Q + n + 6]
        return self._dynamics.acceleration(self._q(y), self._qd(y), effort, *base, wrench).joints

    def _responses(self, y: Array, joints: Sequence[int]) -> Array:
        """Return the accelerations of base and joints by a unit effort on each of k (k, 6 + n).

        Without velocities and gravity they are rows of the inverse mass matrix.
        """
        n = len(self._lower)
        at_rest = np.zeros(n), y[:3], quaternion_matrix(y[3 : bodies.Q]), np.zeros(6)
        rows = []
        with self._dynamics.falling(-1.0):
            for joint in joints:
                unit = np.zeros(n)
                unit[joint] = 1.0
                answer = self._dynamics.acceleration(self._q(y), at_rest[0], unit, *at_rest[1:])
                rows.append(np.concatenate([answer.base, answer.joints]))
        return np.array(rows).reshape(-1, 6 + n)


def _pushes(responses: Array, joints: Sequence[int], out: Array, rates: Array) -> Array:
    """Return the pushes of stops (k,) after which no joint moves into its stop [Moreau 1988].

    With pushes p >= 0 and outward rates u' = u + W p: u' >= 0, and p = 0 where u' > 0.

    Args:
        responses: of all joints to a unit effort on each of the k joints (k, n).
        joints: the k joints at their stops.
        out: sign of the motion that leaves each stop (k,).
        rates: of these joints without pushes, or their accelerations (k,).
    """
    matrix = out[:, None] * responses[:, joints] * out
    pushes, unbounded = np.zeros(len(out)), np.full(len(out), np.inf)
    solve_in_box(0.5 * (matrix + matrix.T), out * rates, np.zeros(len(out)), unbounded, pushes)
    return pushes

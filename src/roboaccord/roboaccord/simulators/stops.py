"""Inelastic stops of joints in a reference: impacts where they occur, and joints that stay at them.

MOST, EXACT, NEAR and TRIES may be tuned: bounds of a search, and of round-off. The law of impact is
fixed, Moreau's with a restitution of 0: another would be another reference (analytical model).
test_stops compares a closed form, the complementarity after an impact, and the order over impacts.

Where a joint reaches a stop within a physics step, the time is found. There an impulse stops it,
and all joints that the impulse would drive into their own stops (Moreau's law with a restitution of
0). The joint is then held exactly in each step at whose start the stop has to push.

Between impacts the scheme keeps its order. A joint that would leave its stop within a step leaves
it at the start of the next.
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
EXACT = 1e-14  # fraction of a step to which the time of an impact is found: round-off
NEAR = 1e-12  # rad or m: a joint this close to a stop is at it, above round-off of its position
TRIES = 200  # for the time of an impact: bisection alone needs 47 to EXACT


@dataclass(frozen=True)
class Impact:
    """Impact of a joint at its stop.

    Args:
        joint: number.
        time: after the start of the motion [s].
        impulse: [N m s or N s].
    """

    joint: int
    time: float
    impulse: float


class Stops:
    """Advance a tree whose joints have stops.

    Args:
        dynamics: of the tree; locks of its joints are reset.
        lower, upper: limits of the positions (n,) [rad or m].

    Attributes:
        taken: energy that the last motion's impacts took [J].
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
            locked: joints that hold whatever the stops do.

        Returns:
            the impacts.
        """
        impacts = list[Impact]()
        self.taken = 0.0
        for i in range(count):
            remaining = step
            for _ in range(MOST):
                resting = self._resting(y, effort, wrench, locked)
                for joint in resting:
                    self._dynamics.lock(joint, LOCK_INERTIA)
                gone = self._free_motion(y, effort, remaining, wrench, [*resting, *locked])
                for joint in resting:
                    self._dynamics.lock(joint, 0.0)
                y[-len(effort) :][resting] = 0.0
                remaining -= gone
                if remaining <= EXACT * step:
                    break
                struck = self._strike(y, locked)
                impacts += [Impact(j, (i + 1) * step - remaining, size) for j, size in struck]
            else:
                raise AccordError(
                    f"reference: more than {MOST} impacts at stops in a step: take a smaller "
                    "physics_step"
                )
        return impacts

    def _at(self, y: Array, locked: Sequence[int]) -> tuple[list[int], Array]:
        """Return the joints at their stops, and the sign of the direction out of each (k,)."""
        q = self._q(y)
        low, high = q <= self._lower + NEAR, q >= self._upper - NEAR
        joints = [int(j) for j in np.flatnonzero(low | high) if j not in locked]
        return joints, np.where(low[joints], 1.0, -1.0)

    def _resting(
        self, y: Array, effort: Array, wrench: Array | None, locked: Sequence[int]
    ) -> list[int]:
        """Return the joints at rest at their stops that are pressed against them."""
        joints, out = self._at(y, locked)
        still = np.abs(self._qd(y)[joints]) == 0.0
        joints, out = [j for j, s in zip(joints, still, strict=True) if s], out[still]
        if not joints:
            return []
        free = self._acceleration(y, effort, wrench)
        push = _least(self._responses(y, joints)[:, -len(effort) :], joints, out, free[joints])
        return [j for j, size in zip(joints, push, strict=True) if size > 0.0]

    def _free_motion(
        self, y: Array, effort: Array, time: float, wrench: Array | None, held: Sequence[int]
    ) -> float:
        """Advance by a time, or up to the first joint that reaches its stop; return how far [s]."""
        start = y.copy()
        inside = np.ones(len(effort), bool)
        inside[list(held)] = False

        def beyond(fraction: float) -> float:
            """Advance by a fraction of the time; return how far a joint is beyond its stop then."""
            y[:] = start
            self._dynamics.advance(y, effort, fraction * time, 1, wrench)
            q = self._q(y)
            over = np.maximum(self._lower - q, q - self._upper)[inside]
            return float(over.max(initial=-np.inf))

        if beyond(1.0) <= 0.0:
            return time
        low, high, at_low, at_high = 0.0, 1.0, beyond(0.0), beyond(1.0)
        for _ in range(TRIES):  # the Illinois method, and bisection where that leaves the bracket
            if high - low <= EXACT:
                break
            fraction = (
                0.5 * (low + high)
                if at_low >= 0.0
                else high - at_high * (high - low) / (at_high - at_low)
            )
            if not low < fraction < high:
                fraction = 0.5 * (low + high)
            error = beyond(fraction)
            if error > 0.0:
                high, at_high, at_low = fraction, error, 0.5 * at_low
            else:
                low, at_low, at_high = fraction, error, 0.5 * at_high
            if abs(error) <= 0.1 * NEAR:
                break
        beyond(high)
        q = self._q(y)
        y[bodies.Q : bodies.Q + len(q)] = np.clip(q, self._lower, self._upper)
        return high * time

    def _strike(self, y: Array, locked: Sequence[int]) -> list[tuple[int, float]]:
        """Stop the joints that run into their stops; return their numbers and impulses.

        A joint at rest at its stop may get an impulse, too, but is not returned.
        """
        joints, out = self._at(y, locked)
        n = len(self._lower)
        responses, rates = self._responses(y, joints), self._qd(y)[joints]
        sizes = _least(responses[:, -n:], joints, out, rates)
        change = (sizes * out) @ responses
        y[bodies.Q + n : bodies.Q + n + 6] += change[:6]
        y[-n:] += change[6:]
        after = y[-n:][joints]
        self.taken -= float((sizes * out) @ (rates + after)) / 2.0
        struck = sizes > 0.0
        y[-n:][np.array(joints)[struck]] = 0.0
        came = struck & (out * rates < 0.0)
        return [(j, float(s)) for j, s, new in zip(joints, sizes, came, strict=True) if new]

    def _q(self, y: Array) -> Array:
        return np.array(y[bodies.Q : bodies.Q + len(self._lower)])

    def _qd(self, y: Array) -> Array:
        return np.array(y[-len(self._lower) :])

    def _acceleration(self, y: Array, effort: Array, wrench: Array | None) -> Array:
        """Return the accelerations of the joints (n,)."""
        n = len(effort)
        base = y[:3], quaternion_matrix(y[3 : bodies.Q]), y[bodies.Q + n : bodies.Q + n + 6]
        return self._dynamics.acceleration(self._q(y), self._qd(y), effort, *base, wrench).joints

    def _responses(self, y: Array, joints: Sequence[int]) -> Array:
        """Return the accelerations of base and joints by a unit effort on each of k (k, 6 + n).

        They are without velocities and gravity, so that they are rows of the inverse mass matrix.
        """
        n = len(self._lower)
        still = np.zeros(n), y[:3], quaternion_matrix(y[3 : bodies.Q]), np.zeros(6)
        rows = []
        with self._dynamics.falling(-1.0):
            for joint in joints:
                unit = np.zeros(n)
                unit[joint] = 1.0
                answer = self._dynamics.acceleration(self._q(y), still[0], unit, *still[1:])
                rows.append(np.concatenate([answer.base, answer.joints]))
        return np.array(rows).reshape(-1, 6 + n)


def _least(responses: Array, joints: Sequence[int], out: Array, rates: Array) -> Array:
    """Return the outward pushes (k,) after which no joint moves into its stop [Moreau 1988].

    Args:
        responses: of all joints to a unit effort at each of the k (k, n).
        joints: those at their stops.
        out: sign of the direction out of each (k,).
        rates: of these joints, or accelerations, without a push (k,).
    """
    matrix = out[:, None] * responses[:, joints] * out
    pushes, unbounded = np.zeros(len(out)), np.full(len(out), np.inf)
    solve_in_box(0.5 * (matrix + matrix.T), out * rates, np.zeros(len(out)), unbounded, pushes)
    return pushes

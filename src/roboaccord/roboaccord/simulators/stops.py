"""Inelastic stops of joints in a reference, with impacts at the times at which they occur.

`TreeReference` (reference.py) advances a tree of links by `Stops` if its joints have limits. If a
joint reaches its stop within a physics step, the tree is advanced to that time
(`_advance_to_impact`). An impulse then stops the joint, and all joints that the impulse would drive
into their own stops: Moreau's law of impact with a restitution of 0 (`_apply_impact`). A joint at
rest at its stop is locked during a step if the stop has to push at the start (`_pressed_joints`); a
joint that would leave its stop within a step leaves it at the start of the next. Between impacts
the integrator has its usual order.

A state y (13 + 2 n,) is that of `TreeDynamics`: position, quaternion and q, then velocities and qd.

The law of impact is fixed: another would be another reference. test_stops compares a closed form,
the complementarity after an impact, and the order over impacts. Bounds of searches may be tuned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from roboaccord.contract import AccordError, Array
from roboaccord.description import bodies
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.numerics import quaternion_matrix, solve_in_box
from roboaccord.simulators.faults import LOCK_INERTIA

# Largest number of impacts in a physics step: a few are physical, more show that the step is too
# long. By choice: five of each of the snake's 21 joints.
MAX_IMPACTS = 100
# Error of the time of an impact, as a fraction of the step: round-off.
TIME_TOLERANCE = 1e-14
# Largest number of iterations for that time; bisection alone needs 47 to reach TIME_TOLERANCE.
MAX_ITERATIONS = 200
# [rad or m] A joint that is closer to its stop is at the stop: above the round-off of positions.
STOP_DISTANCE = 1e-12
# Excess beyond a stop that counts as 0 in the search: less than STOP_DISTANCE, so that the joint
# that is found there is at its stop.
ROOT_TOLERANCE = 0.1 * STOP_DISTANCE
BASE_SIZE = 6  # components of the base's velocity, linear and angular, ahead of those of the joints


@dataclass(frozen=True)
class Impact:
    """Impact of a joint at its stop.

    Args:
        joint: its number.
        time: since the start of the motion [s].
        impulse: impulse of the stop [N m s or N s].
    """

    joint: int
    time: float
    impulse: float


class Stops:
    """Advance a tree whose joints have stops.

    Args:
        dynamics: equations of motion of the tree; its joints are locked and released.
        lower, upper: limits of the positions (n,) [rad or m].

    Attributes:
        exist: whether any joint has a stop.
        energy: energy that the impacts of the last motion took [J].
    """

    def __init__(self, dynamics: TreeDynamics, lower: Array, upper: Array) -> None:
        self._dynamics, self._lower, self._upper = dynamics, lower, upper
        # Entries of a state: orientation of the base and q, velocities of the base, and qd.
        start_of_rates = bodies.Q + len(lower)
        start_of_qd = start_of_rates + BASE_SIZE
        self._orientation = slice(3, bodies.Q)
        self._q = slice(bodies.Q, start_of_rates)
        self._base_rates = slice(start_of_rates, start_of_qd)
        self._qd = slice(start_of_qd, None)
        self.exist = bool(np.isfinite([lower, upper]).any())
        self.energy = 0.0

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
        self.energy = 0.0
        for i in range(count):
            remaining = step
            for _ in range(MAX_IMPACTS):
                # Lock the joints that press on their stops, and move on to the next impact.
                pressed = self._pressed_joints(y, effort, wrench, locked)
                for joint in pressed:
                    self._dynamics.lock(joint, LOCK_INERTIA)
                at_rest = [*pressed, *locked]
                remaining -= self._advance_to_impact(y, effort, remaining, wrench, at_rest)
                for joint in pressed:
                    self._dynamics.lock(joint, 0.0)
                y[self._qd][pressed] = 0.0
                if remaining <= TIME_TOLERANCE * step:
                    break
                impulses = self._apply_impact(y, locked)
                impacts += [Impact(j, (i + 1) * step - remaining, size) for j, size in impulses]
            else:
                excess = f"more than {MAX_IMPACTS} impacts at stops in a step"
                raise AccordError(f"reference: {excess}: take a smaller physics_step")
        return impacts

    def _at_stops(self, y: Array, locked: Sequence[int]) -> tuple[list[int], Array]:
        """Return the k joints at their stops, and the sign of the motion that leaves each (k,)."""
        q = y[self._q]
        at_lower, at_upper = q <= self._lower + STOP_DISTANCE, q >= self._upper - STOP_DISTANCE
        joints = [int(j) for j in np.flatnonzero(at_lower | at_upper) if j not in locked]
        return joints, np.where(at_lower[joints], 1.0, -1.0)

    def _pressed_joints(
        self, y: Array, effort: Array, wrench: Array | None, locked: Sequence[int]
    ) -> list[int]:
        """Return the joints at rest at their stops that efforts press against them."""
        joints, outward = self._at_stops(y, locked)
        is_resting = y[self._qd][joints] == 0.0
        joints, outward = np.array(joints)[is_resting].tolist(), outward[is_resting]
        if not joints:
            return []
        qdd = self._accelerations(y, effort, wrench)
        responses = self._responses(y, joints)[:, BASE_SIZE:]
        pushes = _stop_pushes(responses, joints, outward, qdd[joints])
        return [joint for joint, push in zip(joints, pushes, strict=True) if push > 0.0]

    def _advance_to_impact(
        self, y: Array, effort: Array, time: float, wrench: Array | None, at_rest: Sequence[int]
    ) -> float:
        """Advance y to the first time at which a joint reaches its stop, or by `time` at most.

        Args:
            y, effort, wrench: as of `TreeDynamics.advance`.
            time: longest motion [s].
            at_rest: joints that do not move, and reach no stop.

        Returns:
            The time by which the state has advanced [s].
        """
        start = y.copy()
        is_free = np.ones(len(effort), bool)
        is_free[list(at_rest)] = False

        def excess_at(fraction: float) -> float:
            """Advance by a fraction of the time; return the largest excess beyond a stop."""
            y[:] = start
            self._dynamics.advance(y, effort, fraction * time, 1, wrench)
            q = y[self._q]
            excess = np.maximum(self._lower - q, q - self._upper)[is_free]
            return float(excess.max(initial=-np.inf))

        if excess_at(1.0) <= 0.0:
            return time
        impact = _first_excess(excess_at)
        # The state at the impact, with positions within their limits.
        excess_at(impact)
        y[self._q] = np.clip(y[self._q], self._lower, self._upper)
        return impact * time

    def _apply_impact(self, y: Array, locked: Sequence[int]) -> list[tuple[int, float]]:
        """Stop the joints that run into their stops; return their numbers and impulses.

        A joint at rest at its stop may get an impulse, too, but is not returned.
        """
        # Impulses after which no joint moves into its stop.
        joints, outward = self._at_stops(y, locked)
        responses, rates = self._responses(y, joints), y[self._qd][joints]
        sizes = _stop_pushes(responses[:, BASE_SIZE:], joints, outward, rates)
        # Velocities after the impact, and the energy that it took: -P . (v0 + v1) / 2.
        impulses = sizes * outward
        change = impulses @ responses
        y[self._base_rates] += change[:BASE_SIZE]
        y[self._qd] += change[BASE_SIZE:]
        rates_after = y[self._qd][joints]
        self.energy -= float(impulses @ (rates + rates_after)) / 2.0
        is_pushed = sizes > 0.0
        y[self._qd][np.array(joints)[is_pushed]] = 0.0
        ran_in = is_pushed & (outward * rates < 0.0)
        return [(joints[i], float(sizes[i])) for i in np.flatnonzero(ran_in)]

    def _accelerations(self, y: Array, effort: Array, wrench: Array | None) -> Array:
        """Return the accelerations of the joints (n,)."""
        base = y[:3], quaternion_matrix(y[self._orientation]), y[self._base_rates]
        return self._dynamics.acceleration(y[self._q], y[self._qd], effort, *base, wrench).joints

    def _responses(self, y: Array, joints: Sequence[int]) -> Array:
        """Return the accelerations of base and joints by a unit effort on each of k (k, 6 + n).

        Without velocities and gravity they are rows of the inverse mass matrix.
        """
        n = len(self._lower)
        qd, base_twist = np.zeros(n), np.zeros(BASE_SIZE)
        q, rotation = y[self._q], quaternion_matrix(y[self._orientation])
        rows = []
        with self._dynamics.without_gravity():
            for joint in joints:
                unit = np.zeros(n)
                unit[joint] = 1.0
                response = self._dynamics.acceleration(q, qd, unit, y[:3], rotation, base_twist)
                rows.append(np.concatenate([response.base, response.joints]))
        return np.array(rows).reshape(-1, BASE_SIZE + n)


def _first_excess(excess_at: Callable[[float], float]) -> float:
    """Return the fraction of a motion, 0 to 1, at which a joint reaches its stop; or just after it.

    It is the root of `excess_at` [rad or m by fraction] by the Illinois method: false position, in
    which the value at the end that remains is halved; bisection if the secant leaves the bracket.
    """
    low, high = 0.0, 1.0
    at_low, at_high = excess_at(low), excess_at(high)
    for _ in range(MAX_ITERATIONS):
        if high - low <= TIME_TOLERANCE:
            break
        fraction = 0.5 * (low + high)
        if at_low < 0.0:
            secant = high - at_high * (high - low) / (at_high - at_low)
            fraction = secant if low < secant < high else fraction
        excess = excess_at(fraction)
        if excess > 0.0:
            high, at_high, at_low = fraction, excess, 0.5 * at_low
        else:
            low, at_low, at_high = fraction, excess, 0.5 * at_high
        if abs(excess) <= ROOT_TOLERANCE:
            break
    return high


def _stop_pushes(responses: Array, joints: Sequence[int], outward: Array, rates: Array) -> Array:
    """Return the pushes of stops (k,) after which no joint moves into its stop [Moreau 1988].

    With pushes p >= 0, outward rates u, and W (`mobility`) the outward rates by unit pushes (k, k):
    u' = u + W p >= 0, and p = 0 where u' > 0.

    Args:
        responses: accelerations of all joints by a unit effort on each of the k joints (k, n).
        joints: the k joints at their stops.
        outward: sign of the motion that leaves each stop (k,).
        rates: rates or accelerations of these joints without pushes (k,).
    """
    mobility = outward[:, None] * responses[:, joints] * outward
    k = len(joints)
    pushes, lowest, highest = np.zeros(k), np.zeros(k), np.full(k, np.inf)
    solve_in_box(0.5 * (mobility + mobility.T), outward * rates, lowest, highest, pushes)
    return pushes

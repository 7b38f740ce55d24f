"""Controller `velocity` of joint rates or positions that an operator commands.

The operator's commands arrive as a `Target` in each control period. The commanded rates are limited
so that each joint stops before its limit, and no two hulls come closer than `clearance`. They are
integrated to desired angles, which computed torque (torque.py) tracks.

MOST_LAG, STOP_RESERVE and the defaults of the arguments may be tuned (test_packbot_controllers).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np
from roboaccord.contract import AccordError, Array, Command, RobotState, Target, check_positive
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from packbot.controllers.torque import ComputedTorque
from packbot.model import compiled

# rad; bound of the error of a joint if something blocks the arm: with the default bandwidth of 10
# rad/s it pushes with up to 10 rad/s^2, five times the default acceleration
MOST_LAG = 0.1
# rad; joints stop that much before their limits, so that feedback does not reach them: a tenth of
# MOST_LAG, and 19 mm at the tips
STOP_RESERVE = 0.01


class VelocityController:
    """Track commanded joint rates or positions, and hold still without any (Controller).

    Rates are clipped at the speed limits, rise and fall by `acceleration`, and fall to 0 in time
    short of a joint's limit, v^2 / 2 = acceleration * distance. A position is approached at the
    speed `approach`, with the same braking. If a pair nearer than `clearance` would come closer
    still, all joints stop.

    Args:
        setup: robot and scenario.
        acceleration: acceleration of every joint.
        bandwidth: bandwidth of the control law.
        clearance: distance that hulls keep; with 0, avoiding contact is left to the operator.
        approach: speed at which commanded positions are approached.
        uncertainty: if given, even as an empty mapping, the arm's friction is taken to be
            uncertain, as in `reach`.
    """

    def __init__(
        self,
        setup: Setup,
        acceleration: Annotated[float, si.Quantity("rad/s^2")] = 2.0,
        bandwidth: si.RadiansPerSecond = 10.0,
        clearance: si.Metres = 0.02,
        approach: si.RadiansPerSecond = 0.5,
        uncertainty: Mapping[str, float] | None = None,
    ) -> None:
        with compiled("the controller velocity"):
            from packbot.contact.clearance import Clearance
        check_positive({"acceleration": acceleration, "approach": approach})
        if not clearance >= 0.0:
            raise ValueError("clearance must not be negative")
        p = setup.parameters
        self._speeds = p.of_joints("speed_limit")
        self._lower = p.of_joints("lower") + STOP_RESERVE
        self._upper = p.of_joints("upper") - STOP_RESERVE
        self._control = ComputedTorque(setup, bandwidth, uncertain=uncertainty is not None)
        self._approach = approach
        self._acceleration, self._period = acceleration, setup.scenario.control_period
        self._margin = clearance
        self._clearance = Clearance.of(setup) if clearance else None
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the desired angles; the next state sets them."""
        self._desired: Array | None = None  # desired angles (7,) [rad]
        self._rate = np.zeros(len(self._speeds))  # their rates [rad/s]

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that follow the commanded rates or positions."""
        if self._desired is None:
            self._desired = state.q.copy()
        # Commanded rates; a commanded position of a joint comes first.
        commanded = np.zeros_like(self._rate)
        if target is not None and target.velocity is not None:
            commanded = np.asarray(target.velocity, dtype=float)
            if not np.isfinite(commanded).all():
                raise AccordError(f"a joint velocity is not finite at t = {state.time:.6f} s")
        if target is not None and target.position is not None:
            rates = self._rates_to(target.position, self._desired)
            commanded = np.where(np.isnan(target.position), commanded, rates)
        rate = self._next_rate(commanded, self._desired)
        acceleration = (rate - self._rate) / self._period
        command = self._control.command(state, self._desired, self._rate, acceleration)
        desired = self._desired + 0.5 * self._period * (self._rate + rate)
        # If something blocks the arm, the desired angles must not run away from it.
        self._desired = state.q + np.clip(desired - state.q, -MOST_LAG, MOST_LAG)
        self._rate = rate
        return command

    def _next_rate(self, commanded: Array, r: Array) -> Array:
        """Return the desired rates (7,) [rad/s] after a period, at the desired angles r (7,)."""
        allowed = np.clip(commanded, -self._speeds, self._speeds)
        allowed = np.minimum(allowed, self._braking(np.maximum(self._upper - r, 0.0)))
        allowed = np.maximum(allowed, -self._braking(np.maximum(r - self._lower, 0.0)))
        rate = self._towards(allowed)
        return self._towards(np.zeros_like(rate)) if self._approaches(rate, r) else rate

    def _braking(self, distance: Array) -> Array:
        """Return the rates (7,) [rad/s] from which a joint stops within a distance (7,) [rad].

        In discrete time it brakes one period early, so that it never overshoots.
        """
        rise = self._acceleration * self._period
        return np.asarray(np.sqrt(rise**2 + 2.0 * self._acceleration * distance) - rise)

    def _rates_to(self, position: Array, r: Array) -> Array:
        """Return the rates (7,) [rad/s] by which angles r approach a position (7,) [rad]."""
        error = position - r
        return np.sign(error) * np.minimum(self._braking(np.abs(error)), self._approach)

    def _towards(self, goal: Array) -> Array:
        """Return the rates (7,) [rad/s] nearest to a goal that are reached in a period."""
        rise = self._acceleration * self._period
        return np.asarray(self._rate + np.clip(goal - self._rate, -rise, rise))

    def _approaches(self, rate: Array, r: Array) -> bool:
        """Return whether a pair that approaches would come closer than the margin before it stops.

        Args:
            rate: desired rates (7,) [rad/s].
            r: desired angles (7,) [rad].
        """
        if self._clearance is None or not rate.any():
            return False
        braking_angle = rate * np.abs(rate) / (2.0 * self._acceleration)
        stop = r + self._period * rate + braking_angle
        if not self._clearance.touches(stop, self._margin):
            return False
        distances = self._clearance.distances(r)
        at_stop = self._clearance.distances(stop)
        return bool(((at_stop < self._margin) & (at_stop < distances)).any())

"""Dribbling controller: it drives the carrier, and keeps the ball in its place by the rollers.

The carrier, the robot that dribbles, follows a program or `cmd_vel` with limited accelerations. The
ball must move over the ground as its nominal place in the carrier does; the rollers get the speeds
of the inverse map, equation (22) of the paper (model/rig.py), for that velocity in the carrier's
frame. A PI loop on the ball's offset from its place, which a dribbler measures by how far its
rollers are pressed out, corrects the velocity.

The constants are defaults of a scenario's keys and may be tuned. Another path is a function like
`slalom`. test_roller_dribble shows that the ball stays within the stroke of the rollers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from roboaccord.contract import AccordError, Array, Command, RobotState, Target, check_positive
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from roller_sphere.controllers.speed_loops import BANDWIDTH, SpeedLoops, speeds_for
from roller_sphere.model.hold import CARRIER, ROLLERS, YAW, ball_offsets, in_carrier_frame
from roller_sphere.model.parameters import RollerSphereParameters

# A function of the time [s]: forward and sideways velocity [m/s] and turn rate [rad/s] (3,).
CarrierProgram = Callable[[float], Array]
CARRIER_BANDWIDTH = 10.0  # rad/s; of the carrier's speed loops: heavy robots reach 5 to 20
ACCELERATION = 2.0  # m/s^2; usual for robots of RoboCup's middle-size league
TURN_ACCELERATION = 4.0  # rad/s^2; ACCELERATION of a wheel 0.5 m from the middle of such a robot
# Larger gains push the ball away when its load changes from one roller to the other, and lose it.
PROPORTIONAL_GAIN = 10.0  # 1/s; velocity of the ball over its offset
INTEGRAL_GAIN = 15.0  # 1/s^2; velocity of the ball over the integral of its offset


def carried_mass(parameters: RollerSphereParameters) -> float:
    """Return the mass of the carrier with its rollers [kg]."""
    p = parameters
    return p.carrier_mass + 2.0 * (p.roller_mass + p.holder_mass)


@dataclass(eq=False, repr=False)
class DribbleController:
    """Dribble along a program of speed and turns, or with the velocity of `cmd_vel`.

    Args:
        setup: robot and scenario.
        speed: forward speed of the carrier.
        turn_rate: turn rate of the carrier, to the left.
        straight: time before the first turn.
        alternate: time of each turn, alternately left and right; 0 for one turn without end.
        acceleration: largest acceleration, forward and sideways.
        turn_acceleration: largest rate of change of the turn rate.
        proportional_gain: gain of the loop on the ball's offset [1/s].
        integral_gain: integral gain of the same loop [1/s^2].
        bandwidth: bandwidth of the rollers' speed loops.
        carrier_bandwidth: bandwidth of the carrier's speed loops.
    """

    setup: Setup
    speed: si.MetresPerSecond = 1.0
    turn_rate: si.RadiansPerSecond = 0.0
    straight: si.Seconds = 1.5
    alternate: si.Seconds = 0.0
    acceleration: Annotated[float, si.Quantity("m/s^2")] = ACCELERATION
    turn_acceleration: Annotated[float, si.Quantity("rad/s^2")] = TURN_ACCELERATION
    proportional_gain: float = PROPORTIONAL_GAIN
    integral_gain: float = INTEGRAL_GAIN
    bandwidth: si.RadiansPerSecond = BANDWIDTH
    carrier_bandwidth: si.RadiansPerSecond = CARRIER_BANDWIDTH

    def __post_init__(self) -> None:
        if self.setup.scenario.base != "free":
            raise AccordError("controller dribble drives a carrier, so base must be free")
        names = ("acceleration", "turn_acceleration", "carrier_bandwidth")
        check_positive({name: getattr(self, name) for name in names})
        if not (0 <= self.proportional_gain < math.inf and 0 <= self.integral_gain < math.inf):
            raise ValueError("proportional_gain and integral_gain must not be negative")
        self._parameters = p = self.setup.parameters
        self._program = slalom(self.speed, self.turn_rate, self.straight, self.alternate)
        # Largest rates of change of the set-point (3,).
        self._limits = np.array([self.acceleration, self.acceleration, self.turn_acceleration])
        # K of nu = K V, the speeds of the rollers for a velocity of the ball (2, 2).
        self._speeds = speeds_for(self._parameters.rig, compensation=True)
        self._rollers = SpeedLoops(self._parameters, self.bandwidth)
        # Mass [kg] and moment of inertia [kg m^2] of the carrier with its rollers.
        of_rollers = 2.0 * (p.roller_mass + p.holder_mass) * p.ball_ahead**2
        self._mass, self._inertia = carried_mass(p), p.carrier_inertia + of_rollers
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the run; nothing is random."""
        self._rollers.reset()
        # Set-point of the carrier: velocity (2,) [m/s] and turn rate [rad/s].
        self._goal = np.zeros(3)
        self._integral = np.zeros(2)  # integral of the ball's offset over time [m s]
        self._time = 0.0  # time of the last state [s]

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts of rollers and carrier."""
        step = state.time - self._time
        self._time = state.time
        # Wanted velocity, forward and sideways, and turn rate (3,).
        velocity = self._program(state.time) if target is None else target.twist[[0, 1, 5]]
        change = self._approach(velocity, step)
        nu = self._speeds @ self._ball_velocity(state, step)
        rollers = self._rollers.efforts(state.time, state.qd[ROLLERS], nu)
        return Command(np.concatenate([rollers, self._carrier_efforts(state, change)]))

    def _carrier_efforts(self, state: RobotState, change: Array) -> Array:
        """Return the forces along the world's x and y [N] and the torque [N m] (3,).

        They are the feed-forward of the set-point's time derivative (3,), in the carrier's frame,
        and a proportional feedback.
        """
        yaw, rate = float(state.q[YAW]), float(state.qd[YAW])
        # Set-point and its derivative in the world frame; the frame turns, so w z x v is added.
        velocity = in_carrier_frame(-yaw, self._goal[:2])
        turning = rate * np.array([-velocity[1], velocity[0]])
        acceleration = in_carrier_frame(-yaw, change[:2]) + turning
        lack = velocity - state.qd[CARRIER]
        force = self._mass * (acceleration + self.carrier_bandwidth * lack)
        torque = self._inertia * (change[2] + self.carrier_bandwidth * (self._goal[2] - rate))
        return np.array([*force, torque])

    def _approach(self, velocity: Array, step: float) -> Array:
        """Move the set-point towards a velocity (3,), and return its time derivative (3,)."""
        if step <= 0.0:
            return np.zeros(3)
        change = np.minimum(np.maximum((velocity - self._goal) / step, -self._limits), self._limits)
        self._goal = self._goal + change * step
        return np.asarray(change)

    def _ball_velocity(self, state: RobotState, step: float) -> Array:
        """Return the desired velocity of the ball over ground, in the carrier's frame (2,)."""
        p = self._parameters
        offset = ball_offsets(p, state.q, state.position)[:2]
        self._integral = self._integral + offset * step
        carrier = in_carrier_frame(state.q[YAW], state.qd[CARRIER])
        nominal = carrier + np.array([0.0, state.qd[YAW] * p.ball_ahead])
        velocity = nominal - self.proportional_gain * offset - self.integral_gain * self._integral
        return np.asarray(velocity)


def slalom(speed: float, turn_rate: float, straight: float, alternate: float) -> CarrierProgram:
    """Return a program: straight ahead, then one turn, or turns to the left and right.

    Args:
        speed: forward [m/s].
        turn_rate: of the turns, the first to the left [rad/s].
        straight: time before the first turn [s].
        alternate: time of each turn [s]; the first has half of it, so that the path keeps its
            direction on average. 0 for one turn without end.
    """
    if not all(math.isfinite(value) for value in (speed, turn_rate)):
        raise ValueError("speed and turn_rate must be numbers")
    if not (0 <= straight < math.inf and 0 <= alternate < math.inf):
        raise ValueError("straight and alternate must not be negative")

    def velocity(time: float) -> Array:
        """Return the carrier's velocity and turn rate at a time [s]."""
        since = time - straight
        if since < 0.0:
            return np.array([speed, 0.0, 0.0])
        turns = math.floor(since / alternate + 0.5) if alternate else 0
        return np.array([speed, 0.0, turn_rate if turns % 2 == 0 else -turn_rate])

    return velocity

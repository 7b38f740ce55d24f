"""Steering of the snake: speed by the frequency of its gait, heading by a mean bend of its joints.

The gait is the serpenoid, a wave that runs along the body (controllers/serpenoid.py). At every
tick, the controller's period, four steps follow each other:

1. `PeriodMean` (period_mean.py) averages heading and velocity over the last period of the gait.
2. A goal (speed, heading, turn rate) comes from the scenario, by HoldHeading or FollowWaypoints, or
   from a commanded velocity, by FollowTwist (all in controllers/guidance.py).
3. The frequency is set by the speed, and the offset, the mean joint angle, by the turn rate.
4. The joints track the gait by computed torque, as with SerpenoidController.

FADE_FREQUENCY, RADIUS_FACTOR, MOST_CORRECTION and the defaults of SteeringController are our
choice, for the post (the blog post of docs/snake.md) states no gain or limit. They may be tuned
within what test_steering states. Each default is also a key of the scenario's `controller`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from roboaccord.contract import Command, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from snake.controllers import guidance
from snake.controllers.period_mean import PeriodMean
from snake.controllers.serpenoid import VariableSerpenoid
from snake.controllers.tracker import BANDWIDTH, Tracker
from snake.model.coordinates import PlanarSnake

# Hz: the offset is turn rate over frequency; below this frequency it is faded out, as it would be
# infinite at rest. Measured: `waypoints` takes 11.9 s with 0.02 and 0.05, and 15.2 s with 0.2, for
# it fades the offset of slow turns, at 0.3 Hz, as well.
FADE_FREQUENCY = 0.05
# Radius of the turning circle that waypoints are given, over the smallest. Measured: with 1 and 1.5
# `waypoints` takes the same time; with 3 the snake leaves out two of the four.
RADIUS_FACTOR = 1.5
# Largest relative change of the frequency by the speed loop, against wind-up. Measured: with 0.1 to
# 0.6 the runs `steer` and `waypoints` are the same.
MOST_CORRECTION = 0.3


def clipped(value: float, limit: float) -> float:
    """Return a value within plus and minus a limit."""
    return min(max(value, -limit), limit)


@dataclass(eq=False, repr=False)
class SteeringController:
    """Steer the serpenoid by speed and heading.

    In a period the body moves forward by one wavelength, less slip. A wavelength has n / waves
    joints, each bent by the offset in the mean, so the body turns by offset n / waves. The
    frequency f therefore determines the speed, and f and the offset together the turn rate

        omega = f offset n / waves

    Feedback corrects both by the means over the last period, which are free of the undulation.
    The gains are per period, so that the loops are as stable at low frequency as at 1 Hz.

    A commanded velocity (`cmd_vel`) has priority over waypoints, and these over `heading`.

    Args:
        setup: robot and scenario.
        speed: along the heading; negative is backward. The default is the speed at 1 Hz.
        heading: wanted heading; None holds the heading of the start.
        turn_time: from this time on `heading` is wanted, until then the heading of the start.
        waypoints: x, y of each, for the centre of mass; the snake stops at the last.
        acceptance: distance at which a waypoint counts as reached.
        amplitude: of every joint; reduced where the offset needs the range of the joint.
        waves: number of waves on the body.
        speed_per_hertz: speed of the straight gait over its frequency, for the feed-forward.
        max_frequency: largest frequency; the speed is nearly linear in it up to 2 Hz.
        turn_rate_limit: of the heading.
        offset_limit: of the mean joint angle.
        heading_gain: turn per period over heading error [1]; above about 1 the heading oscillates.
        speed_gain: relative change of frequency per period over the relative speed error [1].
        time_constant: with which amplitude, frequency and offset follow (VariableSerpenoid).
        margin: distance that joint angles keep from their stops.
        bandwidth: of the tracking of the gait.
    """

    setup: Setup
    speed: si.MetresPerSecond = 1.066
    heading: si.Radians | None = None
    turn_time: si.Seconds = 0.0
    waypoints: Sequence[Sequence[si.Metres]] = ()
    acceptance: si.Metres = guidance.ACCEPTANCE
    amplitude: si.Radians = 0.4
    waves: float = 1.5
    speed_per_hertz: si.Metres = 1.066
    max_frequency: si.Hertz = 2.0
    turn_rate_limit: si.RadiansPerSecond = 0.5
    offset_limit: si.Radians = 0.15
    heading_gain: float = 0.8
    speed_gain: float = 0.2
    time_constant: si.Seconds = 0.2
    margin: si.Radians = 0.02
    bandwidth: si.RadiansPerSecond = BANDWIDTH

    def __post_init__(self) -> None:
        if min(self.heading_gain, self.speed_gain, self.margin) < 0:
            raise ValueError("gains and margin must not be negative")
        limits = self.turn_rate_limit, self.offset_limit, self.max_frequency
        if min(limits) <= 0 or self.speed_per_hertz == 0:
            raise ValueError("limits must be positive, and speed_per_hertz not 0")
        setup, p = self.setup, self.setup.parameters
        joints, limit = len(setup.joints), p.joint_limit - self.margin
        self.gait = VariableSerpenoid(
            joints, 0.0, 0.0, self.waves, time_constant=self.time_constant, limit=limit
        )
        self._turn_per_period = joints / self.waves  # rad of heading per rad of offset
        self._chain = PlanarSnake(p)
        self._tracker = Tracker(setup, self.bandwidth)
        self._period_mean = PeriodMean()
        # The goals of the scenario: waypoints if there are any, else a heading.
        self._scenario_goals: guidance.HoldHeading | guidance.FollowWaypoints = (
            guidance.HoldHeading(self.speed, self.heading, self.turn_time)
        )
        if self.waypoints:
            sharpest_turn = guidance.SLOWEST * self.speed / self.turn_rate_limit
            joint_spacing = p.pivot_behind_front + p.pivot_ahead_of_rear
            radius = max(joint_spacing / self.offset_limit, sharpest_turn)
            self._scenario_goals = guidance.FollowWaypoints(
                self.speed, self.waypoints, self.acceptance, RADIUS_FACTOR * radius
            )
        self._commanded_goals = guidance.FollowTwist(self.turn_rate_limit)
        self.reset(0)
        self.update(setup.initial, None)  # compiles the kernels before the first tick
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the run; nothing is random."""
        for stateful in (self.gait, self._period_mean, self._scenario_goals, self._commanded_goals):
            stateful.reset()
        self._time = 0.0  # of the last tick [s]
        self._correction = 0.0  # relative change of the frequency by the speed loop
        # Turn since the start that follows from the offset by the formula for omega [rad]. With it
        # PeriodMean removes the lag of the mean heading while the body turns.
        self._expected_turn = 0.0

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the steered gait."""
        step = state.time - self._time
        self._time = state.time
        self._expected_turn += self._turn_per_period * self.gait.frequency * self.gait.offset * step
        x, y, heading = self._chain.bearing(state)
        self._period_mean.add(state.time, self.gait.phase, heading, x, y, self._expected_turn)
        motion = guidance.SteadyMotion(state.time, self._period_mean.heading_now, x, y)
        if target is None:
            self._commanded_goals.reset()
            goal = self._scenario_goals.goal(motion)
        else:
            goal = self._commanded_goals.follow(motion, target)
        amplitude = self.amplitude if goal.speed else 0.0
        frequency, offset = self._frequency(goal, step), self._offset(goal)
        shape = self.gait.advance(
            state.time, amplitude=amplitude, frequency=frequency, waves=self.waves, offset=offset
        )
        return Command(self._tracker.efforts(state, shape))

    def _frequency(self, goal: guidance.Goal, step: float) -> float:
        """Return the frequency for a goal's speed: feed-forward, times a slow correction [Hz]."""
        feed_forward = goal.speed / self.speed_per_hertz
        if feed_forward and self._period_mean.spans_period:
            speed_lack = clipped(1.0 - self._period_mean.speed() / goal.speed, 1.0)
            change = self.speed_gain * abs(self.gait.frequency) * speed_lack * step
            self._correction = clipped(self._correction + change, MOST_CORRECTION)
        return clipped(feed_forward * (1.0 + self._correction), self.max_frequency)

    def _offset(self, goal: guidance.Goal) -> float:
        """Return the mean joint angle that turns the body towards a goal [rad].

        It is omega / f waves / n, with 1 / f replaced by f / (f^2 + FADE_FREQUENCY^2), which is 0
        at rest.
        """
        frequency = self.gait.frequency
        error = goal.heading - self._period_mean.heading_now
        rate = goal.turn_rate + self.heading_gain * abs(frequency) * error
        rate = clipped(rate, self.turn_rate_limit)
        per_period = rate * frequency / (frequency * frequency + FADE_FREQUENCY * FADE_FREQUENCY)
        return clipped(per_period / self._turn_per_period, self.offset_limit)

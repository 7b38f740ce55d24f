"""Steering controller: speed and heading by frequency and offset of a serpenoid gait.

At every tick it takes a goal from guidance.py, means over the last period from PeriodMean, and sets
the frequency by the speed and the mean joint angle by the turn rate, omega = f offset n / waves,
which is the geometry of the wave. The gait is then tracked as by SerpenoidController.

SLOW, ROOM, CORRECTION and the defaults of SteeringController are our choice, for the post fixes no
gain or limit. They may be tuned within what test_steering states: limits (30 % of frequency, 2 Hz,
0.5 rad/s, 0.15 rad, ROOM 1.5) and the accuracy that must be reached. Each default is also a key of
the scenario's `controller`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from roboaccord.contract import Command, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from snake.controllers import guidance
from snake.controllers.serpenoid import BANDWIDTH, Tracker, VariableSerpenoid
from snake.model.coordinates import PlanarSnake

SLOW = 0.05  # Hz; below it the offset for a turn rate, which divides by it, is faded out
ROOM = 1.5  # turning circle towards a waypoint, over the least possible: our choice
CORRECTION = 0.3  # the speed loop changes the frequency by no more than this part


def clipped(value: float, limit: float) -> float:
    """Return a value within plus and minus a limit."""
    return min(max(value, -limit), limit)


@dataclass(eq=False, repr=False)
class SteeringController:
    """Steer the serpenoid by speed and heading.

    In a period the wave moves the body on by one wavelength of its own length, less slip. There
    it meets n / waves joints, each bent by the offset in the mean. So the frequency f makes the
    speed, and the offset the turn rate

        omega = f offset n / waves

    Feedback does the rest, on means over the last period, in which no undulation is left. Its
    gains are per period, so that the loops are as stable at low frequency as at 1 Hz.

    A target (`cmd_vel`) goes before waypoints, and these before `heading`.

    Args:
        setup: robot and scenario.
        speed: along the heading; negative is backward. The default is the default gait's.
        heading: or None to hold the heading of the start.
        turn_time: when `heading` begins to hold; until then that of the start does.
        waypoints: x, y of each, for the centre of mass; the snake stops at the last.
        acceptance: distance at which a waypoint counts as reached.
        amplitude: of every joint, less where the offset needs the room.
        waves: number of waves on the body.
        speed_per_hertz: speed of the straight gait over its frequency, the feed-forward.
        max_frequency: speed is nearly linear in frequency up to 2 Hz.
        turn_rate_limit: of the heading.
        offset_limit: of the mean joint angle.
        heading_gain: turn per period over heading error [1]; above about 1 the loop rings.
        speed_gain: change of frequency per period over what the speed error needs [1].
        time_constant: of amplitude, frequency and offset; see gaits.VariableSerpenoid.
        margin: of the joint angles to their stops.
        bandwidth: of the tracking.
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
        self._turn_per_period = joints / self.waves  # rad of heading for a rad of offset
        pitch = p.pivot_behind_front + p.pivot_ahead_of_rear
        self._chain, self._tracker = PlanarSnake(p), Tracker(setup, self.bandwidth)
        self._mean = guidance.PeriodMean()
        self._goals: guidance.HoldHeading | guidance.FollowWaypoints = guidance.HoldHeading(
            self.speed, self.heading, self.turn_time
        )
        if self.waypoints:
            tightest = guidance.SLOWEST * self.speed / self.turn_rate_limit
            radius = max(pitch / self.offset_limit, tightest)
            self._goals = guidance.FollowWaypoints(
                self.speed, self.waypoints, self.acceptance, ROOM * radius
            )
        self._twist = guidance.FollowTwist(self.turn_rate_limit)
        self.reset(0)
        self.update(setup.initial, None)  # compiles the kernels before the first tick
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the run; nothing is random."""
        for stateful in (self.gait, self._mean, self._goals, self._twist):
            stateful.reset()
        self._time = 0.0  # of the last tick [s]
        self._correction = 0.0  # of the frequency, by the speed loop, relative
        self._turned = 0.0  # turn that the offset should have made since the start [rad]

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the gait, steered."""
        step, self._time = state.time - self._time, state.time
        self._turned += self._turn_per_period * self.gait.frequency * self.gait.offset * step
        x, y, heading = self._chain.bearing(state)
        self._mean.add(state.time, self.gait.phase, heading, x, y, self._turned)
        motion = guidance.SteadyMotion(state.time, self._mean.present, x, y)
        if target is None:
            self._twist.reset()
            goal = self._goals.goal(motion)
        else:
            goal = self._twist.follow(motion, target)
        shape = self.gait.advance(
            state.time,
            amplitude=self.amplitude if goal.speed else 0.0,
            frequency=self._frequency(goal, step),
            waves=self.waves,
            offset=self._offset(goal),
        )
        return Command(self._tracker.efforts(state, shape))

    def _frequency(self, goal: guidance.Goal, step: float) -> float:
        """Return the frequency [Hz] of a speed: feed-forward, times a slow correction."""
        feed_forward = goal.speed / self.speed_per_hertz
        if feed_forward and self._mean.whole:
            speed_lack = clipped(1.0 - self._mean.speed() / goal.speed, 1.0)
            change = self.speed_gain * abs(self.gait.frequency) * speed_lack * step
            self._correction = clipped(self._correction + change, CORRECTION)
        return clipped(feed_forward * (1.0 + self._correction), self.max_frequency)

    def _offset(self, goal: guidance.Goal) -> float:
        """Return the mean joint angle [rad] that turns towards a goal."""
        frequency = self.gait.frequency
        error = goal.heading - self._mean.present
        rate = goal.turn_rate + self.heading_gain * abs(frequency) * error
        rate = clipped(rate, self.turn_rate_limit)
        per_period = rate * frequency / (frequency * frequency + SLOW * SLOW)
        return clipped(per_period / self._turn_per_period, self.offset_limit)

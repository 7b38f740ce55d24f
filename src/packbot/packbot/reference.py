"""The analytical simulator of the Packbot: smooth motion between events.

An event is a gap that closes: a pair of hulls at its margin, a joint at its limit. It is located
in time, its impact solved (`impacts`), and from then on the gap presses as long as it must. See
Brogliato, Nonsmooth Mechanics (2016), 5.7, on event-driven schemes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import roboaccord
from roboaccord.assembly import Setup
from roboaccord.contact import ContactPoint, Index
from roboaccord.engines.model import JointFriction
from roboaccord.engines.options import read_options
from roboaccord.errors import DivergedError
from roboaccord.interfaces import Acceleration
from roboaccord.loop import clip_efforts
from roboaccord.state import Array, Command, RobotState
from roboaccord.trajectory import Event

from packbot.arm import Arm
from packbot.clearance import Clearance
from packbot.contact import ArmContact
from packbot.energy import EnergyBook
from packbot.events import first_closing
from packbot.features import LOWER
from packbot.impacts import impact
from packbot.integrator import Step, take_step
from packbot.motion import STILL, Motion
from packbot.proximity import Proximity
from packbot.touch import Closed, Touch, same

OPTIONS = {
    "tolerance": 1e-8,  # of a step: rad, rad/s
    "max_step": 5e-3,  # s
    "gap_tolerance": 1e-7,  # m, rad: to which gaps are closed
    "near": 1e-2,  # m: from there on hulls are looked at feature by feature
    "rest_speed": 5e-3,  # m/s, rad/s: of approach, below which nothing bounces
}
LEAST_STEP = 1e-12  # s
STANDARD_GRAVITY = 9.81  # m/s^2


class PackbotReference:
    """Simulate the Packbot's arm (Simulator)."""

    name = "reference"
    version = f"roboaccord-packbot {roboaccord.__version__}"
    order = 5

    def __init__(self, setup: Setup) -> None:
        self.options = read_options(setup.scenario.engine_options, "reference", OPTIONS)
        self.arm = Arm.of(setup)
        self.joints, self.effort_limits = setup.joints, setup.effort_limits
        self.physics_step = setup.scenario.physics_step
        p = setup.parameters
        self.limits = np.array([p.of_joints("lower"), p.of_joints("upper")])
        self.clearance = Clearance.of(setup)
        contact = setup.contact
        self._margin = contact.margin if isinstance(contact, ArmContact) else 0.0
        self._restitution = contact.restitution if contact else 0.0
        self.touch = Touch(
            Proximity(self.clearance, self.options["near"]),
            np.zeros(len(self.clearance.pairs)),
            self.limits.copy(),
        )
        friction = JointFriction(p.of_joints("viscous"), p.of_joints("coulomb"), p.friction_speed)
        self.motion = Motion(self.arm, friction, self.touch)
        self.energy = EnergyBook(self.arm)
        self.reset(setup.initial)

    def reset(self, state: RobotState) -> RobotState:
        """Put the robot in `state`."""
        self._state = state
        self._time = state.time
        q, v = state.q, state.qd
        distances = self.clearance.distances(q)
        self.touch.margins = np.minimum(self._margin, distances)
        self.touch.limits = np.array([np.minimum(self.limits[0], q), np.maximum(self.limits[1], q)])
        self.touch.proximity.restart(distances)
        self._events = list[Event]()
        self._size = self.options["max_step"]
        self.energy.start(q, v)
        self.deepest = 0.0
        self.steps = 0
        self.motion.closed = Closed()
        self.motion.forces = np.zeros(0)
        self._features = self.touch.features(q)
        self._x = self._settle(np.concatenate([q, v]))
        return state

    def state(self) -> RobotState:
        """Return the present state."""
        return self._state

    @property
    def energy_rise(self) -> float:
        """Sum of all rises of the energy beyond the efforts' work since the reset [J]."""
        return self.energy.rise

    def step(self, command: Command, duration: float) -> RobotState:
        """Advance by `duration` [s] under a held command."""
        effort = clip_efforts(command.effort, self.effort_limits)
        self.motion.efforts = effort
        end = self._state.time + duration
        self._time = self._state.time
        slope = self.motion.slope(self._x)
        while (left := end - self._time) > LEAST_STEP:
            slope = self._advance(slope, left)
        n = len(effort)
        self._state = RobotState(round(end, 9), self._x[:n].copy(), self._x[n:].copy(), effort)
        return self._state

    def _advance(self, first: Array, left: float) -> Array:
        """Take one step, at most `left` [s] long; return the slope after it."""
        size = min(self._size, left, self.options["max_step"])
        while True:
            if size < LEAST_STEP:
                raise DivergedError(f"the step size fell to nothing at t = {self._time:.6f} s")
            step = take_step(self.motion.slope, self._x, first, size, self.options["tolerance"])
            if not step.error <= 1.0:
                size = step.next_size
                continue
            angles = self._angles(step)
            far = self.touch.proximity.fastest(angles)
            if far > self.options["near"]:
                size *= 0.8 * self.options["near"] / far
                continue
            break
        part = self._closing(step)
        if part < 1.0:
            step = take_step(
                self.motion.slope, self._x, first, part * size, self.options["tolerance"]
            )
        if size == self._size or step.next_size < self._size or size < left:
            self._size = max(step.next_size if part >= 1.0 else size, 1e-6)
        return self._accept(step)

    def _angles(self, step: Step) -> Array:
        """Return the most that each joint turns in a step (n,) [rad]."""
        n = len(self.joints)
        return 1.1 * step.size * np.abs(step.slopes[:, :n]).max(axis=0)

    def _closing(self, step: Step) -> float:
        """Return the part of a step after which a gap closes, 2 if none does."""
        n = len(self.joints)
        bounds = self.touch.proximity.bounds.copy()
        self.touch.proximity.move(self._angles(step))
        after = self.touch.features(step.end[:n])
        self.touch.proximity.bounds[:] = bounds
        watch = np.concatenate([self._features, after[~same(after, self._features)]])
        watch = watch[~same(watch, self.motion.closed.features)]
        if not len(watch):
            return 2.0
        rates = [self.touch.measure(watch, x[:n])[1] @ x[n:] for x in (step.start, step.end)]
        return first_closing(
            step, lambda x: self.touch.measure(watch, x[:n])[0], (rates[0], rates[1]),
            self.options["gap_tolerance"],
        )  # fmt: skip

    def _accept(self, step: Step) -> Array:
        """Take over a step, deal with what has closed, and return the slope after it."""
        n = len(self.joints)
        self.touch.proximity.move(self._angles(step))
        self._time += step.size
        self.steps += 1
        x = self.motion.project(step.end, self.options["gap_tolerance"])
        self.energy.note(x[:n], x[n:], self.motion.efforts)
        self._features = self.touch.features(x[:n])
        self._x = self._settle(x)
        return self.motion.slope(self._x)

    def _settle(self, x: Array) -> Array:
        """Find what is closed, and return the state after the impacts there."""
        n = len(self.joints)
        q, v = x[:n], x[n:]
        tolerance = self.options["gap_tolerance"]
        gaps, rows, _ = self.touch.measure(self._features, q)
        self.deepest = max(self.deepest, -float(gaps.min(initial=0.0)))
        held = same(self._features, self.motion.closed.features[self.motion.forces > 0.0])
        shut = (gaps <= tolerance) | (held & (gaps <= 10 * tolerance))
        features, rows = self._features[shut], rows[shut]
        rates = rows @ v
        if rates.min(initial=0.0) >= -STILL:
            self._close(features, (rates <= STILL) | held[shut])
            return x
        bounce = self._restitution if -rates.min() > self.options["rest_speed"] else 0.0
        impulses, v = impact(self.arm.mass_matrix(q), rows, v, bounce)
        self._note(features, impulses, rates)
        # A hop lower than the tolerance is none: what presses then is held at once.
        self._close(features, rows @ v <= math.sqrt(2.0 * STANDARD_GRAVITY * tolerance))
        x = np.concatenate([q, v])
        self.motion.slope(x)
        x = self.motion.project(x, tolerance)
        self._close(features, (rows @ x[n:] <= STILL))
        self.energy.note(x[:n], x[n:], self.motion.efforts)
        return x

    def _close(self, features: Index, which: np.ndarray) -> None:
        """Let some features press."""
        self.motion.closed = Closed(features[which], np.ones(int(which.sum()), dtype=np.bool_))

    def _note(self, features: Array, impulses: Array, rates: Array) -> None:
        """Write down an impact, pair by pair."""
        sums: dict[tuple[str, str], float] = {}
        for feature, impulse, rate in zip(features, impulses, rates, strict=True):
            if impulse > 0.0 and rate < -1e-4:
                kind = "joint_stop" if feature[0] >= LOWER else "impact"
                key = (kind, self.touch.name(feature))
                sums[key] = sums.get(key, 0.0) + float(impulse)
        for (kind, subject), impulse in sums.items():
            self._events.append(Event(self._time, kind, subject, impulse))

    def take_events(self) -> Sequence[Event]:
        """Return the events since the last call."""
        events, self._events = self._events, []
        return events

    def contacts(self) -> Sequence[ContactPoint]:
        """Return the contacts at the present state."""
        n = len(self.joints)
        self.motion.slope(self._x)
        return self.touch.points(self.motion.closed, self._x[:n], self.motion.forces)

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations without contact or friction."""
        return Acceleration(np.zeros(6), self.arm.acceleration(state.q, state.qd, effort))

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        model = self.arm.model
        links = {f.parentJoint: f.name for f in model.frames if f.name.endswith("_link")}
        return {links[j]: float(model.inertias[j].mass) for j in range(1, model.njoints)}

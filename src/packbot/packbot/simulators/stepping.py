"""Event-driven time integration with contact: steps, impacts, and the active contacts after them.

`EventDrivenStepper` advances a state x = (q, v) of joint angles and rates for the reference
simulator (reference.py). The equations of motion are those of a `ConstrainedDynamics` (motion.py),
which gives the slope of a state, its derivative (v, a) by time. A gap is the distance of two hulls
less their margin, or that of a joint from its limit; a feature is a vertex and a hull, or two
edges, whose gap is measured (contact/features.py).

A step ends where the first gap closes (closing.py). The impact is solved there; gaps whose contacts
press are then active (closed), and the others are released. Steps are explicit (Dormand, Prince),
or implicit if dry friction is stiff (stiff.py). Contacts jam if friction leaves no finite contact
forces; their slip is then stopped by an impulse.

The constants may be tuned. test_packbot_events and test_packbot_reference check times, impulses and
the order of steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from roboaccord.contract import Array, DivergedError, Event, Index
from roboaccord.numerics import Step, take_step

from packbot.contact.features import Contacts
from packbot.contact.forces import impact
from packbot.contact.gaps import NO_FEATURES, ClosedGaps, are_among
from packbot.simulators.closing import NO_CLOSING, first_closing
from packbot.simulators.contact_events import ContactEvents
from packbot.simulators.energy import EnergyBook
from packbot.simulators.motion import STILL, ConstrainedDynamics, JammedError
from packbot.simulators.stiff import take_stiff_step

LEAST_STEP = 1e-12  # s; shorter times are rounding, which is 1e-14 s at 100 s
# s; if contacts jam in a longer step, half of it is tried; in a shorter one they jam at its start:
# links move by um in it. In `collapse` with mu = 0.3, 1e-8 and 1e-5 change nothing (measured).
JAMMED_STEP = 1e-6
# Factor on the largest rate of a step's stages, for the rates between them: stages are at most half
# a step apart, in which rates change by far less than 10 % of the largest
RATE_MARGIN = 1.1
# Factor on a step in which a contact could be missed, so that the next try does not just fail
# again; 0.5 changes angles by 6e-8 rad in 0.7 s of `collapse`, as any other choice of steps does.
RETRY_FACTOR = 0.8
# In gap tolerances; a smaller gap whose contact pressed stays closed: lasting contacts open by
# 1e-11 m a step (COMPLIANCE), a hundredth of the tolerance. In `collapse` 2 and 100 change nothing
# (measured).
PRESSED_TOLERANCES = 10
STANDARD_GRAVITY = 9.81  # m/s^2; for the height of hops, of which two digits count


class EventDrivenStepper:
    """Integrator of a state x = (q, v) from event to event.

    Args:
        motion: equations of motion.
        energy: energy balance of the run.
        options: `tolerance` of a step, `max_step` [s], `gap_tolerance` [m, rad], `near` [m],
            `rest_speed` [m/s, rad/s].
        restitution: speed of parting over speed of approach.
        events: list to which contacts that begin and joints that reach their limits are added.

    Attributes:
        x: state (2n,); empty before the start.
        n: number of joints.
        time: [s].
        deepest: largest depth of a gap below 0 at the end of a step [m, rad].
        steps: number of steps so far.
    """

    def __init__(
        self,
        motion: ConstrainedDynamics,
        energy: EnergyBook,
        options: Mapping[str, float],
        restitution: float,
        events: list[Event],
    ) -> None:
        self.motion, self.energy = motion, energy
        self._options, self._restitution = options, restitution
        self._gap_functions = motion.gap_functions
        self._contact_events = ContactEvents(events, self._gap_functions.name)
        self.x = np.zeros(0)
        self.n = motion.arm.model.nv
        self._jacobian: Array | None = None  # stiff part of the slope's derivative, if it is stiff
        self._features: Index = NO_FEATURES  # near at the present state (m, 6)

    def start(self, q: Array, v: Array, time: float) -> None:
        """Start at angles q and rates v (n,) and a time [s]."""
        self.time = time
        self.deepest = 0.0
        self.steps = 0
        self._size = self._options["max_step"]  # of the next step, if nothing shortens it [s]
        self._contact_events.clear()
        self.energy.start(q, v)
        self._gap_functions.forget_search()
        self._close_gaps(q, v)

    def run(self, end: float) -> None:
        """Advance to the time `end` [s] under the efforts of `motion`."""
        self.x, slope = self._with_slope(self.x)
        while (remaining := end - self.time) > LEAST_STEP:
            try:
                slope = self._advance(slope, remaining)
            except JammedError:
                self.x, slope = self._without_slip(self.x)

    def jump(self, q: Array, v: Array, time: float) -> None:
        """Continue at a time [s] from changed rates v (n,), with the impacts that these cause."""
        self.time = time
        self.energy.record(q, v, self.motion.efforts)
        self._close_gaps(q, v)

    def lock(self, joint: int, locked: bool) -> None:
        """Lock a joint, or release it; contacts that no other joint can change are dropped."""
        gap_functions, motion = self._gap_functions, self.motion
        gap_functions.locked[joint] = locked
        gap_functions.forget_search()
        if not self.x.size:
            return
        self._features = gap_functions.near_features(self.x[: self.n])
        closed = motion.closed
        can_change = gap_functions.can_change(closed.features)
        has_forces = len(motion.forces) == len(can_change)
        motion.forces = motion.forces[can_change] if has_forces else np.zeros(0)
        motion.closed = ClosedGaps(closed.features[can_change], closed.active[can_change])

    def _advance(self, slope: Array, remaining: float) -> Array:
        """Take one step, at most `remaining` [s] long; return the slope after it.

        Args:
            slope: slope of the present state (2n,).
            remaining: time to the end of the run [s].
        """
        energy, friction = self.energy, self.motion.contact_friction
        is_power_metered = friction.is_present and energy.metered
        power_before = self.motion.sliding_power(self.x) if is_power_metered else 0.0
        # The step, shortened to the first gap that closes.
        step = self._accurate_step(slope, remaining)
        fraction = self._closing_fraction(step)
        if fraction < 1.0:
            step = self._step(slope, fraction * step.size)
        elif step.size < remaining:
            self._size = step.next_size
        else:
            self._size = max(self._size, step.next_size)
        if energy.metered:
            power_after = self.motion.sliding_power(step.end) if is_power_metered else 0.0
            energy.record_step(step, self.motion.friction, (power_before, power_after))
        # The state at its end, without the drift of closed gaps, and after impacts.
        self._gap_functions.proximity.move(self._rotation_bounds(step))
        self.time += step.size
        self.steps += 1
        x = self.motion.project(step.end, self._options["gap_tolerance"])
        energy.record(x[: self.n], x[self.n :], self.motion.efforts)
        self._features = self._gap_functions.near_features(x[: self.n])
        self.x, slope = self._with_slope(self._after_impacts(x))
        return slope

    def _with_slope(self, x: Array) -> tuple[Array, Array]:
        """Return a state (2n,) and its slope; if contacts jam, the state without slip."""
        try:
            return x, self.motion.slope(x)
        except JammedError:
            return self._without_slip(x)

    def _without_slip(self, x: Array) -> tuple[Array, Array]:
        """Return a state (2n,) with the slip of its contacts stopped, and its slope."""
        stopped = self.motion.stop_slip(x)
        q, v = stopped[: self.n], stopped[self.n :]
        self.energy.record_slip_stop(self.motion.arm.mass_matrix(q), x[self.n :], v)
        self.energy.record(q, v, self.motion.efforts)
        return stopped, self.motion.slope(stopped)

    def _accurate_step(self, slope: Array, remaining: float) -> Step:
        """Return a step within the error tolerance, and short enough to miss no contact.

        The remaining time is divided evenly among the steps, so that the last one is not tiny.
        """
        self._jacobian = self.motion.stiff_jacobian(self.x, self._options["max_step"])
        size = remaining / math.ceil(remaining / min(self._size, self._options["max_step"]))
        near = self._options["near"]
        while size > LEAST_STEP:
            try:
                step = self._step(slope, size)
            except JammedError:
                if size < JAMMED_STEP:
                    raise
                size *= 0.5
                continue
            # No pair that was not near may cross the whole distance `near` in the step.
            change = self._gap_functions.proximity.largest_change(self._rotation_bounds(step))
            is_accurate = step.error <= 1.0  # false if the error is not a number
            if is_accurate and change <= near:
                return step
            size = RETRY_FACTOR * size * near / change if is_accurate else step.next_size
        message = f"the step size fell to nothing at t = {self.time:.6f} s"
        raise DivergedError(f"{message}: no step meets the tolerance")

    def _step(self, slope: Array, size: float) -> Step:
        """Return a step of `size` [s] from the present state, whose slope is given (2n,)."""
        slope_of, tolerance = self.motion.slope, self._options["tolerance"]
        if self._jacobian is None:
            return take_step(slope_of, self.x, slope, size, tolerance)
        return take_stiff_step(slope_of, self.x, slope, self._jacobian, size, tolerance)

    def _rotation_bounds(self, step: Step) -> Array:
        """Return a bound of the rotation of each joint in a step (n,) [rad]."""
        stage_rates = step.slopes[:, : self.n]
        return np.asarray(RATE_MARGIN * step.size * np.abs(stage_rates).max(axis=0))

    def _close_gaps(self, q: Array, v: Array) -> None:
        """Find the closed gaps anew at angles q and rates v (n,), and solve their impacts."""
        self.motion.closed, self.motion.forces = ClosedGaps(), np.zeros(0)
        self._features = self._gap_functions.near_features(q)
        self.x = self._after_impacts(np.concatenate([q, v]))

    def _closing_fraction(self, step: Step) -> float:
        """Return the fraction of a step at which a gap closes, NO_CLOSING if none does."""
        proximity, n = self._gap_functions.proximity, self.n
        # Features that are near at the start or at the end, and not closed yet.
        start_bounds = proximity.bounds.copy()
        proximity.move(self._rotation_bounds(step))
        at_end = self._gap_functions.near_features(step.end[:n])
        proximity.bounds[:] = start_bounds
        watched = np.concatenate([self._features, at_end[~are_among(at_end, self._features)]])
        watched = watched[~are_among(watched, self.motion.closed.features)]
        if not len(watched):
            return NO_CLOSING

        def gaps_of(x: Array) -> Array:
            """Return the gaps of the watched features (m,) in a state (2n,)."""
            return self._gap_functions.measure(watched, x[:n])[0]

        start_gaps, start_jacobian, _ = self._gap_functions.measure(watched, step.start[:n])
        end_gaps, end_jacobian, _ = self._gap_functions.measure(watched, step.end[:n])
        rates = start_jacobian @ step.start[n:], end_jacobian @ step.end[n:]
        tolerance = self._options["gap_tolerance"]
        return first_closing(step, gaps_of, (start_gaps, end_gaps), rates, tolerance)

    def _after_impacts(self, x: Array) -> Array:
        """Return the state (2n,) after the impacts in x; set the closed gaps of `motion`."""
        q, v = x[: self.n], x[self.n :]
        contacts, has_pressed = self._touching_contacts(q)
        gap_rates = contacts.jacobian @ v
        if gap_rates.min(initial=0.0) >= -STILL:  # no gap is closing, so there is no impact
            self._set_closed(contacts.features, (gap_rates <= STILL) | has_pressed)
            return x
        v = self._rates_after_impact(contacts, q, v)
        # A hop lower than the tolerance does not open a gap. Otherwise contacts that share a body
        # would throw each other up without end.
        tolerance = self._options["gap_tolerance"]
        hop_speed = math.sqrt(2.0 * STANDARD_GRAVITY * tolerance)
        self._set_closed(contacts.features, contacts.jacobian @ v <= hop_speed)
        x, _ = self._with_slope(np.concatenate([q, v]))
        x = self.motion.project(x, tolerance)
        self._set_closed(contacts.features, contacts.jacobian @ x[self.n :] <= STILL)
        self.energy.record(x[: self.n], x[self.n :], self.motion.efforts)
        return x

    def _touching_contacts(self, q: Array) -> tuple[Contacts, np.ndarray]:
        """Return the m features that touch at angles q (n,), and which of them pressed before (m,).

        A feature touches if its gap is within the tolerance; one that pressed before, if it is
        within PRESSED_TOLERANCES tolerances.
        """
        gaps, jacobian, witnesses = self._gap_functions.measure(self._features, q)
        self.deepest = max(self.deepest, -float(gaps.min(initial=0.0)))
        pressing = self.motion.closed.features[self.motion.forces > 0.0]
        has_pressed = are_among(self._features, pressing)
        tolerances = np.where(has_pressed, PRESSED_TOLERANCES, 1)
        touches = gaps <= self._options["gap_tolerance"] * tolerances
        contacts = Contacts(self._features[touches], jacobian[touches], witnesses[touches])
        return contacts, has_pressed[touches]

    def _set_closed(self, features: Index, is_closed: np.ndarray) -> None:
        """Set the closed gaps: the features (m, 6) for which a mask (m,) is true."""
        closed = features[is_closed]
        self.motion.closed = ClosedGaps(closed, np.ones(len(closed), dtype=np.bool_))
        self._contact_events.keep_touching(closed, self.time)

    def _rates_after_impact(self, contacts: Contacts, q: Array, v: Array) -> Array:
        """Return the joint rates (n,) after an impact along the normals, and then its friction.

        Args:
            contacts: features that touch.
            q, v: joint angles [rad], and rates before the impact [rad/s] (n,).
        """
        features, jacobian, _ = contacts
        gap_rates, mass = jacobian @ v, self.motion.arm.mass_matrix(q)
        restitution = self._restitution if -gap_rates.min() > self._options["rest_speed"] else 0.0
        impulses, after = impact(mass, jacobian, v, restitution)
        self.energy.record_impact(features, jacobian, impulses, v, after)
        friction = self.motion.contact_friction
        if friction.is_present:
            slipping = after
            impulses, after = friction.friction_impulses(mass, contacts, q, slipping, impulses)
            self.energy.record_slip_stop(mass, slipping, after)
        self._contact_events.add_impact(features, impulses, gap_rates, self.time)
        return after

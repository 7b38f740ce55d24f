"""Event-driven time integration with contact: steps, impacts, and the active contacts after them.

A step ends where the first gap closes (closing.py). The impact is solved there; gaps whose contacts
press are then active (closed), and the others are released. Steps are explicit (Dormand, Prince),
or implicit if dry friction is stiff (stiff.py). Contacts jam if friction leaves no finite contact
forces; their slip is then stopped by an impulse.

EXPLICIT and SHORTER, which choose between the two kinds of step, and APPROACH, which selects the
impacts that are reported, may be tuned. test_packbot_events and test_packbot_reference check times,
impulses and the order of steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from roboaccord import engines
from roboaccord.contract import Array, DivergedError, Event, Index
from roboaccord.numerics import Step, take_step

from packbot.contact.features import KIND, LOWER
from packbot.contact.forces import impact
from packbot.contact.gaps import ClosedGaps, same
from packbot.simulators.closing import first_closing
from packbot.simulators.energy import EnergyBook
from packbot.simulators.motion import STILL, ConstrainedDynamics, JammedError
from packbot.simulators.stiff import take_stiff_step

# Largest product of rate and step size for which explicit steps are stable: the real interval of
# Dormand and Prince's method of order 5 ends at -3.306.
EXPLICIT = 3.3
# Steps are implicit if explicit ones would have to be that many times shorter. Measured with dry
# friction of the wrist for which they are 1.9, 5.7 and 11 times shorter: a run of implicit ones
# takes 2.7, 1.25 and 0.73 times as long, so that any from 4 to 10 would do.
SHORTER = 4.0
LEAST_STEP = 1e-12  # s; shorter times are rounding, which is 1e-14 s at 100 s
# s; contacts that jam within a step shorter than that jam at its start: links move by um in it.
# In `collapse` with mu = 0.3, 1e-8 and 1e-5 change nothing (measured).
JAM = 1e-6
# Factor on the largest rate of a step's stages, for the rates between them: stages are at most half
# a step apart, in which rates change by far less than 10 % of the largest
TURN_MARGIN = 1.1
# Factor on a step in which a contact could be missed, so that the next try does not just fail
# again; 0.5 changes angles by 6e-8 rad in 0.7 s of `collapse`, as any other choice of steps does.
SHORTEN = 0.8
# Gap tolerances; a gap that pressed and is smaller stays closed: lasting contacts open by 1e-11 m a
# step (GIVE), a hundredth of the tolerance. In `collapse` 2 and 100 change nothing (measured).
CLOSED_BEFORE = 10
STANDARD_GRAVITY = 9.81  # m/s^2; for the height of hops, of which two digits count
# m/s, rad/s; slower impacts are not reported: a fiftieth of the default `rest_speed`, below which
# an impact has no restitution either
APPROACH = 1e-4


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
        x: state (2n,).
        time: [s].
        deepest: largest depth of a gap below 0 at the end of a step [m, rad].
        steps: number of steps so far.
    """

    def __init__(
        self, motion: ConstrainedDynamics, energy: EnergyBook, options: Mapping[str, float],
        restitution: float, events: list[Event],
    ) -> None:  # fmt: skip
        self.motion, self.energy, self._events = motion, energy, events
        self._gap_functions, self._options = motion.gap_functions, options
        self._restitution, self.x = restitution, np.zeros(0)  # no state until the start

    def start(self, q: Array, v: Array, time: float) -> None:
        """Start at angles q and rates v (n,) and a time [s]."""
        self.n, self.time, self.deepest, self.steps = len(q), time, 0.0, 0
        self._touched = dict[str, float]()  # time of the last contact, by its name [s]
        self.energy.start(q, v)
        self.motion.closed, self.motion.forces = ClosedGaps(), np.zeros(0)
        self._size = self._options["max_step"]
        # Angles, features and bounds of the last search for near features.
        self._looked = np.zeros(0), np.zeros((0, 6), dtype=np.int64), np.zeros(0)
        self._features = self._look(q)
        self.x = self._settle(np.concatenate([q, v]))

    def hold(self, joint: int, held: bool) -> None:
        """Lock a joint, or release it; contacts that no other joint can change are left out."""
        gap_functions, motion = self._gap_functions, self.motion
        gap_functions.held[joint] = held
        self._looked = np.zeros(0), np.zeros((0, 6), dtype=np.int64), np.zeros(0)
        if not len(self.x):
            return
        self._features = self._look(self.x[: self.n])
        free = gap_functions.changing(motion.closed.features)
        motion.forces = motion.forces[free] if len(motion.forces) == len(free) else np.zeros(0)
        motion.closed = ClosedGaps(motion.closed.features[free], motion.closed.active[free])

    def jump(self, q: Array, v: Array, time: float) -> None:
        """Continue at a time [s] from other rates v (n,), with the impacts that these cause."""
        self.time = time
        self.motion.closed, self.motion.forces = ClosedGaps(), np.zeros(0)
        self._features = self._look(q)
        self.energy.note(q, v, self.motion.efforts)
        self.x = self._settle(np.concatenate([q, v]))

    def run(self, end: float) -> None:
        """Advance to the time `end` [s] under the efforts of `motion`."""
        self.x, slope = self._unjammed(self.x)
        while (remaining := end - self.time) > LEAST_STEP:
            try:
                slope = self._advance(slope, remaining)
            except JammedError:
                self.x, slope = self._stopped(self.x)

    def _advance(self, first: Array, remaining: float) -> Array:
        """Take one step, at most `remaining` [s] long; return the slope after it."""
        energy, sliding = self.energy, self.motion.sliding.any and self.energy.metered
        slides = self.motion.sliding_power(self.x) if sliding else 0.0
        # The step, shortened to the first gap that closes.
        step = self._try(first, remaining)
        fraction = self._closing(step)
        if fraction < 1.0:
            step = self._take(first, fraction * step.size)
        elif step.size < remaining:
            self._size = step.next_size
        else:
            self._size = max(self._size, step.next_size)
        if energy.metered:
            after = self.motion.sliding_power(step.end) if sliding else 0.0
            energy.note_step(step, self.motion.friction, (slides, after))
        # The state at its end, without the drift of closed gaps, and after impacts.
        self._gap_functions.proximity.move(self._angles(step))
        self.time += step.size
        self.steps += 1
        x = self.motion.project(step.end, self._options["gap_tolerance"])
        energy.note(x[: self.n], x[self.n :], self.motion.efforts)
        self._features = self._look(x[: self.n])
        self.x, slope = self._unjammed(self._settle(x))
        return slope

    def _unjammed(self, x: Array) -> tuple[Array, Array]:
        """Return a state and its slope; if contacts jam, the state without slip."""
        try:
            return x, self.motion.slope(x)
        except JammedError:
            return self._stopped(x)

    def _stopped(self, x: Array) -> tuple[Array, Array]:
        """Return a state with the slip of its contacts stopped, and its slope."""
        v, x = x[self.n :], self.motion.stop(x)
        self.energy.note_stop(self.motion.arm.mass_matrix(x[: self.n]), v, x[self.n :])
        self.energy.note(x[: self.n], x[self.n :], self.motion.efforts)
        return x, self.motion.slope(x)

    def _try(self, first: Array, remaining: float) -> Step:
        """Return a step within the error tolerance, and short enough to miss no contact.

        The remaining time is divided evenly among the steps, so that the last one is not tiny.
        """
        self._jacobian = self._stiff_jacobian() if self.motion.dry else None
        size = remaining / math.ceil(remaining / min(self._size, self._options["max_step"]))
        near = self._options["near"]
        while size > LEAST_STEP:
            try:
                step = self._take(first, size)
            except JammedError:
                if size < JAM:
                    raise
                size *= 0.5
                continue
            # No pair that was not near may cross the whole distance `near` in the step.
            far = self._gap_functions.proximity.fastest(self._angles(step))
            if step.error <= 1.0 and far <= near:
                return step
            size = step.next_size if not step.error <= 1.0 else SHORTEN * size * near / far
        raise DivergedError(
            f"the step size fell to nothing at t = {self.time:.6f} s: no step meets the tolerance"
        )

    def _take(self, first: Array, size: float) -> Step:
        slope, tolerance = self.motion.slope, self._options["tolerance"]
        if self._jacobian is None:
            return take_step(slope, self.x, first, size, tolerance)
        return take_stiff_step(slope, self.x, first, self._jacobian, size, tolerance)

    def _stiff_jacobian(self) -> Array | None:
        """Return the derivative of the slope by friction (2n, 2n), or None if it is not stiff."""
        rates, n = self.motion.friction_rates(self.x), self.n
        fastest = np.abs(np.linalg.eigvals(rates)).max()
        if fastest * self._options["max_step"] < SHORTER * EXPLICIT:
            return None
        jacobian = np.zeros((2 * n, 2 * n))
        jacobian[n:, n:] = -rates
        return jacobian

    def _angles(self, step: Step) -> Array:
        """Return a bound of the rotation of each joint in a step (n,) [rad]."""
        return np.asarray(TURN_MARGIN * step.size * np.abs(step.slopes[:, : self.n]).max(axis=0))

    def _closing(self, step: Step) -> float:
        """Return the fraction of a step at which a gap closes, 2 if none does."""
        proximity, n = self._gap_functions.proximity, self.n
        # Features that are near at the start or at the end, and not closed yet.
        bounds = proximity.bounds.copy()
        proximity.move(self._angles(step))
        try:
            after = self._look(step.end[:n])
        finally:
            proximity.bounds[:] = bounds
        watched = np.concatenate([self._features, after[~same(after, self._features)]])
        watched = watched[~same(watched, self.motion.closed.features)]
        if not len(watched):
            return 2.0
        (gaps_0, rows_0, _), (gaps_1, rows_1, _) = (  # at start and end of the step
            self._gap_functions.measure(watched, x[:n]) for x in (step.start, step.end)
        )
        return first_closing(
            step, lambda x: self._gap_functions.measure(watched, x[:n])[0], (gaps_0, gaps_1),
            (rows_0 @ step.start[n:], rows_1 @ step.end[n:]), self._options["gap_tolerance"],
        )  # fmt: skip

    def _look(self, q: Array) -> Index:
        """Return the features that are near at angles q (m, 6); the last result is remembered."""
        proximity = self._gap_functions.proximity
        if np.array_equal(q, self._looked[0]):
            proximity.bounds[:] = self._looked[2]
        else:
            self._looked = q.copy(), self._gap_functions.features(q), proximity.bounds.copy()
        return self._looked[1]

    def _settle(self, x: Array) -> Array:
        """Find the closed gaps, and return the state (2n,) after their impacts."""
        q, v = x[: self.n], x[self.n :]
        tolerance = self._options["gap_tolerance"]
        # Gaps that are shut: within the tolerance, wider for those that pressed before.
        gaps, jacobian, witnesses = self._gap_functions.measure(self._features, q)
        self.deepest = max(self.deepest, -float(gaps.min(initial=0.0)))
        pressed = same(self._features, self.motion.closed.features[self.motion.forces > 0.0])
        shut = (gaps <= tolerance) | (pressed & (gaps <= CLOSED_BEFORE * tolerance))
        features, pressed = self._features[shut], pressed[shut]
        jacobian, witnesses = jacobian[shut], witnesses[shut]
        # None of them closes: contacts without an impact.
        rates = jacobian @ v
        if rates.min(initial=0.0) >= -STILL:
            self._close(features, (rates <= STILL) | pressed)
            return x
        # Impact along the normals, then its friction.
        bounce = self._restitution if -rates.min() > self._options["rest_speed"] else 0.0
        mass = self.motion.arm.mass_matrix(q)
        impulses, v = impact(mass, jacobian, v, bounce)
        self.energy.note_impact(features, jacobian, impulses, x[self.n :], v)
        if self.motion.sliding.any:
            slipping = v
            impulses, v = self.motion.sliding.friction_impulses(
                mass, features, q, v, witnesses, jacobian, impulses
            )
            self.energy.note_stop(mass, slipping, v)
        self._note(features, impulses, rates)
        # A hop lower than the tolerance does not open a gap. Otherwise contacts that share a body
        # would throw each other up without end.
        self._close(features, jacobian @ v <= math.sqrt(2.0 * STANDARD_GRAVITY * tolerance))
        x, _ = self._unjammed(np.concatenate([q, v]))
        x = self.motion.project(x, tolerance)
        self._close(features, jacobian @ x[self.n :] <= STILL)
        self.energy.note(x[: self.n], x[self.n :], self.motion.efforts)
        return x

    def _close(self, features: Index, which: np.ndarray) -> None:
        """Make the features (m, 6) in a mask `which` (m,) the closed ones."""
        self.motion.closed = ClosedGaps(features[which], np.ones(int(which.sum()), dtype=np.bool_))
        for feature in self.motion.closed.features:
            self._touched[self._gap_functions.name(feature)] = self.time

    def _note(self, features: Index, impulses: Array, rates: Array) -> None:
        """Record the events of an impact, one for each pair or joint that was apart before."""
        sums: dict[tuple[str, str], float] = {}
        for feature, impulse, rate in zip(features, impulses, rates, strict=True):
            if impulse > 0.0 and rate < -APPROACH:
                kind = "joint_stop" if feature[KIND] >= LOWER else "impact"
                key = (kind, self._gap_functions.name(feature))
                sums[key] = sums.get(key, 0.0) + float(impulse)
        for (kind, subject), impulse in sums.items():
            if self.time - self._touched.get(subject, -math.inf) > engines.APART:
                self._events.append(Event(float(self.time), kind, subject, impulse))
            self._touched[subject] = self.time

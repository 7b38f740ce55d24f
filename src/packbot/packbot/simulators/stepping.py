"""Event-driven time integration with contact: steps, impacts, and the active set after them.

GAMMA to EMBEDDED are the published coefficients of ROS34PW2, and stay to the last digit;
test_packbot_reference measures order 3. EXPLICIT and SHORTER choose between the two methods,
SAMPLES and LOWEST how gaps are searched: they may be tuned (test_packbot_events compares them with
closed forms). APPROACH, which impacts are reported, may be changed: no motion depends on it. A new
kind of event is named in `_note`.

Dry friction about rest is a damper of k / e, and a light link relaxes in microseconds by it. The
W-method ROS34PW2 (Rang and Angermann, BIT 45, 2005) is of order 3 whatever matrix stands for the
Jacobian, and L-stable where that has the stiff part: so friction alone is enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy
from roboaccord.contract import Array, DivergedError, Event, Index
from roboaccord.engines import APART
from roboaccord.numerics import Slope, Step, take_step

from packbot.contact.features import LOWER
from packbot.contact.forces import impact
from packbot.contact.gaps import ClosedGaps, same
from packbot.simulators.motion import STILL, ConstrainedDynamics, EnergyBook, JammedError

EXPLICIT = 3.3  # rate times step size up to which Dormand and Prince's steps are stable
SHORTER = 4.0  # so many times would they have to be, where these here, of lower order, are better
GAMMA = 0.435866521508459
ALPHA = (
    np.array([0.87173304301691801]),
    np.array([0.84457060015369423, -0.11299064236484185]),
    np.array([0.0, 0.0, 1.0]),
)
COUPLING = (
    np.array([-0.87173304301691801]),
    np.array([-0.90338057013044082, 0.054180672388095326]),
    np.array([0.24212380706095346, -1.2232505839045147, 0.54526025533510214]),
)
WEIGHTS = np.array([0.24212380706095346, -1.2232505839045147, 1.545260255335102, GAMMA])
EMBEDDED = np.array([0.37810903145819369, -0.096042292212423178, 0.5, 0.2179332607542295])


@dataclass(frozen=True)
class StiffStep(Step):
    """Hold one linearly implicit step, with Hermite's cubic as dense output."""

    def at(self, part: float) -> Array:
        """Return the state (n,) at a fraction, 0 to 1, of the step."""
        rest, change = 1.0 - part, self.end - self.start
        bend = self.size * self.slopes[0] - change
        tail = change - self.size * self.slopes[-1]
        return np.asarray(self.start + part * (change + rest * (rest * bend + part * tail)))

    growth = 3.0


def take_stiff_step(
    slope: Slope, start: Array, first: Array, jacobian: Array, size: float, tolerance: float
) -> StiffStep:
    """Take a linearly implicit step.

    Args:
        slope: gives the slope (n,) of a state (n,).
        start: state (n,).
        first: its slope.
        jacobian: the stiff part of the derivative of the slope (n, n).
        size: [s].
        tolerance: of each step, relative and absolute.
    """
    inverse = np.linalg.inv(np.eye(len(start)) - GAMMA * size * jacobian)
    stages = np.empty((4, len(start)))
    stages[0] = inverse @ first
    for i, (weights, coupling) in enumerate(zip(ALPHA, COUPLING, strict=True), start=1):
        f = slope(start + size * (weights @ stages[:i]))
        stages[i] = inverse @ (f + size * (jacobian @ (coupling @ stages[:i])))
    end = start + size * (WEIGHTS @ stages)
    slopes = np.vstack([first, stages, slope(end)])
    scale = tolerance * (1.0 + np.maximum(np.abs(start), np.abs(end)))
    error = size * ((WEIGHTS - EMBEDDED) @ stages) / scale
    return StiffStep(start, end, slopes, size, float(np.sqrt(error @ error / len(error))))


Gaps = Callable[[Array], Array]
Pair = tuple[float, float]
SAMPLES = 8  # of a step in which a gap may close and open again
LOWEST = 1e-4  # of a step: to which the lowest gap is found; at 100 m/s^2 and 4 ms 1e-11 m off


def first_closing(
    step: Step, gaps: Gaps, ends: tuple[Array, Array], rates: tuple[Array, Array], tolerance: float
) -> float:
    """Return the fraction of a step at which the first gap closes, 2 if none does.

    Closed means half a tolerance below 0, or below where it was.

    Args:
        step: to look at.
        gaps: gives the gaps (m,) in a state.
        ends: gaps at its start and end (m,).
        rates: of the gaps there (m,).
        tolerance: of the gaps.
    """
    targets = np.minimum(ends[0], 0.0) - 0.5 * tolerance
    before, after = ends[0] - targets, ends[1] - targets
    part = 2.0
    dips = (rates[0] < 0.0) & (rates[1] > 0.0)
    for i in np.flatnonzero((after < 0.0) | dips).tolist():
        end = 1.0
        if after[i] >= 0.0:
            end = _dip(step, gaps, i, (before[i], after[i]), (rates[0][i], rates[1][i]), targets[i])
        if end <= 1.0:
            part = min(part, _closing(step, gaps, i, end, targets[i], tolerance))
    return part


def _dip(step: Step, gaps: Gaps, i: int, ends: Pair, rates: Pair, target: float) -> float:
    """Return a fraction of a step where a gap that closes and reopens is below its target, or 2."""
    # Where the tangents cross is not above the gap, if it bends upwards.
    fall, climb = step.size * rates[0], step.size * rates[1]
    if ends[0] + fall * (ends[1] - ends[0] - climb) / (fall - climb) > 0.0:
        return 2.0

    def above(part: float) -> float:
        return float(gaps(step.at(part))[i] - target)

    samples = [ends[0]]
    for k in range(1, SAMPLES):
        samples.append(above(k / SAMPLES))
        if samples[k] < 0.0:
            return k / SAMPLES
    k = int(np.argmin([*samples, ends[1]]))
    bounds = max(k - 1, 0) / SAMPLES, min(k + 1, SAMPLES) / SAMPLES
    lowest = scipy.optimize.minimize_scalar(
        above, bounds=bounds, method="bounded", options={"xatol": LOWEST}
    )
    return float(lowest.x) if lowest.fun < 0.0 else 2.0


def _closing(step: Step, gaps: Gaps, i: int, end: float, target: float, tolerance: float) -> float:
    """Return where a gap crosses its target, between the start of a step and the part `end`.

    By the Illinois variant of regula falsi.
    """
    low, high, side = 0.0, end, 0
    above, below = gaps(step.start)[i] - target, gaps(step.at(end))[i] - target
    for _ in range(60):
        part = (low * below - high * above) / (below - above)
        here = gaps(step.at(part))[i] - target
        if abs(here) < 0.05 * tolerance:
            return float(part)
        if here > 0.0:
            low, above = part, here
            below *= 0.5 if side == 1 else 1.0
            side = 1
        else:
            high, below = part, here
            above *= 0.5 if side == -1 else 1.0
            side = -1
    return low


LEAST_STEP = 1e-12  # s
JAM = 1e-6  # s: contacts that jam in that time jam now
STANDARD_GRAVITY = 9.81  # m/s^2
APPROACH = 1e-4  # m/s, rad/s: slower impacts are not reported


class EventDrivenStepper:
    """Integrate a state x = (q, v) from event to event.

    Args:
        motion: equations of motion.
        energy: book that is kept.
        options: `tolerance` of a step, `max_step` [s], `gap_tolerance` [m, rad], `near` [m],
            `rest_speed` [m/s, rad/s].
        restitution: speed of parting over speed of approach.
        events: list to which is added what begins to touch, and joints that come to their limits.

    Attributes:
        x: state (2n,).
        time: [s].
        deepest: farthest that a gap was below 0 at the end of a step [m, rad].
        steps: that were taken.
    """

    def __init__(
        self, motion: ConstrainedDynamics, energy: EnergyBook, options: Mapping[str, float],
        restitution: float, events: list[Event],
    ) -> None:  # fmt: skip
        self.motion, self.energy, self._events = motion, energy, events
        self._gap_functions = motion.gap_functions
        self._options, self._restitution = options, restitution
        self.x: Array = np.zeros(0)  # until the start

    def start(self, q: Array, v: Array, time: float) -> None:
        """Begin at a state."""
        self.n, self.time = len(q), time
        self.deepest, self.steps = 0.0, 0
        self._touched = dict[str, float]()  # when things touched last, by their event [s]
        self.energy.start(q, v)
        self.motion.closed, self.motion.forces = ClosedGaps(), np.zeros(0)
        self._size = self._options["max_step"]
        self._looked = np.zeros(0), np.zeros((0, 6), dtype=np.int64), np.zeros(0)
        self._features = self._look(q)
        self.x = self._settle(np.concatenate([q, v]))

    def hold(self, joint: int, held: bool) -> None:
        """Hold a joint, or let go of it; contacts that no other joint can change are left out."""
        gap_functions, motion = self._gap_functions, self.motion
        gap_functions.held[joint] = held
        self._looked = np.zeros(0), np.zeros((0, 6), dtype=np.int64), np.zeros(0)
        if not len(self.x):
            return
        self._features = self._look(self.x[: self.n])
        left = gap_functions.changing(motion.closed.features)
        motion.forces = motion.forces[left] if len(motion.forces) == len(left) else np.zeros(0)
        motion.closed = ClosedGaps(motion.closed.features[left], motion.closed.active[left])

    def jump(self, q: Array, v: Array, time: float) -> None:
        """Go on at a time [s] from other velocities; what then closes has its impact."""
        self.time = time
        self.motion.closed, self.motion.forces = ClosedGaps(), np.zeros(0)
        self._features = self._look(q)
        self.energy.note(q, v, self.motion.efforts)
        self.x = self._settle(np.concatenate([q, v]))

    def run(self, end: float) -> None:
        """Advance to the time `end` [s], with the efforts that `motion` has."""
        self.x, slope = self._unjammed(self.x)
        while (left := end - self.time) > LEAST_STEP:
            try:
                slope = self._advance(slope, left)
            except JammedError:
                self.x, slope = self._stopped(self.x)

    def _advance(self, first: Array, left: float) -> Array:
        """Take one step, at most `left` [s] long; return the slope after it."""
        energy, sliding = self.energy, self.motion.sliding.any and self.energy.metered
        slides = self.motion.sliding_power(self.x) if sliding else 0.0
        step = self._try(first, left)
        part = self._closing(step)
        if part < 1.0:
            step = self._take(first, part * step.size)
        elif step.size < left:
            self._size = step.next_size
        else:
            self._size = max(self._size, step.next_size)
        if energy.metered:
            after = self.motion.sliding_power(step.end) if sliding else 0.0
            energy.note_step(step, self.motion.friction, (slides, after))
        self._gap_functions.proximity.move(self._angles(step))
        self.time += step.size
        self.steps += 1
        x = self.motion.project(step.end, self._options["gap_tolerance"])
        energy.note(x[: self.n], x[self.n :], self.motion.efforts)
        self._features = self._look(x[: self.n])
        self.x, slope = self._unjammed(self._settle(x))
        return slope

    def _unjammed(self, x: Array) -> tuple[Array, Array]:
        """Return a state and its slope; where friction jams, one without slip."""
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

    def _try(self, first: Array, left: float) -> Step:
        """Return a step within the error tolerance, and short enough to miss no contact.

        Steps share the time that is left evenly: none is a crumb.
        """
        self._jacobian = self._stiff_jacobian() if self.motion.dry else None
        size = left / math.ceil(left / min(self._size, self._options["max_step"]))
        near = self._options["near"]
        while size > LEAST_STEP:
            try:
                step = self._take(first, size)
            except JammedError:
                if size < JAM:
                    raise
                size *= 0.5
                continue
            far = self._gap_functions.proximity.fastest(self._angles(step))
            if step.error <= 1.0 and far <= near:
                return step
            size = step.next_size if not step.error <= 1.0 else 0.8 * size * near / far
        raise DivergedError(
            f"the step size fell to nothing at t = {self.time:.6f} s: no step meets the tolerance"
        )

    def _take(self, first: Array, size: float) -> Step:
        slope, tolerance = self.motion.slope, self._options["tolerance"]
        if self._jacobian is None:
            return take_step(slope, self.x, first, size, tolerance)
        return take_stiff_step(slope, self.x, first, self._jacobian, size, tolerance)

    def _stiff_jacobian(self) -> Array | None:
        """Return the derivative of the slope by friction (2n, 2n); None where it is not stiff."""
        rates, n = self.motion.friction_rates(self.x), self.n
        fastest = np.abs(np.linalg.eigvals(rates)).max()
        if fastest * self._options["max_step"] < SHORTER * EXPLICIT:
            return None
        jacobian = np.zeros((2 * n, 2 * n))
        jacobian[n:, n:] = -rates
        return jacobian

    def _angles(self, step: Step) -> Array:
        """Return the largest rotation of each joint in a step (n,) [rad]."""
        speeds = np.abs(step.slopes[:, : self.n])
        return np.asarray(1.1 * step.size * speeds.max(axis=0))

    def _closing(self, step: Step) -> float:
        """Return the fraction of a step at which a gap closes, 2 if none does."""
        proximity, n = self._gap_functions.proximity, self.n
        bounds = proximity.bounds.copy()
        proximity.move(self._angles(step))
        try:
            after = self._look(step.end[:n])
        finally:
            proximity.bounds[:] = bounds
        watch = np.concatenate([self._features, after[~same(after, self._features)]])
        watch = watch[~same(watch, self.motion.closed.features)]
        if not len(watch):
            return 2.0
        (before, jacobian, _), (then, later, _) = (
            self._gap_functions.measure(watch, x[:n]) for x in (step.start, step.end)
        )
        return first_closing(
            step,
            lambda x: self._gap_functions.measure(watch, x[:n])[0],
            (before, then),
            (jacobian @ step.start[n:], later @ step.end[n:]),
            self._options["gap_tolerance"],
        )

    def _look(self, q: Array) -> Index:
        """Return the features that are near (m, 6), cached by configuration."""
        proximity = self._gap_functions.proximity
        if np.array_equal(q, self._looked[0]):
            proximity.bounds[:] = self._looked[2]
        else:
            self._looked = q.copy(), self._gap_functions.features(q), proximity.bounds.copy()
        return self._looked[1]

    def _settle(self, x: Array) -> Array:
        """Find the closed gaps, and return the state after their impacts."""
        q, v = x[: self.n], x[self.n :]
        tolerance = self._options["gap_tolerance"]
        gaps, jacobian, witnesses = self._gap_functions.measure(self._features, q)
        self.deepest = max(self.deepest, -float(gaps.min(initial=0.0)))
        held = same(self._features, self.motion.closed.features[self.motion.forces > 0.0])
        shut = (gaps <= tolerance) | (held & (gaps <= 10 * tolerance))
        features, held = self._features[shut], held[shut]
        jacobian, witnesses = jacobian[shut], witnesses[shut]
        rates = jacobian @ v
        if rates.min(initial=0.0) >= -STILL:
            self._close(features, (rates <= STILL) | held)
            return x
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
        # A hop lower than the tolerance is none: what presses then is held at once. Otherwise
        # contacts that share a body would throw each other up without end.
        self._close(features, jacobian @ v <= math.sqrt(2.0 * STANDARD_GRAVITY * tolerance))
        x, _ = self._unjammed(np.concatenate([q, v]))
        x = self.motion.project(x, tolerance)
        self._close(features, jacobian @ x[self.n :] <= STILL)
        self.energy.note(x[: self.n], x[self.n :], self.motion.efforts)
        return x

    def _close(self, features: Index, which: np.ndarray) -> None:
        """Activate contact features."""
        self.motion.closed = ClosedGaps(features[which], np.ones(int(which.sum()), dtype=np.bool_))
        for feature in self.motion.closed.features:
            self._touched[self._gap_functions.name(feature)] = self.time

    def _note(self, features: Index, impulses: Array, rates: Array) -> None:
        """Record the events of an impact for pairs that were apart; a hop does not count."""
        sums: dict[tuple[str, str], float] = {}
        for feature, impulse, rate in zip(features, impulses, rates, strict=True):
            if impulse > 0.0 and rate < -APPROACH:
                kind = "joint_stop" if feature[0] >= LOWER else "impact"
                key = (kind, self._gap_functions.name(feature))
                sums[key] = sums.get(key, 0.0) + float(impulse)
        for (kind, subject), impulse in sums.items():
            if self.time - self._touched.get(subject, -math.inf) > APART:
                self._events.append(Event(float(self.time), kind, subject, impulse))
            self._touched[subject] = self.time

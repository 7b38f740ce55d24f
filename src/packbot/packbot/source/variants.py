"""Simulator with the contact scheme of the source report (3.4, appendix C), for comparison.

When two hulls intersect, the simulation returns to the state before the step, and stops the joints
between the two bodies. Until the bodies are apart again, none of these joints may accelerate in the
direction in which it was turning. This is not physical: stopping some joints can add kinetic
energy, and joints that did not cause the contact are held, too. Correct contact is in
contact/forces.py.

A pair that intersects although it is held is counted ("secondary intersection"). If this repeats
without progress in time, the pair is declared broken and may overlap from then on; the report does
not say so, and its code would never get past this time.

The rules of stopping and holding must stay, errors included: test_packbot_report_variants tests the
2.6 J that one stop adds. FIRST_STEP, MOST_STOPS and PROGRESS, which the report does not give, may
be tuned.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from roboaccord.contract import Array, Command, ContactPoint, Event, Index, RobotState
from roboaccord.numerics import Step, take_step
from roboaccord.scenario import Setup

from packbot.contact.clearance import Clearance
from packbot.contact.laws import ClampContact
from packbot.model.chain import chain_of, new_frames, place_bodies
from packbot.simulators.engines import check_start
from packbot.simulators.reference import ArmSimulator, read_reference_options

# Measured in the first second of `collapse`:
# s; first step after a stop, where the solver restarts: it is how exactly the next stop is located.
# 1e-5 and 1e-3 change angles by 0.3 and 2 mrad.
FIRST_STEP = 1e-4
# Number of stops in a row without PROGRESS after which a pair may overlap: 5 and 80 change nothing
# but the number of stops.
MOST_STOPS = 20
PROGRESS = 1e-3  # s; shorter motions between two stops are no progress: 1e-4 and 1e-2 do the same
PARALLEL = 1e-9  # 1; axes are parallel if their cosine differs from 1 by less; others have 0
# s; shorter steps are accepted whatever their error: accelerations of 100 rad/s^2 that jump within
# one change rates by 1e-4 rad/s; 1e-8 does the same
LEAST_STEP = 1e-6
ROUND_OFF = 1e-12  # s; rounding errors of times, which are 1e-14 s at 100 s


class JointClampReference(ArmSimulator):
    """Simulate the Packbot's arm as the report does.

    Attributes:
        resets: number of times that the joints of a pair were stopped.
        secondary: those of them in which the pair was held already.
        broken: pairs that may overlap, because stopping their joints did not help.
        relevant: for each of the p pairs, indices of the planar joints between its bodies (k,).
    """

    def __init__(self, setup: Setup, contact: ClampContact) -> None:
        self._options = read_reference_options(setup)
        super().__init__(setup)
        self._proximity = contact.proximity
        self.relevant = relevant_joints(self.clearance)
        check_start(setup, self.clearance)
        self.reset(setup.initial)

    def _start(self, state: RobotState) -> None:
        self._now = state
        self._x = np.concatenate([state.q, state.qd])
        self._step_time = self._stop_time = state.time  # of the last step, and of the last stop [s]
        self._held = dict[int, Array]()  # directions in which joints are held (7,), by pair
        self.broken = set[int]()
        self.resets = self.secondary = self._stop_count = 0  # the last: stops in a row
        self._size = FIRST_STEP
        self.energy.start(state.q, state.qd)

    def _advance(self, command: Command, duration: float) -> None:
        self._step_time = self._now.time
        while (remaining := self._time - self._step_time) > ROUND_OFF:
            self._take_step(remaining)
        n = len(self.joints)
        self._now = RobotState(self._time, self._x[:n].copy(), self._x[n:].copy(), self._effort)

    def _place(self, state: RobotState) -> None:
        """Continue from a state whose rates an event has changed."""
        self._now = state
        self._x = np.concatenate([state.q, state.qd])
        self.energy.record(state.q, state.qd, self._effort)

    def _slope(self, x: Array) -> Array:
        """Return (v, a) without accelerations that contacts forbid (`cdyn2` in the report)."""
        n = len(self.joints)
        q, v = x[:n], x[n:]
        a = self.arm.acceleration(q, v, self._effort + self.joint_friction.efforts(v))
        for directions in self._held.values():
            a[a * directions > 0.0] = 0.0
        return np.concatenate([v, a])

    def _take_step(self, remaining: float) -> None:
        """Take one step, and stop joints before it if hulls intersect after it."""
        step = self._accurate_step(min(self._size, remaining, self._options["max_step"]))
        n = len(self.joints)
        distances = self.clearance.distances(step.end[:n])
        self.broken = {pair for pair in self.broken if distances[pair] < 0.0}
        met = [i for i in np.flatnonzero(distances < 0.0).tolist() if i not in self.broken]
        if met:
            self._stop(met, step.end[n:])
            return
        for pair in [i for i in self._held if distances[i] > self._proximity]:
            del self._held[pair]
        self._x = step.end
        self._step_time += step.size
        self._size = step.next_size
        self.energy.record(self._x[:n], self._x[n:], self._effort)

    def _accurate_step(self, size: float) -> Step:
        """Return a step of at most a size [s] within the error tolerance."""
        first = self._slope(self._x)
        while True:
            step = take_step(self._slope, self._x, first, size, self._options["tolerance"])
            # The slope jumps where a forbidden acceleration changes sign: no step is exact there.
            if step.error <= 1.0 or size < LEAST_STEP:
                return step
            size = step.next_size

    def _stop(self, met: Sequence[int], v: Array) -> None:
        """Stop and hold the joints of pairs that have met (`findRelevantJoints` in the report).

        Args:
            met: indices of the pairs whose hulls intersect.
            v: joint rates at which they met (n,) [rad/s].
        """
        n = len(self.joints)
        x = self._x.copy()
        for pair in met:
            was_held = pair in self._held
            joints = self.relevant[pair]
            if not was_held:
                self._held[pair] = np.zeros(n)  # directions in which its joints are held
                self._held[pair][joints] = np.sign(v[joints])
            x[n + joints] = 0.0
            self.resets += 1
            self.secondary += was_held
            self._record_pair("secondary_intersection" if was_held else "joint_clamp", pair)
        self._x = x
        self._size = FIRST_STEP
        self.energy.record(x[:n], x[n:], self._effort)
        if self._step_time - self._stop_time > PROGRESS:
            self._stop_time, self._stop_count = self._step_time, 0
        self._stop_count += 1
        if self._stop_count > MOST_STOPS:
            self._stop_count = 0
            self.broken.update(met)
            for pair in met:
                self._record_pair("broken", pair)

    def _record_pair(self, kind: str, pair: int) -> None:
        """Record an event of a kind for a pair of hulls (index)."""
        subject = " ".join(map(self.clearance.full_name, self.clearance.pairs[pair]))
        self._events.append(Event(float(self._step_time), kind, subject))

    def contacts(self) -> Sequence[ContactPoint]:
        """Return where the pairs that are held are closest; forces there are unknown."""
        return self.clearance.contact_points(self._x[: len(self.joints)], sorted(self._held))


def relevant_joints(clearance: Clearance) -> list[Index]:
    """Return the planar joints between the two bodies of each pair of hulls.

    Planar joints are those whose axes, with all joints at 0, are parallel to most other axes: the
    report leaves out turret and camera pan.
    """
    chain = chain_of(clearance.model)
    frames = new_frames(chain)
    place_bodies(chain, np.zeros(len(chain.parents) - 1), frames)
    _, _, axes = frames
    are_parallel = np.abs(axes[1:] @ axes[1:].T) > 1.0 - PARALLEL
    planar = are_parallel[int(are_parallel.sum(axis=1).argmax())]
    a, b = chain.moved[clearance.owners[clearance.pairs.T]]
    return [np.flatnonzero((of_a != of_b) & planar) for of_a, of_b in zip(a, b, strict=True)]

"""A motion step by step: swing, fly, grip and release in any order, every event listed.

`Motion` holds a state and what the magnets hold. `advance` moves it on, until an event or for a
time, and `hold` changes the magnets: hands that grip come to rest by a plastic impact. The
reference simulator drives it, and scripts may.

TOLERANCE, which scenarios set by `engine_options.reference.tolerance`, and FIRST_STEP, only the
first that is tried, may be tuned. The rules of grip and release in `hold` are the model, fixed by
test_motion and test_dynamics.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract import Array, DivergedError, Event

from monkeybot.model import dynamics, hybrid, integrator
from monkeybot.model.coordinates import MAGNETS, SWINGS, Arm, Mode
from monkeybot.model.events import NO_EVENT, StateEvent
from monkeybot.model.hybrid import Then
from monkeybot.model.parameters import MonkeyBotParameters

FIRST_STEP = 1e-3  # s: tried first; the integrator then chooses
TOLERANCE = 1e-12  # of each step, relative and absolute: far below what engines err


class Motion:
    """Move the MonkeyBot on, and change what its magnets hold.

    Args:
        parameters: of the robot.
        u: state (th1, th2, w1, w2, x, y, vx, vy) (8,), seen from hand A.
        mode: what the magnets hold; what would move a held hand is dropped.
        time: of the start [s].
        tolerance: of each step of the integrator, relative and absolute.

    Attributes:
        hand: that is held, or was before a flight: 0 for A, 1 for B.
        events: what happened, in order of time: the magnets' changes with the impulse of an
            impact [N s], and the events that `advance` was asked to look for.
        taken: kinetic energy that grips took so far [J].
    """

    def __init__(
        self, parameters: MonkeyBotParameters, u: Array, mode: Mode = Mode.SWING_A, *,
        time: float = 0.0, tolerance: float = TOLERANCE,
    ) -> None:  # fmt: skip
        self.parameters, self.mode, self.time = parameters, mode, time
        self.events: list[Event] = []
        self.taken = 0.0
        self._tolerance, self._h = tolerance, FIRST_STEP  # `_h`: step to try next [s]
        self._rows = parameters.rows  # with hand A first, and with hand B first
        self._work = np.zeros((integrator.SCRATCH, 8))
        self._u, self.hand = np.array(u, dtype=float), 0  # `_u`: state seen from `hand` (8,)
        self._see_from(1 if mode is Mode.SWING_B else 0)
        if mode is not Mode.FLIGHT:
            self._u[6:] = 0.0
        if mode is Mode.FIXED:
            self._u[2:4] = 0.0

    @property
    def held(self) -> Array:
        """The state (8,) seen from `hand`."""
        return self._u.copy()

    @property
    def u(self) -> Array:
        """The state (8,) seen from hand A."""
        if self.hand == 0:
            return self._u.copy()
        from_a = np.empty(8)
        dynamics.flip(self._rows[1], self._u, from_a)
        return from_a

    @property
    def energies(self) -> tuple[float, float]:
        """The kinetic and the potential energy [J]."""
        kinetic, potential = dynamics.energies(self._rows[self.hand], self._u)
        return float(kinetic), float(potential)

    @property
    def friction_power(self) -> float:
        """The power that the friction of the joints takes [W]: the elbow's, and the held hand's."""
        p, power = self._rows[self.hand], 0.0
        _, _, w1, w2 = self._u[:4]
        power -= dynamics.friction(p.viscous_2, p.dry_2, p.dry_speed, w2) * w2
        if self.mode in SWINGS:
            power -= dynamics.friction(p.viscous_1, p.dry_1, p.dry_speed, w1) * w1
        return float(power)

    def advance(self, duration: float, torque: float = 0.0, until: StateEvent = NO_EVENT) -> bool:
        """Move on under constant torque, for a time or until an event.

        Args:
            duration: at most this long [s].
            torque: on the elbow, seen from `hand` [N m].
            until: event that ends it.

        Returns:
            whether the event happened.

        Raises:
            DivergedError: if the motion leaves the finite numbers.
        """
        if self.mode is Mode.FIXED:
            self.time += duration
            return False
        reason, elapsed, self._h = integrator.advance(
            self._rows[self.hand], self.mode is Mode.FLIGHT, torque, self._u, duration,
            until.row, NO_EVENT.row, 0.0, self._h, self._tolerance, self._work,
        )  # fmt: skip
        if reason == integrator.FAILED:
            raise DivergedError(f"the motion diverged at t = {self.time + elapsed:.6f} s")
        happened = bool(reason == integrator.EVENT)
        # A sum of elapsed times would drift from the grid of whoever counts in durations.
        self.time += elapsed if happened else duration
        if happened:
            self.events.append(Event(self.time, until.name, self.mode.name.lower()))
        return happened

    def hold(self, mode: Mode) -> dict[str, float]:
        """Change what the magnets hold, all at once.

        A hand that grips comes to rest by a plastic impact, in which the other one is free
        unless it stays held: then all motion stops.

        Returns:
            the impulse on every hand that grips [N s].
        """
        old = self.mode
        gripping = [n for n in MAGNETS if mode.switches[n] and not old.switches[n]]
        releasing = [n for n in MAGNETS if old.switches[n] and not mode.switches[n]]
        if mode is not Mode.FLIGHT:
            self._see_from(1 if mode is Mode.SWING_B else 0)
        impulses = dict.fromkeys(gripping, 0.0)
        before = self.energies[0]
        if mode is Mode.FIXED:
            impulses = {name: size for name, size in self._stop().items() if name in gripping}
        elif gripping:
            size = math.hypot(*dynamics.impact(self._rows[self.hand], self._u))
            impulses = {gripping[0]: size}
        self.taken += before - self.energies[0]
        self.mode = mode
        self.events += [Event(self.time, "magnet_off", name) for name in releasing]
        self.events += [Event(self.time, "magnet_on", n, impulses[n]) for n in gripping]
        return impulses

    def lock_elbow(self, rotor: float) -> None:
        """Give the elbow's drive an inertia [kg m^2], so large that it is locked; 0 ends it."""
        self._rows = self.parameters.row(0, rotor), self.parameters.row(1, rotor)

    def jump(self, u: Array) -> None:
        """Go on from a state (8,) seen from hand A: what else has changed the velocities."""
        hand, self.hand, self._u = self.hand, 0, np.array(u)
        self._see_from(hand)

    def then(self, then: Then) -> None:
        """Do with the magnets what ends a gait's phase."""
        first, other = SWINGS[self.hand], SWINGS[1 - self.hand]
        if then is Then.RELEASE:
            self.hold(Mode.FLIGHT)
        elif then in (Then.CHANGE, Then.GRIP_OTHER):
            self.hold(other)
        elif then is Then.GRIP:
            self.hold(first)

    def _stop(self) -> dict[str, float]:
        """Bring both hands to rest, and with them all else; return the impulse on each [N s]."""
        p = self.parameters
        mass = dynamics.mass_matrix(self._rows[0], self._u)
        _, impulses = Arm(p.length_a, p.length_b).grip(self._u, mass, MAGNETS)
        self._u[2:4] = self._u[6:] = 0.0
        return impulses

    def _see_from(self, hand: int) -> None:
        if hand != self.hand:
            self.hand = hybrid.change_frame(self._rows, self._u, self.hand, np.empty(8))


def frictionless(parameters: MonkeyBotParameters) -> MonkeyBotParameters:
    """Return the parameters without friction."""
    return parameters.replace(
        viscous_hand=0.0, viscous_elbow=0.0, constant_hand=0.0, constant_elbow=0.0
    )

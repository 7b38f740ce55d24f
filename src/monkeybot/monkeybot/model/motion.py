"""Step-by-step simulation of the MonkeyBot: swing, fly, grip and release in any order.

`Motion` stores the state of the robot and which hands the magnets hold. `advance` integrates the
state for a time or until an event. `switch_to` switches the magnets: a hand that grips comes to
rest by a plastic impact. Everything that happens is listed in `events`. The reference simulator
uses it for every run, and scripts may use it as well.

TOLERANCE, which scenarios set by `engine_options.reference.tolerance`, and FIRST_STEP may be tuned.
"""

import math

import numpy as np
from roboaccord.contract import Array, DivergedError, Event

from monkeybot.model import dynamics, hybrid, integrator
from monkeybot.model.coordinates import MAGNETS, SWINGS, Arm, Mode
from monkeybot.model.events import NO_EVENT, StateEvent
from monkeybot.model.hybrid import Then
from monkeybot.model.parameters import MonkeyBotParameters

# s: the first step that is tried; the integrator then chooses. Any from 1e-6 to 1e-2 would do: a
# step that is too long is repeated, and one that is too short is followed by ever longer ones.
FIRST_STEP = 1e-3
TOLERANCE = 1e-12  # of each step, relative and absolute: far below the errors of physics engines
ANGLE_RATES, HAND_RATES = slice(2, 4), slice(6, 8)  # w1, w2 and vx, vy in a state


class Motion:
    """Simulate the MonkeyBot step by step, and switch its magnets.

    In the frame of a hand, the link of that hand comes first in the state (`dynamics`).

    Args:
        parameters: of the robot.
        u: state (th1, th2, w1, w2, x, y, vx, vy) (8,), in the frame of hand A.
        mode: which hands the magnets hold; the velocity of a held hand is set to 0.
        time: of the start [s].
        tolerance: of each step of the integrator, relative and absolute.

    Attributes:
        hand: the hand that is held, or was held last before a flight: 0 for A, 1 for B.
        events: what happened, in order of time: the switching of magnets, with the impulse of an
            impact [N s], and the events that `advance` was asked to look for.
        impact_loss: kinetic energy that all impacts have dissipated so far [J].
    """

    def __init__(
        self,
        parameters: MonkeyBotParameters,
        u: Array,
        mode: Mode = Mode.SWING_A,
        *,
        time: float = 0.0,
        tolerance: float = TOLERANCE,
    ) -> None:
        self.parameters, self.mode, self.time = parameters, mode, time
        self.events: list[Event] = []
        self.impact_loss = 0.0
        self._tolerance = tolerance
        self._next_step = FIRST_STEP  # step to try next [s]
        self._rows = parameters.rows  # parameters with hand A first, and with hand B first
        self._work = np.zeros((integrator.SCRATCH, 8))
        self.hand = 0
        self._u = np.array(u, dtype=float)  # the state in the frame of `hand` (8,)
        self._change_frame_to(1 if mode is Mode.SWING_B else 0)
        if mode is not Mode.FLIGHT:
            self._u[HAND_RATES] = 0.0
        if mode is Mode.FIXED:
            self._u[ANGLE_RATES] = 0.0

    @property
    def hand_state(self) -> Array:
        """The state (8,) in the frame of `hand`, the hand that is held or was held last."""
        return self._u.copy()

    @property
    def u(self) -> Array:
        """The state (8,) in the frame of hand A."""
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
        """The power that joint friction dissipates [W]: at the elbow, and at a held hand."""
        p = self._rows[self.hand]
        w1, w2 = self._u[ANGLE_RATES]
        power = -dynamics.friction(p.viscous_2, p.dry_2, p.dry_speed, w2) * w2
        if self.mode in SWINGS:
            power -= dynamics.friction(p.viscous_1, p.dry_1, p.dry_speed, w1) * w1
        return float(power)

    def advance(self, duration: float, torque: float = 0.0, until: StateEvent = NO_EVENT) -> bool:
        """Integrate under constant torque, for a time or until an event.

        Args:
            duration: longest time to integrate [s].
            torque: on the elbow, in the frame of `hand` [N m].
            until: event that ends the integration.

        Returns:
            whether the event happened.

        Raises:
            DivergedError: if the motion leaves the finite numbers.
        """
        if self.mode is Mode.FIXED:
            self.time += duration
            return False
        flight = self.mode is Mode.FLIGHT
        system = integrator.System(self._rows[self.hand], flight, torque, start_energy=0.0)
        step, tolerance = self._next_step, self._tolerance
        reason, elapsed, self._next_step = integrator.advance(
            system, self._u, duration, until.row, NO_EVENT.row, step, tolerance, self._work
        )
        if reason == integrator.FAILED:
            raise DivergedError(f"the motion diverged at t = {self.time + elapsed:.6f} s")
        happened = bool(reason == integrator.EVENT)
        # The requested duration is added where possible: a sum of times as integrated would drift
        # from the caller's grid of control periods by round-off.
        self.time += elapsed if happened else duration
        if happened:
            self.events.append(Event(self.time, until.name, self.mode.name.lower()))
        return happened

    def switch_to(self, mode: Mode) -> dict[str, float]:
        """Switch the magnets to those of a mode, all at once.

        A hand that grips comes to rest by a plastic impact. The other hand is free in it; if it
        stays held, all motion stops.

        Returns:
            the impulse on every hand that grips, by magnet [N s].
        """
        before, after = self.mode.switches, mode.switches  # which magnets are on, by name
        gripping = [name for name in MAGNETS if after[name] and not before[name]]
        releasing = [name for name in MAGNETS if before[name] and not after[name]]
        if mode is not Mode.FLIGHT:
            self._change_frame_to(1 if mode is Mode.SWING_B else 0)
        impulses = dict.fromkeys(gripping, 0.0)
        energy_before = self.energies[0]
        if mode is Mode.FIXED:
            impulses = {name: size for name, size in self._stop_all().items() if name in gripping}
        elif gripping:
            impulses = {gripping[0]: math.hypot(*dynamics.impact(self._rows[self.hand], self._u))}
        self.impact_loss += energy_before - self.energies[0]
        self.mode = mode
        self.events += [Event(self.time, "magnet_off", name) for name in releasing]
        self.events += [Event(self.time, "magnet_on", name, impulses[name]) for name in gripping]
        return impulses

    def lock_elbow(self, rotor: float) -> None:
        """Add a rotor inertia [kg m^2] at the elbow, large enough to lock it; 0 unlocks it."""
        self._rows = self.parameters.row(0, rotor), self.parameters.row(1, rotor)

    def set_state(self, u: Array) -> None:
        """Replace the state by one in the frame of hand A (8,), after a change from outside."""
        hand = self.hand
        self.hand, self._u = 0, np.array(u)
        self._change_frame_to(hand)

    def end_phase(self, then: Then) -> None:
        """Switch the magnets as a gait does at the end of a phase (`hybrid.Then`)."""
        same_hand, other_hand = SWINGS[self.hand], SWINGS[1 - self.hand]
        if then is Then.RELEASE:
            self.switch_to(Mode.FLIGHT)
        elif then in (Then.CHANGE, Then.GRIP_OTHER):
            self.switch_to(other_hand)
        elif then is Then.GRIP:
            self.switch_to(same_hand)

    def _stop_all(self) -> dict[str, float]:
        """Bring both hands, and with them the whole robot, to rest.

        Returns:
            the impulse on each hand, by magnet [N s].
        """
        p = self.parameters
        mass = dynamics.mass_matrix(self._rows[0], self._u)
        _, impulses = Arm(p.length_a, p.length_b).grip(self._u, mass, MAGNETS)
        self._u[ANGLE_RATES] = self._u[HAND_RATES] = 0.0
        return impulses

    def _change_frame_to(self, hand: int) -> None:
        """Convert the stored state to the frame of a hand."""
        if hand != self.hand:
            self.hand = hybrid.change_frame(self._rows, self._u, self.hand, np.empty(8))


def frictionless(p: MonkeyBotParameters) -> MonkeyBotParameters:
    """Return the parameters without friction."""
    return p.replace(viscous_hand=0.0, viscous_elbow=0.0, constant_hand=0.0, constant_elbow=0.0)

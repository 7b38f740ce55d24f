"""Shipped gaits again by heyoka, a Taylor integrator that keeps errors at round-off.

Its equations come from the Lagrangian, written here once more in coordinates that are never
flipped, and are worked out by its own symbolic algebra. A torque on th2 is the potential -torque
th2. Impacts are those of `lagrangian`, with the hands as constraints.
"""

import lagrangian
import numpy as np
import pytest
from monkeybot.gaits.gait import evaluate
from monkeybot.model.events import VERTICAL, level
from monkeybot.model.hybrid import Then
from monkeybots import REPORT as ROBOT
from roboaccord_studies.monkeybot.kinds import SINKING
from roboaccord_studies.monkeybot.orbits import shipped_data, shipped_gait

hy = pytest.importorskip("heyoka", reason="heyoka, a Taylor integrator, has no wheel here")

EVENTS = level(), SINKING, VERTICAL
CYCLES = 5


def lagrangian_of(p, hands):
    """Return the Lagrangian with hand a or b held, or none, and so the equations of motion.

    By the angles a, b of the links from straight down, and in flight the place (y, z) of hand A.
    """
    y, z, a, b, vy, vz, wa, wb = hy.make_vars("y", "z", "a", "b", "vy", "vz", "wa", "wb")
    # From the held hand to the links' centres, so far along each link; from B it goes back.
    offsets = (p.centre_a, 0.0), (p.length_a, p.centre_b)
    if hands == "b":
        offsets = (p.centre_a - p.length_a, -p.length_b), (0.0, p.centre_b - p.length_b)
    L = hy.par[0] * (b - a)
    for mass, inertia, spin, (along_a, along_b) in (
        (p.mass_a, p.inertia_a, wa, offsets[0]),
        (p.mass_b, p.inertia_b, wb, offsets[1]),
    ):
        u = along_a * hy.cos(a) * wa + along_b * hy.cos(b) * wb
        v = along_a * hy.sin(a) * wa + along_b * hy.sin(b) * wb
        height = -along_a * hy.cos(a) - along_b * hy.cos(b)
        if not hands:
            u, v, height = u + vy, v + vz, height + z
        L += 0.5 * mass * (u * u + v * v) + 0.5 * inertia * spin * spin - mass * p.gravity * height
    return hy.lagrangian(L, *(([a, b], [wa, wb]) if hands else ([y, z, a, b], [vy, vz, wa, wb])))


def events_of(p, hand):
    """Return heyoka's terminal events for `EVENTS`: the free hand's height, and the held link."""
    a, b = hy.make_vars("a", "b")
    side = 1.0 if hand == "a" else -1.0
    height = -side * (p.length_a * hy.cos(a) + p.length_b * hy.cos(b))
    hanging = hy.sin(a) if hand == "a" else -hy.sin(b)  # seen from B link B hangs half a turn on
    up, down = hy.event_direction.positive, hy.event_direction.negative
    return [
        hy.t_event(height, direction=up),
        hy.t_event(height, direction=down),
        hy.t_event(hanging, direction=up),
    ]


@pytest.fixture(scope="module")
def integrators():
    """Compile a swing on either hand, and flight; compactly, which takes 0.6 s each, not 6 s."""

    def compiled(hands, **more):
        system = lagrangian_of(ROBOT, hands)
        state = [0.0] * len(system)
        return hy.taylor_adaptive(system, state, pars=[0.0], compact_mode=True, **more)

    swings = {hand: compiled(hand, t_events=events_of(ROBOT, hand)) for hand in "ab"}
    return {**swings, "": compiled("")}


class Walk:
    """A motion in the wall's plane: x = (y, z, th1, th2) of hand A and v, never flipped."""

    def __init__(self, integrators, start):
        self.integrators, self.hands, self.first = integrators, "a", "a"
        self.x, self.v = np.array([0.0, 0.0, *start[:2]]), np.array([0.0, 0.0, *start[2:]])

    @property
    def seen(self):
        """(th1, th2, w1, w2) from the hand that is first."""
        (a, e), (wa, we) = self.x[2:], self.v[2:]
        return np.array([a, e, wa, we] if self.first == "a" else [np.pi + a + e, -e, wa + we, -we])

    @property
    def place(self):
        """Position of the first hand."""
        a, b = self.x[2], self.x[2] + self.x[3]
        shift = ROBOT.length_a * np.array([np.sin(a), -np.cos(a)])
        shift = shift + ROBOT.length_b * np.array([np.sin(b), -np.cos(b)])
        return self.x[:2] + (0.0 if self.first == "a" else shift)

    def phase(self, phase):
        """Move to the end of a phase and do what the magnets do."""
        ta, place = self.integrators[self.hands], self.place
        ta.time, ta.pars[0] = 0.0, phase.torque * (1.0 if self.first == "a" else -1.0)
        angles = np.array([self.x[2], self.x[2] + self.x[3], self.v[2], self.v[2] + self.v[3]])
        ta.state[:] = angles if self.hands else [*self.x[:2], *angles[:2], *self.v[:2], *angles[2:]]
        if self.hands:
            ta.reset_cooldowns()
        self._propagate(ta, phase)
        if self.hands:
            a, b, wa, wb = ta.state
            self.x[2:], self.v[2:] = (a, b - a), (wa, wb - wa)
            self.x[:2], self.v[:2] = 0.0, 0.0
            self.x[:2] = place - self.place  # the hand that is held has not moved
            J = lagrangian.held(ROBOT, self.x, self.hands)
            self.v[:2] = -(J @ self.v)  # at which hand A moves meanwhile
        else:
            y, z, a, b, vy, vz, wa, wb = ta.state
            self.x, self.v = np.array([y, z, a, b - a]), np.array([vy, vz, wa, wb - wa])
        self._then(phase.then)

    def _propagate(self, ta, phase):
        while True:
            outcome = ta.propagate_until(phase.duration)[0]
            if outcome == hy.taylor_outcome.time_limit:
                assert phase.until not in EVENTS
                return
            index = -int(outcome) - 1  # of the terminal event that stopped it
            assert 0 <= index < len(EVENTS)
            if phase.until == EVENTS[index]:
                return

    def _then(self, then):
        if then is Then.RELEASE:
            self.hands = ""
        elif then is not Then.NOTHING:
            if then is not Then.GRIP:
                self.first = "b" if self.first == "a" else "a"
            self.hands = self.first
            self.v, _ = lagrangian.impact(ROBOT, self.x, self.v, self.hands)


def walk(integrators, gait, start, cycles=1):
    """Return the states after each cycle from the held hand (cycles, 4), and the displacement."""
    motion, rows = Walk(integrators, start), []
    for _ in range(cycles):
        for phase in gait.phases:
            motion.phase(phase)
        rows.append(motion.seen)
    return np.array(rows), motion.place


def off(found, expected):
    """Return the largest difference of states, with th1 and th2 by whole turns."""
    difference = found - expected
    difference[..., :2] -= 2.0 * np.pi * np.round(difference[..., :2] / (2.0 * np.pi))
    return np.abs(difference).max()


@pytest.fixture(scope="module", params=sorted(shipped_data()))
def orbit(request):
    return shipped_gait(request.param, ROBOT)


def test_the_gait_repeats(integrators, orbit):
    """After five cycles, in which an unstable gait enlarges whatever is off at first."""
    states, place = walk(integrators, orbit.gait, orbit.start, CYCLES)
    assert off(states, orbit.start) < 1e-9
    shift = CYCLES * orbit.changes * np.array([orbit.stride, -orbit.drop])
    assert place == pytest.approx(shift, abs=1e-9)


def test_beside_its_orbit_both_walk_alike(integrators, orbit):
    """From a disturbed start every state after a cycle is that of the reference."""
    disturbed = orbit.start + np.array([1e-3, -2e-3, 2e-3, 1e-3])
    states, _ = walk(integrators, orbit.gait, disturbed, CYCLES)
    expected = disturbed
    for state in states:
        expected = evaluate(orbit.gait, ROBOT, expected, tolerance=1e-13).final[0]
        assert off(state, expected) < 1e-9


def test_multipliers_are_those_of_heyoka(integrators, orbit):
    """By differences of its motions, to four digits and more."""
    step = 2e-5
    columns = []
    for side in step * np.eye(4):
        ahead, behind = (
            walk(integrators, orbit.gait, orbit.start + s * side)[0][0] for s in (1, -1)
        )
        columns.append((ahead - behind) / (2.0 * step))
    slope = np.array(columns).T
    values = np.linalg.eigvals(slope)
    for value in orbit.multipliers:
        assert np.abs(values - value).min() < 1e-6

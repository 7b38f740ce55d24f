"""Search of gaits of a kind: Newton's method from random starts, with no guess of what is there.

Symmetry of a gait about the vertical, in which its swing is its own mirror image in time.

The robot without friction is reversible: with q(t) = (th1, th2) a motion under the torque u(t),
-q(-t) is one under -u(-t). A swing from 0 to T is symmetric if q(T - t) = -q(t), modulo full turns:
half-way it hangs straight, th1 = th2 = 0, or with a link folded up. A passive gait without impact
always is: it starts and ends at rest with both hands level, at mirror images of one pose because
the energy is kept, and the motion from a pose at rest is unique. A gait with an impact never is,
since its energy after the change is not that before, nor one under a constant torque.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord.run import run_pieces

from monkeybot.gaits.gait import wrap
from monkeybot.gaits.orbits import FINE, Closing, Kind, Orbit, find_orbit, gait_of
from monkeybot.model.hybrid import Then
from monkeybot.model.motion import Motion
from monkeybot.model.parameters import MonkeyBotParameters

COARSE = 1e-8  # tolerance of the integrator
DIFFERENCE = 1e-5
STEPS = 24
LONGEST_STEP = 0.3  # rad, rad/s, s and N m alike
NEAR = 1e-3  # what a residual must be below to be refined
SAME = 1e-6  # largest difference of starts and controls of one gait
STANDS = 1e-3  # m: a gait of a shorter stride goes nowhere
TILT, RATES = 0.3, ((-3.0, 4.0), (-4.0, 4.0))  # rad; rad/s
# Where starts are looked for anywhere: the free hand level, the elbow on either side, and fast.
FASTEST = 10.0  # rad/s
BLOCK = 10  # starts that a worker takes at once

Done = Callable[[int], None]


def find_gaits(
    kind: Kind,
    parameters: MonkeyBotParameters,
    controls: Mapping[str, float],
    *,
    samples: int,
    seed: int = 0,
    rise: float = 0.0,
    anywhere: bool = False,
    done: Done | None = None,
) -> list[Orbit]:
    """Find gaits of a kind from random starts; the most stable one is first.

    The result depends on the seed alone, not on the number of cores.

    Args:
        kind: of the gaits.
        parameters: of the robot.
        controls: all of the kind's; those it solves for start from half to one and a half of that.
        samples: random starts.
        seed: of the random numbers.
        rise: wanted of a cycle [m], where the kind has a control to meet it.
        anywhere: as of `random_starts`.
        done: called with the number of starts that a block has added.

    Raises:
        AccordError: for a control that is missing or unknown, or no sample.
    """
    gait_of(kind, controls)
    if samples < 1:
        raise AccordError(f"samples is {samples}, and must be 1 at least")
    guesses = random_starts(kind, controls, samples, seed, anywhere=anywhere)
    blocks = np.array_split(guesses, math.ceil(samples / BLOCK))
    found: list[Orbit] = []
    calls = ((kind, parameters, controls, block, rise) for block in blocks)
    for orbits in run_pieces(_search, calls, done=lambda _: done(BLOCK) if done else None):
        for orbit in orbits:
            if not any(same(orbit, other) for other in found):
                found.append(orbit)
    return sorted(found, key=lambda orbit: (orbit.spectral_radius, *orbit.start))


def random_starts(
    kind: Kind, controls: Mapping[str, float], samples: int, seed: int, *, anywhere: bool = False
) -> Array:
    """Return random starts and controls to solve for (samples, 4 + solved).

    The free hand is behind, about level with the held one: th1 + th2 / 2 is near -pi / 2.

    Args:
        kind: of the gaits.
        controls: all of the kind's.
        samples: number of starts.
        seed: of the random numbers.
        anywhere: draw th1 from the full circle and rates up to `FASTEST`, and not near the gaits
            that are known.
    """
    rng = np.random.default_rng(seed)
    th1 = rng.uniform(*((-math.pi, math.pi) if anywhere else (-0.5 * math.pi, 0.0)), samples)
    th2 = -math.pi - 2.0 * th1 + rng.uniform(-TILT, TILT, samples)
    spans = ((-FASTEST, FASTEST),) * 2 if anywhere else RATES
    rates = [rng.uniform(*span, samples) for span in spans]
    solved = [controls[name] * rng.uniform(0.5, 1.5, samples) for name in kind.solved]
    return np.column_stack([th1, th2, *rates, *solved])


def same(a: Orbit, b: Orbit) -> bool:
    """Return whether two orbits are one."""
    apart = a.start - b.start
    apart[:2] = wrap(apart[:2])
    numbers = [a.controls[name] - b.controls[name] for name in a.controls]
    return bool(np.abs([*apart, *numbers]).max() < SAME)


def _search(
    kind: Kind,
    parameters: MonkeyBotParameters,
    controls: Mapping[str, float],
    guesses: Array,
    rise: float,
) -> list[Orbit]:
    """Return the orbits that a block of guesses leads to."""
    orbits, closing = [], Closing(kind, parameters, controls, rise, COARSE)
    for guess in guesses:
        path = closing.newton(guess, DIFFERENCE, longest=LONGEST_STEP, steps=STEPS)
        z = next((z for z, residual in path if np.linalg.norm(residual) < NEAR), None)
        if z is None:
            continue
        try:
            orbit = find_orbit(kind, parameters, closing.controls_at(z), z[:4], rise=rise)
        except (AccordError, np.linalg.LinAlgError):
            continue
        if abs(orbit.stride) > STANDS:
            orbits.append(orbit)
    return orbits


SAMPLES = 200  # intervals of a swing in which its halves are compared


@dataclass(frozen=True)
class Asymmetry:
    """Measure how far a gait is from being symmetric; the most of its swings.

    Args:
        mirror: largest |q(t) + q(T - t)| of a joint, modulo full turns [rad].
        straight: least distance from hanging straight, the larger of |th1| and |th2| [rad].
    """

    mirror: float
    straight: float


def asymmetry(orbit: Orbit, parameters: MonkeyBotParameters) -> Asymmetry | None:
    """Return the asymmetry of a periodic gait; None with a flight, or a start within a swing."""
    swings = _swings(orbit, parameters)
    if swings is None:
        return None
    return Asymmetry(
        mirror=max(float(np.abs(wrap(q + q[::-1])).max()) for q in swings),
        straight=max(float(np.abs(wrap(q)).max(axis=1).min()) for q in swings),
    )


def _swings(orbit: Orbit, parameters: MonkeyBotParameters) -> list[Array] | None:
    """Return the angles of each swing at evenly spaced times (SAMPLES + 1, 2) [rad]."""
    phases = gait_of(orbit.kind, orbit.controls).phases
    if any(phase.then in (Then.RELEASE, Then.GRIP_OTHER) for phase in phases):
        return None
    motion = Motion(parameters, np.concatenate([orbit.start, np.zeros(4)]), tolerance=FINE)
    swings, parts = list[Array](), list[tuple[float, float]]()
    for phase, duration in zip(phases, orbit.times.tolist(), strict=True):
        parts.append((duration, phase.torque))
        if phase.then is Then.CHANGE:
            swings.append(_sampled(motion, parts))
            motion.then(phase.then)
            parts = []
    if parts and swings:  # a cycle that does not start at a change: its ends are one swing
        return None
    return swings


def _sampled(motion: Motion, parts: list[tuple[float, float]]) -> Array:
    """Return the angles over phases of a swing, each of a duration [s] and under a torque [N m]."""
    ends = np.cumsum([duration for duration, _ in parts])
    times = np.linspace(0.0, ends[-1], SAMPLES + 1)
    angles, now = [motion.held[:2].copy()], 0.0
    for time in times[1:].tolist():
        for end, (_, torque) in zip(ends.tolist(), parts, strict=True):
            if now < min(end, time):
                motion.advance(min(end, time) - now, torque)
                now = min(end, time)
        angles.append(motion.held[:2].copy())
    return np.array(angles)

"""One joint of a robot that is held, under a servo: I a + d v = u - g, solved exactly.

I is the inertia about the joint with its rotor, d its viscous damping, g its weight. A servo pulls
it to a target r by the effort kp (r - q) - kd v. In the mode `own` an engine's actuator does it; in
all others the effort is computed at each control tick from the state that is sampled there, and
held until the next: `explicit` as it is, `limited` within limits of effort and velocity, `line`
within a torque-speed line.

A step of a SCHEME is linear in position, rate, target and effort, and so is a control tick of
several steps. With an effort that is late by n ticks, state and efforts on their way are one
vector, whose matrix has the exact poles z.

    exact      the differential equation, in closed form
    euler      semi-implicit Euler: a from the start of the step, then v, then q
    damped     the same, with the servo's damping at the end of the step (MuJoCo's implicitfast)
    implicit   with its spring at the end of the step, too (DART, Drake, PhysX with PGS)
    implicit10 the same in 10 substeps (PhysX with TGS in as many iterations); other efforts act at
               the start of the step

The limits of an own servo clip its effort, which then is constant in a step: that of the start of
the step, or if implicit that which acts in it. A substep may have the impulse of its whole step. A
rate beyond the limit is set to it at the end of a step or substep. Exactly both clip in the FINE
parts of a tick, each in closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import kernel

MODES = ("own", "explicit", "limited", "line")
EXPLICIT, LINE, LIMITED = 1, 3, MODES[2:]
NAMES = {"exact": "continuous", "euler": "explicit in each physics step",
         "damped": "implicit damping", "implicit": "implicit",
         "implicit10": "implicit in 10 substeps"}  # fmt: skip
# Schemes of steps with an engine's own servo in it, and of those with an effort that is held.
SCHEMES = {"own": tuple(NAMES), "explicit": ("exact", "euler")}
NO_LIMIT = float("inf")  # N m, rad/s
FINE = 64
SMALL, WEAK = 1e-12, 1e-5  # angle and damping below which closed forms are series
# Steps of the search for an unstable stiffness: by this ratio, up to MOST times the servo's.
DECADE, MOST = 10.0, 1e6
FAINT = 1e-300  # added to a pole, whose logarithm is taken
FLOOR = 1e-4  # of a motion; what is smaller is the round-off of single precision at rest
BAND = 0.02  # of the step; a response has settled once it stays within it


@dataclass(frozen=True)
class Servo:
    """A PD servo, SI: gains, mode, delay in control ticks (in the mode `own`, of its target)."""

    kp: float
    kd: float
    mode: str = "explicit"
    delay: int = 0
    effort: float = NO_LIMIT
    velocity: float = NO_LIMIT

    @property
    def numbers(self) -> Array:
        """Number of the mode, gains and limits, as kernels take them (5,)."""
        return np.array([MODES.index(self.mode), self.kp, self.kd, self.effort, self.velocity])

    def stiffer(self, factor: float) -> Servo:
        """Return the servo with another stiffness and the same damping ratio, without limits."""
        mode = "explicit" if self.mode in LIMITED else self.mode
        return Servo(self.kp * factor, self.kd * factor**0.5, mode, self.delay)


@dataclass(frozen=True)
class Joint:
    """A joint of a held robot: I, with the rotor, d, physics step [s], and steps of a tick."""

    inertia: float
    damping: float
    step: float
    steps: int = 1

    def tick(self, servo: Servo, scheme: str) -> tuple[Array, Array, Array]:
        """Return A (2, 2), and B (2,) of the servo's input and of efforts, of a control tick.

        The servo's input is its effort, or the target in the mode `own`.
        """
        maps, limits = self._maps(servo.stiffer(1.0), scheme), np.full(2, NO_LIMIT)
        columns = np.array([advance(q, v, r, u, limits, maps) for q, v, r, u in np.eye(4)]).T
        return columns[:, :2], columns[:, 2 if servo.mode == "own" else 3], columns[:, 3]

    def _maps(self, servo: Servo, scheme: str) -> Array:
        """Return how a tick is stepped (7, 4).

        The rows have factors of position, rate, target and effort. Rows 0 and 1 give position and
        rate after a substep; 2 and 3 the same of a servo at its limit, whose effort is the target;
        4 the effort of the servo; 5 what is added to the rate at the start of a step. Row 6 has the
        steps of a tick, their substeps, and the length of these [s].
        """
        name = scheme.rstrip("0123456789")
        parts, inertia, d, h = int(scheme[len(name) :] or 1), self.inertia, self.damping, self.step
        kp, kd = (servo.kp, servo.kd) if servo.mode == "own" else (0.0, 0.0)
        wish, start, u = np.array([-kp, -kd, kp, 0.0]), np.zeros(4), 1.0
        if name == "exact":
            steps = 1 if servo == servo.stiffer(1.0) else FINE
            h *= self.steps / steps
            driven, free = closed_form(inertia, d + kd, kp, h), closed_form(inertia, d, 0.0, h)
            free[:, 2] = free[:, 3]
            return np.vstack([driven, free, wish, start, [steps, 1.0, h, 0.0]])
        if parts > 1:  # what is not the servo acts at the start of the step
            start, d, u = np.array([0.0, -d, 0.0, 1.0]) * h / inertia, 0.0, 0.0
        t = h / parts
        late = t * kp if name == "implicit" else 0.0
        end = inertia + t * (late + (kd if name != "euler" else 0.0))
        change = np.array([-kp, -kd - late - d, kp, u]) * t / end
        if name == "implicit":
            wish = change * inertia / t + [0.0, d, 0.0, -u]
        rates = np.array([change, np.array([0.0, -d, 1.0, u]) * t / inertia]) + np.eye(4)[1]
        maps = [np.array([t * rate + np.eye(4)[0], rate]) for rate in rates]
        return np.vstack([*maps, wish, start, [self.steps, parts, t, 0.0]])

    def compliance(self, servo: Servo, scheme: str = "exact") -> float:
        """Return the angle by which a constant effort of 1 moves the joint in the end."""
        rows, _, loads = self.tick(servo, scheme)
        own = servo.mode == "own"
        return float(np.linalg.solve(np.eye(2) - rows, loads)[0]) if own else 1.0 / servo.kp

    def respond(self, servo: Servo, targets: Array, scheme: str = "exact") -> Array:
        """Return the positions (k + 1,), from rest at 0, under the targets of k ticks (k,)."""
        return march(targets, servo.delay, servo.numbers, self._maps(servo, scheme))

    def poles(self, servo: Servo, scheme: str = "exact") -> Array:
        """Return the poles z of a control tick without limits, the largest first."""
        rows, inputs, _ = self.tick(servo, scheme)
        own = servo.mode == "own"
        late, gains = (0, np.zeros(2)) if own else (servo.delay, np.array([servo.kp, servo.kd]))
        # Efforts on their way follow the state; the last is that of the state, and adds a pole 0.
        matrix = np.eye(3 + late, k=1)
        matrix[:2] = np.column_stack([rows, inputs, np.zeros((2, late))])
        matrix[-1] = -gains @ matrix[:2]
        return np.array(sorted(np.linalg.eigvals(matrix), key=lambda z: -abs(z))[: 2 + late])

    def unstable_above(self, servo: Servo, scheme: str = "exact") -> float | None:
        """Return the stiffness at which a pole passes 1, with the same damping ratio."""

        def unstable(factor: float) -> bool:
            return bool(abs(self.poles(servo.stiffer(factor), scheme)[0]) > 1.0 + SMALL)

        factor = limit_of(unstable, None, 1.0 + SMALL)
        return factor and servo.kp * factor


@kernel
def effort_of(error: float, rate: float, numbers: Array) -> float:
    """Return the effort of a servo at a position error r - q and a rate.

    What brakes has the whole effort limit. What accelerates ends at the velocity limit: at once if
    `limited`, along effort (1 - |rate| / velocity) on a `line`.
    """
    mode, kp, kd, limit, velocity = numbers
    effort = kp * error - kd * rate
    share = max(1.0 - abs(rate) / velocity, 0.0) if effort * rate > 0.0 else 1.0
    largest = 0.0 if share == 0.0 else limit * (share if mode == LINE else 1.0)
    return float(max(-largest, min(effort, largest)) if mode > EXPLICIT else effort)


@kernel
def march(targets: Array, delay: int, numbers: Array, maps: Array) -> Array:
    """Return the positions (k + 1,) under targets (k,)."""
    out, late, q, v = np.zeros(len(targets) + 1), np.zeros(len(targets) + delay), 0.0, 0.0
    own = numbers[0] < EXPLICIT
    limits = numbers[3:] if own else np.full(2, np.inf)
    for i in range(len(targets)):
        late[i + delay] = targets[i] if own else effort_of(targets[i] - q, v, numbers)
        target, effort = (late[i], 0.0) if own else (0.0, late[i])
        q, v = advance(q, v, target, effort, limits, maps)
        out[i + 1] = q
    return out


@kernel
def advance(
    q: float, v: float, target: float, effort: float, limits: Array, maps: Array
) -> tuple[float, float]:
    """Return position and rate after a control tick under target and effort, see `Joint._maps`."""
    (steps, parts, t, _), limit, velocity = maps[6], limits[0], limits[1]
    for _ in range(int(steps)):
        v += maps[5, 1] * v + maps[5, 3] * effort
        low, high = -limit * parts, limit * parts
        for _ in range(int(parts)):
            wanted = maps[4, 0] * q + maps[4, 1] * v + maps[4, 2] * target + maps[4, 3] * effort
            held = max(low, min(wanted, high))
            low, high = low - held, high - held
            k, aim, before, rate = (0, target, q, v) if held == wanted else (2, held, q, v)
            q = maps[k, 0] * q + maps[k, 1] * v + maps[k, 2] * aim + maps[k, 3] * effort
            k += 1
            v = maps[k, 0] * before + maps[k, 1] * rate + maps[k, 2] * aim + maps[k, 3] * effort
            if abs(v) > velocity:
                v = velocity if v > 0.0 else -velocity
                q = before + t * v
    return q, v


def closed_form(inertia: float, d: float, k: float, t: float) -> Array:
    """Return position and rate (2, 4) of I a + d v + k (q - r) = u after a time t.

    The columns are factors of q, v, r and u, by the characteristic roots.
    """
    p, w2 = d / inertia, k / inertia
    # exp(s t) of the roots s = -p/2 +- i turn of s^2 + p s + w2.
    turn = np.sqrt(complex(w2 - 0.25 * p * p))
    first, second = np.exp((-0.5 * p + 1j * turn) * t), np.exp((-0.5 * p - 1j * turn) * t)
    sine = ((first - second) / (2j * turn)).real if abs(turn * t) > SMALL else t * first.real
    along = (0.5 * (first + second)).real + 0.5 * p * sine
    free = (t - sine) / d if p * t > WEAK else 0.5 * t * t / inertia * (1.0 - p * t / 3.0)
    by, turned = (1.0 - along) / k if k else free, sine / inertia
    return np.array([[along, sine, k * by, by], [-w2 * sine, along - p * sine, k * turned, turned]])


def limit_of(unstable: Callable[[float], bool], guess: float | None, ratio: float) -> float | None:
    """Return the factor of the stiffness at which a servo becomes unstable; None if it does not.

    Args:
        unstable: whether it is at a factor.
        guess: where it is expected; None where it is not.
        ratio: of the factors between which the limit is found.
    """
    low, stride = (guess / 1.05, 1.1) if guess else (1.0, DECADE)
    while low > 1.0 / MOST and unstable(low):
        low /= stride
    while not unstable(low * stride):
        low *= stride
        if low >= MOST:
            return None
    while stride > ratio:
        stride **= 0.5
        low *= 1.0 if unstable(low * stride) else stride
    return low * stride


def settling(response: Array, step: float) -> int | None:
    """Return the ticks after which a response stays within BAND of a step; None if never."""
    outside = np.flatnonzero(np.abs(response / step - 1.0) > BAND)
    return int(outside[-1]) + 1 if len(outside) and outside[-1] + 1 < len(response) else None


def rms(first: Array, second: Array) -> float:
    """Return the rms of the difference of two responses; infinite where one has ended early."""
    same = len(first) == len(second)
    return float(np.sqrt(np.mean((first - second) ** 2))) if same else float("inf")


def poles_of(deviation: Array, order: int) -> Array:
    """Return the poles z of a response, the largest first, by Prony's method.

    The positions satisfy y[k] = c1 y[k-1] + c2 y[k-2] + ..., of as many terms as there are poles.

    Args:
        deviation: positions relative to the final one, from the first tick on (k,).
        order: number of poles.
    """
    y = deviation / (np.abs(deviation).max() or 1.0)
    y = np.where(np.abs(y) < FLOOR, 0.0, y)
    columns = np.column_stack([y[order - i : len(y) - i] for i in range(1, order + 1)])
    factors = np.linalg.lstsq(columns, y[order:], rcond=SMALL)[0]
    return np.array(sorted(np.roots([1.0, *-factors]), key=lambda z: -abs(z)))


def damping_ratio(poles: Array) -> float:
    """Return the damping ratio of the two slowest poles."""
    s = np.log(poles[:2].astype(complex) + FAINT)
    return float(-s.sum().real / (2.0 * abs(s[0] * s[1]) ** 0.5))

"""One joint of a robot that is held, under a servo: I a + d v = u - g, solved exactly.

I is the inertia about the joint with its rotor, d its viscous damping, g its weight. A servo pulls
it to a target r by the effort kp (r - q) - kd v. In the mode `own` an engine's actuator does it; in
all others the effort is computed at each control tick from the state that is sampled there, and
held until the next: `explicit` as it is, `limited` within limits of effort and velocity, `line`
within a torque-speed line.

A step of a SCHEME is linear in position, rate and input, x+ = A x + B u, and so is a control tick
of several steps. With an effort that is late by n ticks, state and efforts on their way are one
vector, whose matrix has the exact poles z.

    exact      the differential equation, in closed form
    euler      semi-implicit Euler: a from the start of the step, then v, then q
    damped     the same, with the servo's damping at the end of the step (MuJoCo's implicitfast)
    implicit   with its spring at the end of the step, too (DART, Drake, PhysX with PGS)
    implicit4, implicit10    the same in 4 or 10 substeps (PhysX with TGS in as many iterations);
               other efforts act at the start of the step
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from roboaccord.contract import Array

MODES = ("own", "explicit", "limited", "line")
LIMITED = MODES[2:]
# Schemes of steps with an engine's own servo in it, and of those with an effort that is held.
SCHEMES = {"own": ("exact", "euler", "damped", "implicit", "implicit10", "implicit4"),
           "explicit": ("exact", "euler")}  # fmt: skip
NO_LIMIT = 1e300  # N m, rad/s
SMALL, WEAK = 1e-12, 1e-5  # angle and damping below which closed forms are series
# Steps of the search for an unstable stiffness: by this ratio, up to MOST times the servo's.
DECADE, MOST = 10.0, 1e6
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

    def effort_at(self, error: float, rate: float) -> float:
        """Return the effort at a position error r - q and a rate.

        What brakes has the whole effort limit. What accelerates ends at the velocity limit: at once
        if `limited`, along effort (1 - |rate| / velocity) on a `line`.
        """
        effort = self.kp * error - self.kd * rate
        if self.mode not in LIMITED:
            return effort
        share = max(1.0 - abs(rate) / self.velocity, 0.0) if effort * rate > 0.0 else 1.0
        largest = self.effort * (share if self.mode == "line" else float(share > 0.0))
        return max(-largest, min(effort, largest))

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
        is_own, joint, count = servo.mode == "own", self, self.steps
        if scheme == "exact":
            joint, count = replace(self, step=self.step * self.steps), 1
        kp, kd = (servo.kp, servo.kd) if is_own else (0.0, 0.0)
        rows, by_target, by_effort = step = _step(joint, kp, kd, scheme)
        for _ in range(count - 1):
            step = rows @ step[0], rows @ step[1] + by_target, rows @ step[2] + by_effort
        return step if is_own else (step[0], step[2], step[2])

    def compliance(self, servo: Servo, scheme: str = "exact") -> float:
        """Return the angle by which a constant effort of 1 moves the joint in the end."""
        rows, _, loads = self.tick(servo, scheme)
        at_rest = servo.mode != "own"
        return 1.0 / servo.kp if at_rest else float(np.linalg.solve(np.eye(2) - rows, loads)[0])

    def respond(self, servo: Servo, targets: Array, scheme: str = "exact") -> Array:
        """Return the positions (k + 1,), from rest at 0, under the targets of k ticks (k,).

        Limits are those of `LIMITED` modes; limits.py has those of an own servo.
        """
        rows, inputs, _ = self.tick(servo, scheme)
        ((a, b), (c, d)), (by_q, by_v) = rows.tolist(), inputs.tolist()
        q, v, out, waiting = 0.0, 0.0, [0.0], [0.0] * servo.delay
        for target in targets.tolist():
            is_own = servo.mode == "own"
            waiting.append(target if is_own else servo.effort_at(target - q, v))
            u = waiting.pop(0)
            q, v = a * q + b * v + by_q * u, c * q + d * v + by_v * u
            out.append(q)
        return np.array(out)

    def poles(self, servo: Servo, scheme: str = "exact") -> Array:
        """Return the poles z of a control tick without limits, the largest first."""
        rows, inputs, _ = self.tick(servo, scheme)
        n = 0 if servo.mode == "own" else servo.delay
        matrix = np.zeros((2 + n, 2 + n))  # efforts on their way follow the state
        matrix[:2, :2], matrix[2:, 2:] = rows, np.eye(n, k=1)
        if servo.mode != "own" and n:
            matrix[:2, 2], matrix[-1, :2] = inputs, (-servo.kp, -servo.kd)
        elif servo.mode != "own":
            matrix -= np.outer(inputs, (servo.kp, servo.kd))
        return np.array(sorted(np.linalg.eigvals(matrix), key=lambda z: -abs(z)))

    def unstable_above(self, servo: Servo, scheme: str = "exact") -> float | None:
        """Return the stiffness at which a pole passes 1, with the same damping ratio."""

        def unstable(factor: float) -> bool:
            return bool(abs(self.poles(servo.stiffer(factor), scheme)[0]) > 1.0 + SMALL)

        factor = limit_of(unstable, None, 1.0 + SMALL)
        return factor and servo.kp * factor


def parts_of(scheme: str) -> tuple[str, int]:
    """Return the name of a scheme without its number of substeps, and this."""
    name = scheme.rstrip("0123456789")
    return name, int(scheme[len(name) :] or 1)


def _step(joint: Joint, kp: float, kd: float, scheme: str) -> tuple[Array, Array, Array]:
    """Return A (2, 2), B (2,) of a target and B (2,) of an effort, of a physics step with a servo.

    In substeps of PhysX efforts act at the start of the step, as the joint's own damping does here.
    """
    name, parts = parts_of(scheme)
    inertia, d, h = joint.inertia, joint.damping, joint.step / parts
    if name == "exact":
        rows, effort = closed_form(inertia, d + kd, kp, h)
        return rows, kp * effort, effort
    late = h * kp if name == "implicit" else 0.0  # the spring at the end of the step
    end = inertia + h * ((kd if name != "euler" else 0.0) + late)
    rate = np.array([-h * kp / end, 1.0 - h * (kd + late + (d if parts == 1 else 0.0)) / end])
    rows = np.array([[1.0 + h * rate[0], h * rate[1]], rate])
    effort = np.array([h * h, h]) / end
    if parts == 1:
        return rows, kp * effort, effort
    whole, by_target = rows, kp * effort
    for _ in range(parts - 1):
        whole, by_target = rows @ whole, rows @ by_target + kp * effort
    push = whole @ np.array([0.0, joint.step / inertia])
    return whole - np.outer(push, [0.0, d]), by_target, push


@lru_cache(maxsize=256)
def closed_form(inertia: float, d: float, k: float, t: float) -> tuple[Array, Array]:
    """Return A and B of I a + d v + k q = u over a time t, by its characteristic roots."""
    p, w2 = d / inertia, k / inertia
    # exp(s t) of the roots s = -p/2 +- i turn of s^2 + p s + w2.
    turn = np.sqrt(complex(w2 - 0.25 * p * p))
    first, second = np.exp((-0.5 * p + 1j * turn) * t), np.exp((-0.5 * p - 1j * turn) * t)
    sine = ((first - second) / (2j * turn)).real if abs(turn * t) > SMALL else t * first.real
    along = (0.5 * (first + second)).real + 0.5 * p * sine
    free = (t - sine) / d if p * t > WEAK else 0.5 * t * t / inertia * (1.0 - p * t / 3.0)
    rows = np.array([[along, sine], [-w2 * sine, along - p * sine]])
    return rows, np.array([(1.0 - along) / k if k else free, sine / inertia])


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
    high = low * stride
    while high / low > ratio and low < (middle := (low * high) ** 0.5) < high:
        low, high = (low, middle) if unstable(middle) else (middle, high)
    return high


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
    s = np.log(poles[:2].astype(complex) + 1.0 / NO_LIMIT)
    return float(-s.sum().real / (2.0 * abs(s[0] * s[1]) ** 0.5))

"""One joint of a robot that is held, under a servo: I a + d v = u - g, solved exactly.

I is the inertia about the joint with its rotor, d its viscous damping, g the constant weight. A
step of a SCHEME is linear in position, rate and input, x+ = A x + B (u - g), and so is a control
tick of several steps. With an effort that is held over a tick and late by n of them, state and
efforts on their way are one vector, whose matrix has the exact poles z. For an engine's own servo
the input is the target.

    exact      the differential equation in closed form
    euler      semi-implicit Euler: a from the start of the step, then v, then q
    damped     the same, with the servo's damping at the end of the step (MuJoCo's implicitfast)
    implicit   with its spring at the end of the step, too (DART, Drake, PhysX with PGS)
    implicit4, implicit10    the same in 4 or 10 substeps (PhysX with TGS in as many iterations),
               other efforts act at the start of the step
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from roboaccord.contract import Array

from roboaccord_files.servo.law import LIMITED, Servo

OWN_SCHEMES = ("exact", "euler", "damped", "implicit", "implicit10", "implicit4")
HELD_SCHEMES = ("exact", "euler")
SMALL = 1e-12  # relative; below this damping and spring are 0 in closed forms
# Factors of the stiffness between which the limit of stability is searched, and their ratio.
LOWEST, HIGHEST, RATIO = 1e-4, 1e8, 1.25
HALVINGS = 40  # of the last interval, down to round-off


@dataclass(frozen=True)
class Joint:
    """A joint of a held robot, SI.

    Args:
        inertia: I, with the rotor.
        damping: d.
        step: physics step [s].
        steps: physics steps of a control tick.
    """

    inertia: float
    damping: float
    step: float
    steps: int = 1

    @property
    def period(self) -> float:
        """Control period [s]."""
        return self.step * self.steps

    def tick(self, servo: Servo, scheme: str) -> tuple[Array, Array, Array]:
        """Return A (2, 2), and B (2,) of the servo's input and of efforts, of a control tick.

        The servo's input is its effort, or the target in the mode `own`.
        """
        is_own = servo.mode == "own"
        kp, kd = (servo.kp, servo.kd) if is_own else (0.0, 0.0)
        joint, count = (replace(self, step=self.period), 1) if scheme == "exact" else (self, self.steps)
        rows, by_target, by_effort = step = _step(joint, kp, kd, scheme)
        for _ in range(count - 1):
            step = rows @ step[0], rows @ step[1] + by_target, rows @ step[2] + by_effort
        return step if is_own else (step[0], step[2], step[2])

    def compliance(self, servo: Servo, scheme: str = "exact") -> float:
        """Return the angle by which a constant effort of 1 moves the joint in the end."""
        if servo.mode != "own":
            return 1.0 / servo.kp
        rows, _, loads = self.tick(servo, scheme)
        return float(np.linalg.solve(np.eye(2) - rows, loads)[0])

    def respond(
        self, servo: Servo, targets: Array, scheme: str = "exact", load: float = 0.0
    ) -> Array:
        """Return the positions (k + 1,), from rest at 0, under the targets of k ticks (k,).

        Args:
            servo: in any mode, also with limits.
            targets: relative to the start.
            scheme: of the steps.
            load: constant effort on the joint, such as its weight.
        """
        rows, inputs, loads = self.tick(servo, scheme)
        (a, b), (c, d) = rows.tolist()
        by_q, by_v = inputs.tolist()
        load_q, load_v = (loads * load).tolist()
        is_own, waiting = servo.mode == "own", [0.0] * servo.delay
        q, v, out = 0.0, 0.0, [0.0]
        for target in targets.tolist():
            waiting.append(target if is_own else servo.effort_at(target - q, v))
            u = waiting.pop(0)
            q, v = a * q + b * v + by_q * u + load_q, c * q + d * v + by_v * u + load_v
            out.append(q)
        return np.array(out)

    def poles(self, servo: Servo, scheme: str = "exact") -> Array:
        """Return the poles z of a control tick without limits, the largest first."""
        rows, inputs, _ = self.tick(servo, scheme)
        if servo.mode != "own":
            n = servo.delay  # efforts on their way, the next one first
            feedback = np.array([-servo.kp, -servo.kd])
            matrix = np.zeros((2 + n, 2 + n))
            matrix[:2, :2] = rows
            if n == 0:
                matrix = rows + np.outer(inputs, feedback)
            else:
                matrix[:2, 2] = inputs
                matrix[2 : 1 + n, 3:] = np.eye(n - 1)
                matrix[-1, :2] = feedback
            rows = matrix
        values = np.linalg.eigvals(rows)
        return np.asarray(values[np.argsort(-np.abs(values))])

    def unstable_above(self, servo: Servo, scheme: str = "exact") -> float | None:
        """Return the stiffness at which a pole passes 1, with the same damping ratio.

        None where it is above HIGHEST times the servo's, 0 where there is none so small.
        """

        def unstable(factor: float) -> bool:
            return bool(np.abs(self.poles(stiffer(servo, factor), scheme)[0]) > 1.0 + SMALL)

        high = LOWEST
        while not unstable(high):
            high *= RATIO
            if high > HIGHEST:
                return None
        low = high / RATIO if high > LOWEST else 0.0
        for _ in range(HALVINGS if low else 0):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if unstable(middle) else (middle, high)
        return servo.kp * high if low else 0.0


def stiffer(servo: Servo, factor: float) -> Servo:
    """Return a servo with another stiffness and the same damping ratio, without limits."""
    mode = "explicit" if servo.mode in LIMITED else servo.mode
    return replace(servo, kp=servo.kp * factor, kd=servo.kd * factor**0.5, mode=mode)


def _step(joint: Joint, kp: float, kd: float, scheme: str) -> tuple[Array, Array, Array]:
    """Return A (2, 2), B (2,) of a target and B (2,) of an effort, of a physics step with a servo.

    In substeps of PhysX efforts act at the start of the step, as the joint's own damping does here.
    """
    name = scheme.rstrip("0123456789")
    parts = int(scheme[len(name) :] or 1)
    inertia, d, h = joint.inertia, joint.damping, joint.step / parts
    if name == "exact":
        rows, effort = _closed_form(inertia, d + kd, kp, h)
        return rows, kp * effort, effort
    end = inertia + (h * kd if name != "euler" else 0.0) + (h * h * kp if name == "implicit" else 0)
    late = h * kp if name == "implicit" else 0.0  # the spring at the end of the step
    during = d if parts == 1 else 0.0
    rate = np.array([-h * kp / end, 1.0 - h * (kd + during + late) / end])
    rows = np.array([[1.0 + h * rate[0], h * rate[1]], rate])
    effort = np.array([h * h / end, h / end])
    if parts == 1:
        return rows, kp * effort, effort
    whole, by_target = rows, kp * effort
    for _ in range(parts - 1):
        whole, by_target = rows @ whole, rows @ by_target + kp * effort
    push = whole @ np.array([0.0, joint.step / inertia])
    return whole - np.outer(push, [0.0, d]), by_target, push


def _closed_form(inertia: float, d: float, k: float, time: float) -> tuple[Array, Array]:
    """Return A and B of I a + d v + k q = u over a time, by its characteristic roots."""
    p, w2 = d / inertia, k / inertia
    if k == 0.0:
        if p * time < SMALL:
            return np.array([[1.0, time], [0.0, 1.0]]), np.array([0.5 * time, 1.0]) * time / inertia
        fall = -np.expm1(-p * time)
        by_effort = np.array([(time - fall / p) / d, fall / d])
        return np.array([[1.0, fall / p], [0.0, 1.0 - fall]]), by_effort
    # exp(s t) of the roots s = -p/2 +- i turn of s^2 + p s + w2.
    turn = np.sqrt(complex(w2 - 0.25 * p * p))
    first, second = np.exp((-0.5 * p + 1j * turn) * time), np.exp((-0.5 * p - 1j * turn) * time)
    cosine = (0.5 * (first + second)).real
    sine = ((first - second) / (2j * turn)).real if abs(turn * time) > SMALL else time * first.real
    rows = np.array([[cosine + 0.5 * p * sine, sine], [-w2 * sine, cosine - 0.5 * p * sine]])
    return rows, np.array([(1.0 - rows[0, 0]) / k, sine / inertia])

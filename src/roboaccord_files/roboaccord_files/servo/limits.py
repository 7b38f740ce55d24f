"""The response of an engine's own servo within limits of effort and velocity.

Exactly the effort is clipped, and a rate at its limit stays there while the effort pushes on: each
part of the motion is linear, in closed form, and its end is found by bisection. Engines clip in
each physics step of a scheme of linear.py:

    euler, damped        the effort of the start of the step
    implicit             the effort that acts in the step
    implicit4, ...10     the impulse of the whole step; a substep alone may have all of it
"""

from __future__ import annotations

from math import copysign

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import kernel

from roboaccord_files.servo.linear import Joint, Servo, closed_form, parts_of

PIECES, HALVINGS = 8, 50  # of a control tick; of the time in which the end of a piece is found
Motion = tuple[float, float]  # position and rate


def respond(joint: Joint, servo: Servo, targets: Array, scheme: str = "exact") -> Array:
    """Return the positions (k + 1,), from rest at 0, under the targets of k ticks (k,)."""
    if servo.mode != "own" or servo == servo.stiffer(1.0):
        return joint.respond(servo, targets, scheme)
    late = np.concatenate([np.zeros(servo.delay), targets])[: len(targets)]
    if scheme != "exact":
        name, parts = parts_of(scheme)
        gains = servo.kp, servo.kd * (name != "euler"), servo.kd
        numbers = joint.inertia, joint.damping, joint.step, servo.effort, servo.velocity
        return _stepped(late, joint.steps, parts, name == "implicit", *gains, *numbers)
    at, out = (0.0, 0.0), [0.0]
    for target in late.tolist():
        at = _exact(joint, servo, target, *at)
        out.append(at[0])
    return np.array(out)


@kernel
def _stepped(
    targets: Array, steps: int, parts: int, implicit: bool, kp: float, late_kd: float, kd: float,
    inertia: float, damping: float, step: float, effort: float, velocity: float,
) -> Array:  # fmt: skip
    """Return the positions in steps of a scheme; late_kd is damping at the end of the step."""
    out, q, v, t = np.zeros(len(targets) + 1), 0.0, 0.0, step / parts
    d = damping if parts == 1 else 0.0  # in substeps it acts at the start of the step
    late_kp = t * kp if implicit else 0.0
    end = inertia + t * (late_kd + late_kp)
    for i in range(len(targets)):
        for _ in range(steps):
            v -= step * (damping - d) / inertia * v
            low, high = -effort * parts, effort * parts
            for _ in range(parts):
                change = t * (kp * (targets[i] - q) - (kd + late_kp + d) * v) / end
                wanted = kp * (targets[i] - q) - kd * v
                if implicit:
                    wanted = inertia * change / t + d * v
                held = max(low, min(wanted, high))
                low, high = low - held, high - held
                v += change if held == wanted else t * (held - d * v) / inertia
                v = max(-velocity, min(v, velocity))
                q += t * v
        out[i + 1] = q
    return out


def _exact(joint: Joint, servo: Servo, target: float, q: float, v: float) -> Motion:
    """Return the exact motion in a control tick."""

    def kind(q: float, v: float) -> float | None:
        """Return what acts: a constant effort, infinity at the velocity limit, None for a PD."""
        effort = servo.kp * (target - q) - servo.kd * v
        held = max(-servo.effort, min(effort, servo.effort))
        pushes_on = (held - joint.damping * v) * v > 0.0
        return np.inf if abs(v) >= servo.velocity and pushes_on else held if held != effort else None

    def after(time: float) -> Motion:
        if acting == np.inf:
            return q + v * time, v
        is_servo = acting is None
        d, kp = joint.damping + is_servo * servo.kd, is_servo * servo.kp
        ((a, b), (c, e)), (by_q, by_v) = closed_form(joint.inertia, d, kp, time)
        u = kp * target if acting is None else acting
        return a * q + b * v + by_q * u, c * q + e * v + by_v * u

    left = joint.step * joint.steps
    for _ in range(PIECES):
        acting, low, high = kind(q, v), 0.0, left
        if kind(*after(left)) == acting:
            break
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if kind(*after(middle)) == acting else (low, middle)
        q, v = after(high)
        v, left = copysign(min(abs(v), servo.velocity), v), left - high
    acting = kind(q, v)
    return after(left)

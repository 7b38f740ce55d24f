"""Find the gains, armature and delay by which one engine answers as another, and try them.

The responses of both engines show which scheme each has (identify.py). In the scheme of the second
the gains are fitted to the response of the first; then the second engine runs with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from roboaccord.contract import Array

from roboaccord_files.servo.identify import Found, fit
from roboaccord_files.servo.law import Servo
from roboaccord_files.servo.measures import rms
from roboaccord_files.servo.result import Match
from roboaccord_files.servo.rig import Rig

if TYPE_CHECKING:
    from roboaccord_files.servo.compare import Comparison

# A change of the delay, too, must lower the error so many times: gains imitate most of a delay.
WORTH = 10.0
Rows = Mapping[int, tuple[Rig, Array, Found | None]]


def matched(
    comparison: Comparison, found: Mapping[tuple[str, str], Rows], origin: tuple[str, str]
) -> list[Match]:
    """Return the matches of all engines and modes to one of them.

    Args:
        comparison: the servos.
        found: rig, response and servo of each joint, by engine and mode.
        origin: engine and mode to match.
    """
    matches = []
    for key, rows in found.items():
        gains, before, after = {}, list[float](), list[float]()
        for number, (rig, response, shown) in rows.items():
            first = found[origin].get(number)
            if key == origin or not first or not first[2] or not shown:
                continue
            size, name = float(comparison.steps[number]), comparison.setup.joints[number]
            servo, armature = proposal(first[1], size, first[2], shown)
            answer = answer_of(comparison, rig, number, replace(servo, mode=key[1]), armature)
            before.append(rms(response, first[1]) / size)
            after.append(rms(answer, first[1]) / size)
            added = comparison.armature[number] + armature
            late = {"delay": float(servo.delay)} if servo.delay != shown.intended.delay else {}
            heavy = {"armature": float(added)} if armature else {}
            gains[name] = {"kp": servo.kp, "kd": servo.kd, **heavy, **late}
        if gains:
            means = (float(np.sqrt(np.mean(np.square(values)))) for values in (before, after))
            matches.append(Match(" ".join(origin), " ".join(key), gains, *means))
    return matches


def proposal(response: Array, size: float, first: Found, second: Found) -> tuple[Servo, float]:
    """Return servo and additional armature by which the second answers as the first.

    Args:
        response: of the first to a step.
        size: of the step.
        first, second: what both responses show.
    """
    targets, joint = np.full(len(response) - 1, size), second.joint
    tried = list[tuple[float, Servo]]()
    for delay in sorted({second.servo.delay, first.servo.delay}):
        servo = fit(response, targets, joint, replace(second.servo, delay=delay), second.scheme)
        tried.append((rms(joint.respond(servo, targets, second.scheme), response), servo))
    same = next(pair for pair in tried if pair[1].delay == second.servo.delay)
    best = min(tried, key=lambda pair: pair[0])
    servo = best[1] if best[0] * WORTH < same[0] else same[1]
    # The fit is for the intended inertia. Another one that the first shows is taken over, and so
    # its stiffness stays what it is under a weight.
    ratio = first.inertia / second.inertia
    scale = ratio * second.inertia / joint.inertia
    servo = replace(servo, kp=servo.kp * scale, kd=servo.kd * scale)
    return servo, first.inertia - second.inertia if ratio != 1.0 else 0.0


def answer_of(
    comparison: Comparison, rig: Rig, number: int, servo: Servo, armature: float
) -> Array:
    """Return the response of a joint in an engine with another servo and additional armature."""
    if armature:
        added = np.array(comparison.armature)
        added[number] += armature
        rig = replace(rig, armature=added)
    servos = [replace(each, mode=servo.mode, delay=servo.delay) for each in comparison.servos]
    servos[number] = servo
    return rig.respond(number, servos, comparison.targets(number)["step"])

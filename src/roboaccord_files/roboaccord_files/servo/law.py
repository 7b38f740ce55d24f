"""The servo of a joint, the way in which it acts, and the limits of its drive.

A servo pulls a joint to a target r by the effort kp (r - q) - kd v. In the mode `own` an engine's
own actuator does it; in all others the effort is computed at each control tick from the state that
is sampled there, and held until the next: `explicit` as it is, `limited` within the limits of
effort and velocity, `line` within a torque-speed line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MODES = ("own", "explicit", "limited", "line")
LIMITED = ("limited", "line")


@dataclass(frozen=True)
class Servo:
    """A PD servo, SI.

    Args:
        kp, kd: stiffness and damping.
        mode: one of MODES.
        delay: control ticks by which its effort is late; in the mode `own`, its target.
        effort, velocity: limits of the drive.
    """

    kp: float
    kd: float
    mode: str = "explicit"
    delay: int = 0
    effort: float = math.inf
    velocity: float = math.inf

    def effort_at(self, error: float, rate: float) -> float:
        """Return the effort at a position error r - q and a rate.

        What brakes has the whole effort limit. What accelerates ends at the velocity limit: at once
        if `limited`, along effort (1 - |rate| / velocity) on a `line`.
        """
        effort = self.kp * error - self.kd * rate
        if self.mode not in LIMITED:
            return effort
        largest = self.effort
        if effort * rate > 0.0:
            share = max(1.0 - abs(rate) / self.velocity, 0.0)
            if self.mode == "line":
                largest = largest * share if share < 1.0 else largest
            elif share == 0.0:
                largest = 0.0
        return max(-largest, min(effort, largest))

"""Small safe motions that decide between failures which measurements cannot distinguish yet.

A failed joint of the Packbot's arm is loose (its drive gives no effort) or frozen. While nothing
moves, measurements cannot tell. If a joint may be healthy, the motion turns this joint. If it has
failed, and is either frozen or loose, the motion turns any joint so that gravity would then turn it
if it were loose. The motions of ANGLES are tried, the smallest first. A motion is safe if it stays
within the joint limits and keeps MARGIN of `packbot.planning.reaching` between hulls.

ANGLES, WAIT_TIME, YIELD_ANGLE and CHECKED_POSES may be tuned; what is safe must stay. test_detector
checks for which joints there is a motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Annotated

import numpy as np
from packbot.contact.clearance import Clearance
from packbot.model.arm import Arm
from packbot.model.parameters import JOINTS
from packbot.planning.reaching import MARGIN
from roboaccord.contract import Array, Quantity
from roboaccord.scenario import Setup

# rad; angles by which a joint is turned: doubled until one shows enough, from twice YIELD_ANGLE on.
# Each is a motion more to check, and larger ones more often touch something.
ANGLES = (0.1, 0.2, 0.4, 0.8)
# s; time in which a loose joint has to yield to gravity: 0.02 N m turn one against its friction at
# 0.04 rad/s (failed_arm.BALANCED_TORQUE), so that 0.03 N m turn it by YIELD_ANGLE.
WAIT_TIME = 1.0
YIELD_ANGLE = 0.05  # rad; a loose joint has to turn by more, 50 times the noise of the angles
# Number of poses along a motion that are checked for contact, 80 mrad apart at most.
CHECKED_POSES = 10


@dataclass(frozen=True)
class Probe:
    """A motion: a joint turned by `size` [rad] in a direction, 1 or -1."""

    joint: str
    direction: int
    size: float

    def __str__(self) -> str:
        """Return the motion in words."""
        return f"turn {self.joint} by {self.direction * self.size:+g} rad"


@dataclass(frozen=True)
class Doubt:
    """What a joint may be, and the motion that would decide; None if no small safe one does."""

    joint: Annotated[str, Quantity("")]
    explanations: Annotated[tuple[str, ...], Quantity("", name="may be", form="s")]
    probe: Probe | None

    @property
    def motion(self) -> Annotated[str, Quantity("", name="what would decide", form="text")]:
        """The motion in words."""
        return str(self.probe or "no small safe motion")


class Prober:
    """Finder of small safe motions that decide about joints.

    Args:
        setup: robot and scenario.
        payload: at the finger tips [kg].
    """

    def __init__(self, setup: Setup, payload: float) -> None:
        p = setup.parameters
        self._clearance, self._arm = Clearance.of(setup), Arm.of(setup)
        self._arm.carry(payload, p.gripper_length)
        self._limits = p.limits
        self._viscous = p.of_joints("viscous")

    def doubts(self, q: Array, explanations: Mapping[str, tuple[str, ...]]) -> list[Doubt]:
        """Return the doubts at angles q (7,) [rad], by the open explanations of each joint."""
        failed = {joint for joint, kinds in explanations.items() if "healthy" not in kinds}
        return [
            Doubt(joint, kinds, self._probe(q, JOINTS.index(joint), "healthy" in kinds, failed))
            for joint, kinds in explanations.items()
        ]

    def turn(self, q: Array, joint: int) -> Array | None:
        """Return the motion (7,) [rad] that shows whether a joint turns, from angles q.

        None where no small motion of it is safe.
        """
        probe = self._probe(q, joint, may_be_healthy=True, failed=set())
        return probe.direction * probe.size * np.eye(len(q))[joint] if probe else None

    def _probe(self, q: Array, joint: int, may_be_healthy: bool, failed: set[str]) -> Probe | None:
        """Return the smallest safe motion that decides about a joint.

        Args:
            q: angles (7,) [rad].
            joint: index.
            may_be_healthy: whether the joint may be healthy: it is turned itself, not by gravity.
            failed: names of joints that cannot be moved.
        """
        movable = [i for i, name in enumerate(JOINTS) if name not in failed]
        movers = [joint] if may_be_healthy else movable
        for size, mover, direction in product(ANGLES, movers, (1, -1)):
            move = direction * size * np.eye(len(q))[mover]
            decides = may_be_healthy or self._yields(q + move, joint)
            if decides and self._is_safe(q, move):
                return Probe(JOINTS[mover], direction, size)
        return None

    def _yields(self, q: Array, joint: int) -> bool:
        """Return whether gravity would turn a loose joint by over YIELD_ANGLE within WAIT_TIME.

        With the constant torque T of gravity, inertia I and friction b, the joint turns in a time t
        by T / b (t + I / b (exp(-b t / I) - 1)).
        """
        at_rest = np.zeros_like(q)  # rates
        inertia = 1.0 / float(np.linalg.inv(self._arm.mass_matrix(q))[joint, joint])
        effort = float(self._arm.bias(q, at_rest)[joint])
        viscous = self._viscous[joint]
        lag = inertia / viscous
        angle = abs(effort) / viscous * (WAIT_TIME + lag * np.expm1(-WAIT_TIME / lag))
        return bool(angle > YIELD_ANGLE)

    def _is_safe(self, q: Array, move: Array) -> bool:
        """Return whether a motion from angles q keeps within limits and clear of contact."""
        lower, upper = self._limits
        poses = [q + s * move for s in np.linspace(0.0, 1.0, 1 + CHECKED_POSES)[1:]]
        if any((pose < lower).any() or (pose > upper).any() for pose in poses):
            return False
        return not any(self._clearance.touches(pose, MARGIN) for pose in poses)

"""Goal of a reach: a named pose, or a point for the finger tips.

`Goal` checks its arguments, which come from a command or a scenario, and `Goal.angles` turns the
goal into joint angles by inverse kinematics.

MARGIN, the default of commands and controllers, may be tuned. test_packbot_kinematics tests goals
and refusals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord.scenario import Setup

from packbot.model.parameters import pose

if TYPE_CHECKING:
    from packbot.contact.clearance import Clearance


# Number of joints that place the hand, the first of JOINTS: turret, shoulder and both elbows
HAND_JOINTS = 4
# m; default distance of a path from contact: half of it is left between checked poses (rrt.py), as
# much as errors of lengths and encoders displace the hand (docs/packbot_recovery.md)
MARGIN = 0.02


class Goal:
    """Goal of a reach.

    Args:
        target: desired position of the finger tips (3,) [m], or None.
        pose: name of a pose, or "".
        pitch: angle of the hand above the horizontal at the target [rad], or None for any.
        look: whether the camera is turned to the target.

    Raises:
        AccordError: unless either a target or a pose is given, for numbers that are not finite, and
            for a pose with a pitch or look.
    """

    def __init__(
        self,
        target: Sequence[float] | None,
        pose: str = "",
        pitch: float | None = None,
        *,
        look: bool = False,
    ) -> None:
        self.target: Array | None = None
        self.pose, self.pitch, self.look = pose, pitch, look
        if not isinstance(look, bool):
            raise AccordError(f"look is {look!r}, neither true nor false")
        if (target is None) == (not pose):
            raise AccordError("a reach takes a target x, y, z or a pose, one of the two")
        if target is None:
            if pitch is not None or look:
                raise AccordError("a pose has its own pitch of the hand, and its own sight")
            return
        try:
            point = np.array([*target], dtype=float)
            is_valid = point.shape == (3,) and bool(np.isfinite([*point, pitch or 0.0]).all())
        except (TypeError, ValueError):
            is_valid = False
        if not is_valid:
            raise AccordError(f"target: three numbers are needed, not {target!r}")
        self.target = point

    def angles(self, setup: Setup, clearance: Clearance, margin: float, near: Array) -> Array:
        """Return the angles (7,) [rad] of the goal.

        Args:
            setup: robot and scenario.
            clearance: distances of the setup.
            margin: distance that the pose keeps from contact [m].
            near: present angles (7,) [rad]; of several solutions the nearest is returned.
        """
        if self.target is None:
            return pose(self.pose)
        from packbot.planning.inverse import Inverse, looking

        inverse = Inverse(setup.parameters, clearance)
        q = inverse.solve(self.target, near=near, pitch=self.pitch, margin=margin)
        return looking(setup, clearance, q, self.target, margin) if self.look else q

"""Registration of the arm: brings the package into the workspace."""

from __future__ import annotations

import numpy as np
from roboaccord import Array, Robot, Setup, Simulator

from arm.reference import ArmReference


class Arm(Robot):
    """A pendulum on a stand, with a motor at its joint."""

    name = "arm"
    summary = "a pendulum on a stand"

    def joints(self, setup: Setup) -> tuple[str, ...]:
        return ("pivot",)

    def effort_limits(self, setup: Setup) -> Array:
        return np.full(len(setup.joints), setup.parameters.effort_limit)

    def reference(self, setup: Setup) -> Simulator:
        return ArmReference(setup)


ROBOT = Arm()

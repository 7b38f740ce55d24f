"""The controller that does what a person asks for."""

from __future__ import annotations

import numpy as np
from roboaccord.contract.state import Command, RobotState, Target
from roboaccord.scenario.setup import Setup


class TeleopController:
    """Give the effort that a person asks for on `/monkeybot/elbow_effort`; 0 without one.

    Args:
        setup: robot and scenario.
    """

    def __init__(self, setup: Setup) -> None:
        self._zero = np.zeros(len(setup.joints))

    def reset(self, seed: int) -> None:
        """Do nothing: there is nothing to forget."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the effort asked for."""
        asked = None if target is None else target.effort
        return Command(self._zero if asked is None else asked)

"""Base class of references: simulators of a setup by equations of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import RobotState
from roboaccord.description.base_kinds import Base
from roboaccord.simulators.base import Simulator

if TYPE_CHECKING:
    from roboaccord.scenario.setup import Setup


class Reference(Simulator):
    """Simulate a robot by equations of its own.

    The state is kept in `_now`; a subclass that keeps coordinates writes `_place` and `_read`.

    Args:
        setup: robot and scenario.

    Attributes:
        bases: kinds of base for which it has equations.
        parameters: of the robot.

    Raises:
        AccordError: for another base.
    """

    name = "reference"
    bases: tuple[Base, ...] = get_args(Base)

    def __init__(self, setup: Setup) -> None:
        base = setup.scenario.base
        if base not in self.bases:
            known = " or ".join(self.bases)
            raise AccordError(f"base is {base}; the reference of {setup.robot.name} takes {known}")
        super().__init__(
            setup.joints, setup.effort_limits, setup.scenario.physics_step,
            faults=setup.faults, hinges=setup.tree.hinges,
        )  # fmt: skip
        self.parameters: Any = setup.parameters
        self._now = setup.initial

    def _place(self, state: RobotState) -> None:
        self._now = state

    def _read(self) -> RobotState:
        return self._now

"""Deliberate errors in a simulator's commands and measurements."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from roboaccord.contract.state import Command, RobotState
from roboaccord.scenario.perturbation import Perturbations
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.proxy import Proxy

OUTSIDE = ("sensor", "delay")  # of the model


def perturb_signals(simulator: Simulator, items: Perturbations) -> Simulator:
    """Return a simulator whose measurements or commands have the errors of `items`."""
    found = [item for item in items if item.kind in OUTSIDE]
    return PerturbedSignals(simulator, found) if found else simulator


class PerturbedSignals(Proxy):
    """Shift what a simulator measures, or hand it commands late.

    Args:
        simulator: that is right in itself.
        items: perturbations of measurements and commands.
    """

    def __init__(self, simulator: Simulator, items: Perturbations) -> None:
        super().__init__(simulator)
        self._offset = np.zeros(len(simulator.joints))
        self._late = 0
        for item in items:
            if item.kind == "delay":
                self._late = round(item.value)
            else:
                picked = item.pick(simulator.joints)
                self._offset += [item.value if n in picked else 0.0 for n in simulator.joints]
        self._waiting: list[Command] = []

    def _start(self, state: RobotState) -> None:
        rest = Command(np.zeros(len(self._offset)))
        self._waiting = [rest] * self._late
        super()._start(state)

    def _advance(self, command: Command, duration: float) -> None:
        """Advance under the command that is due."""
        self._waiting.append(command)
        late = self._waiting.pop(0)
        super()._advance(replace(command, effort=late.effort), duration)

    def _read(self) -> RobotState:
        """Return the present state as it is measured, with the effort that was commanded."""
        state = super()._read()
        return replace(state, q=state.q + self._offset, effort=self._effort)

"""Deliberate errors in a simulator's commands and measurements."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from roboaccord.contract.checks import clip_efforts
from roboaccord.contract.interfaces import Simulator
from roboaccord.contract.state import Command, RobotState
from roboaccord.scenario.perturbation import Perturbations

OUTSIDE = ("sensor", "delay")  # of the model


def perturb_signals(simulator: Simulator, items: Perturbations) -> Simulator:
    """Return a simulator whose measurements or commands have the errors of `items`."""
    found = [item for item in items if item.kind in OUTSIDE]
    return PerturbedSignals(simulator, found) if found else simulator


class PerturbedSignals:
    """Shift what a simulator measures, or hand it commands late (Simulator).

    Args:
        simulator: that is right in itself.
        items: perturbations of measurements and commands.
    """

    def __init__(self, simulator: Simulator, items: Perturbations) -> None:
        self._simulator = simulator
        self._offset = np.zeros(len(simulator.joints))
        self._late = 0
        for item in items:
            if item.kind == "delay":
                self._late = round(item.value)
            else:
                picked = item.pick(simulator.joints)
                self._offset += [item.value if n in picked else 0.0 for n in simulator.joints]
        self._waiting: list[Command] = []

        # What a protocol asks for must be there: since Python 3.12 it asks past `__getattr__`.
        for name in ("parts", "meter", "take_losses", "armature"):
            if hasattr(simulator, name):
                setattr(self, name, getattr(simulator, name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._simulator, name)

    def reset(self, state: RobotState) -> RobotState:
        """Put the robot in `state`, and return the state as it is measured."""
        rest = Command(np.zeros(len(self._offset)))
        self._waiting = [rest] * self._late
        return self._seen(self._simulator.reset(state))

    def state(self) -> RobotState:
        """Return the present state as it is measured."""
        return self._seen(self._simulator.state())

    def step(self, command: Command, duration: float) -> RobotState:
        """Advance by `duration` [s] under the command that is due; report the one given."""
        self._waiting.append(command)
        late = self._waiting.pop(0)
        after = self._simulator.step(replace(command, effort=late.effort), duration)
        told = clip_efforts(command.effort, self._simulator.effort_limits)
        return replace(self._seen(after), effort=told)

    def _seen(self, state: RobotState) -> RobotState:
        return replace(state, q=state.q + self._offset)

"""Engines with deliberate errors: specifications around others, in whose place they stand.

An error of the model is built into each model that a robot hands to the engine; one of commands,
measurements or steps stands in front of the simulator that the robot makes of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Engine
from roboaccord.contract.state import Command, RobotState
from roboaccord.engines import spec
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import EngineModel
from roboaccord.engines.spec import EngineSpec
from roboaccord.falsify.model import perturb_model
from roboaccord.falsify.perturbation import Perturbation
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.proxy import Proxy

AfterStep = Callable[[Simulator], None]
OUTSIDE = ("sensor", "delay")  # of the model


def wrap(
    engine: Engine,
    *,
    perturbations: Sequence[Perturbation] = (),
    after_step: AfterStep | None = None,
) -> EngineSpec:
    """Return an engine with deliberate errors, in whose place it stands.

    Args:
        engine: by name or specification, which may be wrapped itself.
        perturbations: those of other engines are left out.
        after_step: is called with the simulator after each step, and may put it elsewhere; a
            function, for it goes to other processes.
    """
    inner = spec(engine)
    own = tuple(item for item in perturbations if item.engine == inner.name)
    kept = {each.name: getattr(inner, each.name) for each in fields(EngineSpec)}
    texts = [str(item) for item in own]
    if after_step:
        texts.append(f"{inner.name}:after_step={after_step.__name__}")
    kept["changes"] = (*inner.changes, *texts)
    return WrappedSpec(**kept, inner=inner, perturbations=own, after_step=after_step)


@dataclass(frozen=True, kw_only=True)
class WrappedSpec(EngineSpec):
    """Specify an engine with deliberate errors; `wrap` makes it."""

    inner: EngineSpec
    perturbations: tuple[Perturbation, ...]
    after_step: AfterStep | None

    def make(self, setup: Setup) -> Simulator:
        raise AccordError(f"--perturb: {self.name} runs a description of its own, and takes none")

    def simulate(self, model: EngineModel) -> EngineSimulator:
        model = self.configured(model)
        simulator = self.inner.simulate(perturb_model(model, self.perturbations))
        simulator.intended = model
        return simulator

    def complete(self, simulator: Simulator) -> Simulator:
        found = self.inner.complete(simulator)
        signals = [item for item in self.perturbations if item.kind in OUTSIDE]
        if signals:
            found = PerturbedSignals(found, signals)
        return BrokenSteps(found, self.after_step) if self.after_step else found


class PerturbedSignals(Proxy):
    """Shift what a simulator measures, or hand it commands late.

    Args:
        simulator: that is right in itself.
        items: perturbations of measurements and commands.
    """

    def __init__(self, simulator: Simulator, items: Sequence[Perturbation]) -> None:
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


class BrokenSteps(Proxy):
    """Call a function with a simulator after each of its steps.

    Args:
        simulator: that is right in itself.
        after_step: what breaks it.
    """

    def __init__(self, simulator: Simulator, after_step: AfterStep) -> None:
        super().__init__(simulator)
        self._after_step = after_step

    def _advance(self, command: Command, duration: float) -> None:
        super()._advance(command, duration)
        self._after_step(self._inner)

    def _read(self) -> RobotState:
        """Return the present state at the time at which the step ends, with the effort in force."""
        return replace(super()._read(), time=self._time, effort=self._effort)

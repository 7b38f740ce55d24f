"""Engines with deliberate errors: `wrap` returns a specification that takes an engine's place.

An error of the model is built into each model that a robot passes to the engine (model_errors.py);
`simulator.intended` remains the model without the error, with which level 1 compares. An error of
commands and measurements (SIGNAL_ERRORS) or of steps wraps the finished simulator:
`PerturbedSignals` and `BrokenSteps`. A new kind of error needs an entry in SIGNAL_ERRORS or in a
table of model_errors.py; without one it has no effect, and no error is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from roboaccord.contract import AccordError, Command, Engine, RobotState
from roboaccord.engines import EngineModel, EngineSimulator, EngineSpec, spec
from roboaccord.falsify.model_errors import perturb_model, values_by_joint
from roboaccord.falsify.perturbation import Perturbation
from roboaccord.scenario.setup import Setup
from roboaccord.simulators import Proxy, Simulator

# Called with the simulator after each step; it may change the simulator's state.
AfterStep = Callable[[Simulator], None]
SIGNAL_ERRORS = ("sensor", "delay")  # kinds of errors of measurements and commands


def wrap(
    engine: Engine,
    *,
    perturbations: Sequence[Perturbation] = (),
    after_step: AfterStep | None = None,
) -> EngineSpec:
    """Return an engine with deliberate errors, which takes the place of the given one.

    Args:
        engine: by name or specification, which may be wrapped itself.
        perturbations: those of other engines are ignored.
        after_step: called with the simulator after each step, and may change its state; a function
            of a module, since it is sent to other processes.
    """
    inner = spec(engine)
    of_engine = tuple(error for error in perturbations if error.engine == inner.name)
    changes = [*inner.changes, *map(str, of_engine)]
    if after_step:
        changes.append(f"{inner.name}:after_step={after_step.__name__}")
    return WrappedSpec.of(
        inner, changes=tuple(changes), inner=inner, perturbations=of_engine, after_step=after_step
    )


@dataclass(frozen=True, kw_only=True)
class WrappedSpec(EngineSpec):
    """Specification of an engine with deliberate errors, made by `wrap`.

    Args:
        inner: specification without the errors.
        perturbations: of this engine.
        after_step: called with the simulator after each step; None for nothing.
    """

    inner: EngineSpec
    perturbations: tuple[Perturbation, ...]
    after_step: AfterStep | None

    def make(self, setup: Setup) -> Simulator:
        """Refuse an engine that makes a simulator without a model, which could be changed."""
        raise AccordError(
            f"--perturb: {self.name} runs a description of its own, which cannot be perturbed"
        )

    def simulate(self, model: EngineModel) -> EngineSimulator:
        """Simulate a model with the errors built in; the right one is kept as `intended`."""
        model = self.configured(model)
        simulator = self.inner.simulate(perturb_model(model, self.perturbations))
        simulator.intended = model
        return simulator

    def complete(self, simulator: Simulator) -> Simulator:
        """Wrap a simulator with errors of signals and of steps, if there are any."""
        complete = self.inner.complete(simulator)
        signal_errors = [error for error in self.perturbations if error.kind in SIGNAL_ERRORS]
        if signal_errors:
            complete = PerturbedSignals(complete, signal_errors)
        return BrokenSteps(complete, self.after_step) if self.after_step else complete


class PerturbedSignals(Proxy):
    """Simulator with shifted measurements or late commands.

    Args:
        simulator: without these errors.
        errors: of measurements (`sensor`) and commands (`delay`).
    """

    def __init__(self, simulator: Simulator, errors: Sequence[Perturbation]) -> None:
        super().__init__(simulator)
        self._offsets = np.zeros(len(simulator.joints))  # of measured angles (n,) [rad]
        self._delay = 0  # of efforts [control periods]
        for error in errors:
            if error.kind == "delay":
                self._delay = round(error.value)
            else:
                self._offsets += values_by_joint(simulator.joints, error, neutral=0.0)
        self._pending: list[Command] = []  # commands whose efforts do not act yet, oldest first

    def _start(self, state: RobotState) -> None:
        """Put the simulator in a state, with no effort commanded before."""
        self._pending = [Command(np.zeros(len(self._offsets)))] * self._delay
        super()._start(state)

    def _advance(self, command: Command, duration: float) -> None:
        """Advance under the effort that was commanded some periods before."""
        self._pending.append(command)
        super()._advance(replace(command, effort=self._pending.pop(0).effort), duration)

    def _read(self) -> RobotState:
        """Return the present state as measured, with the commanded effort."""
        state = super()._read()
        return replace(state, q=state.q + self._offsets, effort=self._effort)


class BrokenSteps(Proxy):
    """Simulator with a function that is called after each of its steps.

    Args:
        simulator: without the error.
        after_step: causes the error.
    """

    def __init__(self, simulator: Simulator, after_step: AfterStep) -> None:
        super().__init__(simulator)
        self._after_step = after_step

    def _advance(self, command: Command, duration: float) -> None:
        """Advance under a command, then cause the error."""
        super()._advance(command, duration)
        self._after_step(self._inner)

    def _read(self) -> RobotState:
        """Return the present state at the end of the step, with the effort in force."""
        return replace(super()._read(), time=self._time, effort=self._effort)

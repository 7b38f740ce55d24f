"""Factory of engines' simulators, for any robot with a URDF."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Simulator
from roboaccord.engines import ENGINES, check_engine
from roboaccord.engines.model import EngineModel
from roboaccord.engines.perturbed import perturb_model
from roboaccord.engines.perturbed_signals import perturb_signals
from roboaccord.scenario.perturbation import Perturbations
from roboaccord.scenario.setup import Setup

if TYPE_CHECKING:
    from roboaccord.engines.base import EngineSimulator


def make_engine(setup: Setup, engine: str, perturbations: Perturbations = ()) -> Simulator:
    """Make the simulator of a setup in an engine, or what the robot makes of it there.

    Args:
        setup: robot and scenario.
        engine: one of ENGINES.
        perturbations: deliberate errors of that engine.

    Raises:
        AccordError: for an unknown engine, one that cannot be imported here, or a perturbation that
            it does not take.
    """
    check_engine(engine)
    made = setup.robot.engine(setup, engine, perturbations)
    if made is None:
        made = simulate_model(EngineModel.of(setup, perturbations), engine)
    simulator = perturb_signals(made, perturbations)
    simulator.reset(setup.initial)
    return simulator


def simulate_model(model: EngineModel, engine: str) -> EngineSimulator:
    """Make an engine's simulator of one model, in a state of zeros.

    Raises:
        AccordError: for an engine that cannot be imported here, or refuses the model.
    """
    kind, library = ENGINES[engine]
    try:
        module = importlib.import_module(f"roboaccord.engines.{engine}.simulator")
    except ImportError as error:
        raise AccordError(unavailable(engine, library, error)) from None
    simulator: EngineSimulator = getattr(module, kind)(perturb_model(model))
    simulator.intended = model
    return simulator


def unavailable(engine: str, library: str, error: ImportError) -> str:
    """Return one line that says what to install for an engine."""
    if "libGL" in str(error):
        return f"engine {engine} needs libGL.so.1: apt-get install libgl1"
    return f"engine {engine} needs {library}: pip install {library}"


def available() -> dict[str, str]:
    """Return for each engine its version, or the line that says why it cannot be had."""
    found = {}
    for engine, (_, library) in ENGINES.items():
        try:
            module = importlib.import_module(library)
            found[engine] = str(module.__version__)
        except ImportError as error:
            found[engine] = unavailable(engine, library, error)
    return found

"""Factory of an engine's simulator, for any robot with a URDF."""

from __future__ import annotations

from roboaccord.contract.interfaces import Engine
from roboaccord.engines import spec
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import EngineModel


def simulate_model(model: EngineModel, engine: Engine) -> EngineSimulator:
    """Make an engine's simulator of one model, in a state of zeros.

    Raises:
        AccordError: for an engine that cannot be imported here, or refuses the model.
    """
    return spec(engine).simulate(model)

"""Factory of engines' simulators, for any robot with a URDF."""

from __future__ import annotations

from roboaccord.contract.interfaces import Engine
from roboaccord.engines import spec
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import EngineModel
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator, check_simulator


def make_engine(setup: Setup, engine: Engine) -> Simulator:
    """Make the simulator of a setup in an engine, or what the robot makes of it there.

    Raises:
        AccordError: for an unknown engine, or one that cannot be imported here.
    """
    found = spec(engine)
    if setup.contact is not None:
        found.refuse("contact")
    made = setup.robot.engine(setup, found)
    if made is None:
        made = found.simulate(EngineModel.of(setup))
    simulator = found.complete(check_simulator(made, setup.robot.name))
    simulator.reset(setup.initial)
    return simulator


def simulate_model(model: EngineModel, engine: Engine) -> EngineSimulator:
    """Make an engine's simulator of one model, in a state of zeros.

    Raises:
        AccordError: for an engine that cannot be imported here, or refuses the model.
    """
    return spec(engine).simulate(model)

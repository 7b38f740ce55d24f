"""Factory of engines' simulators, for any robot with a URDF."""

from __future__ import annotations

from roboaccord.engines import spec
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import EngineModel
from roboaccord.engines.perturbed import perturb_model
from roboaccord.engines.perturbed_signals import perturb_signals
from roboaccord.scenario.perturbation import Perturbations
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator, check_simulator


def make_engine(setup: Setup, engine: str, perturbations: Perturbations = ()) -> Simulator:
    """Make the simulator of a setup in an engine, or what the robot makes of it there.

    Args:
        setup: robot and scenario.
        engine: its name.
        perturbations: deliberate errors of that engine.

    Raises:
        AccordError: for an unknown engine, one that cannot be imported here, or a perturbation that
            it does not take.
    """
    found = spec(engine)
    if setup.contact is not None:
        found.refuse("contact")
    made = setup.robot.engine(setup, engine, perturbations)
    if made is None:
        made = simulate_model(EngineModel.of(setup, perturbations), engine)
    simulator = perturb_signals(check_simulator(made, setup.robot.name), perturbations)
    simulator.reset(setup.initial)
    return simulator


def simulate_model(model: EngineModel, engine: str) -> EngineSimulator:
    """Make an engine's simulator of one model, in a state of zeros.

    Raises:
        AccordError: for an engine that cannot be imported here, or refuses the model.
    """
    found = spec(engine)
    assert found.simulator
    perturbed = perturb_model(model)
    found.check(perturbed)
    simulator = found.load(found.simulator)(perturbed)
    simulator.intended = model
    return simulator

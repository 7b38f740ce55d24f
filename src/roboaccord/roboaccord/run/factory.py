"""Factory of simulators, a robot's reference or an engine, and runs of a setup in them."""

from __future__ import annotations

from collections.abc import Sequence

from roboaccord.contract.interfaces import AnySimulator, Controller, Engine, Observer
from roboaccord.contract.trajectory import Trajectory
from roboaccord.engines import REFERENCE, spec
from roboaccord.engines.spec import EngineSpec
from roboaccord.run.loop import simulate
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator, check_simulator


def make_simulator(
    setup: Setup,
    engine: Engine = REFERENCE,
    *,
    physics_step: float | None = None,
) -> Simulator:
    """Make a simulator of a setup, in the state from which the scenario starts.

    Args:
        setup: robot and scenario.
        engine: `reference`, or an engine by name or specification.
        physics_step: [s]; the scenario's where None.

    Raises:
        AccordError: for an unknown engine, one that is not installed, or a broken description.
    """
    if physics_step is not None:
        setup = setup.at_step(physics_step)
    found = None if engine == REFERENCE else spec(engine)
    made = _make(setup, found) if found else setup.robot.reference(setup)
    simulator = check_simulator(made, setup.robot.name)
    if found:
        simulator = found.complete(simulator)
    simulator.reset(setup.initial)
    return simulator


def _make(setup: Setup, engine: EngineSpec) -> AnySimulator:
    """Make a robot in an engine, or what the robot makes of it there."""
    if engine.whole:
        return engine.make(setup)
    if setup.contact is not None:
        engine.refuse("contact")
    made = setup.robot.engine(setup, engine)
    if made is not None:
        return made
    from roboaccord.engines.model import EngineModel

    return engine.simulate(EngineModel.of(setup))


def run_setup(
    setup: Setup,
    simulator: Simulator,
    observers: Sequence[Observer] = (),
    controller: Controller | None = None,
) -> Trajectory:
    """Run a setup in a simulator for its duration, with its own controller or the one given."""
    scenario = setup.scenario
    return simulate(
        simulator=simulator,
        controller=controller or make_controller(setup),
        initial=setup.initial,
        duration=scenario.duration,
        control_period=scenario.control_period,
        seed=scenario.seed,
        observers=observers,
    )

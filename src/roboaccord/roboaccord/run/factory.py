"""Factory of simulators, a robot's reference or an engine, and runs of a setup in them."""

from __future__ import annotations

from collections.abc import Sequence

from roboaccord.contract.interfaces import Controller, Observer
from roboaccord.contract.trajectory import Trajectory
from roboaccord.run.loop import simulate
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.perturbation import Perturbations, of_engine
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator, check_simulator


def make_simulator(
    setup: Setup,
    engine: str = "reference",
    *,
    physics_step: float | None = None,
    perturbations: Perturbations = (),
) -> Simulator:
    """Make a simulator of a setup, in the state from which the scenario starts.

    Args:
        setup: robot and scenario.
        engine: `reference`, or the name of an engine.
        physics_step: [s]; the scenario's where None.
        perturbations: deliberate errors, by which the cross-check is itself checked; those of
            other engines are left out.

    Raises:
        AccordError: for an unknown engine, one that is not installed, or a broken description.
    """
    if physics_step is not None:
        setup = setup.at_step(physics_step)
    if engine == "reference":
        reference = check_simulator(setup.robot.reference(setup), setup.robot.name)
        reference.reset(setup.initial)
        return reference
    from roboaccord.engines.factory import make_engine

    return make_engine(setup, engine, of_engine(perturbations, engine))


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

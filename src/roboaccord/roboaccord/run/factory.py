"""Factory of simulators: a robot's reference, or an engine."""

from __future__ import annotations

from roboaccord.contract.interfaces import Engine
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator, check_simulator


def make_simulator(
    setup: Setup,
    engine: Engine = "reference",
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
    if engine == "reference":
        reference = check_simulator(setup.robot.reference(setup), setup.robot.name)
        reference.reset(setup.initial)
        return reference
    from roboaccord.engines.factory import make_engine

    return make_engine(setup, engine)

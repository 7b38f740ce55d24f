"""The roller sphere in a physics engine: force laws on the rollers, or the engine's own contact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault
from roboaccord.contract.interfaces import Acceleration, Simulator
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Event
from roboaccord.engines import preset
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.factory import simulate_model
from roboaccord.engines.model import EngineModel
from roboaccord.scenario.perturbation import Perturbations
from roboaccord.scenario.setup import Setup

from roller_sphere.model.odometry import RollingOdometry
from roller_sphere.model.parameters import RollerSphereParameters

PRESSES = ("press_1", "press_2")
SOFT = 0.05  # s: time constant of MuJoCo's contacts; docs/roller_sphere.md has figures


def model_of(setup: Setup, perturbations: Perturbations) -> EngineModel:
    """Return the model of a setup; rollers are pressed on the ball where the engine does contact.

    Unless the scenario says otherwise an engine's own z axis (DART) is laid along the normal e of
    both contacts, so that its box of friction has sides along and across the slip; and contacts
    that can be softened (MuJoCo) are soft enough not to hop as they slide.
    """
    p: RollerSphereParameters = setup.parameters
    contact, scenario, defaults = setup.contact, setup.scenario, dict[str, object]()
    if contact:
        defaults["contact_time"] = SOFT
        if scenario.base == "ball":
            defaults["z_axis"] = p.rig.pole.tolist()
    return EngineModel(
        urdf=setup.urdf(more={"press": "slide" if contact else "fixed"}),
        base=scenario.base,
        joints=setup.joints,
        effort_limits=setup.effort_limits,
        physics_step=scenario.physics_step,
        faults=setup.faults,
        gravity=p.gravity if scenario.base == "free" else 0.0,
        force_law=setup.force_law,
        preload=dict.fromkeys(PRESSES, p.press_force) if contact else {},
        contact=contact,
        options=preset(scenario.engine_options, **defaults),
        perturbations=perturbations,
    )


def make_engine_simulator(setup: Setup, engine: str, perturbations: Perturbations) -> Simulator:
    """Make the roller sphere of an engine.

    Raises:
        AccordError: for a ball on the ground without the engine's own contact, which it needs.
    """
    if setup.scenario.base == "free" and setup.contact is None:
        raise AccordError(
            f"{engine} has a ball on the ground (base free) by friction.law contact only; "
            "viscous and coulomb are for the reference, or base ball"
        )
    simulator = simulate_model(model_of(setup, perturbations), engine)
    if setup.scenario.base == "free":
        return simulator
    return InBearing(simulator, setup)


class InBearing:
    """Add odometry to the ball in an engine's bearing (Simulator).

    Args:
        simulator: the engine's.
        setup: robot and scenario.
    """

    def __init__(self, simulator: EngineSimulator, setup: Setup) -> None:
        self._simulator = simulator
        self._odometry = RollingOdometry(setup.parameters.radius)
        self._state = self._odometry.reset(setup.initial)
        self.name, self.version, self.order = simulator.name, simulator.version, simulator.order
        self.joints, self.effort_limits = simulator.joints, simulator.effort_limits
        self.physics_step, self.armature = simulator.physics_step, simulator.armature

    def reset(self, state: RobotState) -> RobotState:
        """Put the robot in `state`."""
        inside = self._simulator.reset(state)
        self._odometry.reset(state)
        self._state = self._odometry.follow(inside)
        return self._state

    def state(self) -> RobotState:
        """Return the present state."""
        return self._state

    def step(self, command: Command, duration: float) -> RobotState:
        """Advance by `duration` [s] under a held command."""
        self._state = self._odometry.follow(self._simulator.step(command, duration))
        return self._state

    def fail(self, fault: Fault) -> None:
        """Let a joint fail at the next control tick."""
        self._simulator.fail(fault)

    def take_events(self) -> Sequence[Event]:
        """Return the events since the last call."""
        return self._simulator.take_events()

    def meter(self) -> None:
        """Begin to measure energy losses in every physics step."""
        self._simulator.meter()

    def take_losses(self) -> Mapping[str, float]:
        """Return the energy taken since the last call, by channel [J]."""
        return self._simulator.take_losses()

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations without contact or friction; the bearing stands still."""
        found = self._simulator.acceleration(state, effort)
        return Acceleration(np.concatenate([np.zeros(3), found.base[3:]]), found.joints)

    def parts(self) -> Sequence[EngineSimulator]:
        """Return the engine's simulator."""
        return (self._simulator,)

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link that moves [kg]."""
        return self._simulator.masses()

    def mass_matrix(self, state: RobotState) -> Array:
        """Return the mass matrix of the ball's angular velocity and the rollers' rates (5, 5)."""
        return self._simulator.mass_matrix(state)

"""The roller sphere in a physics engine: force laws on the rollers, or the engine's own contact.

SOFT, found by measurement (docs/roller_sphere.md), may be tuned, and so may DART's z axis, along
the paper's e; a scenario overrides both by `engine_options`. PRESSES, joints of the URDF, stay. An
engine's special need goes into `model_of`; its results must not be tuned towards the reference (the
analytical model), with which they are compared.
"""

from __future__ import annotations

import numpy as np
from roboaccord import engines
from roboaccord.contract import Acceleration, AccordError, AnyEngine, Array, Command, RobotState
from roboaccord.scenario import Setup
from roboaccord.simulators import Proxy, Simulator

from roller_sphere.model.ball import RollingOdometry
from roller_sphere.model.parameters import RollerSphereParameters

PRESSES = ("press_1", "press_2")
SOFT = 0.05  # s: time constant of MuJoCo's contacts; docs/roller_sphere.md has figures


def model_of(setup: Setup) -> engines.EngineModel:
    """Return the model of a setup; rollers are pressed on the ball where the engine does contact.

    Unless the scenario states otherwise an engine's own z axis (DART) is laid along the normal e of
    both contacts, so that its box of friction has sides along and across the slip; and contacts
    that can be softened (MuJoCo) are soft enough not to hop as they slide.
    """
    p: RollerSphereParameters = setup.parameters
    contact, scenario, defaults = setup.contact, setup.scenario, dict[str, object]()
    if contact:
        defaults["contact_time"] = SOFT
        if scenario.base == "ball":
            defaults["z_axis"] = p.rig.pole.tolist()
    return engines.EngineModel.of(
        setup,
        urdf=setup.urdf(more={"press": "slide" if contact else "fixed"}),
        gravity=p.gravity if scenario.base == "free" else 0.0,
        preload=dict.fromkeys(PRESSES, p.press_force) if contact else {},
        options=engines.preset(scenario.engine_options, **defaults),
    )


def make_engine_simulator(setup: Setup, engine: AnyEngine) -> Simulator:
    """Make the roller sphere of an engine.

    Raises:
        AccordError: for a ball on the ground without the engine's own contact, which it needs.
    """
    if setup.scenario.base == "free" and setup.contact is None:
        raise AccordError(
            f"{engine.name} has a ball on the ground (base free) by friction.law contact only; "
            "viscous and coulomb are for the reference, or base ball"
        )
    simulator = engines.simulate_model(model_of(setup), engine)
    if setup.scenario.base == "free":
        return simulator
    return InBearing(simulator, setup)


class InBearing(Proxy):
    """Add odometry to the ball in an engine's bearing.

    Args:
        simulator: the engine's.
        setup: robot and scenario.
    """

    def __init__(self, simulator: engines.EngineSimulator, setup: Setup) -> None:
        super().__init__(simulator)
        self._odometry = RollingOdometry(setup.parameters.radius)
        self._now = self._odometry.reset(setup.initial)

    def _start(self, state: RobotState) -> None:
        super()._start(state)
        self._odometry.reset(state)
        self._now = self._odometry.follow(self._inner.state())

    def _advance(self, command: Command, duration: float) -> None:
        super()._advance(command, duration)
        self._now = self._odometry.follow(self._inner.state())

    def _read(self) -> RobotState:
        return self._now

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration | None:
        """Return the accelerations without contact or friction; the bearing stands still."""
        found = self._inner.acceleration(state, effort)
        return found and Acceleration(np.append(np.zeros(3), found.base[3:]), found.joints)

    def contacts(self) -> None:
        """Return nothing: the engine has them where the bearing stands, and not the odometry."""

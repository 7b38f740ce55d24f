"""The roller sphere in a physics engine: force laws on the rollers, or the engine's own contact.

`model_of` states what an engine is to simulate. Defaults for single engines, a soft contact for
MuJoCo and an axis for DART's friction, are overridden by a scenario's `engine_options`.

In a bearing the ball turns on the spot. `InBearing` gives it the position to which it would roll.

CONTACT_TIME may be tuned. Results must not be tuned towards the reference, with which they are
compared.
"""

import numpy as np
from roboaccord import engines
from roboaccord.contract import Acceleration, AccordError, AnyEngine, Array, Command, RobotState
from roboaccord.scenario import Setup
from roboaccord.simulators import Proxy, Simulator

from roller_sphere.model.odometry import RollingOdometry
from roller_sphere.model.parameters import RollerSphereParameters

PRESSES = ("press_1", "press_2")  # joints of the URDF along which the rollers are pressed
CONTACT_TIME = 0.05  # s; time constant of MuJoCo's contacts (measured, docs/roller_sphere.md)


def model_of(setup: Setup) -> engines.EngineModel:
    """Return the model of a setup, with rollers pressed on the ball if the engine makes contact.

    DART bounds friction by a box instead of a cone. The box's z axis is laid along e, the normal of
    the plane of both contacts (rig.py), so that its sides are along and across the slip. MuJoCo's
    contacts are made so soft that bodies do not hop while they slide.

    The joints PRESSES of the URDF slide only if the engine makes contact, and `preload` then
    presses the rollers on the ball; under a force law they are fixed.
    """
    p: RollerSphereParameters = setup.parameters
    contact, scenario, defaults = setup.contact, setup.scenario, dict[str, object]()
    if contact:
        defaults["contact_time"] = CONTACT_TIME
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
        need = "has a ball on the ground (base free) by friction.law contact only"
        hint = "viscous and coulomb are for the reference, or base ball"
        raise AccordError(f"{engine.name} {need}; {hint}")
    simulator = engines.simulate_model(model_of(setup), engine)
    if setup.scenario.base == "free":
        return simulator
    return InBearing(simulator, setup)


class InBearing(Proxy):
    """An engine's ball in a bearing, with odometry.

    Args:
        simulator: the engine's.
        setup: robot and scenario.
    """

    def __init__(self, simulator: engines.EngineSimulator, setup: Setup) -> None:
        super().__init__(simulator)
        self._odometry = RollingOdometry(setup.parameters.radius)
        self._now = self._odometry.reset(setup.initial)  # the last state, with the odometry

    def _start(self, state: RobotState) -> None:
        """Begin at a state, and its odometry with it."""
        super()._start(state)
        self._odometry.reset(state)
        self._now = self._odometry.follow(self._inner.state())

    def _advance(self, command: Command, duration: float) -> None:
        """Advance the engine, and roll on by the turn that it returns."""
        super()._advance(command, duration)
        self._now = self._odometry.follow(self._inner.state())

    def _read(self) -> RobotState:
        """Return the engine's state with the position and velocity of rolling."""
        return self._now

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration | None:
        """Return the accelerations without contact or friction; the ball's centre is at rest."""
        inner = self._inner.acceleration(state, effort)
        return inner and Acceleration(np.append(np.zeros(3), inner.base[3:]), inner.joints)

    def contacts(self) -> None:
        """Return None, for no contacts can be shown: the engine's are where the ball really is."""

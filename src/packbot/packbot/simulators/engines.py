"""The arm in physics engines: its model, its joint friction, and checks of its initial state.

An engine gets the URDF with the same convex hulls as the engine `reference`, and the same friction
of joints. The contact scheme of the source report is refused, because only `reference` offers it.

DAMPING_RATIO may be tuned; `engine_options.mujoco.contact_damping` of a scenario overrides it. All
simulators must have the same `joint_friction`. test_packbot_drives and test_packbot_reference
compare engines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from roboaccord import engines
from roboaccord.contract import AccordError, AnyEngine, Array
from roboaccord.scenario import Setup
from roboaccord.simulators import JointFriction, Simulator

from packbot.contact.laws import ClampContact
from packbot.model.parameters import PackbotParameters, check_limits

if TYPE_CHECKING:
    from packbot.contact.clearance import Clearance

# Damping ratio of MuJoCo's contacts. With its default of 1 they rebound with 0.135 of the speed of
# approach, with 3 with 0.022. With more, the overlap of an impact takes longer to vanish.
DAMPING_RATIO = 3.0
# m; hulls that touch at the start overlap by the rounding of numbers in a scenario
ROUND_OFF = 1e-9


def check_start(setup: Setup, clearance: Clearance, coordinates: Array | None = None) -> None:
    """Refuse a start with joints outside their limits or penetrating hulls.

    Args:
        setup: robot and scenario.
        clearance: distances of hulls.
        coordinates: angles, and coordinates of bodies, if the clearance has bodies.

    Raises:
        AccordError: naming the joint, or the pair and its depth.
    """
    check_limits(setup.parameters, setup.initial.q, "initial.q.")
    pair, distance = clearance.closest(setup.initial.q if coordinates is None else coordinates)
    if distance < -ROUND_OFF:
        a, b = map(clearance.full_name, clearance.pairs[pair])
        raise AccordError(f"start in collision: {a} is {-1e3 * distance:.3g} mm deep in {b}")


def refuse_bad_start(setup: Setup) -> None:
    """Refuse a bad start in a simulator that would not notice it.

    Nothing is checked without a contact law, or without the libraries that measure distances.

    Raises:
        AccordError: as `check_start`.
    """
    if setup.contact is None:
        return
    try:
        from packbot.contact.clearance import Clearance
    except ImportError:
        return
    check_start(setup, Clearance.of(setup))


def joint_friction(parameters: PackbotParameters) -> JointFriction:
    """Return the friction of the joints, the same in every simulator."""
    coulomb = parameters.of_joints("coulomb")
    stiction = np.maximum(parameters.of_joints("stiction"), coulomb)
    return JointFriction(
        viscous=parameters.of_joints("viscous"),
        constant=coulomb,
        stiction=stiction if (stiction > coulomb).any() else None,
        speed=parameters.friction_speed,
        stribeck_speed=parameters.stribeck_speed,
    )


def make_engine_simulator(setup: Setup, engine: AnyEngine) -> Simulator:
    """Make the arm of an engine.

    Raises:
        AccordError: for the report's contact, which the reference alone has, or a bad start.
    """
    if isinstance(setup.contact, ClampContact):
        raise AccordError(f"{engine.name} has no contact joint_clamp; use --engine reference")
    refuse_bad_start(setup)
    parameters: PackbotParameters = setup.parameters
    armature = parameters.of_joints("reflected_inertia")
    stops = "false" if setup.contact is None else "true"  # as in the reference
    model = engines.EngineModel.of(
        setup,
        urdf=setup.urdf(more={"stops": stops}),
        friction=joint_friction(parameters),
        armature=armature if armature.any() else None,
        contact_events=True,
        options=engines.preset(setup.scenario.engine_options, contact_damping=DAMPING_RATIO),
    )
    return engines.simulate_model(model, engine)

"""The arm in a physics engine: the same hulls, the same friction of joints, its own contact."""

from __future__ import annotations

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import AnyEngine
from roboaccord.engines import preset
from roboaccord.engines.factory import simulate_model
from roboaccord.engines.model import EngineModel
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.joints import JointFriction

from packbot.contact.law import ClampContact
from packbot.model.parameters import PackbotParameters
from packbot.simulators.start import refuse_bad_start

# Of MuJoCo's contacts: at its own 1 they rebound with 0.135 of the speed, at 3 with 0.022. More
# takes longer to open again what an impact has pressed together.
DAMPING_RATIO = 3.0


def joint_friction(parameters: PackbotParameters) -> JointFriction:
    """Return the friction of the joints, alike in every simulator."""
    coulomb = parameters.of_joints("coulomb")
    stiction = np.maximum(parameters.of_joints("stiction"), coulomb)
    return JointFriction(
        viscous=parameters.of_joints("viscous"),
        constant=coulomb,
        speed=parameters.friction_speed,
        stiction=stiction if (stiction > coulomb).any() else None,
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
    model = EngineModel.of(
        setup,
        urdf=setup.urdf(more={"stops": stops}),
        friction=joint_friction(parameters),
        armature=armature if armature.any() else None,
        contact_events=True,
        options=preset(setup.scenario.engine_options, contact_damping=DAMPING_RATIO),
    )
    return simulate_model(model, engine)
